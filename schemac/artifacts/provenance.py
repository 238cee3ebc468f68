"""What was built from what: `artifacts.json`.

Layer: artifacts.
Errors: DamagedError, for a file that schemac did not write or that lists what cannot be an artifact.
Shape: compiler version, and for every dataset the manifest it came from, the digests of that manifest and of every
file. Paths with `/`, relative to the project for manifests and to the output folder for files. No clock, no path
of the machine, sorted keys: the same input gives the same bytes.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from hashlib import sha256
from json.encoder import encode_basestring
from typing import Any, NamedTuple

from schemac.version import __version__

NAME = "artifacts.json"

_PART = r"\w[\w.\- ]*"
"""A folder or file of ours starts with a letter, a digit or an underscore, so that none leads upwards."""
_DATASET = re.compile(rf"(?:{_PART}/)?{_PART}")
_REST = rf"(?:{_PART}/)*{_PART}"
_RESTS = re.compile(rf"(?:{_REST}\n)*")
_OURS = b'"compiler": "schemac '
_LISTED = re.compile(r'"([^"\\]+)": "((?:sha256|blake2b)-128:[0-9a-f]{32})"')
_IN_DATASET = re.compile(r"(?:(.+)/losses\.json|(.+)/[^/]+/[^/]+)")


class DamagedError(Exception):
    """A file that is not as schemac writes it; the message says why, as the end of a sentence."""


class Built(NamedTuple):
    """One dataset of an output folder."""

    manifest: str
    manifest_digest: str
    files: dict[str, str]
    """Digest by path."""

    def to_json(self) -> str:
        """Return the text of its object in the file."""
        files = f"{{\n    {_encode(self.files)[1:-1]}\n   }}" if self.files else "{}"
        manifest, digest = _text(self.manifest), _text(self.manifest_digest)
        return f'{{\n   "files": {files},\n   "manifest": {manifest},\n   "manifestDigest": {digest}\n  }}'


class Provenance(NamedTuple):
    """Everything in an output folder, by dataset."""

    datasets: Mapping[str, Built]
    compiler: str = f"schemac {__version__}"

    def paths(self) -> frozenset[str]:
        """Return the paths of all files."""
        return frozenset(path for dataset in self.datasets.values() for path in dataset.files)

    def to_json(self) -> bytes:
        """Return the file's content."""
        datasets = _object({_text(name): built.to_json() for name, built in self.datasets.items()}, 1)
        return (_object({'"compiler"': _text(self.compiler), '"datasets"': datasets}, 0) + "\n").encode()


_text = encode_basestring
_encode: Callable[[Mapping[str, str]], str] = json.JSONEncoder(
    ensure_ascii=False, separators=(",\n    ", ": "), sort_keys=True
).encode
"""Writes the files of a dataset, with the line ends and blanks that are between them."""


def _object(members: dict[str, str], depth: int) -> str:
    """Return an object in the form that `json.dumps(…, indent=1, sort_keys=True)` takes ten times as long for."""
    if not members:
        return "{}"
    line = "\n" + " " * (depth + 1)
    lines = f",{line}".join([f"{name}: {members[name]}" for name in sorted(members)])
    return f"{{{line}{lines}\n{' ' * depth}}}"


def digest(content: bytes) -> str:
    """Return the first 128 bits of SHA-256 in hexadecimal digits, named so that another may follow.

    Processors have instructions for it, and an unchanged build spends most of its time here.
    """
    return f"sha256-128:{sha256(content).hexdigest()[:32]}"


def parse_provenance(content: bytes) -> Provenance:
    """Return what an output folder says of itself. Raises DamagedError.

    Every path that comes out of here is below the folder of its dataset, whatever the file says.
    """
    try:
        document: Any = json.loads(content)
        compiler = str(document["compiler"])
        datasets = {
            str(name): Built(
                str(built["manifest"]),
                str(built["manifestDigest"]),
                {str(path): str(digest) for path, digest in built["files"].items()},
            )
            for name, built in document["datasets"].items()
        }
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return _salvaged(content)
    for name, built in datasets.items():
        if not are_inside(built.files, name):
            wrong = next((path for path in built.files if not are_inside((path,), name)), None)
            raise DamagedError(f"lists {wrong or name!a}, which cannot be the path of an artifact")
    return Provenance(datasets, compiler)


def _salvaged(content: bytes) -> Provenance:
    """Return the files that a damaged provenance lists, for a merge in git leaves its marks in one.

    What their manifests were is not known any more.
    """
    if _OURS not in content:
        raise DamagedError("was not written by schemac")
    files: dict[str, dict[str, str]] = {}
    for path, listed in _LISTED.findall(content.decode("utf-8", "replace")):
        match = _IN_DATASET.fullmatch(path)
        dataset = (match[1] or match[2]) if match is not None else ""
        if are_inside((path,), dataset):
            files.setdefault(dataset, {})[path] = listed
    return Provenance({name: Built("", "", listed) for name, listed in files.items()})


def are_inside(paths: Iterable[str], dataset: str) -> bool:
    """Whether these are paths that artifacts of a dataset may have, below the folder of the dataset."""
    start = f"{dataset}/"
    length = len(start)
    rests = tuple([path[length:] if path.startswith(start) else "" for path in paths])
    return _DATASET.fullmatch(dataset) is not None and _are_rests(rests)


@lru_cache(maxsize=1024)
def _are_rests(rests: tuple[str, ...]) -> bool:
    """Whether these are paths of artifacts below a folder; remembered, for most datasets have the same ones."""
    lines = "\n".join([*rests, ""])
    is_each_a_line = lines.count("\n") == len(rests)
    return is_each_a_line and _RESTS.fullmatch(lines) is not None
