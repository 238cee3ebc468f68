"""dbt: property files, each model, source table, seed and snapshot a dataset.

Layer: engines.
Shape: a column has its `data_type`, in the words of the database that the project's profile names; one without is a String, with
a note. What its constraints and tests say of nulls and keys is kept, all other rules are comments above it.
Errors: SC1xx for what is no YAML, SC552 unreadable-source.
Source: dbt's documentation, "Model properties", "Source properties", "constraints" and "data tests".
"""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from schemac.attributes.odf import DESCRIPTION
from schemac.engines.dbt.sources import dialect_beside
from schemac.importers.declared import MisplacedError, Node, member, optional, read_documents
from schemac.importers.importer import Imported, Importer, Notes
from schemac.importers.keys import mark_key
from schemac.importers.type_texts import kind_of, type_of_text
from schemac.physical.arrow import pa
from schemac.source.json_object import Json
from schemac.source.report import Report

_TITLE = "a property file of dbt"
_PLURALS = ("models", "seeds", "snapshots")
_UNKNOWN = "dbt does not say its type: set it"
_OF_COLUMNS = ("constraints", "data_tests", "tests")


def read(path: Path, report: Report) -> Imported | None:
    """Return everything with columns in a file."""
    return read_documents(path, _TITLE, partial(_resources, dialect=dialect_beside(path)), report)


def _resources(document: Node, dialect: str | None) -> Iterator[Imported]:
    if not any(document.has(key) for key in (*_PLURALS, "sources")):
        raise MisplacedError("the document has none of `models`, `sources`, `seeds` and `snapshots`", ())
    found = [(plural[:-1], "", node) for plural in _PLURALS for node in document.nodes(plural)]
    for source in document.nodes("sources"):
        prefix = f"{source.needed_text('name')}/"
        found += [("table of a source", prefix, table) for table in source.nodes("tables")]
    document.drop("version")
    others = [loss.removeprefix("not kept: ").partition(":")[0] for loss in document.losses()]
    head = [f"not kept of the file: {', '.join(others)}"] if others else []
    for sort, prefix, node in found:
        yield _Reader(dialect).dataset(sort, prefix, node, head)


class _Reader:
    """Reads one resource."""

    def __init__(self, dialect: str | None) -> None:
        self._dialect = dialect
        self._notes = Notes()

    def dataset(self, sort: str, prefix: str, node: Node, head: list[str]) -> Imported:
        """Return a model, seed, snapshot or table."""
        name = f"{prefix}{node.needed_text('name')}"
        description = node.text("description")
        key: list[str] = []
        required: set[str] = set()
        head = [f"from a {sort} of dbt", *head]
        for constraint in node.items("constraints"):
            columns = constraint.get("columns") if isinstance(constraint, dict) else None
            if isinstance(columns, list) and constraint.get("type") == "primary_key":
                key = [str(column) for column in columns]
                required |= set(key)
            else:
                head.append(f"not kept: constraint: {json.dumps(constraint, ensure_ascii=False)}")
        columns_of = node.nodes("columns")
        own: list[str] = []
        fields = [self._column(column, required, own) for column in columns_of if not column.has("include")]
        tree: Json = {"fields": fields}
        if description:
            tree["extra"] = {DESCRIPTION.key: description}
        comments = [*head, *node.losses()]
        if not fields:
            comments.append("dbt lists none of its columns: add them")
        if not mark_key(tree, key or own):
            comments.append(f"not kept: the primary key {', '.join(key or own)}")
        return Imported(tree, tuple(comments), name, self._notes)

    def _column(self, node: Node, required: set[str], own: list[str]) -> Json:
        name = node.needed_text("name")
        path = (name,)
        description, written = node.text("description"), node.text("data_type")
        is_required = name in required
        for key in _OF_COLUMNS:
            for rule in node.items(key):
                sort = _sort(rule)
                if sort == "primary_key":
                    own.append(name)
                if sort in ("not_null", "primary_key"):
                    is_required = True
                else:
                    text = rule if isinstance(rule, str) else json.dumps(rule, ensure_ascii=False)
                    self._notes.add(path, f"not kept: {key.removesuffix('s')}: {text}")
        found = type_of_text(written, self._dialect) if written else None
        if found is not None:
            self._notes.merge(found.notes, path)
            tree, extra = found.tree, found.extra
        else:
            self._notes.add(path, f"there is no kind for its type {written}: set it" if written else _UNKNOWN)
            tree, extra = kind_of(pa.string())
        for loss in node.losses():
            self._notes.add(path, loss)
        extra = {DESCRIPTION.key: description, **extra} if description else extra
        return member(name, optional(tree, is_required=is_required), extra)


def _sort(rule: Any) -> str:
    """Return what a constraint or test is; one with conditions is more than its name."""
    if isinstance(rule, str):
        return rule
    if not isinstance(rule, dict):
        return ""
    if set(rule) <= {"type", "name", "warn_unenforced", "warn_unsupported"}:
        return str(rule.get("type", ""))
    if len(rule) == 1:
        ((name, arguments),) = rule.items()
        is_plain = arguments is None or (isinstance(arguments, dict) and set(arguments) <= {"name"})
        return str(name) if is_plain else ""
    return ""


IMPORTER = Importer("dbt", "property file of dbt, such as schema.yml", read)
