"""What a target writes grows with the manifest, or the target refuses it: nothing that is small becomes large.

Shape: fields drawn as chains of lists, vectors, maps, structs and options, with attributes at every level, texts full of what
has to be escaped, and long names.
"""

import json
import sys
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import schemac
from schemac import Dataset
from schemac.artifacts.targets import run_target, target_names
from schemac.text.source.diagnostics import Severity
from tests.effort import law
from tests.laws.strategies import Tree

QUICK = law(300)
MOST_TIMES = 250
"""So many bytes a target may write for one of a manifest's: Spark's metadata is quoted four times for items of items, and a
module of Python quotes it again."""
ALLOWANCE = 16_384
"""What a target may write for any manifest at all."""
MOST_LEVELS = 24

Layer = tuple[str, str, Tree]
"""What is around a type, the name that a struct has for its member, and the attributes of what is inside."""

_texts = st.text("\"\\\n'aé", max_size=60)
_names = st.text("abcdefghij", min_size=1, max_size=4) | st.integers(50, 200).map("n".__mul__)
_extras = st.fixed_dictionaries(
    {},
    optional={
        "opendatafabric.org/description": _texts,
        "acme.com/note": _texts | st.lists(_texts, max_size=3),
        "arrow.apache.org/metadata": st.dictionaries(_names, _texts, max_size=2),
    },
)
_layers: st.SearchStrategy[Layer] = st.tuples(
    st.sampled_from(("List", "Vector", "Map", "Struct", "Option", "Option List", "List of Struct")),
    _names,
    _extras,
)
_chains = st.lists(_layers, max_size=MOST_LEVELS)


def around(layer: Layer, inner: Tree) -> Tree:
    shape, name, extra = layer
    if shape == "Option":
        return inner if inner["kind"] == "Option" else {"kind": "Option", "inner": inner}
    if shape in ("Struct", "List of Struct"):
        struct = {"kind": "Struct", "fields": [{"name": name, "type": inner, "extra": extra}]}
        return struct if shape == "Struct" else {"kind": "List", "itemType": struct}
    marked = {**inner, **({"extra": extra} if extra else {})}
    if shape == "Map":
        return {"kind": "Map", "keyType": {"kind": "String"}, "valueType": marked}
    list_ = {"kind": "List", "itemType": marked, **({"fixedLength": 2} if shape == "Vector" else {})}
    return {"kind": "Option", "inner": list_} if shape == "Option List" else list_


def manifest(chain: list[Layer], name: str, extra: Tree) -> str:
    type_: dict[str, Any] = {"kind": "Int32"}
    for layer in chain:
        type_ = around(layer, type_)
    return json.dumps(
        {"name": "t", "fields": [{"name": name, "type": type_, "extra": extra}]}, ensure_ascii=False
    )


NOTE = {"acme.com/note": 'some "text"'}
DEEP = [("List", "a", NOTE)] * MOST_LEVELS


@pytest.mark.parametrize("target", target_names())
@QUICK
@given(_chains, _names, _extras)
@example(DEEP, "a", NOTE)
@example([("Vector", "a", {})] * MOST_LEVELS, "a", {})
@example([("Map", "a", NOTE)] * MOST_LEVELS, "a", NOTE)
@example([("List", "a", {})] * 12 + [("List", "a", NOTE)] + [("List", "a", {})] * 11, "a", {})
@example([("Struct", "n" * 200, NOTE)] * MOST_LEVELS, "n" * 200, NOTE)
@example([("List of Struct", "n" * 200, NOTE)] * MOST_LEVELS, "n" * 200, NOTE)
def test_write_as_much_as_there_is(target: str, chain: list[Layer], name: str, extra: Tree) -> None:
    text = manifest(chain, name, extra)
    (dataset,) = schemac.compile_text(text)
    run = run_target(target, dataset._compilation)
    refused = any(found.severity is Severity.ERROR for found in run.report.diagnostics)
    assert refused or run.artifacts
    size = sum(len(artifact.content) for artifact in run.artifacts)
    assert size <= ALLOWANCE + MOST_TIMES * len(text.encode()), (size, len(text))


def test_refuse_items_of_items_at_the_first_of_them() -> None:
    """One finding, which names the way out; with a struct between them the same is taken."""
    (dataset,) = schemac.compile_text(manifest([("List", "a", NOTE)] * 12, "a", {}))
    run = run_target("spark", dataset._compilation)
    (found,) = [one for one in run.report.diagnostics if one.severity is Severity.ERROR]
    assert found.code == "SC521"
    assert "at most 4 lists and maps inside each other" in found.message
    assert "put a struct between them" in str(found.help)
    chain: list[Layer] = [("List", "a", NOTE)] * 4
    (other,) = schemac.compile_text(manifest([*chain, ("Struct", "a", {}), *chain], "a", {}))
    assert not run_target("spark", other._compilation).report.has_errors


def _operation(name: str, dataset: Dataset) -> object:
    match name:
        case "sample":
            return dataset.sample(1)
        case "validate":
            return dataset.validate(dataset.sample(2))
        case "diff":
            return schemac.diff(dataset, dataset)
        case "from_arrow":
            return schemac.from_arrow(dataset.to_arrow(), name="t")
    return run_target(name, dataset._compilation)


OPERATIONS = (*target_names(), "sample", "validate", "diff", "from_arrow")
"""What is done with a schema."""
SHAPES = ("List", "Map", "Struct", "Option List", "List of Struct")


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_work_as_much_as_there_is(shape: str, name: str) -> None:
    """Twice as many levels are at most four times as much work: names of paths grow with the levels; what doubles at each is a thousand times."""
    calls = [_calls(name, [(shape, "a", {})] * levels) for levels in (10, 20)]
    assert calls[1] <= 4 * calls[0] + 2000, calls


def _calls(name: str, chain: list[Layer]) -> int:
    """Return how many calls of functions an operation makes, when what it loads once is there."""
    (dataset,) = schemac.compile_text(manifest(chain, "a", {}))
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")
        assert count < 5_000_000, "it does not end"

    _operation(name, schemac.compile_text("fields: [{name: a, type: Int32}]")[0])
    sys.setprofile(note)
    try:
        _operation(name, dataset)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("levels", [30, 49, 74, 98, 194])
@pytest.mark.parametrize("shape", SHAPES)
def test_end_with_a_diagnostic_at_any_depth(shape: str, levels: int) -> None:
    """As deep as a manifest may be, every target writes or refuses."""
    text = manifest([(shape, "a", NOTE)] * levels, "a", NOTE)
    dataset = _compiled(text)
    if dataset is None:
        return
    for target in target_names():
        run = run_target(target, dataset._compilation)
        assert run.artifacts or run.report.has_errors, (levels, target)
        for artifact in run.artifacts:
            if artifact.path.endswith(".py"):
                compile(artifact.content, artifact.path, "exec")


def _compiled(text: str) -> Dataset | None:
    """Return the dataset of a text; None where it is too deep."""
    try:
        return schemac.compile_text(text)[0]
    except schemac.SchemaError as error:
        codes = {found.code for found in error.diagnostics}
    assert codes == {"SC111"}
    return None


def test_refuse_a_sample_of_more_items_than_there_is_room_for() -> None:
    text = manifest([("Vector", "a", {})] * 30, "a", {})
    with pytest.raises(schemac.SchemaError, match=r"SC352.*at least 1,073,741,824 items"):
        schemac.compile_text(text)[0].sample(1)
