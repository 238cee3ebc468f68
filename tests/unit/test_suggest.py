"""The word that was meant, and no word where nothing is near."""

import pytest

from schemac.language.kinds.registry import BY_NAME, FOREIGN_NAMES
from schemac.text.source.phrases import closest, one_of, with_article


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Int46", "Int64"),
        ("UInt46", "UInt64"),
        ("Unit8", "UInt8"),
        ("Srting", "String"),
        ("Strin", "String"),
        ("Sting", "String"),
        ("STRING", "String"),
        ("u_int_64", "UInt64"),
        ("Lst", "List"),
        ("Mpa", "Map"),
        ("Optoin", "Option"),
        ("Tmestamp", "Timestamp"),
        ("bigint", "Int64"),
        ("BIG INT", "Int64"),
        ("double precision", "Float64"),
        ("utf8", "String"),
    ],
)
def test_suggest_kind(written: str, meant: str) -> None:
    assert closest(written, BY_NAME, FOREIGN_NAMES) == meant


@pytest.mark.parametrize("written", ["", "x", "Quaternion", "名前", "-", "a" * 10_000])
def test_suggest_nothing_for_what_is_like_nothing(written: str) -> None:
    assert closest(written, BY_NAME, FOREIGN_NAMES) is None


def test_know_every_foreign_name_by_a_kind() -> None:
    assert set(FOREIGN_NAMES.values()) <= set(BY_NAME)
    assert not {name for name in FOREIGN_NAMES if name in {kind.lower() for kind in BY_NAME}}
    assert all(name == name.lower() and name.isalnum() for name in FOREIGN_NAMES)


def test_prefer_swapped_letters_to_mistaken_ones() -> None:
    assert closest("form", ["from", "fork"]) == "from"
    assert closest("form", ["fork", "from"]) == "from"


def test_write_choices_and_articles() -> None:
    assert one_of(["a"]) == "a"
    assert one_of(["a", "b", "c"]) == "a, b or c"
    assert [with_article(kind) for kind in ("Int8", "UInt8", "Option", "Map")] == [
        "an Int8",
        "a UInt8",
        "an Option",
        "a Map",
    ]
