"""What is written below the properties of records, for those who read manifests rather than code.

Layer: syntax.
"""

import ast
import inspect
import sys
from functools import cache
from types import ModuleType


@cache
def property_texts(record: type) -> dict[str, str]:
    """Return the texts below the properties of a class and its bases, by name; none where Python has no source."""
    found: dict[str, str] = {}
    for base in reversed(record.__mro__):
        module = sys.modules.get(base.__module__)
        if module is not None:
            found |= _of_module(module).get(base.__qualname__, {})
    return found


def class_text(record: type) -> str:
    """Return the first paragraph of a class's docstring, on one line."""
    return one_line((record.__doc__ or "").partition("\n\n")[0])


def one_line(text: str) -> str:
    """Return a text without its line ends."""
    return " ".join(text.split())


@cache
def _of_module(module: ModuleType) -> dict[str, dict[str, str]]:
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError):
        return {}
    return {node.name: _of_class(node) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def _of_class(node: ast.ClassDef) -> dict[str, str]:
    found: dict[str, str] = {}
    for statement, below in zip(node.body, node.body[1:], strict=False):
        is_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and is_text:
            assert isinstance(below, ast.Expr)
            assert isinstance(below.value, ast.Constant)
            if isinstance(below.value.value, str):
                found[statement.target.id] = one_line(below.value.value)
    return found
