"""Every manifest that passes the checks gives artifacts, or a diagnostic that says why not; never anything else."""

import json
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf import text_format
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import schemac
from schemac import Dataset
from schemac.arrow.to_arrow import to_arrow_fields
from schemac.artifacts.targets import target_names
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.language.logical.model import preorder
from schemac.project.options import CompileOptions
from schemac.project.stages import emit
from schemac.text.source.diagnostics import Report, Severity
from tests.conformance.oracle import lance_fields
from tests.effort import law
from tests.laws.strategies import Tree, manifests, text, texts

QUICK = law(100)
LONG = settings(max_examples=5000, deadline=None, suppress_health_check=list(HealthCheck))


def emitted(dataset: Dataset, *targets: str) -> tuple[dict[str, bytes], Report]:
    """The artifacts of some targets, with what they had to say."""
    report = Report()
    wanted = targets or target_names()
    made = emit(
        dataset._logical,
        CompileOptions(
            targets=wanted,
            are_targets_named=True,
            asked_for=frozenset(wanted),
            show_losses=True,
            optional_artifacts=frozenset({"lance/schema.txtpb"}),
        ),
        report,
    )
    return {artifact.path: artifact.content for artifact in made.artifacts}, report


def only(manifest: str) -> Dataset:
    (dataset,) = schemac.compile_text(manifest)
    return dataset


def assert_total(manifest: str) -> None:
    dataset = only(manifest)
    for target in target_names():
        contents, report = emitted(dataset, target)
        errors = [found for found in report.diagnostics if found.severity is Severity.ERROR]
        assert errors or any(path.startswith(f"{target}/") for path in contents)
        assert all(found.code.startswith("SC5") and found.message for found in report.diagnostics)
        assert all(found.line > 0 for found in report.diagnostics), "each has a place in the text"


@QUICK
@given(texts())
def test_give_artifacts_or_a_diagnostic(manifest: str) -> None:
    assert_total(manifest)


@pytest.mark.long
@LONG
@given(texts())
def test_give_artifacts_or_a_diagnostic_at_length(manifest: str) -> None:
    assert_total(manifest)


@QUICK
@given(manifests())
def test_pass_the_checks_without_errors(manifest: Tree) -> None:
    found = schemac.check_text(text(manifest))
    assert [f for f in found if f.severity is Severity.ERROR] == []


@QUICK
@given(manifests())
def test_write_lance_schemas_as_lance_does(manifest: Tree) -> None:
    dataset = only(text(manifest))
    contents, report = emitted(dataset, "lance")
    if report.has_errors:
        assert "lance/schema.binpb" not in contents
        return
    metadata, fields = lance_fields(dataset.to_arrow())
    message = dataset.to_lance()
    assert list(message.fields) == [pb.Field.FromString(field) for field in fields]
    assert dict(message.metadata) == metadata
    assert pb.Schema.FromString(contents["lance/schema.binpb"]) == message
    assert text_format.Parse(contents["lance/schema.txtpb"], pb.Schema()) == message


@QUICK
@given(manifests())
def test_number_lance_fields_in_preorder(manifest: Tree) -> None:
    contents, _ = emitted(only(text(manifest)), "lance")
    fields = pb.Schema.FromString(contents.get("lance/schema.binpb", b"")).fields
    assert [field.id for field in fields] == list(range(len(fields)))
    open_parents = [-1]
    for field in fields:
        # In pre-order the parent is the last field or one above it.
        while open_parents[-1] != field.parent_id:
            open_parents.pop()
        open_parents.append(field.id)


@QUICK
@given(manifests())
def test_write_spark_schemas_that_spark_reads(manifest: Tree) -> None:
    types = pytest.importorskip("pyspark.sql.types")
    contents, report = emitted(only(text(manifest)), "spark")
    if not report.has_errors:
        document = json.loads(contents["spark/schema.json"])
        assert json.loads(types.StructType.fromJson(document).json()) == document
        assert contents["spark/create_table.sql"].endswith(b";\n")


@QUICK
@given(manifests(), st.sampled_from([None, "views", "large"]), st.booleans())
def test_write_arrow_schemas_that_arrow_reads(
    manifest: Tree, layout: str | None, with_metadata: bool
) -> None:
    layouts: dict[str | None, Any] = {
        None: schemac.ArrowDefaults(),
        "views": schemac.ArrowDefaults("string_view", "binary_view", "list_view", "date64"),
        "large": schemac.ArrowDefaults("large_string", "large_binary", "large_list", "date32"),
    }
    schema = only(text(manifest)).to_arrow(metadata=with_metadata, defaults=layouts[layout])
    read = pa.ipc.read_schema(pa.BufferReader(schema.serialize()))
    assert [field.name for field in read] == [field["name"] for field in manifest["fields"]]
    assert [field.nullable for field in read] == [
        field["type"]["kind"] == "Option" for field in manifest["fields"]
    ]
    assert with_metadata or not schema.metadata


@QUICK
@given(manifests())
def test_convert_every_field_to_one_field(manifest: Tree) -> None:
    dataset = only(text(manifest))._logical
    for field, column in zip(to_arrow_fields(dataset).preorder(), preorder(dataset.columns), strict=True):
        assert field.field is column
        assert field.arrow.nullable == column.is_nullable
