"""Where programs look for files: from the root of the repository.

Layer: source.
Shape: findings name files from the working folder, which is not always the root. What is outside of the repository has an
absolute path, for no other would lead there.
Source: GitHub resolves the file of a workflow command, and a code scanner the URI of a result, against the checkout.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from schemac.source.diagnostic import Diagnostic, Fix


def root_of(folder: Path) -> Path:
    """Return the root of the repository that a folder is in; the folder itself where there is none."""
    return next((one for one in (folder, *folder.parents) if (one / ".git").exists()), folder)


def from_root(diagnostics: Iterable[Diagnostic], here: Path) -> list[Diagnostic]:
    """Return the findings with files as they are called from the root of the repository."""
    root = str(root_of(here))

    def place(file: str) -> str:
        if not file or "://" in file:
            return file
        path = os.path.normpath(os.path.join(here, file))
        inside = os.path.relpath(path, root)
        is_outside = inside == ".." or inside.startswith(f"..{os.sep}")
        return (path if is_outside else inside).replace(os.sep, "/")

    return [
        replace(
            diagnostic,
            file=place(diagnostic.file),
            labels=tuple([replace(label, file=place(label.file)) for label in diagnostic.labels]),
            excerpt=diagnostic.excerpt,
            fix=_placed(diagnostic.fix, place),
        )
        for diagnostic in diagnostics
    ]


def _placed(fix: Fix | None, place: Callable[[str], str]) -> Fix | None:
    if fix is None:
        return None
    return replace(fix, edits=tuple([edit._replace(file=place(edit.file)) for edit in fix.edits]))
