"""The filters that find rows which break a constraint, asked of a table of Lance."""

import json
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pyarrow.compute as pc

from schemac.engines.lance.tables.steps import constraint_filter
from schemac.language.constraints.field_constraints import MaxItems, MinItems, UniqueItems, constraints_at
from schemac.versions.evolution.version_pair import SchemaVersion, pair_versions
from tests.compiling import compile_bytes
from tests.constraints.cases import arrow_of, cases, columns_of, values_of

ROWS = 300
WITHOUT = {
    ("multipleOf", "decimal"): "DataFusion's remainder of decimals depends on their widths",
    ("multipleOf", "duration"): "DataFusion has no remainder of durations",
}
"""Constraints and families without a filter, and why."""


def version_of(fields: list[Any], label: str) -> SchemaVersion:
    compiled = compile_bytes(json.dumps({"name": "t", "fields": fields}).encode(), "t.yaml")
    (dataset,) = compiled.datasets
    return SchemaVersion(dataset, label)


def test_find_the_rows_that_break_a_constraint(tmp_path: Path) -> None:
    """Each filter finds the rows that Arrow finds."""
    several = {
        (case.kind.attribute.name, case.type.type_text()): case
        for case in cases()
        if case.kind not in (MinItems, MaxItems, UniqueItems)
    }
    found = list(several.values())
    places = columns_of(found)
    named = [{"name": f"c{i}", **case.field} for i, case in enumerate(found)]
    old = version_of([{**field, "extra": {}} for field in named], "old")
    pair = pair_versions(old, version_of(named, "new"))
    columns: dict[str, Any] = {}
    for i, (case, place) in enumerate(zip(found, places, strict=True)):
        drawn = values_of(case.type, 60)
        columns[f"c{i}"] = arrow_of(case.type, place.field.type, (drawn * ROWS)[:ROWS])
    table = pa.table({**columns, "row": pa.array(range(ROWS))})
    lance.write_dataset(table, tmp_path / "t.lance")
    dataset = lance.dataset(tmp_path / "t.lance")
    without = set()
    for i, (case, schema_field) in enumerate(zip(found, pair.new.dataset.columns, strict=True)):
        (constraint,) = constraints_at(schema_field)
        query = constraint_filter(pair, pair.before[schema_field], constraint)
        if getattr(case.type, "scale", 0) < 0:
            assert not query, "DataFusion reads no number as such a decimal"
            continue
        if not query:
            without.add((constraint.rule, case.type.family.value))
            continue
        expected = pc.indices_nonzero(constraint.violations(columns[f"c{i}"])).to_pylist()
        rows = dataset.to_table(columns=["row"], filter=query).column("row").to_pylist()
        assert rows == expected, (query, columns[f"c{i}"].take(pa.array(sorted({*rows} ^ {*expected})[:3])))
    assert without == set(WITHOUT)
