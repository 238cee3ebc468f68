"""There and back: what goes through a format comes back the same, or as the format's losses say."""

import pyarrow as pa
import pytest
from hypothesis import given

import schemac
from schemac.arrow.from_arrow import from_arrow
from schemac.engines.lance.attributes import PRIMARY_KEY_MARK, PRIMARY_KEY_POSITION
from schemac.importers.datasets import from_tree
from schemac.language.manifest.write import write_manifest
from schemac.text.source.diagnostics import Report
from tests.conformance.arrow_schemas import schemas
from tests.effort import law
from tests.laws.shapes import shapes
from tests.laws.strategies import texts

QUICK = law(150)
SCHEMAS = dict(schemas())


@QUICK
@given(texts())
def test_go_from_manifest_to_arrow_and_back(text: str) -> None:
    (dataset,) = schemac.compile_text(text)
    again = schemac.from_arrow(dataset.to_arrow(), name=dataset.name)
    assert shapes(again.to_arrow()) == shapes(dataset.to_arrow())
    assert schemac.from_arrow(again.to_arrow(), name=dataset.name).schema == again.schema


@QUICK
@given(texts())
def test_go_from_manifest_to_text_and_back(text: str) -> None:
    (dataset,) = schemac.compile_text(text)
    (again,) = schemac.compile_text(write_manifest(dataset._logical))
    assert (again.name, again.schema) == (dataset.name, dataset.schema)


def _spelled_otherwise(schema: pa.Schema) -> bool:
    """Lance reads several spellings of a key's mark; a manifest has one of them."""
    marks = [field.metadata or {} for field in schema]
    flags = [m.get(PRIMARY_KEY_MARK.encode()) for m in marks]
    positions = [m.get(PRIMARY_KEY_POSITION.encode()) for m in marks]
    return any(
        p is not None and (f != b"true" or not p.isdigit() or p == b"0")
        for f, p in zip(flags, positions, strict=True)
    ) or any(f not in (None, b"true") for f in flags)


def _imported(schema: pa.Schema) -> schemac.Dataset | None:
    """The dataset; None where keys or hints of the Arrow schema are such that no manifest may have them."""
    report = Report()
    tree = from_arrow(schema, "x", report)
    assert not report.diagnostics
    logical = from_tree(tree, "dataset", "x", report)
    errors = {found.code for found in report.diagnostics if found.severity == "error"}
    assert errors <= {"SC314", "SC317", "SC318"}
    return schemac.Dataset(logical) if logical is not None else None


@pytest.mark.parametrize(
    "name", [name for name in SCHEMAS if not name.startswith(("mixture", "clustering metadata"))]
)
def test_go_from_arrow_to_manifest_and_back(name: str) -> None:
    schema = SCHEMAS[name]
    dataset = _imported(schema)
    if dataset is None:
        return
    if not _spelled_otherwise(schema):
        assert shapes(dataset.to_arrow()) == shapes(schema)
    (again,) = schemac.compile_text(write_manifest(dataset._logical))
    assert again.schema == dataset.schema


def test_go_from_most_mixtures_of_arrow_to_manifest_and_back() -> None:
    came_back = 0
    for name, schema in SCHEMAS.items():
        if not name.startswith("mixture"):
            continue
        try:
            dataset = schemac.from_arrow(schema)
        except schemac.SchemaError:
            continue
        came_back += 1
        assert shapes(dataset.to_arrow()) == shapes(schema), name
    assert came_back >= 40
