"""The ids of a Lance table go into a lock field by field, whatever the fields are."""

from pathlib import Path
from typing import Any

import lance
import pytest

import schemac
from schemac.arrow.to_arrow import to_arrow_fields
from schemac.cli.import_commands import adopted
from schemac.engines.lance.artifact import to_message
from schemac.importers.datasets import from_tree
from schemac.importers.sources import import_source
from schemac.text.source.diagnostics import Report
from schemac.versions.identity.opening import open_version

CASES = sorted((Path(__file__).parents[1] / "corpus/accepted").iterdir())
WITHOUT_A_TABLE = {
    "no_columns",
    "empty_structs",
    "map_with_sorted_keys",
    "hints_top_level",
    "rfc_016_hints",
    "storage_version_2_0",
}
"""Cases of which Lance makes no table, or none that has a manifest: views of lists, blobs of another version."""


def fields_of(table: Any) -> list[tuple[str, int]]:
    """Name and id of every field of a table, in pre-order."""

    def below(field: Any) -> list[tuple[str, int]]:
        return [(field.name(), field.id()), *(own for child in field.children() for own in below(child))]

    return [own for field in table.lance_schema.fields() for own in below(field)]


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.name not in WITHOUT_A_TABLE], ids=lambda case: case.name
)
def test_lock_the_ids_of_a_table(case: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    dataset = schemac.compile_file(case / "manifest.yaml")[0]
    table = lance.write_dataset(dataset.to_arrow().empty_table(), path)
    if len(dataset.schema.fields) > 1:
        # By now its ids are not those of a new table.
        table.drop_columns([dataset.schema.fields[-2].name])
    report = Report()
    imported = import_source(path, None, report)
    assert imported is not None, report.diagnostics
    logical = from_tree(imported.schema, "t", "t", report)
    assert logical is not None, report.diagnostics
    lock = adopted(logical, imported, lambda tree: None)
    assert lock is not None
    opened = open_version(lock, lock.versions[0])
    numbers = {schema_field: state.numbers for schema_field, state in opened.states.items()}
    message = to_message(to_arrow_fields(opened.logical), numbers)
    assert [(field.name, field.id) for field in message.fields] == fields_of(lance.dataset(path))
