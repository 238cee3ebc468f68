"""The importer gives every manifest back, and says of models of others what it does not keep; it runs nothing."""

from pathlib import Path

import pytest

import schemac
from schemac.cli.main import main
from tests.engines.crossing import PLACES, held, title


def imported(folder: Path, text: str, capsys: pytest.CaptureFixture[str]) -> str:
    (folder / "models.py").write_text(text)
    assert main(["import", str(folder / "models.py")]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("place", PLACES)
def test_import_what_was_written(place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The manifest is the same, whatever was lost for Python; and so is the module that is made of it."""
    dataset = held("pydantic", place)
    ((path, content),) = dataset.artifacts("pydantic").items()
    text = imported(tmp_path, content.decode(), capsys)
    assert "not kept" not in text
    (again,) = schemac.compile_text(text)
    assert {title(str(change.path).partition(".")[0]) for change in schemac.diff(dataset, again)} == set()
    assert again.artifacts("pydantic") == {path: content}


MODELS = """
import datetime as dt
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, ClassVar, Literal, Optional, Union
from pydantic import BaseModel, Field, condecimal, conint
raise SystemExit("this is never run")
class Colour(str, Enum):
    RED = "red"
class Point(BaseModel):
    x: float
    y: float = 0.0
class Base(BaseModel):
    kind: ClassVar[str] = "x"
    _hidden: int
    id: int
class Item(Base):
    \"\"\"What is sold.\"\"\"
    f: {}
"""
FOREIGN = {
    "str": ("String", ""),
    "Optional[int]": ("Int64", ""),
    "Union[int, None]": ("Int64", ""),
    "'Point | None'": ("Struct", "not kept: the default 0.0"),
    "list[Point]": ("List", ""),
    "dict[str, list[int]]": ("Map", ""),
    "dict": ("String", ""),
    "Any": ("String", ""),
    "int | str": ("String", "any value of JSON; not kept: the type int | str"),
    "dt.datetime": ("Timestamp", "an instant in UTC"),
    "Colour": ("String", "schemac.dev/enum: [red]"),
    "Literal['a', 'b']": ("String", "schemac.dev/enum: [a, b]"),
    "Literal[1, 2]": ("Int64", "schemac.dev/enum: [1, 2]"),
    "set[str]": ("List", "schemac.dev/uniqueItems: true"),
    "tuple[int, ...]": ("List", "not kept: that it is a tuple"),
    "Decimal": ("String", "not kept: the type Decimal"),
    "Vector(8)": ("List", ""),
    "conint(gt=0)": ("Int64", "schemac.dev/exclusiveMinimum: 0"),
    "Annotated[int, Field(ge=1, description='n')]": ("Int64", "schemac.dev/minimum: 1"),
    "list[float] = Field(min_length=3, max_length=3, description='why')": ("List", "why"),
    "PositiveInt": ("Int64", "schemac.dev/exclusiveMinimum: 0"),
    "Literal['a', None]": ("String", "schemac.dev/enum: [a]"),
    "Literal['a', 1]": ("String", "not kept: the type Literal['a', 1]"),
    "conlist(int, min_length=1)": ("List", "schemac.dev/minItems: 1"),
    "set[float]": ("List", "not kept: uniqueItems True: items of the type Float64 are not compared"),
    "dt.date = Field(ge=dt.date(2020, 1, 31))": ("Date", "schemac.dev/minimum: '2020-01-31'"),
    "dt.datetime = Field(lt=dt.datetime(2020, 1, 31, tzinfo=dt.timezone.utc))": (
        "Timestamp",
        "exclusiveMaximum: '2020-01-31T00:00:00Z'",
    ),
    "str = Field(pattern='^a(?=b)')": (
        "String",
        "not kept: pattern '^a(?=b)': `(?=b` is not in all of RE2, Java and Python",
    ),
    "int = Field(ge=LEAST)": ("Int64", "not kept: minimum 'LEAST': 'LEAST' is not a number"),
    "int = Field(ge=5, le=1)": ("Int64", "not kept: maximum 1: "),
    "str = Field(default='x', alias='odd name', max_length=5)": ("String", "odd name"),
    "'Item'": ("String", "contains itself"),
    "'int |'": ("String", "any value of JSON"),
    "int = Field(ge=float('nan'), le=1e400, multiple_of=0)": (
        "Int64",
        "not kept: multipleOf 0: 0 is not above zero",
    ),
    "str = Field(pattern='(', min_length=-1)": ("String", "not kept: pattern '(': a group is not closed"),
    "Literal[()]": ("String", "any value of JSON"),
    "conlist()": ("String", "any value of JSON"),
    "dt.date = Field(ge=dt.date(2020, 13, 1))": ("Date", "is not a date"),
    "Decimal = Field(max_digits=5, decimal_places=2, ge=Decimal('0.10'))": (
        "Decimal",
        "schemac.dev/minimum: '0.10'",
    ),
    "condecimal(max_digits=5, decimal_places=2, gt=0)": ("Decimal", "schemac.dev/exclusiveMinimum: 0"),
    "int = Field(deprecated='use id')": ("Int64", "schemac.dev/deprecated: {note: use id}"),
    "Somewhere.Else": ("String", "not kept: the type Somewhere.Else"),
}
"""Annotations, the kinds that they become, and what is said of the rest."""


@pytest.mark.parametrize("annotation", FOREIGN)
def test_read_what_others_write(annotation: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kind, said = FOREIGN[annotation]
    text = imported(tmp_path, MODELS.replace("{}", annotation), capsys)
    assert said in text
    datasets = [d for d in schemac.compile_text(text) if d.name == "Item"] or schemac.compile_text(text)
    columns = datasets[0]._logical.columns
    assert [str(c.segment) for c in columns][:1] == ["id"]
    assert columns[1].type.kind == kind
    assert "What is sold." in text


def test_point_to_what_is_no_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.py").write_text("class A(BaseModel):\n    x: int = Field(ge=")
    assert main(["import", str(tmp_path / "a.py"), "--format", "json"]) == 1
    assert '"line": 2' in capsys.readouterr().out.replace('"line":2', '"line": 2')


@pytest.mark.parametrize(
    ("content", "said"),
    [("x = (", "it is not valid Python"), ("x = 1", "no model"), ("class A: x: int", "no model")],
)
def test_say_what_is_no_model(
    content: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text(content)
    assert main(["import", str(tmp_path / "a.py")]) == 1
    assert said in capsys.readouterr().err
