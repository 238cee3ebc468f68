"""Manifests there and back through Spark's JSON and DDL, and Spark's types there and back through manifests."""

import json
from typing import Any

from hypothesis import assume, given

import schemac
from schemac import Dataset
from schemac.arrow.metadata import compact
from schemac.engines.spark.reader import from_struct_type
from schemac.importers.datasets import from_tree
from schemac.language.logical.model import FieldPath, Part
from schemac.language.manifest.write import write_manifest
from schemac.text.source.diagnostics import Report
from tests.effort import law
from tests.laws.shapes import kept
from tests.laws.strategies import Tree, struct_types, texts

QUICK = law(100)
PARTS = {"_lance.element": "elementType", "_lance.key": "keyType", "_lance.value": "valueType"}


def taken(text: str) -> Dataset:
    """The dataset of a manifest that Spark takes."""
    (dataset,) = schemac.compile_text(text)
    try:
        dataset.to_spark()
    except schemac.SchemaError:
        assume(False)
    return dataset


@QUICK
@given(texts())
def test_go_from_manifest_to_spark_and_back(text: str) -> None:
    # How a blob is marked depends on the version of the files, which is no part of a StructType.
    assume("lance.org/blob" not in text or "lance.org/storageVersion" not in text)
    dataset = taken(text)
    again = schemac.from_spark(dataset.to_spark(), name=dataset.name)
    assert again.to_spark() == dataset.to_spark()
    assert kept(dataset, "spark", again) == []


@QUICK
@given(texts())
def test_go_from_manifest_to_ddl_and_back(text: str) -> None:
    assume("lance.org/blob" not in text or "lance.org/storageVersion" not in text)
    dataset = taken(text)
    again = schemac.from_spark_ddl(dataset.to_spark_ddl())
    assert again.name == dataset.name
    assert again.to_spark_ddl() == dataset.to_spark_ddl()


@QUICK
@given(struct_types())
def test_go_from_spark_to_manifest_and_back(document: Tree) -> None:
    report = Report()
    imported = from_struct_type(document, "x.json", report)
    assert report.diagnostics == ()
    assert imported is not None
    logical = from_tree(imported.schema, "x", "x.json", report)
    assert logical is not None
    text = write_manifest(logical, imported.comments, imported.notes.at)
    (again,) = schemac.compile_text(text)
    assert again.schema == logical.schema
    for before, after in zip(document["fields"], again.to_spark()["fields"], strict=True):
        if not has_note(imported.notes, before, ()):
            assert after == as_spark_has_it(before)
    assert schemac.from_spark(again.to_spark()).to_spark() == again.to_spark()


def has_note(notes: Any, field: Tree, holder: FieldPath) -> bool:
    """Whether the import said of a field, or of one inside it, that something is not kept."""
    path = (*holder, field["name"])
    return bool(notes.at(path)) or any(has_note(notes, f, p) for f, p in _members(field["type"], path))


def _members(type_: Any, path: FieldPath) -> list[tuple[Tree, FieldPath]]:
    if isinstance(type_, str):
        return []
    if type_["type"] == "struct":
        return [(field, path) for field in type_["fields"]]
    if type_["type"] == "array":
        return _members(type_["elementType"], (*path, Part.ITEM))
    return _members(type_["keyType"], (*path, Part.KEY)) + _members(type_["valueType"], (*path, Part.VALUE))


def as_spark_has_it(field: Tree, *, is_member: bool = False) -> Tree:
    """The field as the compiler spells it: a comment and a richer type are attributes, too, and travel as such."""
    type_ = _spelled(field["type"])
    metadata = _with_attributes(type_, field["metadata"])
    return {**field, "type": type_, "metadata": _with_mark_of_json(metadata) if is_member else metadata}


def _with_mark_of_json(metadata: Tree) -> Tree:
    """Below the top JSON has the mark by which lance-spark can read it."""
    is_json = metadata.get("ARROW:extension:name") == "arrow.json"
    return {**metadata, "arrow:large-var-char": "true"} if is_json else metadata


def _spelled(type_: Any) -> Any:
    if isinstance(type_, str):
        return type_
    if type_["type"] == "struct":
        return {**type_, "fields": [as_spark_has_it(field, is_member=True) for field in type_["fields"]]}
    return {key: _spelled(part) if key.endswith("Type") else part for key, part in type_.items()}


def _with_attributes(type_: Any, metadata: Tree) -> Tree:
    spelled = dict(metadata)
    if "comment" in spelled:
        spelled["opendatafabric.org/description"] = compact(spelled["comment"])
    if isinstance(type_, str) and type_.startswith(("char", "varchar", "variant")):
        spelled["spark.apache.org/type"] = compact(type_)
    for mark, part in PARTS.items():
        if isinstance(type_, dict) and part in type_:
            inner = _with_mark_of_json(_with_attributes(type_[part], json.loads(metadata.get(mark, "{}"))))
            spelled |= {mark: compact(inner)} if inner else {}
    return spelled


def test_keep_what_lance_spark_says_of_items() -> None:
    mark = json.dumps({"owner": "me"}, separators=(",", ":"))
    field = {
        "name": "v",
        "type": {"type": "array", "elementType": "float", "containsNull": False},
        "nullable": False,
        "metadata": {"_lance.list.child.name": "element", "_lance.element": mark},
    }
    document = {"type": "struct", "fields": [field]}
    assert schemac.from_spark(document).to_spark() == document


def test_keep_an_attribute_beside_a_type_that_it_does_not_fit() -> None:
    """Spark has texts in the place of very long decimals, and a text has no unit."""
    wide = '{"kind": "Decimal", "precision": 39, "scale": 0}'
    field = f'{{"name": "a", "type": {wide}, "extra": {{"schemac.dev/unit": "m/s"}}}}'
    (dataset,) = schemac.compile_text(f'{{"fields": [{field}]}}')
    again = schemac.from_spark(dataset.to_spark())
    assert again.schema.fields[0].extra == {"arrow.apache.org/metadata": {"schemac.dev/unit": '"m/s"'}}
    assert again.to_spark() == dataset.to_spark()
