"""The lock's text: every damage is refused at its line, and every name comes through."""

import re

import pytest

from schemac.text.source.diagnostics import Diagnostic, Report
from schemac.versions.identity.lock import Lock
from schemac.versions.identity.lockfile import HEADER, read_lock, write_lock
from tests.identity.trees import Model, Node, dataset_of, fields, history, ids, locked, member, struct

STOPS = {"kind": "List", "itemType": struct(name="String", at="Timestamp")}
FIRST = fields(id="Int64", fare="Float64", tip="Float64", stops=STOPS)
SECOND = fields(id="Int64", fare=("Float32", {"opendatafabric.org/description": "Paid"}), stops=STOPS)
THIRD = fields(
    id="Int64", fare=("Float32", {"opendatafabric.org/description": "Paid"}), stops=STOPS, tip="Int8"
)
LOCK = Lock((history(FIRST, SECOND, THIRD), history(dataset_of({"fields": [member("x", "Int8")]}, "other"))))
TEXT = write_lock(LOCK)
LINES = TEXT.splitlines()
TOLD = range(HEADER.count("\n"), len(LINES))
"""Lines that say something; the head is for people, but for its first line."""


def found(text: str) -> tuple[Lock | None, tuple[Diagnostic, ...]]:
    report = Report()
    return read_lock(text, "d.lock", report), report.diagnostics


def refused_at(text: str) -> int:
    lock, diagnostics = found(text)
    assert lock is None
    assert {d.code for d in diagnostics} == {"SC402"}
    return diagnostics[0].line


def joined(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def test_read_what_was_written() -> None:
    lock, diagnostics = found(TEXT)
    assert diagnostics == ()
    assert lock == LOCK
    assert write_lock(lock) == TEXT


@pytest.mark.parametrize("at", TOLD)
def test_refuse_a_changed_character(at: int) -> None:
    for place, character in enumerate(LINES[at]):
        other = chr(ord(character) + (-1 if character in "9z" else 1))
        changed = LINES[at][:place] + other + LINES[at][place + 1 :]
        # A line that starts with the sign of a comment is one: then it is missing.
        if not changed.startswith("#"):
            assert refused_at(joined([*LINES[:at], changed, *LINES[at + 1 :]])) == at + 1


@pytest.mark.parametrize("at", TOLD)
def test_refuse_a_line_that_is_gone(at: int) -> None:
    line = refused_at(joined([*LINES[:at], *LINES[at + 1 :]]))
    word = LINES[at].split()[0]
    if word == "field":
        # A line that is not there has no number: it is that of the first version that lacks it.
        first = int(re.match(r"field \d+ v(\d+)", LINES[at])[1])  # type: ignore[index]
        dataset = max(i for i in range(at) if LINES[i].startswith("dataset"))
        assert line == dataset + 1 + first
    elif word == "end":
        assert line == len(LINES)
    else:
        assert line > at


@pytest.mark.parametrize("at", TOLD)
def test_refuse_a_line_that_stands_twice(at: int) -> None:
    assert refused_at(joined([*LINES[: at + 1], *LINES[at:]])) == at + 2


@pytest.mark.parametrize("at", TOLD[:-1])
def test_refuse_two_lines_in_each_others_place(at: int) -> None:
    line = refused_at(joined([*LINES[:at], LINES[at + 1], LINES[at], *LINES[at + 2 :]]))
    if LINES[at].startswith("field") and not LINES[at + 1].startswith("field"):
        # The dataset ends before its last line: the first version that lacks it is told.
        assert LINES[line - 1].startswith("version")
    else:
        assert line in (at + 1, at + 2)


@pytest.mark.parametrize("at", TOLD)
def test_refuse_a_file_that_is_cut_off(at: int) -> None:
    assert refused_at(joined(LINES[:at])) == at + 1
    assert refused_at(joined(LINES[:at]) + LINES[at][:-1]) == at + 1


def test_refuse_what_stands_after_the_end() -> None:
    assert refused_at(joined([*LINES, *LINES[-3:]])) == len(LINES) + 1


def test_refuse_a_file_of_something_else() -> None:
    assert refused_at('version = 1\n[[package]]\nname = "x"\n') == 1
    assert refused_at("") == 1
    assert refused_at(joined(LINES[1:])) == 1


def test_refuse_a_newer_form() -> None:
    lock, (told,) = found(TEXT.replace("# schemac lock 2:", "# schemac lock 3:"))
    assert lock is None
    assert (told.code, told.line) == ("SC402", 1)
    assert "has format 3" in told.message
    assert "newer version of schemac" in told.help


def test_refuse_the_marks_of_a_merge() -> None:
    for mark in ("<<<<<<< HEAD", "||||||| base", "=======", ">>>>>>> theirs"):
        lock, (told,) = found(joined([*LINES[:6], mark, *LINES[6:]]))
        assert lock is None
        assert (told.code, told.line) == ("SC403", 7)
        assert "lock --resolve" in told.help


def test_take_other_line_ends_marks_and_comments() -> None:
    for text in (
        TEXT.replace("\n", "\r\n"),
        "\ufeff" + TEXT,
        TEXT.replace("\n", "\n\n"),
        TEXT.replace("\ndataset", "\n# a note\ndataset"),
    ):
        assert found(text) == (LOCK, ())


WEIRD = (
    "a b",
    'say "hi"',
    "it's",
    "line\nbreak",
    "carriage\rreturn",
    "tab\t",
    "next\x85line",
    "line\u2028separator",
    "paragraph\u2029",
    "[item]",
    "[key]",
    "~0123ab",
    "x ~0123ab",
    "back\\slash",
    "{",
    "Int64",
    "#",
    "<<<<<<< HEAD",
    "=======",
    "dataset",
    "-",
    "?",
    "名前",
    "\U0001f6b2",
    "a.b",
    "`",
    "x" * 5000,
    " lead",
)


def test_keep_every_name() -> None:
    columns = [Node(name, {"kind": "Int8"}) for name in WEIRD]
    inside = [Node(name, {"kind": "Int8"}) for name in WEIRD]
    dataset = Model([*columns, Node("s", {"kind": "Struct"}, inside)]).dataset('odd "name" ~012345')
    lock = Lock((locked(dataset)[0],))
    text = write_lock(lock)
    assert found(text) == (lock, ())
    assert len(text.splitlines()) >= len(WEIRD) * 2
    # Line ends of other kinds are no line ends of the file.
    assert text.count("\n") == HEADER.count("\n") + 1 + 1 + len(WEIRD) * 2 + 1 + 1
    again, _ = locked(dataset, lock.datasets[0])
    assert again is lock.datasets[0]


def test_keep_attributes_and_types_of_any_form() -> None:
    extra = {"example.com/x": {"?": ["} ~0123ab", None, 1.0, 1, True, "\u2028"]}}
    dataset = fields(
        a=({"kind": "Option", "inner": {"kind": "Decimal", "precision": 38, "scale": -3}}, extra),
        b=({"kind": "Timestamp", "timezone": None, "unit": "Nanosecond"}, extra),
        c={
            "kind": "Map",
            "keyType": {"kind": "String", "extra": extra},
            "valueType": {"kind": "Option", "inner": {"kind": "Null"}},
        },
        d={"kind": "Option", "inner": {"kind": "List", "fixedLength": 3, "itemType": {"kind": "Float32"}}},
    )
    lock = Lock((locked(dataset)[0],))
    assert found(write_lock(lock)) == (lock, ())


def test_sort_datasets_and_fields() -> None:
    others = Lock().with_dataset(LOCK.datasets[1]).with_dataset(LOCK.datasets[0])
    assert write_lock(others) == TEXT


def test_touch_only_the_lines_that_changed() -> None:
    before = write_lock(Lock((history(FIRST),))).splitlines()
    moved = fields(id="Int64", tip="Float64", fare="Float64", stops=STOPS)
    after = write_lock(Lock((history(FIRST, moved),))).splitlines()
    gone = [line for line in before if line not in after]
    assert len(gone) == 1
    assert len(after) == len(before) + 2
    assert ids(history(FIRST, moved))["tip"] == 3
