"""Digests of all artifacts of the corpus and the examples: the same, whatever versions of libraries are installed.

Run as a program in two environments: `python -m tests.lowest.digests` prints a line for each artifact.
"""

from hashlib import sha256
from pathlib import Path

from schemac.project.configuration import Project
from schemac.project.options import CompileOptions
from schemac.project.stages import compile_source
from schemac.text.source.diagnostics import Report
from schemac.text.source.text import decode_text

ROOT = Path(__file__).parent.parent.parent
MANIFESTS = (*(ROOT / "tests/corpus/accepted").glob("*/*.yaml"), *(ROOT / "examples").glob("*/*.yaml"))


def digests() -> list[str]:
    """Artifact and digest, in the order of their paths."""
    lines: list[str] = []
    for path in MANIFESTS:
        report = Report()
        source = decode_text(path.read_bytes(), path.name, report)
        for made in (
            compile_source(source, Project(ROOT), CompileOptions(), report) if source is not None else ()
        ):
            shown = path.relative_to(ROOT).as_posix()
            lines += [
                f"{shown} {made.dataset.name}/{a.path} {sha256(a.content).hexdigest()}"
                for a in made.artifacts
            ]
    return sorted(lines)


if __name__ == "__main__":
    print("\n".join(digests()))
