"""Every pair of plain types at every place: what the judge says is what pyiceberg does, and old files are read so."""

import datetime
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

import schemac
from schemac.engines.iceberg.artifact import fields_of, schema_of
from schemac.versions.evolution.changes import Outcome
from schemac.versions.evolution.diff import diff_of
from schemac.versions.evolution.judge import judge_change
from schemac.versions.evolution.version_pair import SchemaVersion, pair_versions
from tests.conformance.manifest_types import Manifest, member, of
from tests.engines.iceberg.rows import attempt, create, path_of, type_of

UUID = {"iceberg.apache.org/type": "uuid"}
TYPES: dict[str, tuple[Manifest, Any]] = {
    "boolean": (of("Bool"), True),
    "int": (of("Int32"), -(2**31)),
    "long": (of("Int64"), 2**62),
    "float": (of("Float32"), 0.1),
    "double": (of("Float64"), 0.1),
    "decimal(9, 2)": (of("Decimal", precision=9, scale=2), Decimal("1234567.89")),
    "decimal(12, 2)": (of("Decimal", precision=12, scale=2), Decimal("1234567890.12")),
    "decimal(12, 3)": (of("Decimal", precision=12, scale=3), Decimal("-1.234")),
    "date": (of("Date"), datetime.date(2024, 2, 29)),
    "time": (of("Time", unit="Microsecond"), datetime.time(23, 59, 59, 999999)),
    "timestamp": (
        of("Timestamp", unit="Microsecond", timezone=None),
        datetime.datetime(2024, 2, 29, 1, 2, 3, 4),  # noqa: DTZ001 — a clock without zone
    ),
    "timestamptz": (
        of("Timestamp", unit="Microsecond"),
        datetime.datetime(2024, 2, 29, 1, 2, 3, 4, datetime.UTC),
    ),
    "string": (of("String"), "ä"),
    "binary": (of("Binary"), b"\xff"),
    "fixed[16]": (of("Binary", fixedLength=16), bytes(range(16))),
    "uuid": (of("Binary", UUID, fixedLength=16), bytes(range(16))),
}
LAX = {
    *(("string", "binary"), ("binary", "string"), ("fixed[16]", "uuid")),
    *(("decimal(9, 2)", "decimal(12, 3)"), ("decimal(12, 2)", "decimal(12, 3)")),
    *(("decimal(12, 3)", "decimal(12, 2)"),),
}
"""Changes that pyiceberg 0.12 makes, and the specification does not have."""
PROMOTIONS = {("int", "long"), ("float", "double"), ("decimal(9, 2)", "decimal(12, 2)")}
PLACES: dict[str, tuple[Callable[[Manifest], Manifest], Callable[[Any], Any]]] = {
    "column": (lambda t: t, lambda v: v),
    "item": (lambda t: of("List", itemType=t), lambda v: [v]),
    "value": (lambda t: of("Map", keyType=of("Int32"), valueType=t), lambda v: [(1, v)]),
    "member": (lambda t: of("Struct", fields=[member("a", t)]), lambda v: {"a": v}),
    "key": (lambda t: of("Map", keyType=t, valueType=of("Int32")), lambda v: [(v, 1)]),
}


def version(fields: list[Manifest]) -> SchemaVersion:
    (dataset,) = schemac.compile_text(json.dumps({"name": "t", "fields": fields}))
    return SchemaVersion(dataset._logical, "test")


@pytest.mark.parametrize("place", PLACES)
def test_agree_about_every_pair(place: str, catalog: Any) -> None:
    around, holding = PLACES[place]
    # pyarrow makes no uuids inside of other values.
    olds = [word for word in TYPES if place == "column" or word != "uuid"]
    names = {word: f"c{i}" for i, word in enumerate(olds)}
    old = version([member(names[word], around(TYPES[word][0])) for word in olds])
    row = {names[word]: holding(TYPES[word][1]) for word in olds}
    table = create(catalog, place, schema_of(old), [row])
    allowed, lax = set(), set()
    update = table.update_schema()
    for becomes, (manifest, _) in TYPES.items():
        pair = pair_versions(old, version([member(names[word], around(manifest)) for word in olds]))
        found = set()
        for change in diff_of(pair):
            assert change.old_field is not None
            assert change.new_field is not None
            was = fields_of(old)[change.old_field].type.word
            found.add(was)
            against = attempt(table, change, pair)
            if judge_change("iceberg", change, pair).outcome is Outcome.REFUSED:
                lax |= set() if against else {(was, becomes)}
            else:
                assert not against, f"{was} → {becomes}: {against}"
                allowed.add((was, becomes))
                update.update_column(path_of(change.old_field), type_of(becomes))
        assert found == set(olds) - {becomes}
    assert allowed == (PROMOTIONS if place != "key" else set())
    assert lax == (LAX if place != "key" else set())
    update.commit()
    (read,) = table.scan().to_arrow().to_pylist()
    for name, value in row.items():
        assert _close(read[name], value), name


def _close(read: Any, value: Any) -> bool:
    """Whether a value is the same; a float is the nearest of its width, and pyiceberg gives a uuid as such."""
    if isinstance(value, dict):
        return all(_close(read[key], item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return all(_close(*both) for both in zip(read, value, strict=True))
    if isinstance(value, float):
        return bool(abs(read - value) < 1e-8)
    return bool((read.bytes if hasattr(read, "bytes") else read) == value)
