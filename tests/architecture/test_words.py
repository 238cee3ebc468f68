"""Names of our own use the field's terms: a few words that only this code base used for something do not come back."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.trees import nodes_of, tree_of

PACKAGE = Path(__file__).parents[2] / "schemac"
TERMS = {
    **dict.fromkeys(("slot", "slots"), "field"),
    **dict.fromkeys(("twin", "twins"), "duplicate"),
    **dict.fromkeys(("spot", "spots"), "location"),
    **dict.fromkeys(("remedy", "remedies"), "fix, help"),
    **dict.fromkeys(("complaint", "complaints"), "error, finding"),
    **dict.fromkeys(("said", "say", "tell", "untold"), "message, diagnostics, report"),
    **dict.fromkeys(("settle", "settled", "settling"), "validate, find the commit"),
    **dict.fromkeys(("sieve", "sifted", "doubts"), "validator, valid rows, doubtful values"),
    **dict.fromkeys(("piece", "loose"), "file split, chunk; nullable, lenient"),
    **dict.fromkeys(("beside", "aside"), "next to it: extra, interop; staging table, comment"),
    **dict.fromkeys(
        ("torn", "veil", "strays", "worked"), "recovery, flow scalars, lost locks, read in tasks"
    ),
}
"""The words, and what to write instead."""


def _defined(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a module defines; those of libraries are theirs."""
    for node in nodes_of(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.arg():
                yield node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.attr


def _words(name: str) -> set[str]:
    return {word.lower() for word in re.split(r"_+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name))}


def test_use_the_terms_of_the_field() -> None:
    paths = [path for path in PACKAGE.rglob("*.py") if "_generated" not in path.parts]
    wrong = [
        f"{path.relative_to(PACKAGE).as_posix()}: {name}: {', '.join(TERMS[word] for word in words)}"
        for path in paths
        for name in sorted(set(_defined(tree_of(path))) - {"__slots__"})
        if (words := sorted(_words(name) & TERMS.keys()))
    ]
    assert wrong == []
    files = [path.stem for path in paths if _words(path.stem) & TERMS.keys()]
    assert files == []
