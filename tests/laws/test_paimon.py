"""From a schema file of Paimon to a manifest and back: the same bytes, whatever the file says."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import schemac
from schemac.arrow.to_arrow import to_arrow_fields
from schemac.artifacts.targets import Emission
from schemac.engines.paimon import PAIMON_LOSS
from schemac.engines.paimon.artifact import to_table_schema
from schemac.engines.paimon.reader import member_ids, read, read_table_schema
from schemac.engines.paimon.table_schema import TableSchema, number_fields
from schemac.engines.paimon.types import (
    LONGEST,
    VECTOR_ELEMENTS,
    DataField,
    PaimonType,
    parse_type,
)
from schemac.importers.datasets import from_tree
from schemac.importers.importer import ImportedVersion, UnreadableSourceError
from schemac.language.logical.model import preorder
from schemac.language.manifest.write import write_manifest
from schemac.text.source.diagnostics import Report
from schemac.versions.identity.compilation import Compilation
from tests.effort import law
from tests.laws.strategies import names, sentences, words

QUICK = law(150)
EVOLVING = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}

lengths = st.sampled_from((1, 20, LONGEST))
digits = st.integers(0, 9)
decimals = st.integers(1, 38).flatmap(lambda p: st.tuples(st.just(p), st.integers(0, p)))
plain = st.one_of(
    st.sampled_from((*sorted(VECTOR_ELEMENTS), "DATE")).map(PaimonType),
    st.builds(
        lambda word, n: PaimonType(word, (n,)),
        st.sampled_from(("CHAR", "VARCHAR", "BINARY", "VARBINARY")),
        lengths,
    ),
    st.builds(
        lambda word, n: PaimonType(word, (n,)),
        st.sampled_from(("TIME", "TIMESTAMP", "TIMESTAMP_LTZ")),
        digits,
    ),
    decimals.map(lambda parameters: PaimonType("DECIMAL", parameters)),
)
vectors = st.builds(
    lambda element, length: PaimonType("VECTOR", (length,), (element,)),
    st.sampled_from(sorted(VECTOR_ELEMENTS)).map(PaimonType).flatmap(lambda t: nullable(t)),
    st.integers(1, 99),
)


def nullable(type_: PaimonType) -> st.SearchStrategy[PaimonType]:
    return st.booleans().map(lambda is_required: type_.required(is_required))


descriptions = st.none() | st.just("") | sentences | st.text(st.characters(codec="utf-8"), max_size=5)


@st.composite
def fields(draw: st.DrawFn, types: st.SearchStrategy[PaimonType]) -> tuple[DataField, ...]:
    """Members without ids, which are dealt out at the end."""
    distinct = draw(st.lists(names, min_size=1, max_size=4, unique_by=str.casefold))
    return tuple([DataField(0, name, draw(types), draw(descriptions)) for name in distinct])


def nested(inner: st.SearchStrategy[PaimonType]) -> st.SearchStrategy[PaimonType]:
    return st.one_of(
        inner.map(lambda element: PaimonType("ARRAY", parts=(element,))),
        inner.map(lambda element: PaimonType("MULTISET", parts=(element,))),
        st.tuples(inner, inner).map(lambda parts: PaimonType("MAP", parts=parts)),
        fields(inner).map(lambda members: PaimonType("ROW", fields=members)),
    ).flatmap(nullable)


types = st.recursive(
    st.one_of(plain, st.just(PaimonType("VARIANT")), vectors).flatmap(nullable), nested, max_leaves=6
)


@st.composite
def tables(draw: st.DrawFn) -> TableSchema:
    """Schemas with ids in any order, as a table has them that has seen changes."""
    found = list(draw(fields(types)))
    options = draw(st.dictionaries(words, sentences, max_size=2))
    if draw(st.booleans()):
        found.append(DataField(0, "photo", PaimonType("BLOB"), draw(descriptions)))
        options |= EVOLVING
    count = len(member_ids(found))
    ids = draw(st.lists(st.integers(0, 500), min_size=count, max_size=count, unique=True))
    dealt = iter(ids)
    numbered = tuple([_numbered(field, dealt) for field in found])
    defaulted = tuple(
        [f._replace(default_value="5") if f.type.root in ("INT", "DOUBLE") else f for f in numbered]
    )
    keys = [f.name for f in defaulted if f.type.root in ("INT", "DATE") and not f.type.is_nullable]
    primary = tuple(keys) if keys and "photo" not in {f.name for f in found} and draw(st.booleans()) else ()
    partition = tuple(keys[1:]) if draw(st.booleans()) else ()
    highest = max(ids) + draw(st.integers(0, 3))
    comment = draw(st.none() | st.just("") | sentences)
    return TableSchema(
        draw(st.integers(0, 9)), defaulted, highest, partition, primary, options, comment, draw(st.integers(0, 2**45))
    )  # fmt: skip


def _numbered(field: DataField, ids: Iterator[int]) -> DataField:
    id = next(ids)
    return field._replace(id=id, type=_inside(field.type, ids))


def _inside(type_: PaimonType, ids: Iterator[int]) -> PaimonType:
    # A vector has no members in it.
    parts = tuple([_inside(part, ids) for part in type_.parts])
    return replace(type_, parts=parts, fields=tuple([_numbered(member, ids) for member in type_.fields]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("table")


@QUICK
@given(tables())
def test_go_from_paimon_to_manifest_and_back(folder: Path, table: TableSchema) -> None:
    file = folder / "schema-0"
    file.write_text(table.to_text(), encoding="utf-8", newline="")
    report = Report()
    imported = read(file, report)
    assert imported is not None, report.diagnostics
    logical = from_tree(imported.schema, "t", "t", report)
    assert logical is not None, report.diagnostics
    (dataset,) = schemac.compile_text(write_manifest(logical))
    assert dataset.schema == logical.schema
    (version,) = imported.versions
    assert isinstance(version, ImportedVersion)
    emission = Emission(dataset._logical, "paimon", PAIMON_LOSS, report)
    again = to_table_schema(
        Compilation(dataset._logical, to_arrow_fields(dataset._logical)),
        emission,
        ids={
            field: version.numbers[field.path].of("paimon")[0]
            for field in preorder(dataset._logical.columns)
            if field.path in version.numbers
        },
        highest=version.highest.of("paimon"),
        schema_id=version.data.of("paimon")["schemaId"],
        time_millis=version.data.of("paimon").get("timeMillis", 0),
    )
    assert not report.has_errors, report.diagnostics
    assert emission.losses == ()
    assert again.to_text() == table.to_text()


@QUICK
@given(tables())
def test_read_what_was_written(table: TableSchema) -> None:
    assert read_table_schema(json.loads(table.to_text())) == table
    assert json.loads(table.to_text()) == table.to_dict()


@QUICK
@given(types)
def test_print_and_parse_types(type_: PaimonType) -> None:
    assert parse_type(type_.to_json()) == type_


@QUICK
@given(tables(), st.data())
def test_number_only_what_has_no_id(folder: Path, table: TableSchema, data: st.DataObject) -> None:
    file = folder / "schema-1"
    file.write_text(table.to_text(), encoding="utf-8", newline="")
    fields = schemac.from_paimon(file)._logical.columns
    whole, highest = number_fields(fields)
    assert sorted(whole.values()) == list(range(highest + 1))
    numbered = sorted(whole, key=lambda field: field.path_text)
    places = data.draw(st.lists(st.integers(0, len(numbered) - 1), unique=True)) if numbered else []
    kept = {numbered[place]: whole[numbered[place]] for place in places}
    again, above = number_fields(fields, kept, highest)
    assert set(again) == set(whole)
    assert {field: again[field] for field in kept} == kept
    assert sorted(again[field] for field in again if field not in kept) == list(range(highest + 1, above + 1))


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(("INT", "ROW", "a")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(("id", "name", "type", "fields", "element", "key", "value")), inner, max_size=4
        )
    ),
    max_leaves=6,
)


@QUICK
@given(tables(), st.data())
def test_read_or_refuse_whatever_stands_there(folder: Path, table: TableSchema, data: st.DataObject) -> None:
    tree = json.loads(table.to_text())
    places = list(_places(tree, ()))
    *above, last = data.draw(st.sampled_from(places))
    holder = tree
    for step in above:
        holder = holder[step]
    holder[last] = data.draw(_json)
    file = folder / "schema-2"
    file.write_text(json.dumps(tree), encoding="utf-8")
    report = Report()
    try:
        imported = read(file, report)
    except UnreadableSourceError as error:
        error.add_to(report, str(file))
        imported = None
    if imported is None:
        assert report.has_errors
        assert {found.code for found in report.diagnostics} <= {"SC551", "SC552"}
        assert all(found.file == str(file) for found in report.diagnostics)
        return
    logical = from_tree(imported.schema, "t", "t", report)
    assert logical is not None or report.has_errors
    if logical is not None:
        write_manifest(logical, imported.comments).encode()


def _places(tree: Any, above: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, item in items:
        yield (*above, key)
        yield from _places(item, (*above, key))
