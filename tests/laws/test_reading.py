"""What a record says of a value is what pydantic says of it: the same mistakes at the same places, and the same values."""

from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from schemac.attributes.attribute import Attribute
from schemac.attributes.registry import ATTRIBUTES, OPEN
from schemac.kinds.registry import BY_NAME, KINDS
from schemac.logical.model import Field, LogicalType, Schema
from schemac.manifest.pydantic_models import pydantic_form
from schemac.project.settings import Settings
from schemac.syntax.reading import InvalidValueError, Reading, reader_of
from schemac.syntax.record import Record, dumped
from tests.effort import law

READABLE: dict[str, Any] = {
    **{attribute.key: attribute.value_type for attribute in (*ATTRIBUTES.values(), *OPEN.values())},
    **{kind.__name__: kind for kind in KINDS},
    "type": LogicalType,
    "field": Field,
    "schema": Schema,
    "configuration": Settings,
}
RICH = ("type", "field", "schema", "configuration", "lance.org/encoding", "arrow.apache.org/bufferEncoding")
WORDS = sorted(
    {
        *BY_NAME,
        *(
            "UTC",
            "",
            "Millisecond",
            "second",
            "zstd",
            "fsst",
            "none",
            "on",
            "2.2",
            "0.5",
            "1",
            "x",
            "a\n",
            "View",
        ),
        *(
            "RunEnd",
            "runEnd",
            "Contiguous",
            "Int32",
            "int8",
            "Day",
            "ObjectLink",
            "did",
            "VARCHAR(3)",
            "variant",
        ),
        *("varchar(3)\n", "uuid", "bfloat16", "arrow", "lance", "rfc", "large_string", "0.4.0", "Collection"),
    }
)
NUMBERS = st.one_of(
    st.sampled_from(
        [0, 1, 2, 3, 16, 22, 23, 32, 64, 76, 77, 128, -76, -77, 2**31 - 1, 2**31, 2**32, 2**63, 10**30]
    ),
    st.sampled_from([0.0, 0.5, 1.0, 1.5, 32.0, -0.1, 1e300]),
)
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, st.sampled_from(WORDS))


def keys_of(annotation: Any) -> list[str]:
    """The keys that a value of this annotation may have, and some that it may not."""
    found = getattr(annotation, "model_fields", {})
    return [*(p.alias for p in found.values()), *found, "kind", "odd"]


TREES = st.recursive(
    st.one_of(SCALARS, st.fixed_dictionaries({"kind": st.sampled_from(WORDS)})),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                [
                    "kind",
                    "inner",
                    "itemType",
                    "keyType",
                    "valueType",
                    "fields",
                    "name",
                    "type",
                    "extra",
                    "unit",
                    "timezone",
                    "precision",
                    "scale",
                    "fixedLength",
                    "keysSorted",
                    "fixed_length",
                    "bits",
                    "position",
                ]
            ),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=12,
)


def values_for(annotation: Any) -> st.SearchStrategy[Any]:
    return st.one_of(TREES, st.dictionaries(st.sampled_from(keys_of(annotation)), TREES, max_size=6))


def said_by_pydantic(adapter: TypeAdapter[Any], value: Any, by_name: bool) -> Any:
    try:
        found = adapter.validate_python(value, by_alias=True, by_name=by_name)
    except ValidationError as error:
        # A list that lost its only item to another mistake is not short.
        errors = (e for e in error.errors(include_url=False) if not (e["type"] == "too_short" and e["input"]))
        return [shown(e) for e in errors]
    return adapter.dump_python(found, by_alias=True, exclude_unset=True)


def said_by_record(annotation: Any, value: Any, by_name: bool) -> Any:
    reading = Reading(takes_names=by_name)
    found = reader_of(annotation)(value, reading)
    try:
        reading.finish("it")
    except InvalidValueError as error:
        return [shown(e) for e in error.errors()]
    return dumped(found, by_alias=True, exclude_unset=True, mode="python")


COMPARED = frozenset({"le", "ge", "gt", "expected", "expected_tags", "error"})
"""What messages take out of the context of a mistake."""


def shown(error: Any) -> Any:
    context = {key: str(value) for key, value in error.get("ctx", {}).items() if key in COMPARED}
    return error["type"], error["loc"], repr(error["input"]), context


@cache
def adapter_of(name: str) -> TypeAdapter[Any]:
    return TypeAdapter(pydantic_form(READABLE[name]))


@given(data=st.data(), by_name=st.booleans())
def read_as_pydantic_does(data: st.DataObject, by_name: bool) -> None:
    """Half of the values are for the readers of many properties."""
    name = data.draw(st.one_of(st.sampled_from(sorted(READABLE)), st.sampled_from(RICH)))
    value = data.draw(values_for(READABLE[name]))
    expected = said_by_pydantic(adapter_of(name), value, by_name)
    # Numbers of more than 64 bits are to pydantic none of the words of a Literal, but too large.
    assume("int_parsing_size" not in str(expected))
    assert said_by_record(READABLE[name], value, by_name) == expected, name


@pytest.mark.hypothesis
def test_read_as_pydantic_does() -> None:
    law(250)(read_as_pydantic_does)()


@pytest.mark.long
def test_read_as_pydantic_does_long() -> None:
    settings(max_examples=8_000, suppress_health_check=list(HealthCheck))(read_as_pydantic_does)()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_be_a_value(kind: type[LogicalType]) -> None:
    import copy
    import pickle

    for type_ in kind.variants():
        assert (
            type_ == copy.deepcopy(type_) == pickle.loads(pickle.dumps(type_)) == type_.model_copy(update={})
        )
        assert type_ == LogicalType.model_validate(type_.model_dump(by_alias=True))
        with pytest.raises(AttributeError):
            type_.kind = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    "annotation", [set[str], dict[int, str], str | int, tuple[int, str], bytes, Attribute]
)
def test_refuse_other_annotations(annotation: Any) -> None:
    with pytest.raises(TypeError):
        reader_of(annotation)


def test_name_the_arguments() -> None:
    class Point(Record):
        """A place."""

        x_axis: int
        label: str = "here"

    assert repr(Point(x_axis=1)) == "Point(x_axis=1, label='here')"
    assert Point(x_axis=1).model_fields_set == ("x_axis",)
    with pytest.raises(InvalidValueError):
        Point(x_axis="1")  # type: ignore[arg-type]
