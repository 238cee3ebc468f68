"""Binds documents to logical datasets, and recovers from mistakes so that the rest is checked too.

Layer: language.
Shape: one dataset for each schema body, in the order of the text. After a mistake the innermost type around it becomes
a String, and a key that does not belong to a field is removed; a field that still cannot be read is left out.
Everything else keeps its path.
Errors: SC1xx of the text, SC2xx of the grammar. The report then has errors, and nothing is built from such a dataset.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial, reduce
from pathlib import PurePath
from typing import Any, NamedTuple

from pydantic import ValidationError

from schemac.language.attributes.attribute import Attribute
from schemac.language.attributes.registry import ATTRIBUTES
from schemac.language.kinds.registry import BY_NAME, FOREIGN_NAMES
from schemac.language.kinds.temporal import FOREIGN_UNITS
from schemac.language.logical.dataset import LogicalDataset, Origins
from schemac.language.logical.model import PART_KEYS, TYPE_KEYS, Field, Part, Schema, columns, dotted
from schemac.language.logical.names import with_distinct_names
from schemac.language.manifest.documents import Body, Documents, is_library, is_meant
from schemac.language.manifest.expansion import Expander, replaced
from schemac.language.manifest.library import GroupScope, Reuse, scope_of
from schemac.language.manifest.standard import Standardizer, complete_type
from schemac.text.source.catalogue import DUPLICATE_DATASET, EMPTY_DOCUMENT, NO_SCHEMA, UNKNOWN_DOCUMENT
from schemac.text.source.diagnostics import Code, Report, Severity, SourceText, labels_at
from schemac.text.source.json_object import TreePath
from schemac.text.source.phrases import Help, fold
from schemac.text.syntax.compose import whole_types
from schemac.text.syntax.document import Document, child_of, parse
from schemac.text.syntax.model import KnownWords, model_errors


def recover(
    dataset_of: Callable[..., LogicalDataset], standard: Any, mistakes: Iterable[TreePath]
) -> LogicalDataset | None:
    """Return what can be read of a dataset whose schema, in the standard's form, has mistakes at these paths; None if it has no fields."""
    schema = deepcopy(standard)
    written_fields = schema.get("fields") if isinstance(schema, dict) else None
    if not isinstance(written_fields, list):
        return None
    unread: set[TreePath] = set()
    for mistake in sorted(mistakes, key=len):
        path, is_type = _innermost_type(mistake)
        if len(path) < 3:
            # Of the schema as a whole, or of a field that is none.
            continue
        parent: Any = reduce(child_of, path[:-1], schema)
        if isinstance(parent, dict) and is_type:
            parent[path[-1]] = {"kind": "String"}
            unread.add(path)
        elif isinstance(parent, dict) and path[-1] != "name":
            parent.pop(path[-1], None)
    fields: dict[int, Field] = {}
    for i, value in enumerate(written_fields):
        with suppress(ValidationError):
            fields[i] = Field.model_validate(value, by_name=False)
    extra = schema.get("extra", {})
    readable = Schema(fields=tuple(fields.values()), extra=extra if isinstance(extra, dict) else {})
    return dataset_of(
        schema=readable,
        columns=columns(readable, list(fields)),
        is_whole=len(fields) == len(written_fields) and not unread,
        unread=frozenset(unread),
    )


def _innermost_type(mistake: TreePath) -> tuple[TreePath, bool]:
    """Return the innermost type that a mistake is in, and True; or the key of a field that it is in."""
    path, is_type, at = mistake, False, 0
    while at < len(mistake):
        step = mistake[at]
        if step == "fields" and len(mistake) > at + 2:
            is_type = mistake[at + 2] == "type"
            at += 3
        elif step in TYPE_KEYS and is_type:
            at += 1
        else:
            break
        path = mistake[:at]
        if not is_type:
            break
    return path, is_type


_PARTS = {key: part for part, key in PART_KEYS.items()}


@dataclass(frozen=True)
class DocumentFindings:
    """Adds findings at tree paths of a document to a report.

    A file that was not named may be something else than a manifest, which is then a note.
    """

    document: Document
    report: Report
    is_named: bool = True

    def __call__(
        self, code: Code, path: TreePath, message: str, *, help: str = "", on_key: bool = False
    ) -> None:
        """Add a finding about a value, or about its key."""
        location = self.document.location(path, on_key=on_key)
        is_foreign = code in (UNKNOWN_DOCUMENT, EMPTY_DOCUMENT) and not self.is_named
        path_text, severity = self._path_text(path), Severity.NOTE if is_foreign else None
        self.report.add(code, message, location=location, path=path_text, help=help, severity=severity)

    def _path_text(self, path: TreePath) -> str:
        """Return the field that a tree path leads into."""
        value: Any = self.document.value
        segments: list[str | Part] = []
        before: str | int = ""
        for segment in path:
            if not isinstance(value, dict | list):
                break
            value = child_of(value, segment)
            if before == "fields" and isinstance(segment, int):
                name = value.get("name") if isinstance(value, dict) else None
                segments.append(name if isinstance(name, str) else f"[{segment}]")
            elif isinstance(segment, str) and segment in _PARTS and before != "extra":
                segments.append(_PARTS[segment])
            elif segment == "extra" and segments:
                break
            before = segment
        return dotted(tuple(segments))


def _suggest_type(text: str, is_nested: bool = False) -> str | None:
    """Return what to write for the text of a type that is no kind."""
    from schemac.language.manifest.foreign import suggest_type  # for start-up time: most types are kinds

    return suggest_type(text, is_nested)


def _advise_option(key: str, field: Mapping[str, Any]) -> str:
    """Return what to write for a flag of nullability."""
    kind = field["type"].get("kind") if isinstance(field.get("type"), dict) else None
    if field[key] is (fold(key) not in ("nullable", "optional", "null")):
        if kind is not None and fold(str(kind)) == "option":
            return Help.remove(": the type is an Option, whose values may be null", is_safe=False)
        return Help.remove(": a type without Option is never null")
    inner = kind if isinstance(kind, str) and len(field["type"]) == 1 else "…"
    return Help.make_optional(
        f"nullability is part of the type: write `type: {{kind: Option, inner: {inner}}}`"
    )


def _advise_attribute(attribute: Attribute[Any]) -> Callable[[str, Mapping[str, Any]], str]:
    """Return a function that gives the help for a key of another system: which attribute to write for it."""
    if not attribute.on_field:
        return lambda _key, _field: f"write it under `extra:` of the schema as `{attribute.key}`"
    return lambda _key, _field: Help.move_to_extra(
        f"write it under `extra:` as `{attribute.key}`", attribute.key
    )


_WORDS = KnownWords(
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
        "id": lambda _key, _field: Help.remove(
            ": ids are kept in the lock next to the manifest", is_safe=False
        ),
        **{fold(key): _advise_attribute(a) for a in ATTRIBUTES.values() for key in a.foreign_keys},
    },
    type_help=_suggest_type,
    complete_type=complete_type,
    nouns={"Field": "a field", "Schema": "a schema", **dict.fromkeys(BY_NAME, "a type")},
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
_TYPES = ("type", "kind", *TYPE_KEYS)
_TYPE_KEYS = frozenset({*_TYPES, *(key for key, meant in _WORDS.keys.items() if meant in _TYPES)})
"""Keys that a type is behind, also those of other systems."""


class Binder(NamedTuple):
    """Makes datasets of the documents of one text."""

    source: SourceText
    strict: bool = False
    is_named: bool = True
    """Whether somebody named the file; one that was found in a folder may be something else than a manifest."""
    stem: str | None = None
    """The name of datasets without one; the name of the text if None."""
    reuse: Reuse | None = None
    """The files that the text may import, which also records those that it used."""

    def bind(self, documents: Sequence[Document], report: Report) -> list[LogicalDataset]:
        """Return the datasets of the documents, as far as they can be read; what is wrong is in the report."""
        source, strict, is_named = self.source, self.strict, self.is_named
        stem = stem_of(source, self.stem)
        datasets: list[LogicalDataset] = []
        scope = scope_of(documents, Reuse() if self.reuse is None else self.reuse, report)
        for document in documents:
            findings = DocumentFindings(document, report, is_named=is_named)
            for body in Documents(document, stem, strict, is_named, findings).bodies():
                expander = Expander(scope, report, is_strict=strict) if scope is not None else None
                expanded = expander.expand(document, body.path) if expander is not None else document
                dataset = _dataset(expanded, body, strict, DocumentFindings(expanded, report))
                if dataset is not None:
                    is_whole = dataset.is_whole and (expander is None or expander.is_whole)
                    datasets.append(dataset if is_whole else replace(dataset, is_whole=False))
        if scope is not None:
            _check_groups(scope, strict, report)
        datasets = with_distinct_names(datasets)
        unique_by_name(datasets, report)
        if report.has_errors:
            return datasets
        if not documents:
            message, help = f"{source.name} is empty", "write `fields:` with the columns of the dataset"
            severity = None if is_named else Severity.NOTE
            report.add(EMPTY_DOCUMENT, message, file=source.name, help=help, severity=severity)
        elif not datasets and is_named and not any(is_library(document.value) for document in documents):
            message = f"{source.name} contains no schema"
            report.add(NO_SCHEMA, message, file=source.name, help="add a SetDataSchema event, or `fields:`")
        return datasets


def read_datasets(
    binder: Binder, documents: Sequence[Document], parsed: Report, report: Report
) -> list[LogicalDataset]:
    """Return the datasets of a manifest's documents; what is wrong with it, also what was `parsed` wrong, is in the report.

    A file that was found in a folder may be something else than a manifest, and is then ignored.
    """
    source = binder.source
    attempt = Report()
    attempt.extend(parsed.diagnostics)
    datasets = binder.bind(documents, attempt)
    if attempt.has_errors and (event_sources := whole_types(source.content, _TYPE_KEYS)):
        whole_attempt = Report()
        whole_documents = parse(source, whole_attempt, event_sources)
        whole_datasets = binder.bind(whole_documents, whole_attempt)
        if whole_attempt.has_errors:
            datasets, attempt = whole_datasets, whole_attempt
    if not binder.is_named and not datasets and attempt.diagnostics:
        is_empty = not attempt.has_errors and all(document.value is None for document in documents)
        if not is_empty and not is_meant(documents, source.content):
            return []
    report.extend(attempt.diagnostics)
    return datasets


def stem_of(source: SourceText, stem: str | None = None) -> str:
    """Return what a dataset without a name is called."""
    # A text that is no file is called `<text>`.
    stem = PurePath(source.name).stem if stem is None else stem
    return stem.removesuffix(".schema").strip("<>") or "dataset"


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
        is_same = first.name == dataset.name
        report.add(
            DUPLICATE_DATASET,
            f"the dataset name '{dataset.name}' is already used"
            + ("" if is_same else f" by '{first.name}'")
            + ("" if other.file == origins.file else f" in {other.file}"),
            location=origins.name_location,
            file=origins.file,
            help="give it a different `name:`" if origins.named_at else "give it a `name:` of its own",
            labels=labels_at(other.name_location, "first used here"),
        )
    return list(by_name.values())


def expanded_text(documents: Sequence[Document], source: SourceText, reuse: Reuse) -> str:
    """Return the text of a manifest without errors, without groups and in the standard's form.

    There is one document for each that has a schema or other events; what is not a schema stays as it is. A schema with nothing
    around it is in a DatasetSnapshot, for the standard has no name next to `fields`.
    """
    from schemac.language.manifest.write import write_documents  # for start-up time, as above

    stem, report = stem_of(source), Report()
    scope = scope_of(documents, reuse, report)
    values: list[Any] = []
    for document in documents:
        if document.value is None or is_library(document.value):
            continue
        value: Any = document.value
        add = DocumentFindings(document, report)
        for body in Documents(document, stem, False, True, add).bodies():
            expanded = Expander(scope, report).expand(document, body.path) if scope is not None else document
            schema = _standard(expanded, body, False, add)
            if body.path:
                value = replaced(value, body.path, schema)
            else:
                event = {"kind": "SetDataSchema", "schema": schema}
                content = {"name": body.name, "kind": "Root", "metadata": [event]}
                value = {"kind": "DatasetSnapshot", "version": 1, "content": content}
        values.append(value)
    assert not report.has_errors, "a manifest with errors is not expanded"
    return write_documents(values)


def _check_groups(scope: GroupScope, strict: bool, report: Report) -> None:
    """Check the groups that a text defines and does not use, except those that need arguments."""
    for definition in scope.file.groups.values():
        if definition.name in scope.file.used:
            continue
        document = Expander(scope, report).group(definition)
        if document is not None:
            _dataset(document, Body(definition.name, ()), strict, DocumentFindings(document, report))


def _standard(document: Document, body: Body, strict: bool, add: DocumentFindings) -> Any:
    """Return a schema, whose groups have been inserted, in the standard's form."""
    value = document.part(body.path)
    if not body.path and isinstance(value, dict):
        value = {key: item for key, item in value.items() if key != "name"}
    return Standardizer(document, strict, add).schema(value, body.path)


def _dataset(document: Document, body: Body, strict: bool, add: DocumentFindings) -> LogicalDataset | None:
    """Return the dataset of a schema, whose groups have been inserted, as far as it can be read."""
    standard = _standard(document, body, strict, add)
    origins = Origins(document.source.name, document, body.path, body.named_at or None)
    dataset_of = partial(
        LogicalDataset, body.name, origins=origins, naming=body.naming, is_source=body.is_source
    )
    try:
        schema = Schema.model_validate(standard, by_name=False)
    except ValidationError as error:
        errors = model_errors(error, Schema, standard, _WORDS if strict else _FRIENDLY_WORDS)
        for e in errors:
            add(e.code, (*body.path, *e.path), e.message, help=e.help, on_key=e.on_key)
        return recover(dataset_of, standard, [e.path for e in errors])
    return dataset_of(schema=schema, columns=columns(schema))
