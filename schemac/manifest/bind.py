"""Text into logical datasets.

Layer: manifest.
Shape: one dataset a schema body, in the order of the text.
Errors: SC1xx of the text, SC2xx of the grammar. A type that cannot be read is replaced, and a field that cannot be read
even so is left out, so that all else is still looked at; the report then has errors, and nothing is built from
such a dataset.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, NamedTuple

from pydantic import ValidationError

from schemac.attributes.attribute import Attribute
from schemac.attributes.registry import ATTRIBUTES
from schemac.kinds.foreign import FOREIGN_NAMES
from schemac.kinds.registry import BY_NAME
from schemac.kinds.units import FOREIGN_UNITS
from schemac.logical.dataset import LogicalDataset
from schemac.logical.model import Field, Schema
from schemac.logical.origins import Origins
from schemac.logical.resources import told_apart
from schemac.logical.schema_fields import columns
from schemac.manifest.documents import Body, Documents, is_library
from schemac.manifest.expansion import Expander
from schemac.manifest.library import Reuse, Scope, own_groups
from schemac.manifest.mend import mend
from schemac.manifest.saying import Sayer
from schemac.manifest.standard import Standardizer
from schemac.source.catalogue import DUPLICATE_DATASET, EMPTY_DOCUMENT, NO_SCHEMA
from schemac.source.diagnostic import Severity
from schemac.source.report import Report, label
from schemac.source.suggest import fold
from schemac.source.text import SourceText
from schemac.syntax.complaints import Vocabulary, complaints
from schemac.syntax.document import Document, TreePath, parse
from schemac.syntax.remedies import MakeOptional, Remove
from schemac.syntax.remedies_around import Move


def _advise_option(key: str, field: Mapping[str, Any]) -> str:
    """Return what to write for a flag of nullability."""
    kind = field["type"].get("kind") if isinstance(field.get("type"), dict) else None
    if field[key] is (fold(key) not in ("nullable", "optional", "null")):
        if kind is not None and fold(str(kind)) == "option":
            return Remove.it(": the type is an Option, whose values may be null", is_safe=False)
        return Remove.it(": a type without Option is never null")
    inner = kind if isinstance(kind, str) and len(field["type"]) == 1 else "…"
    return MakeOptional(f"nullability is part of the type: write `type: {{kind: Option, inner: {inner}}}`")


def _advise_attribute(attribute: Attribute[Any]) -> Callable[[str, Mapping[str, Any]], str]:
    """Say what to write for a key of another system that an attribute stands for."""
    if not attribute.on_field:
        return lambda _key, _field: f"write it under `extra:` of the schema as `{attribute.key}`"
    return lambda _key, _field: Move.to_extra(f"write it under `extra:` as `{attribute.key}`", attribute.key)


def _type_help(text: str, is_nested: bool) -> str | None:
    # Imported here for start-up time, as below: only a run with a mistake in it needs it.
    from schemac.manifest.foreign import suggest_type

    return suggest_type(text, is_nested=is_nested)


def _complete_type(written: Mapping[str, Any]) -> str | None:
    from schemac.manifest.type_completion import complete_type

    return complete_type(written)


_WORDS = Vocabulary(
    kinds=FOREIGN_NAMES,
    keys={
        **dict.fromkeys(("metadata", "tags", "attributes", "properties", "annotations"), "extra"),
        **dict.fromkeys(("items", "item", "element", "elementtype", "of", "elements"), "itemType"),
        **dict.fromkeys(("length", "size", "dimension", "listsize", "bytewidth", "dim"), "fixedLength"),
        **dict.fromkeys(("tz", "zone"), "timezone"),
        **dict.fromkeys(("columns", "members", "children"), "fields"),
        **dict.fromkeys(("datatype", "kind"), "type"),
        **dict.fromkeys(("key", "keys"), "keyType"),
        **dict.fromkeys(("value", "values"), "valueType"),
        **dict.fromkeys(("type", "wrapped"), "inner"),
        **dict.fromkeys(("doc", "comment", "desc"), "description"),
    },
    values=FOREIGN_UNITS,
    advice={
        **dict.fromkeys(("nullable", "optional", "null", "required", "notnull", "mode"), _advise_option),
        "id": lambda _key, _field: Remove.it(
            ": ids are kept in the lock next to the manifest", is_safe=False
        ),
        **{fold(key): _advise_attribute(a) for a in ATTRIBUTES.values() for key in a.foreign_keys},
    },
    type_help=_type_help,
    complete_type=_complete_type,
    nouns={
        "Field": "a field",
        "Schema": "a schema",
        **dict.fromkeys(BY_NAME, "a type"),
    },
    examples={
        "Field": "{name: a, type: String}",
        **{name: kind.example for name, kind in BY_NAME.items()},
        "List": "{kind: List, itemType: String}",
    },
)
_FRIENDLY_WORDS = _WORDS._replace(
    document_keys=("name",),
    friendly_keys={"Field": ("description",), "Schema": ("description", "imports", "groups")},
)
_TYPES = ("type", "kind", "inner", "itemType", "keyType", "valueType")
_TYPE_KEYS = frozenset({*_TYPES, *(key for key, meant in _WORDS.keys.items() if meant in _TYPES)})
"""Keys that a type is behind, also those of other systems."""


def bind(
    documents: Sequence[Document],
    source: SourceText,
    parsed: Report,
    report: Report,
    *,
    strict: bool = False,
    is_named: bool = True,
    stem: str | None = None,
    reuse: Reuse | None = None,
) -> list[LogicalDataset]:
    """Return the datasets of a manifest's documents; what is wrong with it, also what was `parsed` wrong, is in the report.

    A file that nobody named, but that was in a folder, may well be something else than a manifest: then there is nothing to
    say of it. A dataset without a name is called after the text, or `stem`. `reuse` has the files that it may import, and takes what it used of them.
    """
    given = _Given(source, strict, is_named, stem_of(source, stem), Reuse() if reuse is None else reuse)
    attempt = Report()
    attempt.extend(parsed.diagnostics)
    datasets = _bound(given, attempt, documents)
    if attempt.has_errors:
        datasets, attempt = _bound_whole(given) or (datasets, attempt)
    if not is_named and not datasets and attempt.diagnostics and not _is_meant(documents, source, attempt):
        return []
    report.extend(attempt.diagnostics)
    return datasets


def _is_meant(documents: Sequence[Document], source: SourceText, found: Report) -> bool:
    """Whether a text without datasets, about which there is something to say, is meant to be a manifest; an empty one is."""
    from schemac.manifest.heads import is_meant  # for start-up time: few folders have such files

    is_empty = not found.has_errors and all(document.value is None for document in documents)
    return is_empty or is_meant(documents, source.content)


def stem_of(source: SourceText, stem: str | None = None) -> str:
    """Return what a dataset without a name is called."""
    # A text that is no file is called `<text>`.
    stem = PurePath(source.name).stem if stem is None else stem
    return stem.removesuffix(".schema").strip("<>") or "dataset"


class _Given(NamedTuple):
    """A text, and how it is to be read."""

    source: SourceText
    strict: bool
    is_named: bool
    stem: str
    reuse: Reuse


def _bound_whole(given: _Given) -> tuple[list[LogicalDataset], Report] | None:
    """Return what is in a text with types that YAML takes apart, read as their author wrote them; None without such."""
    from schemac.manifest.torn import veil

    source = given.source
    veiled = veil(source.content, _TYPE_KEYS)
    if veiled is None:
        return None
    report = Report()
    documents = parse(source, report, content=veiled.content)
    for document in documents:
        document.value = veiled.unveil(document.value)
    datasets = _bound(given, report, documents)
    return (datasets, report) if report.has_errors else None


def _bound(given: _Given, report: Report, documents: Sequence[Document]) -> list[LogicalDataset]:
    source, strict, is_named, stem, reuse = given
    datasets: list[LogicalDataset] = []
    scope = own_groups(documents, stem, reuse, report)
    for document in documents:
        bodies = Documents(
            document, stem, strict, is_named, Sayer(document, report, is_named=is_named)
        ).bodies()
        for body in bodies:
            expander = Expander(scope, report, is_strict=strict) if scope is not None else None
            expanded = expander.expand(document, body.path) if expander is not None else document
            dataset = _DocumentBinder(expanded, strict, report, is_named).dataset(body)
            if dataset is not None:
                is_whole = dataset.is_whole and (expander is None or expander.is_whole)
                datasets.append(dataset if is_whole else replace(dataset, is_whole=False))
    if scope is not None:
        _check_groups(scope, strict, report)
    datasets = told_apart(datasets)
    unique_by_name(datasets, report)
    if not documents and not report.has_errors:
        report.add(
            EMPTY_DOCUMENT,
            f"{source.name} is empty",
            file=source.name,
            help="write `fields:` with the columns of the dataset",
            severity=None if is_named else Severity.NOTE,
        )
    elif (
        not datasets
        and is_named
        and not report.has_errors
        and not any(is_library(d.value) for d in documents)
    ):
        report.add(
            NO_SCHEMA,
            f"{source.name} contains no schema",
            file=source.name,
            help="add a SetDataSchema event, or `fields:`",
        )
    return datasets


def unique_by_name(datasets: list[LogicalDataset], report: Report) -> list[LogicalDataset]:
    """Return the datasets without those whose name is taken already; each of these is an error.

    Names that differ only in case are the same, for they name folders.
    """
    by_name: dict[str, LogicalDataset] = {}
    for dataset in datasets:
        first = by_name.setdefault(dataset.name.casefold(), dataset)
        if first is dataset:
            continue
        origins, other = dataset.origins, first.origins
        span = other.name_span
        labels = (label("first used here", other.source, span),) if other.source and span else ()
        is_same = first.name == dataset.name
        report.add(
            DUPLICATE_DATASET,
            f"the dataset name '{dataset.name}' is already used"
            + ("" if is_same else f" by '{first.name}'")
            + ("" if other.file == origins.file else f" in {other.file}"),
            source=origins.source,
            span=origins.name_span,
            file=origins.file,
            help="give it a different `name:`" if origins.named_at else "give it a `name:` of its own",
            labels=labels,
        )
    return list(by_name.values())


def standard_schemas(
    documents: Sequence[Document], source: SourceText, reuse: Reuse, report: Report
) -> list[list[tuple[Body, Any]]]:
    """Return the schemas of each document in the standard's form, without groups, and where each of them is."""
    stem = stem_of(source)
    scope = own_groups(documents, stem, reuse, report)
    found: list[list[tuple[Body, Any]]] = []
    for document in documents:
        say = Sayer(document, report, is_named=True)
        schemas: list[tuple[Body, Any]] = []
        for body in Documents(document, stem, False, True, say).bodies():
            expanded = Expander(scope, report).expand(document, body.path) if scope is not None else document
            binder = _DocumentBinder(expanded, False, report, is_named=True)
            schemas.append((body, binder.standard(body.path)))
        found.append(schemas)
    return found


def _check_groups(scope: Scope, strict: bool, report: Report) -> None:
    """Say what is wrong with the groups of a text that it does not use itself, as far as they need no arguments."""
    for definition in scope.file.groups.values():
        if definition.name in scope.file.used:
            continue
        document = Expander(scope, report).group(definition)
        if document is not None:
            _DocumentBinder(document, strict, report, is_named=True).dataset(Body(definition.name, ()))


class _DocumentBinder:
    def __init__(self, document: Document, strict: bool, report: Report, is_named: bool) -> None:
        self._document = document
        self._words = _WORDS if strict else _FRIENDLY_WORDS
        self._say = Sayer(document, report, is_named=is_named)
        self._standardizer = Standardizer(document, strict, self._say)

    def standard(self, base: TreePath) -> Any:
        """Return the schema at a path in the standard's form."""
        value: Any = self._document.value
        for segment in base:
            value = value[segment]
        if not base and isinstance(value, dict):
            value = {key: item for key, item in value.items() if key != "name"}
        return self._standardizer.schema(value, base)

    def dataset(self, body: Body) -> LogicalDataset | None:
        """Return the dataset of a schema, as far as it can be read."""
        standard = self.standard(body.path)
        origins = Origins(self._document.source.name, self._document, body.path, body.named_at or None)
        try:
            schema = Schema.model_validate(standard, by_name=False)
        except ValidationError as error:
            wrong = complaints(error, Schema, standard, self._words)
            for found in wrong:
                self._say(
                    found.code, (*body.path, *found.path), found.message, help=found.help, on_key=found.on_key
                )
            mended, unread = mend(standard, [found.path for found in wrong])
            return self._readable_part(body, mended, unread, origins)
        return LogicalDataset(
            body.name, schema, columns(schema), origins, naming=body.naming, is_source=body.is_source
        )

    def _readable_part(
        self, body: Body, standard: Any, unread: frozenset[TreePath], origins: Origins
    ) -> LogicalDataset | None:
        written = standard.get("fields") if isinstance(standard, dict) else None
        if not isinstance(written, list):
            return None
        fields: list[Field] = []
        indices: list[int] = []
        for i, value in enumerate(written):
            try:
                fields.append(Field.model_validate(value, by_name=False))
                indices.append(i)
            except ValidationError:
                continue
        extra = standard.get("extra", {})
        schema = Schema(fields=tuple(fields), extra=extra if isinstance(extra, dict) else {})
        is_whole = len(fields) == len(written) and not unread
        return LogicalDataset(
            body.name,
            schema,
            columns(schema, indices),
            origins,
            is_whole,
            unread,
            body.naming,
            body.is_source,
        )
