"""Datasets of old whose events have no schema but `rawArrowSchema`.

Layer: project.
Shape: such a text is read as if its last events had the schema that their bytes have. Which fields are optional was inferred,
so that it does not count when the first declared schema is compared with it.
Errors: SC552 unreadable-source, and whatever is wrong with what is read.
Source: RFC-016, "Field optionality during schema upgrades".
"""

from collections.abc import Iterator
from typing import Any

from schemac.arrow.raw_arrow import MalformedArrowError, decode_raw_arrow, read_raw_arrow
from schemac.checks.run import check
from schemac.evolution.version_pair import InferredSchemaVersion
from schemac.importers.importer import refuse
from schemac.logical.dataset import LogicalDataset
from schemac.manifest.bind import read_datasets
from schemac.manifest.library import Reuse
from schemac.manifest.system_columns import with_system_columns
from schemac.project.configuration import Project
from schemac.source.report import Report
from schemac.source.text import SourceText
from schemac.syntax.document import Document, TreePath, parse

RAW_ARROW_SCHEMA = "rawArrowSchema"


def with_inferred(
    source: SourceText, stem: str, project: Project, report: Report, reuse: Reuse, *, is_first: bool = False
) -> tuple[list[LogicalDataset], list[InferredSchemaVersion]] | None:
    """Return the declared datasets of a text, and the inferred ones; None if all are declared.

    With `is_first`, events from the one declared schema on do not count if one with the bytes alone is before it.
    """
    if RAW_ARROW_SCHEMA not in source.content:
        return None
    parsed = Report()
    documents = parse(source, parsed)
    if is_first:
        for one in documents:
            _drop_first_declared(one.value)
    places = {(document.index, at) for document in documents for at in _last_events(document.value, ())}
    for index, at in places:
        _put_in(documents[index], at, report)
    if not places:
        return None
    if report.has_errors:
        return [], []
    datasets = read_datasets(documents, source, parsed, report, is_named=False, stem=stem, reuse=reuse)
    columns = project.configuration.system_columns
    if columns is not None:
        datasets = [with_system_columns(dataset, columns) for dataset in datasets]
    declared: list[LogicalDataset] = []
    inferred: list[InferredSchemaVersion] = []
    for dataset in datasets:
        check(dataset, report, project.vocabularies)
        document, base = dataset.origins.document, dataset.origins.base
        if document is not None and (document.index, base[:-1]) in places:
            inferred.append(InferredSchemaVersion(dataset, source.name))
        else:
            declared.append(dataset)
    return declared, inferred


def _last_events(value: Any, at: TreePath) -> Iterator[TreePath]:
    """Yield the places of events with the bytes alone, after which their dataset gets no other schema."""
    if isinstance(value, list):
        last = max((i for i, event in enumerate(value) if _has_any(event)), default=None)
        if last is not None:
            yield from _last_events(value[last], (*at, last))
    elif isinstance(value, dict) and RAW_ARROW_SCHEMA in value:
        if "schema" not in value:
            yield at
    elif isinstance(value, dict):
        for key in ("content", "spec", "metadata"):
            yield from _last_events(value.get(key), (*at, key))


def _drop_first_declared(value: Any) -> None:
    if isinstance(value, list):
        declared = [i for i, event in enumerate(value) if isinstance(event, dict) and "schema" in event]
        if len(declared) == 1 and any(map(_has_any, value[: declared[0]])):
            del value[declared[0] :]
    elif isinstance(value, dict):
        for key in ("content", "spec", "metadata"):
            _drop_first_declared(value.get(key))


def _has_any(event: Any) -> bool:
    return isinstance(event, dict) and bool({RAW_ARROW_SCHEMA, "schema"} & event.keys())


def _put_in(document: Document, at: TreePath, report: Report) -> None:
    event: Any = document.value
    for step in at:
        event = event[step]
    name = document.source.name
    try:
        event["schema"] = read_raw_arrow(decode_raw_arrow(event[RAW_ARROW_SCHEMA]), name, report)
    except MalformedArrowError as error:
        refuse(name, str(error), report, source=document.source, span=document.span((*at, RAW_ARROW_SCHEMA)))
