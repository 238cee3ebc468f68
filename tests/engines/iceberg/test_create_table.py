"""`create_table.sql` in a real Spark with Iceberg: the table that it makes differs in what the losses say, and in nothing else.

Runs where `ICEBERG_SPARK_PYTHON` names a Python whose pyspark has Iceberg's runtime.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import schemac
from schemac.engines.iceberg.live_table import differences
from schemac.engines.iceberg.reader import metadata_file, parse_schema, read_file
from tests.conformance.manifest_types import POSITIONS, TYPES, Manifest

PYTHON = os.environ.get("ICEBERG_SPARK_PYTHON")
PLACES = ("column", "optional column", "optional item of an optional List", "member", "value", "key")
ODD = {
    "name": "odd",
    "extra": {
        "iceberg.apache.org/identifierFields": ["id", "place.sp ace"],
        "opendatafabric.org/description": "It's ${odd}; or\nnot",
    },
    "fields": [
        {"name": "id", "type": "Int64", "description": "a; b\nc 'd' \\e"},
        {"name": "place", "type": {"kind": "Struct", "fields": [{"name": "sp ace", "type": "String"}]}},
        {"name": "a`b", "type": {"kind": "Option", "inner": "Int32"}},
    ],
}


def _has_statement(field: Manifest) -> bool:
    try:
        (dataset,) = schemac.compile_text(json.dumps({"fields": [field]}))
        losses = dataset.losses("iceberg")
    except schemac.SchemaError:
        return False
    return not any(loss.becomes.startswith("no statement") for loss in losses)


def _manifests() -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = [ODD]
    for number, place in enumerate(PLACES):
        fields = [field for type_ in TYPES.values() if _has_statement(field := POSITIONS[place](type_))]
        named = [{**field, "name": f"c{i}"} for i, field in enumerate(fields)]
        made.append({"name": f"t{number}", "fields": named})
    return made


@pytest.mark.skipif(PYTHON is None, reason="ICEBERG_SPARK_PYTHON names no Python with Spark and Iceberg")
def test_lose_what_the_losses_say(tmp_path: Path) -> None:
    assert PYTHON is not None
    manifests = _manifests()
    files = []
    for manifest in manifests:
        built = schemac.build_text(json.dumps(manifest), targets=["iceberg"])
        file = tmp_path / f"{manifest['name']}.sql"
        file.write_bytes(built[f"{manifest['name']}/iceberg/create_table.sql"])
        files.append(str(file))
    program = Path(__file__).with_name("spark_tables.py")
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run(
        [PYTHON, str(program), str(tmp_path / "warehouse"), *files], check=True, timeout=500, env=env
    )
    for manifest in manifests:
        (dataset,) = schemac.compile_text(json.dumps(manifest))
        file_ = metadata_file(tmp_path / "warehouse" / manifest["name"])
        assert file_ is not None
        metadata = read_file(file_)
        assert metadata is not None
        lines = list(differences(parse_schema(dataset.to_iceberg()), metadata.current, by_name=True))
        found = {line.split("`")[1] for line in lines}
        said = [loss for loss in dataset.losses("iceberg") if loss.artifact == "iceberg/create_table.sql"]
        wanted = {loss.path.replace("item", "element").replace("`", "") for loss in said if loss.path}
        assert found == wanted, manifest["name"]
        assert metadata.properties.get("comment") == manifest.get("extra", {}).get(
            "opendatafabric.org/description"
        )
