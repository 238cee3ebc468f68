"""What every kind has to answer, drawn from the registry."""

from itertools import combinations, product
from pathlib import Path
from typing import Any, ClassVar, Literal

import pyarrow as pa
import pytest

import schemac
from schemac.arrow.from_arrow import from_arrow, kind_of
from schemac.cli.main import main
from schemac.engines.odf.binary import TAGS
from schemac.language.attributes.arrow import ArrowDefaults, Hints
from schemac.language.attributes.attribute import Family
from schemac.language.kinds.registry import BY_NAME, KINDS
from schemac.language.logical.model import AuthoredType, Castability, LogicalType
from schemac.text.source.diagnostics import Report
from schemac.versions.evolution.castability import _BETWEEN, castability

VARIANTS = [variant for kind in KINDS for variant in kind.variants()]


def titled(value: Any) -> str:
    return value.type_text() if isinstance(value, LogicalType) else value.__name__


def test_number_kinds_as_the_standard_does() -> None:
    numbers = [kind.standard_number for kind in KINDS if kind.standard_number is not None]
    assert numbers == list(range(1, len(numbers) + 1))


def test_share_no_foreign_name() -> None:
    for one, other in combinations(KINDS, 2):
        assert not set(one.foreign_names) & set(other.foreign_names)


def test_refuse_a_kind_that_leaves_a_question_open() -> None:
    with pytest.raises(
        TypeError, match="the kind Uuid does not define its family, standard_number, foreign_names"
    ):

        class Uuid(LogicalType):
            kind: Literal["Uuid"] = "Uuid"
            example: ClassVar[str] = "Uuid"


def test_refuse_a_kind_that_lacks_what_its_family_has() -> None:
    with pytest.raises(
        TypeError, match="the kind Uuid does not define its fixed_length, which the family bytes has"
    ):

        class Uuid(LogicalType):
            kind: Literal["Uuid"] = "Uuid"
            example: ClassVar[str] = "Uuid"
            family: ClassVar[Family] = Family.BYTES
            standard_number: ClassVar[int | None] = None
            foreign_names: ClassVar[tuple[str, ...]] = ()


@pytest.mark.parametrize("variant", VARIANTS, ids=titled)
def test_come_back_from_arrow(variant: LogicalType) -> None:
    arrow = variant.to_arrow((), Hints(), ArrowDefaults())
    found = kind_of(arrow)
    assert found is not None
    kind, tree, hints = found
    assert kind.model_validate(tree) == variant
    assert not hints


@pytest.mark.parametrize("variant", VARIANTS, ids=titled)
def test_hold_its_own_samples(variant: LogicalType) -> None:
    samples = variant.samples()
    assert samples
    arrow = variant.to_arrow((), Hints(), ArrowDefaults())
    if not pa.types.is_temporal(arrow) and not pa.types.is_float16(arrow):
        assert len(pa.array(samples, arrow)) == len(samples)


@pytest.mark.parametrize(("one", "other"), list(product(KINDS, repeat=2)), ids=titled)
def test_cast_between_kinds_only_by_a_rule(one: type[LogicalType], other: type[LogicalType]) -> None:
    if one is other or not one.variants() or not other.variants():
        return
    if (one.family, other.family) not in _BETWEEN:
        assert castability(one.variants()[0], other.variants()[0]) is Castability.NEVER


@pytest.mark.parametrize("variant", VARIANTS, ids=titled)
def test_equal_itself(variant: LogicalType) -> None:
    assert castability(variant, variant) is Castability.EQUAL
    assert not list(variant.facts(variant))


def test_ask_the_kind_whatever_facts_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """A property that a kind forgets in its facts is not taken for one that is the same."""
    decimal = BY_NAME["Decimal"]
    monkeypatch.setattr(decimal, "facts", lambda _, __: iter(()))
    old, new = (decimal.model_validate({"kind": "Decimal", "precision": n, "scale": 2}) for n in (9, 4))
    assert castability(old, new) is Castability.DEPENDS


def test_refuse_what_the_standard_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setattr(BY_NAME["Duration"], "standard_number", None)
    monkeypatch.delitem(TAGS, "Duration")
    text = "fields: [{name: took, type: Duration}]"
    with pytest.raises(schemac.SchemaError, match="the standard has no kind Duration") as caught:
        schemac.build_text(text, targets=["odf"])
    assert {d.code for d in caught.value.diagnostics} == {"SC533"}
    (dataset,) = schemac.compile_text(text)
    for ask in (dataset.to_odf, dataset.to_odf_flatbuffers):
        with pytest.raises(schemac.SchemaError, match="the standard has no kind Duration"):
            ask()
    assert schemac.build_text(text, targets=["arrow"])
    strict = schemac.check_text(text, strict=True)
    assert "SC214" in {d.code for d in strict}


def test_read_an_extension_type_as_the_kind_that_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = BY_NAME["Duration"]
    stands_for = classmethod(lambda cls, type_: AuthoredType({}) if type_ == pa.uuid() else None)
    monkeypatch.setattr(kind, "from_arrow", stands_for)
    report = Report()
    converted = from_arrow(pa.schema([pa.field("id", pa.uuid(), nullable=False)]), "x.arrow", report)
    assert converted == {"fields": [{"name": "id", "type": {"kind": "Duration"}}]}


@pytest.mark.parametrize("kinds", [("Duration", "Int64"), ("Int64", "Duration")])
def test_refuse_another_kind_that_an_engine_stores_alike(
    monkeypatch: pytest.MonkeyPatch,
    kinds: tuple[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(BY_NAME["Duration"], "to_arrow", lambda *_: pa.int64())
    spelled = {"Int64": "Int64", "Duration": "{kind: Duration, unit: Microsecond}"}
    (tmp_path / "old").mkdir()
    old, new = tmp_path / "old" / "t.yaml", tmp_path / "t.yaml"
    for path, kind in zip((old, new), kinds, strict=True):
        path.write_text(f"fields: [{{name: took, type: {spelled[kind]}}}]", encoding="utf-8")
    arguments = ["breaking", str(new), "--against", str(old), "--engine", "lance", "--ignore-readers"]
    assert main(arguments) == 1
    assert "SC411" in capsys.readouterr().out
