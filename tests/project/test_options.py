"""What a build is keyed by: any option that is another gives another key."""

from dataclasses import fields, replace
from typing import Any, NamedTuple

import pytest

from schemac.logical.system import VARIANTS
from schemac.project.options import CompileOptions


class Overlay(NamedTuple):
    content: bytes


OTHERS: dict[str, list[Any]] = {
    "strict": [True],
    "targets": [(), ("lance",), ("lance", "spark"), ("spark", "lance")],
    "are_targets_named": [True],
    "asked_for": [frozenset({"lance"}), frozenset({"lance", "spark"})],
    "versions": [{"spark": "4.0"}, {"spark": "4.1"}, {"lance": "4.0"}],
    "encodings": [{"string": "Utf8"}, {"string": "LargeUtf8"}],
    "has_metadata": [False],
    "show_losses": [True],
    "locked": [True],
    "system_columns": list(VARIANTS),
    "has_rules": [True],
    "denied": [frozenset({"lance"}), frozenset({"spark"})],
    "optional_artifacts": [frozenset({"a"}), frozenset({"b"}), frozenset({"a", "b"})],
    "overlay": [Overlay(b""), Overlay(b"a")],
}
PLAIN = CompileOptions(targets=("arrow",))


def other(**values: Any) -> CompileOptions:
    """The options with these other values."""
    return replace(PLAIN, **values)


def test_any_other_option_is_another_digest() -> None:
    options = [PLAIN, *(other(**{name: value}) for name in OTHERS for value in OTHERS[name])]
    assert len({one.digest() for one in options}) == len(options)


def test_know_every_option() -> None:
    assert {one.name for one in fields(CompileOptions)} == {*OTHERS, "edited"}


@pytest.mark.parametrize("name", ["asked_for", "denied", "optional_artifacts"])
def test_the_order_of_a_set_is_none(name: str) -> None:
    names = [f"n{number}" for number in range(50)]
    one, another = (other(**{name: frozenset(some)}) for some in (names, reversed(names)))
    assert one.digest() == another.digest()
    assert other(versions={"a": "1", "b": "2"}).digest() == other(versions={"b": "2", "a": "1"}).digest()
