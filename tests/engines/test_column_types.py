"""What targets say that they have in the place of each field."""

from collections.abc import Mapping

import pytest

import schemac
from schemac.artifacts.targets import Emission, load_target, target_names
from schemac.language.kinds.registry import KINDS
from schemac.language.logical.model import LogicalType
from schemac.text.source.diagnostics import Report

TARGETS = [name for name in target_names() if load_target(name).types is not None]


def types_of(name: str, text: str) -> Mapping[str, str] | None:
    """The types by path; None where the engine refuses the schema."""
    (dataset,) = schemac.compile_text(text)
    target = load_target(name)
    assert target.types is not None
    report = Report()
    emission = Emission(dataset._logical, name, target.loss_code, report)
    found = target.types(dataset._compilation, emission)
    return None if report.has_errors else {field.path_text: text for field, text in found.items()}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", TARGETS)
def test_have_a_type_for_every_column_that_is_not_refused(name: str, kind: type[LogicalType]) -> None:
    types = types_of(name, f"fields:\n  - name: a\n    type: {kind.example}\n")
    assert types is None or types["a"]


def test_write_types_as_the_artifacts_do() -> None:
    text = (
        "fields:\n  - {name: fare, type: {kind: Decimal, precision: 9, scale: 2}}\n"
        "  - {name: at, type: {kind: Option, inner: Timestamp}}\n"
        "  - {name: tags, type: {kind: List, itemType: UInt8}}\n"
    )
    (dataset,) = schemac.compile_text(text)
    arrow = types_of("arrow", text)
    assert arrow is not None
    assert {k: v.removesuffix(" not null") for k, v in arrow.items() if "." not in k} == {
        field.name: str(field.type) for field in dataset.to_arrow()
    }
    spark = types_of("spark", text)
    assert spark is not None
    for path in ("fare", "at", "tags"):
        assert f"`{path}` {spark[path]}" in dataset.to_spark_ddl()
    paimon = types_of("paimon", text)
    assert paimon is not None
    assert paimon["fare"] == dataset.to_paimon()["fields"][0]["type"]
    iceberg = types_of("iceberg", text)
    assert iceberg is not None
    assert iceberg["fare"].removesuffix(" not null") == dataset.to_iceberg()["fields"][0]["type"].replace(
        ",", ", "
    ).replace("  ", " ")
