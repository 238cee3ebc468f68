"""Changes are found and judged for any two manifests, and none between a manifest and itself."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemac.language.logical.facts import Fact
from schemac.language.logical.model import Castability, preorder
from schemac.project.configuration import Project
from schemac.project.stages import check_source
from schemac.text.source.diagnostics import Report
from schemac.text.source.text import decode_text
from schemac.versions.evolution.castability import castability
from schemac.versions.evolution.changes import Change, Outcome
from schemac.versions.evolution.diff import diff_of
from schemac.versions.evolution.judge import judge, judged_engines
from schemac.versions.evolution.version_pair import SchemaVersion, pair_versions
from tests.compiling import compile_bytes
from tests.effort import law
from tests.laws.strategies import Tree, manifests, text

QUICK = law(100)
LONG = settings(max_examples=5000, deadline=None, suppress_health_check=list(HealthCheck))


def version(tree: Tree, label: str, *, as_yaml: bool = False) -> SchemaVersion:
    report = Report()
    source = decode_text(text(tree, as_yaml=as_yaml).encode(), f"{label}.yaml", report)
    assert source is not None
    datasets = check_source(source, Project(Path()), report)
    assert not report.has_errors, report.diagnostics
    return SchemaVersion(datasets[0], label)


def changes_between(old: SchemaVersion, new: SchemaVersion) -> tuple[Change, ...]:
    return diff_of(pair_versions(old, new))


def _find_nothing(tree: Tree) -> None:
    assert changes_between(version(tree, "old"), version(tree, "new", as_yaml=True)) == ()


def _find_and_judge(trees: tuple[Tree, Tree]) -> None:
    old, new = (version(tree, label) for tree, label in zip(trees, ("old", "new"), strict=True))
    pair = pair_versions(old, new)
    changes = diff_of(pair)
    assert changes == () or old.dataset.schema != new.dataset.schema
    for verdict in judge(changes, pair, judged_engines()):
        json.dumps(verdict.to_json())
        assert str(verdict.change)
        assert verdict.outcome in Outcome
    _mirror(changes, changes_between(new, old))


def _mirror(there: tuple[Change, ...], back: tuple[Change, ...]) -> None:
    """What is added one way is dropped the other, unless an old name makes it the same field."""
    if not any(c.fact in (Fact.FIELD_RENAMED, Fact.FIELD_MOVED) for c in (*there, *back)):
        for one, other in ((there, back), (back, there)):
            added = [c.path for c in one if c.fact is Fact.FIELD_ADDED]
            dropped = [c.path for c in other if c.fact is Fact.FIELD_DROPPED]
            assert sorted(added) == sorted(dropped)
        facts = [sorted((c.path, c.key) for c in changes if not _comes(c)) for changes in (there, back)]
        assert facts[0] == facts[1]


def _comes(change: Change) -> bool:
    return change.fact in (Fact.FIELD_ADDED, Fact.FIELD_DROPPED)


@given(manifests())
@QUICK
def test_find_no_change_in_the_same(tree: Tree) -> None:
    _find_nothing(tree)


@given(st.tuples(manifests(), manifests()))
@QUICK
def test_find_and_judge_any_change(trees: tuple[Tree, Tree]) -> None:
    _find_and_judge(trees)


@st.composite
def edited(draw: st.DrawFn) -> tuple[Tree, Tree]:
    """A manifest, and the same with one column of another put in, left out or in the place of one."""
    tree, other = draw(manifests()), draw(manifests())
    fields = list(tree["fields"])
    for field in other["fields"]:
        place = draw(st.integers(0, len(fields)))
        names = {f["name"].casefold() for f in fields}
        if place < len(fields) and draw(st.booleans()):
            fields[place] = {**field, "name": fields[place]["name"]}
        elif field["name"].casefold() not in names:
            fields.insert(place, field)
    # Keys would have gaps and doubles.
    return _without_keys({**tree, "fields": fields}), _without_keys(tree)


def _without_keys(tree: Tree) -> Tree:
    keys = ("lance.org/primaryKey", "lance.org/clusteringKey")
    fields = [
        {**f, "extra": {k: v for k, v in f.get("extra", {}).items() if k not in keys}} for f in tree["fields"]
    ]
    extra = {k: v for k, v in tree.get("extra", {}).items() if not k.startswith("paimon.apache.org/primary")}
    return {**tree, "fields": fields, "extra": extra}


@given(edited())
@QUICK
def test_find_and_judge_an_edit(trees: tuple[Tree, Tree]) -> None:
    _find_and_judge(trees)


@given(manifests(), manifests())
@QUICK
def test_fit_in_some_way(one: Tree, other: Tree) -> None:
    types = [[field.type for field in preorder(version(tree, "a").dataset.columns)] for tree in (one, other)]
    for old in types[0]:
        assert castability(old, old) is Castability.EQUAL
        for new in types[1]:
            assert castability(old, new) in Castability


@pytest.mark.long
@given(st.tuples(manifests(), manifests()) | edited())
@LONG
def test_find_and_judge_very_many_changes(trees: tuple[Tree, Tree]) -> None:
    _find_nothing(trees[0])
    _find_and_judge(trees)


OLD = """\
fields:
  - name: id
    type: Int32
  - name: place
    type:
      kind: Struct
      fields:
        - name: lat
          type: Float64
        - name: gone
          type: Int8
    extra:
      example.com/a: 1
"""
NEW = """\
extra:
  lance.org/storageVersion: "2.1"
fields:
  - name: place
    type:
      kind: Option
      inner:
        kind: Struct
        fields:

          - name: come
            type: {kind: Option, inner: Int8}
          - {name: lat, type: Float32}
    extra:
      example.com/a: 2
  - {name: id, type: {kind: List, itemType: {kind: Option, inner: Int32}}}
"""


def test_point_at_the_line_in_both_versions() -> None:
    old, new = (compile_bytes(t.encode(), f"{n}.yaml").datasets[0] for t, n in ((OLD, "old"), (NEW, "new")))
    found = {
        (str(c.fact), c.path): (str(c.old_location or ""), str(c.new_location or ""))
        for c in changes_between(SchemaVersion(old, "old"), SchemaVersion(new, "new"))
    }
    assert found == {
        ("storage-version-changed", ""): ("old.yaml:1:1", "new.yaml:2:29"),
        ("fields-reordered", ""): ("old.yaml:1:1", "new.yaml:1:1"),
        ("became-optional", "place"): ("old.yaml:4:5", "new.yaml:4:5"),
        ("attribute-changed", "place"): ("old.yaml:4:5", "new.yaml:4:5"),
        ("field-added", "place.come"): ("", "new.yaml:11:13"),
        ("float-narrowed", "place.lat"): ("old.yaml:8:11", "new.yaml:13:13"),
        ("type-replaced", "id"): ("old.yaml:2:5", "new.yaml:16:5"),
        ("field-dropped", "place.gone"): ("old.yaml:10:11", ""),
    }
