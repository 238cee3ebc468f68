"""Verdicts held against pyiceberg: random pairs of schemas, a table with rows, the plan carried out.

Shape: a table of the old schema is made and written by pyiceberg; the changes are judged, and each is tried by pyiceberg's
own `update_schema`; the plan is carried out, and the old rows are read by the new schema and compared with what an
independent model says they are. What is refused leaves the table as it was.
"""

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from schemac.engines.iceberg.artifact import fields_of, schema_of
from schemac.engines.iceberg.live_table import open_iceberg_table, shape_of
from schemac.engines.iceberg.plan import plan_iceberg
from schemac.engines.iceberg.tables import TABLES, apply_iceberg
from schemac.text.source.diagnostics import Report
from schemac.versions.evolution.changes import Outcome
from schemac.versions.evolution.diff import diff_of
from schemac.versions.evolution.judge import judge_change
from schemac.versions.evolution.version_pair import VersionPair, locked_schema_version, pair_versions
from tests.engines.iceberg.conftest import CATALOG
from tests.engines.iceberg.rows import append, attempt, create
from tests.tables import drawing
from tests.tables.drawing import Drawing, Node, has_misfit, row_after
from tests.tables.test_oracle import comparable, locked

LAX = (("string", "binary"), ("binary", "string"), ("fixed[16]", "uuid"))
"""Changes that pyiceberg 0.12 makes, and the specification does not have."""


class IcebergDrawing(Drawing):
    """Schemas that Iceberg can hold, with edits that it often makes."""

    def leaf(self, is_optional: bool) -> Node:
        """A plain type, but no duration."""
        kind = self.chance.choice([kind for kind in drawing.LEAVES if kind != "Duration"])
        return Node(kind, "", is_optional, self.properties(kind))

    def cast(self, node: Node) -> None:
        """More often than not something that Iceberg promotes."""
        wider = {"Int8": "Int64", "Int16": "Int32", "Int32": "Int64", "UInt8": "Int64", "Float32": "Float64"}
        narrower = {"Int16": "Int8", "Int32": "Int16", "UInt16": "Int16", "Timestamp": "Timestamp"}
        if self.chance.random() < 0.3:
            super().cast(node)
        elif self.chance.random() < 0.3 and node.was is not None and node.was.kind in narrower:
            # Iceberg has the same type for both.
            node.kind = narrower[node.was.kind]
        elif node.was is not None and node.kind == node.was.kind and not node.children:
            if node.kind == "Decimal":
                node.properties = {**node.properties, "precision": node.properties["precision"] + 2}
            else:
                node.kind = wider.get(node.kind, node.kind)


def told(value: Any) -> Any:
    """A value as it is compared: pyiceberg 0.12 reads null maps, and null lists of structs, as empty ones."""
    if isinstance(value, dict):
        return {key: told(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [told(item) for item in value] or None
    return comparable(value)


def is_lax(change: Any, pair: VersionPair) -> bool:
    """Whether pyiceberg is known to make a change that no promotion is."""
    if change.old_field is None or change.new_field is None:
        return False
    was, is_ = fields_of(pair.old).get(change.old_field), fields_of(pair.new).get(change.new_field)
    if was is None or is_ is None:
        return False
    words = (was.type.word, is_.type.word)
    return words in LAX or all(word.startswith("decimal") for word in words)


def is_unreadable(node: Node, value: Any) -> bool:
    """Whether pyiceberg 0.12 cannot read a value of a list any more, since its items got a struct that has a required member."""
    if not value:
        return False
    if node.kind == "Map":
        return any(is_unreadable(node.children[1], item) for _, item in value)
    if node.kind == "Struct":
        return any(
            child.was is not None and is_unreadable(child, value.get(child.was.name))
            for child in node.children
        )
    if node.kind != "List":
        return False
    new = [child for child in node.children[0].children if child.was is None and child.kind == "Struct"]
    return any(not inner.is_optional for child in new for inner in child.children) or any(
        is_unreadable(node.children[0], item) for item in value
    )


def hold(seed: int, catalog: Any) -> set[Outcome]:
    """One pair: what the verdicts say is what happens. Returns the outcomes that occurred."""
    chance = random.Random(seed)
    drawn = IcebergDrawing(chance)
    before = drawn.schema()
    rows = [{column.name: drawn.value(column) for column in before} for _ in range(6)]
    after = drawn.edited(before, chance.randint(1, 4))
    lock = locked([{"fields": [c.member() for c in columns]} for columns in (before, after)])
    old = locked_schema_version(lock, 1)
    name = f"iceberg://{CATALOG}/n.t{seed}"
    handle = create(catalog, f"t{seed}", schema_of(old), rows)
    if len(lock.versions) == 1:
        return set()
    new = locked_schema_version(lock, 2)
    report = Report()
    table = open_iceberg_table(name, lock, report)
    assert table is not None, report.diagnostics
    # Where Iceberg has the same for both versions, the table is at the newer one as well.
    is_alike = table.schema_version.label == "lock:2"
    assert is_alike == (shape_of(schema_of(new)) == shape_of(schema_of(old)))
    pair = pair_versions(old, new)
    outcomes: set[Outcome] = set()
    for change in diff_of(pair):
        said = judge_change("iceberg", change, pair)
        outcomes.add(said.outcome)
        against = attempt(handle, change, pair)
        if said.outcome is Outcome.REFUSED:
            assert against or is_lax(change, pair), f"pyiceberg makes what is refused: {change}"
        else:
            assert not against, f"{change}: {against}"
    made = plan_iceberg(table, new, report)
    if Outcome.REFUSED in outcomes:
        assert not is_alike
        assert made is None
        assert {d.code for d in report.diagnostics} == {"SC411"}
        return outcomes
    assert made is not None, report.diagnostics
    # The values that are drawn fit all types but a list of another length, which is seen by looking at them. A table
    # that is at the newer version has nothing to be looked at.
    unchanged = handle.schema()
    is_misfit = not is_alike and has_misfit(after, rows)
    assert apply_iceberg(made, report) is not is_misfit, report.diagnostics
    if is_misfit:
        assert {d.code for d in report.diagnostics} == {"SC422"}
        assert handle.refresh().schema() == unchanged
        return outcomes
    TABLES.verify(name, new.locked, new, report)
    assert not report.diagnostics
    handle = catalog.load_table(f"n.t{seed}")
    if any(c.was is not None and is_unreadable(c, row[c.was.name]) for c in after for row in rows):
        with pytest.raises(pa.ArrowInvalid, match="nulls in input cannot be viewed as non-nullable"):
            handle.scan().to_arrow()
        return outcomes
    read = handle.scan().to_arrow().to_pylist()
    expected = [told(row_after(after, row)) for row in rows]
    assert [told(row) for row in read] == expected
    # Whoever writes from now on writes the new columns.
    append(handle, read)
    assert [told(row) for row in handle.scan().to_arrow().to_pylist()] == [*expected, *expected]
    return outcomes


def test_find_no_disagreement(catalog: Any) -> None:
    seen: set[Outcome] = set()
    for seed in range(30):
        try:
            seen |= hold(seed, catalog)
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error
    assert seen == {Outcome.SAFE, Outcome.METADATA, Outcome.DATA, Outcome.REFUSED}


@pytest.mark.long
def test_find_no_disagreement_among_many(catalog: Any, tmp_path: Path) -> None:
    for seed in range(1000, 2500):
        hold(seed, catalog)
