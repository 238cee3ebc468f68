"""The verdicts on Lance tables, held against tables: every case is carried out on one with data.

What takes metadata alone writes no data file, what takes a rewrite does, what depends on data goes through or is stopped
before the first change, and what is refused is refused.
"""

import json
from pathlib import Path
from typing import Any

import lance
import pytest

import schemac
from schemac.cli.main import main
from schemac.versions.evolution.changes import Outcome
from tests.conformance.arrow_values import table
from tests.effort import every_nth
from tests.evolution.case import Case
from tests.evolution.cases import CASES
from tests.evolution.test_verdicts import verdicts

NOT_STORED = frozenset(
    {
        "sort the keys no more",
        "views of lists",
        "a narrower dictionary of views",
        "a dictionary of views to texts",
    }
)
"""What Lance has no type for; the target says so before."""
INSIDE_VIEWS = "inside list views"
"""What cases in types are called that Lance does not have either."""
READ_IN_PART = "in a vector"
"""Structs in vectors come back column by column only (SC506)."""


DROPPED = {
    "replace all columns": ("--drop", "x"),
    "replace all members": ("--drop", "s.x"),
    "replace all members in a list": ("--drop", "l.item.x"),
    "replace all members in a map": ("--drop", "m.value.x"),
    "replace all members in a vector": ("--drop", "v.item.x"),
}
"""Fields whose values are to go, though a new field could hold them: `lock` asks."""


STORED = [c for c in CASES if c.name not in NOT_STORED and INSIDE_VIEWS not in c.name]


def _files(path: Path) -> set[str]:
    return {file.name for file in (path / "data").rglob("*.lance")}


def _write(case: Case, folder: Path) -> Path:
    """Lock all versions of a case, with a table of the old one; return the table."""
    for manifest in (*case.earlier, case.old, *case.between, case.new):
        (folder / "t.yaml").write_text(json.dumps({"name": "t", **manifest}))
        dropped = DROPPED.get(case.name, ()) if manifest is case.new else ()
        assert main(["lock", "t.yaml", *dropped]) == 0
        if manifest is case.old:
            (dataset,) = schemac.compile_file("t.yaml")
            lance.write_dataset(table(dataset.to_arrow()), folder / "t.lance", data_storage_version="2.2")
    return folder / "t.lance"


def _read(path: Path, case: Case) -> Any:
    dataset = lance.dataset(path)
    if READ_IN_PART not in case.name:
        return dataset.to_table().num_rows
    return dataset.to_table(columns=["id"]).num_rows


@pytest.mark.parametrize("case", every_nth(STORED, 3), ids=lambda case: case.name)
def test_carry_out_as_judged(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = _write(case, tmp_path)
    before = _files(path)
    outcomes = {v.old_data.outcome for v in verdicts(case)[1] if v.engine == "lance"}
    gravest = max(outcomes, key=lambda outcome: outcome.rank, default=Outcome.SAFE)
    code = main(["apply", "t.yaml", "--table", "t.lance"])
    if gravest is Outcome.REFUSED and case.name != "another storage version":
        assert code == 1
        assert _files(path) == before
        return
    if gravest is Outcome.DATA and code != 0:
        assert _files(path) == before, "a check that fails changes nothing"
        return
    assert code == 0
    assert main(["verify", "t.yaml", "--table", "t.lance"]) == 0
    assert _read(path, case) >= 3
    if gravest in (Outcome.SAFE, Outcome.METADATA, Outcome.NEW_FILES):
        assert _files(path) == before
    if gravest is Outcome.REWRITE and not case.earlier:
        # A table that was written at once has in one file what an older one would have in two.
        assert _files(path) > before
