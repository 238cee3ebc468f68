"""Types are values: they can be compared, copied, kept and written back."""

import copy
import pickle

import pytest
from pydantic import ValidationError

import schemac
from schemac.language.kinds.registry import KINDS
from schemac.language.logical.model import LogicalType


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_be_a_value(kind: type[LogicalType]) -> None:
    for type_ in kind.variants():
        assert (
            type_ == copy.deepcopy(type_) == pickle.loads(pickle.dumps(type_)) == type_.model_copy(update={})
        )
        assert type_ == LogicalType.model_validate(type_.model_dump(by_alias=True))
        with pytest.raises(ValidationError, match="frozen"):
            type_.kind = "other"  # type: ignore[misc]


@pytest.mark.parametrize("number", [33, 2**70])
def test_name_the_choices_for_any_number(number: int) -> None:
    extra = f"arrow.apache.org/decimalEncoding: {{bitWidth: {number}}}"
    decimal = "{kind: Decimal, precision: 5, scale: 2}"
    with pytest.raises(schemac.SchemaError) as raised:
        schemac.compile_text(f"fields: [{{name: a, type: {decimal}, extra: {{{extra}}}}}]")
    (found,) = raised.value.diagnostics
    assert found.message == f"`bitWidth` has to be 32, 64, 128 or 256, not the number {number}"
