"""Completion in pipelines, and findings of open pipelines and overlays.

Layer: lsp.
Shape: keys, words and descriptions are those of the JSON Schema that `schemac schema pipeline` prints; listed here are
only the places of names of the project: manifests, datasets, fields, and columns of the source. An open pipeline is
checked as by `schemac check`, except for files that are not on this machine; an open overlay as by `--overlay`, with
all datasets of the project.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from lsprotocol import types

from schemac.language.attributes.constraints import REFERENCES
from schemac.language.logical.schema_fields import preorder
from schemac.language.manifest.documents import is_overlay, is_pipeline
from schemac.lsp.findings import CompletionItem, key_item, named, plain, yaml_text, zones
from schemac.lsp.grammar import Context
from schemac.lsp.locations import Scope
from schemac.lsp.outline import Role
from schemac.lsp.projects import Checked, is_yaml
from schemac.project.fixing import without_ignored
from schemac.project.options import overlay_of
from schemac.text.source.diagnostic import Diagnostic, Severity
from schemac.text.source.json_object import Json, TreePath
from schemac.text.source.report import Report
from schemac.text.source.text import decode_text
from schemac.text.syntax.document import parse

_KEYS = {"source", "sources", "target"}


def is_like_pipeline(root: Mapping[str, str]) -> bool:
    """Whether a text is to become a pipeline, by the outermost keys that it has so far."""
    return bool(_KEYS & root.keys()) and not {"kind", "$schema", "groups", "datasets"} & root.keys()


def pipeline_text(context: Context) -> str:
    """Return the description of a key at the cursor; empty if there is none."""
    cursor = context.cursor
    for node in _nodes(cursor.path) if cursor.role is Role.KEY and cursor.key else ():
        property_schema = node.get("properties", {}).get(cursor.key)
        if property_schema is not None:
            words = sorted(map(str, _words([property_schema, *_alternatives(property_schema)])))
            texts = [f"**{cursor.key}**: {_description(property_schema)}".removesuffix(": ")]
            texts += [f"Values: {', '.join(f'`{word}`' for word in words)}"] if words else []
            return "\n\n".join(texts)
    return ""


def pipeline_items(context: Context, scope: Scope) -> Iterator[CompletionItem]:
    """Yield what may be written at the cursor."""
    cursor, path, root = context.cursor, context.cursor.path, context.written.root
    nodes = _nodes(path)
    if cursor.role is not Role.KEY:
        for word in _words(nodes):
            yield CompletionItem(
                yaml_text(word), yaml_text(word), types.CompletionItemKind.EnumMember, rank=2
            )
        # A column of the source: `fare: cost`, or `fare: {from: cost}`.
        short = path[:-1] if path[-1:] == ("from",) else path
        is_origin = short[-2:-1] == ("fields",) and isinstance(short[-1], str)
        if path == ("schema",):
            yield from plain(scope.manifests(), types.CompletionItemKind.File)
        elif path == ("dataset",):
            yield from plain(scope.datasets_of_manifest(root.get("schema")), types.CompletionItemKind.Struct)
        elif path[-1:] and path[-1] in ("timezone", "zone"):
            yield from plain(zones(), types.CompletionItemKind.Value)
        elif is_origin or path[-2:] == ("explode", "path"):
            yield from plain(_columns(context, scope), types.CompletionItemKind.Field)
    if cursor.role is not Role.VALUE:
        present_keys = set(cursor.keys)
        dataset = scope.dataset_of_pipeline(root)
        items: Iterator[CompletionItem] = iter(())
        if path[-1:] == ("fields",) and dataset is not None:
            items = named((str(field.segment) for field in dataset.columns), types.CompletionItemKind.Field)
        elif path == ("references",) and dataset is not None:
            references = REFERENCES.read(dataset.schema.extra) or ()
            items = named((one.dataset for one in references), types.CompletionItemKind.Struct)
        yield from (item for item in items if item.label not in present_keys)
        for node in nodes:
            required = node.get("required", ())
            for name, property_schema in node.get("properties", {}).items():
                if name not in present_keys:
                    text, is_required = _description(property_schema), name in required
                    yield key_item(name, text, rank=3, is_required=is_required)


# The columns of a source


def _columns(context: Context, scope: Scope) -> list[str]:
    """Return the paths of the source's columns, from a sample."""
    path = context.cursor.path
    source: Any = context.written.outermost("source")
    if path[:1] == ("sources",):
        source = context.written.value(2)
    if isinstance(source, dict):
        paths = source.get("path")
        first = paths[0] if isinstance(paths, list) and paths else paths
        if isinstance(first, str) and "://" not in first:
            return columns_of(scope.folder / first, source.get("format"))
    return []


_MOST_BYTES = 64 * 1024 * 1024
"""Largest file whose columns are looked for."""
_FILES = ("csv", "tsv", "json", "ndjson", "jsonl", "geojson", "parquet")


def columns_of(path: Path, format: Any) -> list[str]:
    """Return the paths of the columns of a file, or of the first one that a folder or a pattern has; none where it cannot be read."""
    try:
        if path.is_file():
            files = [path]
        elif path.is_dir():
            files = sorted(one for one in path.iterdir() if one.suffix.removeprefix(".") in _FILES)
        else:
            is_pattern = any(sign in path.name for sign in "*?[")
            files = sorted(filter(Path.is_file, path.parent.glob(path.name))) if is_pattern else []
        if not files:
            return []
        data_file = files[0]
        state = data_file.stat()
        is_small = state.st_size <= _MOST_BYTES or data_file.suffix == ".parquet"
        return list(_sampled(str(data_file), format, state.st_mtime_ns)) if is_small else []
    except (OSError, ValueError):
        return []


@lru_cache(32)
def _sampled(path: str, format: Any, changed: int) -> tuple[str, ...]:
    """Return the columns of a file that was changed at this time."""
    from schemac.importers.sources import formats, import_source  # for start-up time: few complete a path
    from schemac.language.logical.model import Schema
    from schemac.language.logical.schema_fields import columns

    names = {"json": "ndjson", "geojson": "ndjson"}
    format_name = names.get(str(format), str(format))
    imported = import_source(Path(path), format_name if format_name in formats() else None, Report())
    if imported is None:
        return ()
    schema = Schema.model_validate(imported.schema)
    return tuple(field.path_text for field in preorder(columns(schema)) if field.is_member)


# The grammar


@cache
def _grammar() -> Json:
    """Return the JSON Schema of pipelines, made once."""
    from schemac.pipeline.declaration.job import pipeline_schema  # for start-up time: pydantic

    return pipeline_schema()


def _nodes(path: TreePath) -> list[Json]:
    """Return what may be at a path, each without references and alternatives."""
    nodes = list(_alternatives(_grammar()))
    for step in path:
        if isinstance(step, int):
            below = [node.get("items") for node in nodes]
        else:
            below = [node.get("properties", {}).get(step, node.get("additionalProperties")) for node in nodes]
        nodes = [one for node in below if isinstance(node, dict) for one in _alternatives(node)]
    return nodes


def _alternatives(node: Json) -> Iterator[Json]:
    """Yield the nodes that a node of JSON Schema permits, with references and alternatives resolved."""
    reference = node.get("$ref")
    if isinstance(reference, str):
        yield from _alternatives(_grammar()["$defs"][reference.rpartition("/")[2]])
    for one in (*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ())):
        yield from _alternatives(one)
    if "$ref" not in node and "anyOf" not in node:
        yield node


def _words(nodes: list[Json]) -> list[Any]:
    """Return the values that nodes of JSON Schema list, each once: enums, constants and booleans."""
    words: dict[Any, None] = {}
    for node in nodes:
        words |= dict.fromkeys(node.get("enum", ()))
        words |= {node["const"]: None} if isinstance(node.get("const"), str | int) else {}
        words |= {True: None, False: None} if node.get("type") == "boolean" else {}
    return list(words)


def _description(node: Json) -> str:
    """Return the first description of a node or of its alternatives, on one line; empty if there is none."""
    texts = [node.get("description", ""), *(one.get("description", "") for one in _alternatives(node))]
    return next((text.replace("\n", " ") for text in texts if text), "")


_KEY = re.compile(rb"^[\"']?([A-Za-z]+)[\"']?[ \t]*:[ \t]*(.?)", re.MULTILINE)
_WORDS = (b"target", b"source", b"datasets")
"""One of them is in each."""


def is_companion(path: str, content: bytes) -> bool:
    """Whether a text is a pipeline or an overlay, by its outermost keys; one in brackets is not recognized."""
    if not is_yaml(path) or not any(word in content for word in _WORDS):
        return False
    keys = _keys(content)
    return is_pipeline(keys) or is_overlay(keys)


def _keys(content: bytes) -> dict[str, str]:
    """Return the outermost keys of a text of YAML, each with the first character of its value; read by a pattern alone."""
    return {
        key.decode(): value.decode("utf-8", "replace")
        for key, value in _KEY.findall(content.replace(b"\r", b"\n"))
    }


def check_companion(path: str, checked: Checked) -> tuple[Diagnostic, ...]:
    """Return all findings of a pipeline or an overlay that an editor holds."""
    content = checked.buffers[path]
    findings = checked.findings.get(path, ())
    if any(one.severity is Severity.ERROR for one in findings):
        return findings
    report, name = Report(), checked.name(path)
    if is_pipeline(_keys(content)):
        try:
            from schemac.pipeline.conforming.load import checked_job  # for start-up time, and it is an extra
        except ModuleNotFoundError:
            pass
        else:
            checked_job(Path(path), report, edited=checked.buffers, is_typed=True)
    elif (overlay := overlay_of(content, name, report)) is not None:
        overlay.check_names([one.name for file in checked.files for one in file.named], report, is_whole=True)
        for dataset in (one for file in checked.files if file.named for one in file.datasets):
            overlay.over(dataset, None, checked.project, report)
    new_findings = [
        _with_relative_paths(one, checked) for one in report.diagnostics if checked.path(one.file) == path
    ]
    if not new_findings:
        new_findings = [
            _with_relative_paths(one, checked) for one in _of_manifest(path, content, checked, report)
        ]
    # Under one name of the file.
    all_findings = [replace(one, file=name) for one in (*findings, *new_findings)]
    return tuple(without_ignored(all_findings, {name: content}.get, checked.project))


def _of_manifest(path: str, content: bytes, checked: Checked, report: Report) -> Iterator[Diagnostic]:
    """Yield a pipeline's findings about its manifest, if the manifest itself is not checked."""
    for one in report.diagnostics:
        if one.severity is Severity.ERROR and checked.file(checked.path(one.file)) is None:
            source = decode_text(content, checked.name(path), Report())
            documents = parse(source, Report()) if source is not None else []
            if source is not None and documents:
                region = source.region(documents[0].span(("schema",)))
                yield replace(
                    one,
                    line=region.line,
                    column=region.column,
                    end_line=region.end_line,
                    end_column=region.end_column,
                    labels=(),
                )
            return


def _with_relative_paths(diagnostic: Diagnostic, checked: Checked) -> Diagnostic:
    """Return a finding with files spoken of from the project's folder."""
    folder = os.path.join(checked.project.folder, "")
    message, help = (text.replace(folder, "") for text in (diagnostic.message, diagnostic.help))
    return replace(diagnostic, message=message, help=help)
