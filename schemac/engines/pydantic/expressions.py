"""What expressions in a file of Python say, which is read as text and never run.

Layer: engines.
"""

import ast
import json
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from typing import Any

from schemac.engines.pydantic.vocabulary import ANNOTATIONS
from schemac.source.json_object import Json

SETTERS = frozenset({"Field", "StringConstraints", *ANNOTATIONS})
"""What is in `Annotated` and narrows values."""


def choices_of(node: ast.expr) -> list[ast.expr] | None:
    """Return what a type is one of: `A | B`, `Optional[A]`, `Union[A, B]`; None for a type that is not a choice."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*(choices_of(node.left) or [node.left]), *(choices_of(node.right) or [node.right])]
    if isinstance(node, ast.Subscript):
        name = name_of(node.value)
        arguments = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "Optional":
            return [arguments[0], ast.Constant(None)]
        if name == "Union":
            return [part for argument in arguments for part in (choices_of(argument) or [argument])]
    return None


def is_none(node: ast.expr) -> bool:
    """Whether an expression is None."""
    return isinstance(node, ast.Constant) and node.value is None


def name_of(node: ast.expr) -> str:
    """Return the last part of a name, also of what is called or subscripted: `Field` of `pydantic.Field(...)`."""
    if isinstance(node, ast.Call):
        return name_of(node.func)
    if isinstance(node, ast.Subscript):
        return name_of(node.value)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def settings_of(node: ast.expr | None) -> Json:
    """Return the arguments of `Field`; of a plain default, that."""
    if isinstance(node, ast.Call) and name_of(node.func) in ANNOTATIONS:
        words = zip(ANNOTATIONS[name_of(node.func)], node.args, strict=False)
        named = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
        return {word: literal(value) for word, value in [*words, *named.items()]}
    if isinstance(node, ast.Call) and name_of(node.func) in ("Field", "StringConstraints"):
        settings = {
            keyword.arg: literal(keyword.value) for keyword in node.keywords if keyword.arg is not None
        }
        if node.args and ast.unparse(node.args[0]) != "...":
            settings["default"] = literal(node.args[0])
        return settings
    if isinstance(node, ast.Constant):
        return (
            {} if isinstance(node.value, str) and compiler_metadata(node.value) else {"default": node.value}
        )
    return {}


def compiler_metadata(text: str) -> Json:
    """Return the metadata that the compiler wrote; nothing for any other text."""
    try:
        metadata = json.loads(text)
    except ValueError:
        return {}
    is_ours = isinstance(metadata, dict) and (
        isinstance(metadata.get("kind"), str) or isinstance(metadata.get("extra"), dict)
    )
    return metadata if is_ours else {}


def written_value(node: ast.Call) -> str | None:
    """Return a number or a date that a call makes, as a manifest writes it; None for any other call."""
    arguments = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
    if len(arguments) < len(node.args):
        return None
    if name_of(node.func) == "Decimal" and len(arguments) == 1:
        return str(arguments[0])
    makers: Mapping[str, Callable[..., date | datetime | time]] = {
        "date": date,
        "datetime": datetime,
        "time": time,
    }
    maker = makers.get(name_of(node.func))
    zones = {keyword.arg: ast.unparse(keyword.value).rpartition(".")[2].upper() for keyword in node.keywords}
    if maker is None or (zones and zones != {"tzinfo": "UTC"}):
        return None
    try:
        return f"{maker(*arguments).isoformat()}{'Z' if zones else ''}"
    except (TypeError, ValueError):
        return None


def literal(node: ast.expr | None) -> Any:
    """Return the value of an expression that is one; its text for any other."""
    if node is None:
        return None
    if isinstance(node, ast.Call) and (written := written_value(node)) is not None:
        return written
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return ast.unparse(node)
