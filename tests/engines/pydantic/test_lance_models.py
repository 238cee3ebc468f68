"""Models of lancedb in a Python file: read without running it, as `to_arrow_schema` has them."""

import json
from pathlib import Path

import pytest

import schemac
from schemac.cli.main import main
from schemac.importers.sources import import_source
from schemac.text.source.diagnostics import Report

MODELS = '''\
from __future__ import annotations
import datetime as dt
from datetime import date, datetime
from enum import Enum, IntEnum, auto
from typing import Annotated, ClassVar, List, Optional, Tuple, Union
import pyarrow as pa
from pydantic import BaseModel, Field, field_validator
from lancedb.pydantic import LanceModel as Model, MultiVector, Vector

DIM = 16
raise SystemExit("nobody runs this")

class Color(str, Enum):
    RED = "red"

class Level(IntEnum):
    LOW = auto()

class Mixed(Enum):
    A = 1
    B = "b"

class Point(BaseModel):
    x: float
    tags: Optional[List[str]] = None

class Base(Model):
    """What all have."""
    id: int
    text: str = Field(description="the text", max_length=10)
    _private: int = 3
    kind: ClassVar[str] = "x"

class Doc(Base):
    model_config = {"extra": "forbid"}
    n: "Optional[int]" = None
    f: float | None = 2.0
    raw: bytes
    day: date
    at: dt.datetime
    zoned: datetime = Field(json_schema_extra={"tz": "Europe/Berlin"})
    v: Vector(DIM)
    w: Optional[Vector(8, pa.float16())] = None
    x: Vector(4, nullable=False)
    m: MultiVector(5)
    lists: List[List[int]]
    several: Tuple[int, ...]
    points: List[Point]
    color: Color
    level: Level
    mixed: Mixed
    noted: Annotated[int, Field(ge=0)]
    either: Union[str, None]

    @field_validator("n")
    @classmethod
    def check_n(cls, value):
        return value
'''
BERLIN = "timestamp[us, tz=Europe/Berlin] not null"
TYPES = {
    "id": "int64 not null",
    "text": "string not null",
    "n": "int64",
    "f": "double",
    "raw": "binary not null",
    "day": "date32[day] not null",
    "at": "timestamp[us] not null",
    "zoned": BERLIN,
    "v": "fixed_size_list<item: float>[16]",
    "w": "fixed_size_list<item: halffloat>[8]",
    "x": "fixed_size_list<item: float>[4] not null",
    "m": "list<item: fixed_size_list<item: float>[5]>",
    "lists": "list<item: list<item: int64>> not null",
    "several": "list<item: int64> not null",
    "points": "list<item: struct<x: double not null, tags: list<item: string>>> not null",
    "color": "dictionary<values=string, indices=int32, ordered=0> not null",
    "level": "int64 not null",
    "mixed": "string not null",
    "noted": "int64 not null",
    "either": "string",
}
"""What lancedb 0.40 gives for these models."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_read_models_without_running_them(folder: Path) -> None:
    (folder / "models.py").write_text(MODELS)
    assert main(["import", "models.py", "--out", "m.yaml"]) == 0
    assert main(["check", "m.yaml"]) == 0
    base, doc = schemac.compile_file("m.yaml")
    assert (base.name, doc.name) == ("Base", "Doc")
    shown = {f.name: f"{f.type}{'' if f.nullable else ' not null'}" for f in doc.to_arrow()}
    assert shown == TYPES
    text = (folder / "m.yaml").read_text()
    assert text.startswith("# from the LanceModel Base\nname: Base\ndescription: What all have.\n")
    for note in (
        "not kept: max_length=10",
        "not kept: default=2.0",
        "not kept: check_n, which checks or computes values",
        "not kept: model_config = {'extra': 'forbid'}",
    ):
        assert f"# {note}\n" in text
    assert "'tz'" not in text


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        ("Vector(func.ndims())", "whose dimension is known only when the program runs"),
        ("dict", "there is no kind for dict"),
        ("Union[int, str]", "there is no kind for Union[int, str]"),
        ("List", "there is no kind for List"),
        ("T", "models that hold each other"),
        ("'int('", "there is no kind for 'int('"),
    ],
)
def test_report_what_only_running_tells(
    annotation: str, reason: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "models.py").write_text(f"class T(LanceModel):\n    a: int\n    b: {annotation}\n")
    assert main(["import", "models.py", "--format", "json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert (found["code"], found["line"], found["column"]) == ("SC551", 3, 8)
    assert reason in found["message"]
    assert main(["import", "models.py", "--skip", "b"]) == 0


def test_say_which_fields_are_elsewhere(folder: Path) -> None:
    (folder / "models.py").write_text("from x import B\nclass T(LanceModel, B):\n    a: int\n")
    report = Report()
    found = import_source(Path("models.py"), None, report)
    assert found is not None
    assert "not read: fields of its bases in other files, B" in found.comments


@pytest.mark.parametrize(
    "text", ["class T(LanceModel:\n", "x = 'LanceModel'\n", f"# LanceModel\n{'(' * 5000}", "# LanceModel\n\0"]
)
def test_refuse_what_has_no_models(text: str, folder: Path) -> None:
    (folder / "models.py").write_text(text)
    assert main(["import", "models.py", "--out", "m.yaml"]) == 1
    assert not (folder / "m.yaml").exists()
