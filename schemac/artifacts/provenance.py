"""What was built from what: `artifacts.json`.

Floor: 11 (artifacts).
Shape: compiler version, and for every dataset the manifest it came from, the digests of that manifest and of every
file. Paths with `/`, relative to the project for manifests and to the output folder for files. No clock, no path
of the machine, sorted keys: the same input gives the same bytes.
"""

import json
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from schemac.version import __version__

NAME = "artifacts.json"


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
        """The file's content."""
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


def read_provenance(out: Path) -> Provenance | None:
    """What an output folder says of itself, or None where it says nothing that can be read."""
    try:
        document: Any = json.loads((out / NAME).read_bytes())
        datasets = {
            name: Built(built["manifest"], built["manifestDigest"], dict(built["files"]))
            for name, built in document["datasets"].items()
        }
        return Provenance(datasets, str(document["compiler"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
