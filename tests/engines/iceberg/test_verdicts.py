"""The verdicts on Iceberg tables, held against tables of pyiceberg: every case is carried out on one with data.

What is refused leaves the table as it is; whatever else is said, the table has the new schema afterwards, and all its rows can be read.
Tables of format 3 are left out, for pyiceberg cannot write them.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import schemac
from schemac.cli.main import main
from schemac.engines.iceberg.artifact import errors_of
from schemac.engines.iceberg.attributes import FORMAT_VERSION
from schemac.versions.evolution.changes import Outcome
from tests.conformance.arrow_values import table
from tests.conformance.manifest_types import Manifest
from tests.conformance.test_lance_verdicts import DROPPED
from tests.effort import every_nth
from tests.engines.iceberg.conftest import CATALOG
from tests.evolution.case import Case
from tests.evolution.cases import CASES
from tests.evolution.test_verdicts import verdicts, version

TABLE = f"iceberg://{CATALOG}/n.t"


def _is_stored(case: Case) -> bool:
    is_of_format_2 = all(FORMAT_VERSION.key not in m.get("extra", {}) for m in (case.old, case.new))
    is_of_two_versions = not case.earlier and not case.between
    return is_of_format_2 and is_of_two_versions and not errors_of(version(case.old, "old"))


STORED = [case for case in CASES if _is_stored(case)]


def _lock(manifest: Manifest, *options: str) -> None:
    Path("t.yaml").write_text(json.dumps({"name": "t", **manifest}))
    assert main(["lock", "t.yaml", *options]) == 0


@pytest.mark.parametrize("case", every_nth(STORED, 4), ids=lambda case: case.name)
def test_carry_out_as_judged(
    case: Case, catalog: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyiceberg.schema import Schema

    monkeypatch.chdir(tmp_path)
    _lock(case.old)
    (dataset,) = schemac.compile_file("t.yaml")
    schema = Schema.model_validate(dataset.to_iceberg())
    made = catalog.create_table("n.t", schema, properties={"schemac.version": "1"})
    made.append(table(made.schema().as_arrow()))
    rows = made.scan().count()
    _lock(case.new, *DROPPED.get(case.name, ()))
    outcomes = {v.old_data.outcome for v in verdicts(case)[1] if v.engine == "iceberg"}
    gravest = max(outcomes, key=lambda outcome: outcome.rank, default=Outcome.SAFE)
    # What depends on data is asked of people: Iceberg does not look at the rows.
    code = main(["apply", "t.yaml", "--table", TABLE, "--unchecked"])
    if gravest is Outcome.REFUSED:
        assert code == 1
        assert catalog.load_table("n.t").metadata_location == made.metadata_location
        return
    assert code == 0
    assert main(["verify", "t.yaml", "--table", TABLE]) == 0
    assert len(catalog.load_table("n.t").scan().to_arrow()) == rows
