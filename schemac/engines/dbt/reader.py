"""dbt: property files, each model, source table, seed and snapshot a dataset.

Layer: engines.
Shape: a column has its `data_type`, in the words of the database that the project's profile names; one without is a String, with a note.
      What its constraints and tests say of nulls and keys is kept, all other rules are comments above it.
Errors: SC1xx for what is not YAML, SC552 unreadable-source.
Source: dbt's documentation, "Model properties", "Source properties", "constraints", "data tests", and "About profiles.yml": the profile
      that `dbt_project.yml` names, and in it the target.
"""

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from schemac.importers import declarations
from schemac.importers.datasets import enumerated, kind_of, member, with_attributes
from schemac.importers.importer import ImportedSchema, Importer
from schemac.importers.sources import has_top_keys
from schemac.language.attributes.attribute import Family
from schemac.language.kinds.registry import BY_NAME
from schemac.language.logical.model import FieldPath, dotted
from schemac.language.physical import pa
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import Json
from schemac.text.syntax.document import documents_in

_PROJECT = "dbt_project.yml"
_PROFILES = "profiles.yml"
_LARGEST = 1024 * 1024


def is_properties(path: Path) -> bool:
    """Return whether a file lists models, sources, seeds or snapshots by name."""
    if path.name == _PROJECT or path.suffix.lower() == ".json":
        return False
    return has_top_keys(
        path, rb"(?:models|sources|seeds|snapshots)[\"']?\s*:\s*(?:#[^\n]*)?\n\s*(?:#[^\n]*\n\s*)*-\s"
    )


def dialect_of_project(path: Path) -> str | None:
    """Return the format that reads types of the database that a file's project is for; None if that is not known."""
    folder = next((p for p in path.resolve().parents if (p / _PROJECT).is_file()), None)
    if folder is None:
        return None
    project, profiles = _mapping(folder / _PROJECT), _mapping(folder / _PROFILES)
    profile = profiles.get(str(project.get("profile")))
    outputs = profile.get("outputs") if isinstance(profile, dict) else None
    if not isinstance(profile, dict) or not isinstance(outputs, dict):
        return None
    target = profile.get("target")
    # A target that is a template is not known here; all outputs of one system are as good.
    chosen = [outputs[target]] if isinstance(target, str) and target in outputs else list(outputs.values())
    systems = {str(output.get("type")) for output in chosen if isinstance(output, dict)}
    return declarations.dialect_of(systems.pop()) if len(systems) == 1 else None


def _mapping(path: Path) -> dict[Any, Any]:
    """Return the mapping in a file; an empty one if there is none."""
    if not path.is_file() or path.stat().st_size > _LARGEST:
        return {}
    documents = documents_in(path.read_bytes(), path.name)
    value: Any = documents[0].value if documents else None
    return value if isinstance(value, dict) else {}


_WITHOUT_TYPE = "dbt does not specify its type"
_PLURALS = ("models", "seeds", "snapshots")
_RULES = ("constraints", "data_tests", "tests")


def read(path: Path, report: Report) -> ImportedSchema | None:
    """Return everything with columns in a file."""
    make = partial(_resources, dialect=dialect_of_project(path))
    return declarations.read_documents("a property file of dbt", make, path, report)


def _resources(document: declarations.SourceNode, dialect: str | None) -> Iterator[ImportedSchema]:
    """Yield one dataset per model, seed, snapshot and table of a source. Raises MisplacedError in a file without such keys."""
    if not any(document.has(key) for key in (*_PLURALS, "sources")):
        message = "the document has none of `models`, `sources`, `seeds` and `snapshots`"
        raise declarations.MisplacedError(message, ())
    resources = [(plural[:-1], "", node) for plural in _PLURALS for node in document.nodes(plural)]
    for source in document.nodes("sources"):
        prefix = f"{source.needed_text('name')}/"
        resources += [("table of a source", prefix, table) for table in source.nodes("tables")]
    document.drop("version")
    head = document.loss_of_keys("file")
    for sort, prefix, node in resources:
        yield _Reader(dialect).resource(sort, prefix, node, head)


class _Reader(declarations.DatasetReader):
    """Reads one resource."""

    no_key = ""

    def __init__(self, dialect: str | None) -> None:
        super().__init__()
        self._dialect = dialect
        self._named_key: list[str] = []
        """What the whole says of its primary key, whose columns may not be null."""

    def resource(
        self, sort: str, prefix: str, node: declarations.SourceNode, head: list[str]
    ) -> ImportedSchema:
        """Return a model, seed, snapshot or table."""
        name = f"{prefix}{node.needed_text('name')}"
        head = [f"from a {sort} of dbt", *head]
        for word in _RULES:
            enter = self._enter_row_rule if word == "constraints" else self._enter_unique_test
            for rule in node.items(word):
                if not enter(rule):
                    head.append(f"not kept: {word.removesuffix('s')}: {json.dumps(rule, ensure_ascii=False)}")
        columns = [column for column in node.nodes("columns") if not column.has("include")]
        fields = [self._column(column) for column in columns]
        self.key = self._named_key or self.key
        remarks = [] if fields else ["dbt lists none of its columns: add them"]
        return self.dataset(name, fields, node, head, _attributes_of_meta(node), remarks)

    def _column(self, node: declarations.SourceNode) -> Json:
        """Return a column's field; its tests become constraints, and those without a counterpart are noted."""
        name = node.needed_text("name")
        path = (name,)
        written = node.text("data_type")
        known = declarations.type_of_text(written, self._dialect) if written else None
        tree = known.tree if known is not None else kind_of(pa.string())
        is_required = name in self._named_key
        for key in _RULES:
            for rule in node.items(key):
                sort, arguments = _name_and_arguments(rule)
                if sort in ("not_null", "primary_key") and not arguments:
                    is_required = True
                    if sort == "primary_key":
                        self.key.append(name)
                elif not self._enter_column_rule(sort, arguments, path, tree):
                    text = rule if isinstance(rule, str) else json.dumps(rule, ensure_ascii=False)
                    self.notes.add(path, f"not kept: {key.removesuffix('s')}: {text}")
        if known is not None:
            self.notes.merge(known.notes, path)
        else:
            self.unknown(path, f"there is no kind for its type {written}" if written else _WITHOUT_TYPE)
        attributes = {**_attributes_of_meta(node), **tree.get("extra", {})}
        tree = with_attributes(tree, attributes)
        return member(name, self.finished(node, tree, path, is_required=is_required))

    def _enter_column_rule(self, sort: str, arguments: Json, path: FieldPath, tree: Json) -> bool:
        """Enter a constraint or test of a column; return whether a manifest has a place for it."""
        (column,) = path
        description = f"{sort} of {column}"
        accepted, dataset = arguments.get("values"), _dataset_of_ref(arguments.get("to"))
        match sort:
            case "unique" if not arguments:
                self.constraints.add_unique([dotted(path)], description)
            case "accepted_values" if set(arguments) <= {"values", "quote"} and isinstance(accepted, list):
                # dbt compares them as texts.
                is_text = BY_NAME[tree["kind"]].family is Family.TEXT
                values = [str(one) if is_text and type(one) in (int, float) else one for one in accepted]
                self.constraints.add(path, enumerated(values), description)
            case "relationships" if set(arguments) == {"to", "field"} and dataset:
                to = [dotted((str(arguments["field"]),))]
                self.constraints.add_reference([dotted(path)], dataset, to, description)
            case "check" if set(arguments) == {"expression"}:
                self.constraints.add_check(str(arguments["expression"]), f"check: {arguments['expression']}")
            case _:
                return False
        return True

    def _enter_row_rule(self, rule: Any) -> bool:
        """Enter a constraint of a model as a whole; return whether a manifest has a place for it."""
        sort, arguments = _name_and_arguments(rule)
        columns = arguments.get("columns")
        fields = [dotted((str(column),)) for column in columns] if isinstance(columns, list) else []
        description = f"constraint: {json.dumps(rule, ensure_ascii=False)}"
        if sort == "primary_key" and isinstance(columns, list):
            self._named_key = [str(column) for column in columns]
        elif sort == "unique" and fields and set(arguments) == {"columns"}:
            self.constraints.add_unique(fields, description)
        elif sort == "check" and set(arguments) == {"expression"}:
            self.constraints.add_check(str(arguments["expression"]), description)
        elif sort == "foreign_key" and fields and set(arguments) == {"columns", "to", "to_columns"}:
            to, dataset = arguments["to_columns"], _dataset_of_ref(arguments["to"])
            if not isinstance(to, list) or len(to) != len(fields) or not dataset:
                return False
            self.constraints.add_reference(fields, dataset, [dotted((str(one),)) for one in to], description)
        else:
            return False
        return True

    def _enter_unique_test(self, test: Any) -> bool:
        """Enter a test of columns that are unique together; return whether the test is one."""
        sort, arguments = _name_and_arguments(test)
        columns = arguments.get("combination_of_columns")
        if sort != "dbt_utils.unique_combination_of_columns" or set(arguments) != {"combination_of_columns"}:
            return False
        if not isinstance(columns, list) or not columns:
            return False
        self.constraints.add_unique([dotted((str(column),)) for column in columns], f"test: {sort}")
        return True


_OF_DBT = frozenset({"type", "name", "warn_unenforced", "warn_unsupported"})
_REF = re.compile(
    r"\s*(?:\{\{)?\s*(?:ref\(\s*['\"](?P<model>[^'\"]+)['\"]\s*\)|source\(\s*['\"](?P<source>[^'\"]+)['\"]\s*,\s*['\"](?P<table>[^'\"]+)['\"]\s*\))\s*(?:\}\})?\s*"
)


def _name_and_arguments(rule: Any) -> tuple[str, Json]:
    """Return the name of a constraint or test, and its arguments."""
    if isinstance(rule, str):
        return rule, {}
    if not isinstance(rule, dict):
        return "", {}
    if isinstance(rule.get("type"), str):
        return rule["type"], {key: value for key, value in rule.items() if key not in _OF_DBT}
    if len(rule) != 1:
        return "", {}
    ((name, arguments),) = rule.items()
    if arguments is not None and not isinstance(arguments, dict):
        return "", {}
    arguments = {key: value for key, value in (arguments or {}).items() if key != "name"}
    inner = arguments.get("arguments")
    return str(name), inner if set(arguments) == {"arguments"} and isinstance(inner, dict) else arguments


def _dataset_of_ref(text: Any) -> str:
    """Return the dataset that `ref` or `source` names; empty for any other text."""
    match = _REF.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return ""
    return match["model"] or f"{match['source']}/{match['table']}"


def _attributes_of_meta(node: declarations.SourceNode) -> Json:
    """Return the attributes in the `meta` of a node that its own keys do not set."""
    meta = node.peek("meta")
    if not isinstance(meta, dict):
        return {}
    inner = declarations.SourceNode(meta, (*node.path, "meta"))
    is_known = set(meta) <= {"owner", "tags", "classification", "pii", "deprecated"}
    attributes = declarations.meaning(inner) if is_known else {}
    if not attributes or inner.unread():
        return {}
    node.drop("meta")
    return attributes


IMPORTER = Importer("dbt", "property file of dbt, such as schema.yml", read)
