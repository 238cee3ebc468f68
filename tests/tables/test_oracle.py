"""Verdicts held against what really happens: random pairs of schemas, a table with rows, the plan carried out.

Shape: a table of the old schema is written by pylance; the changes are judged; the plan is carried out; the old rows are
read by the new schema and compared with what an independent model says they are. A change that is only metadata may not
touch a data file, one that is refused may not touch the table.
"""

import json
import random
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

import schemac
from schemac.engines.lance.tables.apply import apply_plan, report_drift
from schemac.engines.lance.tables.live_table import LanceTable, open_table
from schemac.engines.lance.tables.plan import plan
from schemac.text.source.diagnostics import Report
from schemac.versions.evolution.changes import Outcome
from schemac.versions.evolution.diff import diff
from schemac.versions.evolution.judge import judge
from schemac.versions.evolution.version_pair import SchemaVersion, locked_schema_version, pair_versions
from schemac.versions.identity.freeze import freeze, identify
from schemac.versions.identity.lock import LockedDataset
from tests.tables.drawing import Drawing, Node, has_misfit, is_refused, row_after

QUIET = lambda what, done, total: None  # noqa: E731 — nobody looks


def locked(versions: list[dict[str, Any]]) -> LockedDataset:
    """A lock with these versions."""
    lock = LockedDataset("t")
    for tree in versions:
        (dataset,) = schemac.compile_text(json.dumps({"name": "t", **tree}))
        lock = freeze(identify(dataset._logical, lock))
    return lock


def write(path: str, version: SchemaVersion, rows: list[dict[str, Any]], per_file: int = 7) -> None:
    """A table with the ids of a first version."""
    schema = version.lowered.to_arrow()
    for start in range(0, len(rows), per_file):
        table = pa.Table.from_pylist(rows[start : start + per_file], schema=schema)
        lance.write_dataset(table, path, mode="append" if start else "create")


def opened(path: str, lock: LockedDataset) -> LanceTable:
    report = Report()
    table = open_table(path, lock, report)
    assert table is not None, report.diagnostics
    return table


def files(path: str) -> set[str]:
    return {file.path for f in lance.dataset(path).get_fragments() for file in f.data_files()}


def comparable(value: Any) -> Any:
    """Values that mean the same are equal: zones and the precision of numbers do not count."""
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [comparable(item) for item in value]
    if hasattr(value, "tzinfo") and value.tzinfo is not None:
        return value.replace(tzinfo=None)
    if isinstance(value, bool):
        return int(value)
    return value


def draw(seed: int) -> tuple[list[Node], list[Node], list[dict[str, Any]]]:
    chance = random.Random(seed)
    drawing = Drawing(chance)
    before = drawing.schema()
    rows = [{column.name: drawing.value(column) for column in before} for _ in range(20)]
    return before, drawing.edited(before, chance.randint(1, 4)), rows


def hold(seed: int, folder: Path) -> set[Outcome]:
    """One pair: what the verdicts say is what happens. Returns the outcomes that occurred."""
    before, after, rows = draw(seed)
    lock = locked([{"fields": [c.member() for c in columns]} for columns in (before, after)])
    path = str(folder / f"{seed}.lance")
    write(path, locked_schema_version(lock, 1), rows)
    if len(lock.versions) == 1:
        return set()
    new = locked_schema_version(lock, 2)
    table = opened(path, lock)
    start = table.dataset.version
    verdicts = judge(diff(table.schema_version, new), pair_versions(table.schema_version, new), ["lance"])
    outcomes = {verdict.old_data.outcome for verdict in verdicts}
    report = Report()
    made = plan(table, new, report)
    assert (Outcome.REFUSED in outcomes) == is_refused(after)
    if Outcome.REFUSED in outcomes:
        assert made is None
        assert {d.code for d in report.diagnostics} == {"SC411"}
        assert lance.dataset(path).version == start
        return outcomes
    assert made is not None, report.diagnostics
    untouched = files(path)
    if has_misfit(after, rows):
        assert Outcome.DATA in outcomes
        assert not apply_plan(made, report, QUIET)
        assert {d.code for d in report.diagnostics} == {"SC422"}
        assert (lance.dataset(path).version, files(path)) == (start, untouched)
        return outcomes
    assert apply_plan(made, report, QUIET), report.diagnostics
    if outcomes <= {Outcome.SAFE, Outcome.METADATA, Outcome.NEW_FILES}:
        assert files(path) == untouched
    if outcomes <= {Outcome.SAFE}:
        assert made.is_done
    if Outcome.REWRITE in outcomes:
        assert files(path) != untouched
    after_table = opened(path, lock)
    report_drift(after_table, made.pair.new, report)
    assert not report.diagnostics
    read = lance.dataset(path).to_table().to_pylist()
    assert [comparable(row) for row in read] == [comparable(row_after(after, row)) for row in rows]
    assert lance.dataset(path, version=start).to_table().num_rows == len(rows)
    return outcomes


def test_find_no_disagreement(tmp_path: Path) -> None:
    seen: set[Outcome] = set()
    for seed in range(200):
        try:
            seen |= hold(seed, tmp_path)
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error
    assert seen == set(Outcome)


def test_add_a_member_to_a_map_that_moves_into_a_new_column(tmp_path: Path) -> None:
    hold(2558, tmp_path)


@pytest.mark.long
def test_find_no_disagreement_among_many(tmp_path: Path) -> None:
    for seed in range(1000, 3000):
        hold(seed, tmp_path)
