"""What a verdict allows has a step: the tables of Iceberg and Paimon are held against the operations of their plans.

Shape: every case of `cases.py` is locked, and its steps are run from the one version to the other.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from schemac.engines.iceberg import artifact as iceberg
from schemac.engines.iceberg import steps as iceberg_steps
from schemac.engines.iceberg.judge import ROWS as ICEBERG_ROWS
from schemac.engines.iceberg.plan import requested_properties
from schemac.engines.paimon import changes as paimon_steps
from schemac.engines.paimon.changes import alteration_between
from schemac.engines.paimon.judge import ROWS as PAIMON_ROWS
from schemac.engines.paimon.live_table import errors_of, table_schema
from schemac.versions.evolution.changes import Change, Judgement, Outcome, as_seen_by
from schemac.versions.evolution.diff import diff_of
from schemac.versions.evolution.judge import judge_change
from schemac.versions.evolution.version_pair import VersionPair, locked_schema_version, pair_versions
from schemac.versions.identity.freeze import freeze, identify
from schemac.versions.identity.lock import LockedDataset
from tests.compiling import compile_bytes
from tests.evolution.case import Case
from tests.evolution.cases import CASES

Steps = set[Callable[..., Iterator[Any]]]
ROWS: Mapping[str, Mapping[Any, Any]] = {"iceberg": ICEBERG_ROWS, "paimon": PAIMON_ROWS}
TOGETHER = "together with its columns"
"""Said of keys and options that a step of their columns changes."""


def locked_pair(case: Case) -> VersionPair:
    lock = LockedDataset("t")
    for manifest in (case.old, case.new):
        (dataset,) = compile_bytes(json.dumps({"name": "t", **manifest}).encode(), "t.yaml").datasets
        lock = freeze(identify(dataset, lock))
    return pair_versions(*(locked_schema_version(lock, lock.versions[place].number) for place in (0, -1)))


def steps_of_iceberg(pair: VersionPair) -> Steps | None:
    """The steps that have something to do; None where one of the schemas is not one of Iceberg's."""
    if iceberg.errors_of(pair.old) or iceberg.errors_of(pair.new):
        return None
    old, new = requested_properties(pair.old), requested_properties(pair.new)
    schemas = iceberg.schema_of(pair.old), iceberg.schema_of(pair.new)
    formats = iceberg.format_of(pair.old), iceberg.format_of(pair.new)
    set_ = {key: value for key, value in new.items() if old.get(key) != value}
    commit = iceberg_steps.TableCommit(*schemas, *formats, set_, tuple(sorted(old.keys() - new.keys())))
    whole = {step for step in iceberg_steps.STEPS if list(step(commit))}
    if iceberg_steps.at_fields not in whole:
        return whole
    before, after = ({field.id: field for _, field in schema.preorder()} for schema in schemas)
    both = [(before[id], after[id]) for id in before.keys() & after.keys()]
    at_fields = {
        step for step in iceberg_steps.FIELD_STEPS if any(list(step("", was, is_)) for was, is_ in both)
    }
    added = {iceberg_steps.add} if after.keys() - before.keys() else set()
    return (whole - {iceberg_steps.at_fields}) | at_fields | added


def steps_of_paimon(pair: VersionPair) -> Steps | None:
    if errors_of(pair.old) or errors_of(pair.new):
        return None
    old, new = (table_schema(version).of_version("1") for version in (pair.old, pair.new))
    alteration = alteration_between(old, new)
    return {step for step in paimon_steps.STEPS if list(step(alteration))}


STEPS_OF = {"iceberg": steps_of_iceberg, "paimon": steps_of_paimon}


@pytest.mark.parametrize("engine", ROWS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_have_a_step_for_what_is_allowed(case: Case, engine: str) -> None:
    pair = locked_pair(case)
    changes = [as_seen_by(engine, change) for change in diff_of(pair)]
    judged: list[tuple[Change, Judgement]] = [(c, judge_change(engine, c, pair)) for c in changes]
    steps = STEPS_OF[engine](pair)
    if steps is None or any(judgement.outcome is Outcome.REFUSED for _, judgement in judged):
        return
    rows = ROWS[engine]
    named = {step for change in changes for step in rows[change.fact].steps}
    assert steps <= named, "the table names every step of a plan"
    for change, judgement in judged:
        needed = set(rows[change.fact].steps)
        if judgement.outcome is Outcome.SAFE:
            continue
        # Values that may not fit a type of the schema do not change the type of the engine.
        if needed and judgement.outcome is not Outcome.DATA and TOGETHER not in judgement.reason:
            assert needed & steps, f"{change}: {judgement}"


def test_run_every_step_of_the_tables() -> None:
    """No row names a step that a plan does not run, and each step has a row."""
    named = {name: {step for row in rows.values() for step in row.steps} for name, rows in ROWS.items()}
    at_fields = {iceberg_steps.add, *iceberg_steps.FIELD_STEPS}
    assert named["iceberg"] == {*iceberg_steps.STEPS, *at_fields} - {iceberg_steps.at_fields}
    assert named["paimon"] == set(paimon_steps.STEPS)
