"""The module has the schemas of the other artifacts, asked of pyspark and pyarrow; no session is needed."""

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

import schemac
from schemac.cli.main import main
from schemac.engines.python_source import identifiers, literal
from tests.engines.crossing import PLACES, held

types = pytest.importorskip("pyspark.sql.types")
ROOT = Path(__file__).parents[3]
GOLDEN = Path(__file__).parent / "rides_schema.py"


def module(dataset: schemac.Dataset) -> ModuleType:
    """The module of a dataset, as Python reads it."""
    ((path, content),) = dataset.artifacts("python").items()
    found = ModuleType(Path(path).stem)
    exec(compile(content, path, "exec"), vars(found))
    return found


def same(found: ModuleType, dataset: schemac.Dataset) -> None:
    assert tuple(field.name for field in dataset.schema.fields) == found.COLUMNS
    wanted = pa.ipc.read_schema(pa.py_buffer(dataset.artifacts("arrow")["arrow/schema.arrow"]))
    assert found.ARROW_SCHEMA.equals(wanted, check_metadata=True)


@pytest.mark.parametrize("place", PLACES)
def test_have_the_schemas_of_every_type_in_every_place(place: str) -> None:
    dataset = held("spark", place)
    found = module(dataset)
    same(found, dataset)
    wanted = types.StructType.fromJson(json.loads(dataset.artifacts("spark")["spark/schema.json"]))
    assert wanted == found.STRUCT_TYPE
    assert found.STRUCT_TYPE.jsonValue() == wanted.jsonValue()
    lost = {
        (loss.path, loss.lost, loss.becomes)
        for loss in dataset.losses("spark")
        if loss.artifact in ("", "spark/schema.json")
    }
    assert lost <= {(loss.path, loss.lost, loss.becomes) for loss in dataset.losses("python")}


def test_do_without_a_struct_type_where_spark_refuses() -> None:
    dataset = held("arrow", "column")
    found = module(dataset)
    same(found, dataset)
    with pytest.raises(AttributeError, match="STRUCT_TYPE"):
        _ = found.STRUCT_TYPE
    assert "Spark" in next(
        loss.becomes for loss in dataset.losses("python") if loss.lost == "spark/schema.json"
    )


NAMES = [
    "a",
    "class",
    "None",
    "a b",
    "a_b",
    "1",
    "",
    "__init__",
    "_x",
    "é",
    "a-b",
    "mro",
    '"',
    "\\",
    "a\nb",
    "x" * 200,
    "a_b_2",
    "_",
]


def test_name_columns_by_constants() -> None:
    fields = [{"name": name, "type": {"kind": "Int32"}} for name in NAMES if name]
    (dataset,) = schemac.compile_text(json.dumps({"name": "odd-names/x.1", "fields": fields}))
    found = module(dataset)
    assert (found.__name__, found.NAME) == ("odd_names_x_1_schema", "odd-names/x.1")
    constants = {key: value for key, value in vars(found.Columns).items() if not key.startswith("__")}
    assert sorted(constants.values()) == sorted(name for name in NAMES if name)
    assert constants["a_b"] == "a_b"
    assert constants["mro"] == "mro"
    assert len(set(identifiers(NAMES).values())) == len(NAMES)


@pytest.mark.parametrize(
    "text", ["", '"""', "a\\", 'x"', "\ud800", "\u2028", "\x00", "tab\t", "é", "{x}", "a\r\nb\n\n  c"]
)
def test_describe_columns_in_any_text(text: str) -> None:
    assert eval(literal(text)) == text
    if "\ud800" in text:
        return
    extra = {"opendatafabric.org/description": text}
    fields = [{"name": "a", "type": {"kind": "Int32"}, "extra": extra}]
    (dataset,) = schemac.compile_text(json.dumps({"fields": fields, "extra": extra}))
    assert module(dataset).Columns.a == "a"


def test_write_what_is_checked_by_mypy() -> None:
    """The file lies in the repository, so that `mypy --strict` reads it with all others."""
    (dataset,) = schemac.compile_file(ROOT / "examples/demo/rides.yaml")
    assert dataset.artifacts("python") == {"python/rides_schema.py": GOLDEN.read_bytes()}


def test_import_it_where_schemac_is_not(tmp_path: Path) -> None:
    """It goes along by itself, and loads neither library before it is asked for."""
    program = (
        "import sys; from rides_schema import COLUMNS, Columns; assert not {'pyspark', 'pyarrow', 'schemac'} & set(sys.modules);"
        "from rides_schema import ARROW_SCHEMA; assert 'pyspark' not in sys.modules; print(ARROW_SCHEMA.names == list(COLUMNS))"
    )
    command: list[Any] = [
        sys.executable,
        "-I",
        "-c",
        f"import sys; sys.path.insert(0, {str(GOLDEN.parent)!r}); {program}",
    ]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stdout == "True\n", ran.stderr


def test_come_back_through_arrow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The module is not imported as a source, for a file of Python is never run; the refusal says what to do instead."""
    (dataset,) = schemac.compile_file(ROOT / "examples/constraints/rides.yaml")
    assert schemac.from_arrow(module(dataset).ARROW_SCHEMA, name=dataset.name).schema == dataset.schema
    ((path, content),) = dataset.artifacts("python").items()
    (tmp_path / Path(path).name).write_bytes(content)
    assert main(["import", str(tmp_path / Path(path).name)]) == 1
    assert "schemac.from_arrow(rides_schema.ARROW_SCHEMA)" in "".join(capsys.readouterr())
