"""What was built from what: `artifacts.json`.

Layer: artifacts.
Errors: DamagedError, for a file that schemac did not write or that lists what cannot be an artifact.
Shape: compiler version, and for every dataset the manifest it came from, the digests of that manifest and of every
file. Paths with `/`, relative to the project for manifests and to the output folder for files. No clock, no path
of the machine, sorted keys: the same input gives the same bytes.
"""

import json
import re
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from schemac.version import __version__

NAME = "artifacts.json"

_PART = r"\w[\w.\- ]*"
"""A folder or file of ours starts with a letter, a digit or an underscore, so that none leads upwards."""
_DATASET = re.compile(rf"(?:{_PART}/)?{_PART}")
_REST = re.compile(rf"(?:{_PART}/)*{_PART}")
_OURS = b'"compiler": "schemac '
_LISTED = re.compile(r'"([^"\\]+)": "(blake2b-128:[0-9a-f]{32})"')
_IN_DATASET = re.compile(r"(?:(.+)/losses\.json|(.+)/[^/]+/[^/]+)")


class DamagedError(Exception):
    """A file that is not as schemac writes it; the message says why, as the end of a sentence."""


@dataclass(frozen=True, slots=True)
class Built:
    """One dataset of an output folder."""

    manifest: str
    manifest_digest: str
    files: dict[str, str] = field(default_factory=dict)
    """Digest by path."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Everything in an output folder, by dataset."""

    datasets: dict[str, Built] = field(default_factory=dict)
    compiler: str = f"schemac {__version__}"

    def to_json(self) -> bytes:
        """Return the file's content."""
        document = {
            "compiler": self.compiler,
            "datasets": {
                name: {
                    "files": built.files,
                    "manifest": built.manifest,
                    "manifestDigest": built.manifest_digest,
                }
                for name, built in self.datasets.items()
            },
        }
        return (json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def digest(content: bytes) -> str:
    """BLAKE2b of 128 bits in hexadecimal digits, named so that another may follow."""
    return f"blake2b-128:{blake2b(content, digest_size=16).hexdigest()}"


def parse_provenance(content: bytes) -> Provenance:
    """Return what an output folder says of itself. Raises DamagedError.

    Every path that comes out of here lies below the folder of its dataset, whatever the file says.
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
        wrong = next((path for path in built.files if not is_inside(path, name)), None)
        if wrong is not None or not _DATASET.fullmatch(name):
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
        found = _IN_DATASET.fullmatch(path)
        dataset = (found[1] or found[2]) if found is not None else ""
        if _DATASET.fullmatch(dataset) and is_inside(path, dataset):
            files.setdefault(dataset, {})[path] = listed
    return Provenance({name: Built("", "", listed) for name, listed in files.items()})


def is_inside(path: str, dataset: str) -> bool:
    """Whether a path is one that an artifact of a dataset may have, below the folder of the dataset."""
    return path.startswith(f"{dataset}/") and _REST.fullmatch(path[len(dataset) + 1 :]) is not None
