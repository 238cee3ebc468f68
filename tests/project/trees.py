"""A project and its output folder, before and after an edit that adds, changes and removes datasets."""

import os
from pathlib import Path

Tree = dict[str, bytes]

FOREIGN = {"notes.txt": b"mine", "trips/notes.txt": b"mine", "trips/lance/more/deep.txt": b"mine"}
"""Files that schemac did not write, beside its own."""


def write_manifests(project: Path, kinds: dict[str, str]) -> None:
    """One manifest a dataset, with one field of this kind; others are removed."""
    for old in project.glob("*.yaml"):
        old.unlink()
    for name, kind in kinds.items():
        text = f"name: {name}\nfields:\n  - {{name: fare, type: {kind}}}\n"
        (project / f"{name.replace('/', '_')}.yaml").write_text(text)


BEFORE = {"trips": "Int32", "rides": "Int32", "acme": "Int32", "acme/trips": "Int32", "gone": "Int32"}
AFTER = {"trips": "Int64", "rides": "Int32", "acme": "Int64", "acme/trips": "Int64", "came/in": "Int64"}


def tree(folder: Path) -> Tree:
    """Every file below a folder; a link is what it leads to, as text."""
    found: Tree = {}
    for root, folders, files in os.walk(folder):
        for name in (*files, *(n for n in folders if os.path.islink(os.path.join(root, n)))):
            path = Path(root, name)
            content = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
            found[path.relative_to(folder).as_posix()] = content
    return found


def of_dataset(files: Tree, name: str, all_names: list[str]) -> Tree:
    """The artifacts of one dataset, without those of a dataset below it and without what is not ours."""
    below = tuple(f"{other}/" for other in all_names if other.startswith(f"{name}/"))
    return {
        path: content
        for path, content in files.items()
        if path.startswith(f"{name}/") and path not in FOREIGN and not path.startswith(below or "\0")
    }


def add_foreign(out: Path) -> None:
    """Put files of somebody else beside the artifacts."""
    for path, content in FOREIGN.items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_bytes(content)
