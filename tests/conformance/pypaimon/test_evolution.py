"""Old tables under new schemas: what we say of a change, what we make of it, and what pypaimon does."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schemac.engines.paimon.live_table import table_schema
from schemac.language.logical.facts import Fact
from schemac.versions.evolution.changes import Outcome
from tests.conformance.pypaimon.client import Paimon, PaimonError
from tests.conformance.pypaimon.evolving import Evolution, apart, copy, newest

Tree = dict[str, Any]


def option(type_: Any) -> Tree:
    return {"kind": "Option", "inner": type_}


def member(name: str, type_: Any, was: str = "", **extra: Any) -> Tree:
    extra = {**({"schemac.dev/renamedFrom": was} if was else {}), **extra}
    return {"name": name, "type": type_, **({"extra": extra} if extra else {})}


def struct(*members: Tree) -> Tree:
    return {"kind": "Struct", "fields": list(members)}


def listed(item: Any) -> Tree:
    return {"kind": "List", "itemType": item}


def mapped(value: Any, key: Any = "String") -> Tree:
    return {"kind": "Map", "keyType": key, "valueType": value}


def vector(length: int, item: Any = "Float32") -> Tree:
    return {**listed(item), "fixedLength": length}


def decimal(precision: int, scale: int) -> Tree:
    return {"kind": "Decimal", "precision": precision, "scale": scale}


def paimon_type(word: str, kind: str = "String") -> Tree:
    return member("x", option(kind), **{"paimon.apache.org/type": word})


K = member("k", "Int64")
X = member("x", option("Int32"))
Y = member("y", option("String"))
DEEP = option(struct(member("q", option(struct(member("w", "Int32")))), member("v", option("Int32"))))
DESCRIPTION, DEFAULT = "opendatafabric.org/description", "paimon.apache.org/defaultValue"
KEYS = {"paimon.apache.org/primaryKeys": ["k"], "paimon.apache.org/options": {"bucket": "1"}}
PARTITIONED = {"paimon.apache.org/partitionKeys": ["p"]}
P = member("p", "String")
IN: dict[str, Callable[..., Tree]] = {
    "a ROW": lambda *members: member("s", option(struct(*members))),
    "an ARRAY": lambda *members: member("s", listed(option(struct(*members)))),
    "a MAP": lambda *members: member("s", option(mapped(option(struct(*members))))),
}

Edit = tuple[list[Tree], list[Tree], Outcome]
M, D, R, F = Outcome.METADATA, Outcome.DATA, Outcome.REFUSED, Outcome.NEW_FILES
EDITS: dict[str, Edit] = {
    "add a column": ([K, X], [K, X, Y], M),
    "add a column in the middle": ([K, X], [K, Y, X], M),
    "add a column at the front": ([K, X], [Y, K, X], M),
    "add a deep column": ([K, X], [K, member("n", DEEP), X], M),
    "add a described column": ([K, X], [K, X, member("y", option("String"), **{DESCRIPTION: "why"})], M),
    "add a required column": ([K, X], [K, X, member("y", "String")], R),
    "drop a column": ([K, X, Y], [K, Y], M),
    "drop and add anew": ([K, X, Y], [K, Y, member("z", option("Int32"))], M),
    "drop all": ([X], [Y], R),
    "rename": ([K, X], [K, member("z", option("Int32"), "x")], M),
    "swap names": (
        [member("a", option("Int32")), member("b", option("Int32")), K],
        [member("b", option("Int32"), "a"), member("a", option("Int32"), "b"), K],
        M,
    ),
    "names go round": (
        [member(n, option("Int32")) for n in "abc"],
        [member(n, option("Int32"), w) for n, w in ("ba", "cb", "ac")],
        M,
    ),
    "rename into a dropped name": ([K, X, Y], [K, member("y", option("Int32"), "x")], M),
    "reorder": ([K, X, Y], [Y, K, X], M),
    "reverse": ([K, X, Y, P], [P, Y, X, K], M),
    "describe": ([K, X], [K, member("x", option("Int32"), **{DESCRIPTION: "what"})], M),
    "describe no more": ([K, member("x", option("Int32"), **{DESCRIPTION: "what"})], [K, X], M),
    "let be null": ([K, member("x", "Int32")], [K, X], M),
    "forbid null": ([K, X], [K, member("x", "Int32")], R),
    "set a default": ([K, X], [K, member("x", option("Int32"), **{DEFAULT: "3"})], F),
    "widen an integer": ([K, X], [K, member("x", option("Int64"))], M),
    "integer to decimal": ([K, X], [K, member("x", option(decimal(12, 2)))], M),
    "integer to text": ([K, X], [K, member("x", option("String"))], M),
    "integer to double": ([K, X], [K, member("x", option("Float64"))], M),
    "integer to float": ([K, X], [K, member("x", option("Float32"))], D),
    "narrow an integer": ([K, X], [K, member("x", option("Int16"))], D),
    "integer to date": ([K, X], [K, member("x", option("Date"))], R),
    "integer to bytes": ([K, X], [K, member("x", option("Binary"))], R),
    "widen a float": ([K, member("x", option("Float32"))], [K, member("x", option("Float64"))], M),
    "more digits": ([K, member("x", option(decimal(5, 2)))], [K, member("x", option(decimal(9, 4)))], M),
    "fewer digits": ([K, member("x", option(decimal(9, 4)))], [K, member("x", option(decimal(8, 2)))], D),
    "date to text": ([K, member("x", option("Date"))], [K, member("x", option("String"))], M),
    "date to timestamp": (
        [K, member("x", option("Date"))],
        [K, member("x", option({"kind": "Timestamp", "timezone": None, "unit": "Microsecond"}))],
        M,
    ),
    "text to bytes": ([K, Y], [K, member("y", option("Binary"))], M),
    "longer text": ([K, paimon_type("VARCHAR(9)")], [K, paimon_type("VARCHAR(12)")], M),
    "text without a limit": ([K, paimon_type("VARCHAR(9)")], [K, member("x", option("String"))], M),
    "finer timestamp": (
        [K, member("x", option({"kind": "Timestamp", "unit": "Millisecond"}))],
        [K, member("x", option({"kind": "Timestamp", "unit": "Microsecond"}))],
        M,
    ),
    "vector to list": ([K, member("x", vector(2))], [K, member("x", listed("Float32"))], R),
    "list to vector": ([K, member("x", listed("Float32"))], [K, member("x", vector(2))], R),
    "longer vector": ([K, member("x", vector(2))], [K, member("x", vector(3))], R),
    "wider vector": ([K, member("x", vector(2))], [K, member("x", vector(2, "Float64"))], R),
    "row to text": ([K, member("x", option(struct(K)))], [K, member("x", option("String"))], R),
    "widen items": (
        [K, member("x", option(listed(option("Int32"))))],
        [K, member("x", option(listed(option("Int64"))))],
        M,
    ),
    "widen values": (
        [K, member("x", option(mapped(option("Int32"))))],
        [K, member("x", option(mapped(option("Int64"))))],
        M,
    ),
    "let items be null": ([K, member("x", listed("Int32"))], [K, member("x", listed(option("Int32")))], M),
    "widen keys": ([K, member("x", mapped("Int8", "Int32"))], [K, member("x", mapped("Int8", "Int64"))], R),
    "move into a ROW": (
        [K, X, member("s", option(struct(Y)))],
        [K, member("s", option(struct(Y, member("x", option("Int32"), "x"))))],
        R,
    ),
    "another unit": (
        [K, member("x", option("Int32"), **{"schemac.dev/unit": "m"})],
        [K, member("x", option("Int32"), **{"schemac.dev/unit": "km"})],
        R,
    ),
    "unsigned to signed": (
        [K, member("x", option("UInt8"))],
        [K, member("x", option("Int16"))],
        Outcome.SAFE,
    ),
}
for where, put in IN.items():
    EDITS |= {
        f"add inside {where}": ([K, put(X)], [K, put(X, Y)], M),
        f"add first inside {where}": ([K, put(X)], [K, put(Y, X)], M),
        f"add deep inside {where}": ([K, put(X)], [K, put(member("n", DEEP), X)], M),
        f"add required inside {where}": ([K, put(X)], [K, put(X, member("y", "String"))], R),
        f"drop inside {where}": ([K, put(X, Y)], [K, put(Y)], M),
        f"drop the last inside {where}": ([K, put(X)], [K, put(Y)], R),
        f"rename inside {where}": ([K, put(X, Y)], [K, put(X, member("z", option("String"), "y"))], M),
        f"widen inside {where}": ([K, put(X)], [K, put(member("x", option("Int64")))], M),
        f"describe inside {where}": (
            [K, put(X)],
            [K, put(member("x", option("Int32"), **{DESCRIPTION: "what"}))],
            M,
        ),
        f"reorder inside {where}": ([K, put(X, Y)], [K, put(Y, X)], R),
        f"rename {where} and what is in it": (
            [K, put(X, Y)],
            [
                K,
                {
                    **put(member("u", option("Int32"), "x"), Y),
                    "name": "t",
                    "extra": {"schemac.dev/renamedFrom": "s"},
                },
            ],
            M,
        ),
    }

IMPLICIT = {"paimon.apache.org/options": {"disable-explicit-type-casting": "true"}}
TABLES: dict[str, tuple[Tree, Tree, Outcome]] = {
    "rename a key": (
        {"fields": [K, X], "extra": KEYS},
        {
            "fields": [member("id", "Int64", "k"), X],
            "extra": {**KEYS, "paimon.apache.org/primaryKeys": ["id"]},
        },
        M,
    ),
    "add beside a key": ({"fields": [K, X], "extra": KEYS}, {"fields": [K, Y, X], "extra": KEYS}, M),
    "widen beside a key": (
        {"fields": [K, X], "extra": KEYS},
        {"fields": [K, member("x", option("Int64"))], "extra": KEYS},
        M,
    ),
    "reorder around a key": ({"fields": [K, X], "extra": KEYS}, {"fields": [X, K], "extra": KEYS}, M),
    "widen a key": (
        {"fields": [member("k", "Int32"), X], "extra": KEYS},
        {"fields": [K, X], "extra": KEYS},
        R,
    ),
    "drop a member with the name of a key": (
        {"fields": [K, IN["a ROW"](K, X)], "extra": KEYS},
        {"fields": [K, IN["a ROW"](X)], "extra": KEYS},
        M,
    ),
    "widen a member with the name of a key": (
        {"fields": [K, IN["a ROW"](member("k", "Int32"))], "extra": KEYS},
        {"fields": [K, IN["a ROW"](K)], "extra": KEYS},
        M,
    ),
    "let a member with the name of a key be null": (
        {"fields": [K, IN["a ROW"](K)], "extra": KEYS},
        {"fields": [K, IN["a ROW"](member("k", option("Int64")))], "extra": KEYS},
        M,
    ),
    "rename a member with the name of a partition": (
        {"fields": [K, P, IN["a ROW"](P)], "extra": PARTITIONED},
        {"fields": [K, P, IN["a ROW"](member("q", "String", "p"))], "extra": PARTITIONED},
        M,
    ),
    "take the key away": ({"fields": [K, X], "extra": KEYS}, {"fields": [K, X]}, R),
    "drop a key": (
        {
            "fields": [K, X, member("y", "Int64")],
            "extra": {**KEYS, "paimon.apache.org/primaryKeys": ["k", "y"]},
        },
        {"fields": [K, X], "extra": KEYS},
        R,
    ),
    "rename a partition": (
        {"fields": [K, P], "extra": PARTITIONED},
        {"fields": [K, member("q", "String", "p")], "extra": {"paimon.apache.org/partitionKeys": ["q"]}},
        R,
    ),
    "drop a partition": ({"fields": [K, P], "extra": PARTITIONED}, {"fields": [K]}, R),
    "add beside a partition": (
        {"fields": [K, P], "extra": PARTITIONED},
        {"fields": [K, P, X], "extra": PARTITIONED},
        M,
    ),
    "set an option": (
        {"fields": [K, X], "extra": KEYS},
        {
            "fields": [K, X],
            "extra": {**KEYS, "paimon.apache.org/options": {"bucket": "1", "snapshot.num-retained.min": "3"}},
        },
        M,
    ),
    "set a fixed option": (
        {"fields": [K, X], "extra": KEYS},
        {
            "fields": [K, X],
            "extra": {**KEYS, "paimon.apache.org/options": {"bucket": "1", "merge-engine": "partial-update"}},
        },
        R,
    ),
    "write other files": (
        {"fields": [K, X]},
        {"fields": [K, X], "extra": {"paimon.apache.org/options": {"file.format": "avro"}}},
        F,
    ),
    "widen where nothing is cast explicitly": (
        {"fields": [K, X], "extra": IMPLICIT},
        {"fields": [K, member("x", option("Int64"))], "extra": IMPLICIT},
        M,
    ),
    "remove an option": (
        {"fields": [K, X], "extra": {"paimon.apache.org/options": {"snapshot.num-retained.min": "3"}}},
        {"fields": [K, X]},
        M,
    ),
    "set the comment": ({"fields": [K, X]}, {"fields": [K, X], "extra": {DESCRIPTION: "all"}}, M),
    "forbid null where the option allows it": (
        {
            "fields": [K, X],
            "extra": {"paimon.apache.org/options": {"alter-column-null-to-not-null.disabled": "false"}},
        },
        {
            "fields": [K, member("x", "Int32")],
            "extra": {"paimon.apache.org/options": {"alter-column-null-to-not-null.disabled": "false"}},
        },
        D,
    ),
}
CASES = {**{n: ({"fields": o}, {"fields": w}, v) for n, (o, w, v) in EDITS.items()}, **TABLES}

WITHOUT_OPERATION = (
    "drop all",  # legal in another order
    "drop the last inside",
    "widen keys",
    "reorder inside",
    "another unit",
    "row to text",  # our lock gives another id to what has another form
    "move into a ROW",
    "take the key away",
)
"""Refused by us for reasons of our own, or for want of an operation to ask with."""
WITHOUT_WORDS = {Fact.FIELD_DROPPED, Fact.FIELDS_REORDERED}
"""Facts that are refused for such reasons."""
UNSUPPORTED = {"set a default"}
"""Operations that pypaimon does not have; Java does."""


@pytest.mark.parametrize("name", CASES)
def test_hold_what_was_said(paimon: Paimon, warehouse: Path, name: str) -> None:
    old, new, verdict = CASES[name]
    evolution = Evolution.of(old, new)
    assert evolution.worst is verdict, evolution.judged
    _hold(evolution, paimon, warehouse, name)


def _hold(evolution: Evolution, paimon: Paimon, warehouse: Path, name: str) -> None:
    folder = evolution.place(warehouse)
    rows = evolution.rows(paimon, warehouse)
    copy(folder, "altered")
    if evolution.is_refused:
        if not name.startswith(WITHOUT_OPERATION) and evolution.is_asked:
            with pytest.raises(PaimonError):
                evolution.alter(paimon, warehouse, "altered")
        return
    evolution.apply(folder)
    assert not apart(table_schema(evolution.new), newest(folder))
    if evolution.worst is not Outcome.DATA:
        schema = paimon.describe(warehouse, "t")
        assert _sorted(paimon.read(warehouse, "t").to_pylist()) == _sorted(evolution.expected(rows, schema))
    if name not in UNSUPPORTED:
        theirs = evolution.alter(paimon, warehouse, "altered")
        assert not apart(table_schema(evolution.new), theirs)


def _sorted(rows: list[dict[str, Any]]) -> list[str]:
    """Rows in an order of their own: a primary key sorts them."""
    return sorted(json.dumps(row, default=str, sort_keys=True) for row in rows)


class _Random:
    """A schema with columns of all sorts, and an edit of it."""

    PLAIN = ("Bool", "Int8", "Int16", "Int32", "Int64", "Float32", "Float64", "String", "Binary", "Date")
    WIDER = {
        "Int8": ("Int16", "Int32", "Int64", "String"),
        "Int16": ("Int32", "Int64", "Float32"),
        "Int32": ("Int64", "Float64", "String"),
        "Float32": ("Float64",),
        "Date": ("String",),
        "String": ("Binary",),
    }

    NEVER = {"Int32": "Date", "Bool": "Date", "Date": "Int32", "Binary": "Int64", "Float64": "Binary"}

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.is_bold = seed % 4 == 3
        """Whether edits may be such as Paimon refuses."""
        self.count = 0
        self.share_required = 0.2

    # What pypaimon 2.1.0 cannot read is not made here: old rows that lack a ROW whose members may not be null, inside
    # another ROW, and lists whose items may not be null inside a ROW that changed.
    def name(self) -> str:
        self.count += 1
        return f"{self.random.choice('abcdxyz')}{self.count}"

    def type(self, depth: int) -> Any:
        kind = self.random.random()
        if depth == 0 or kind < 0.5:
            plain = self.random.choice(self.PLAIN)
            return plain if self.random.random() < self.share_required else option(plain)
        if kind < 0.8:
            return option(struct(*self.members(depth - 1)))
        inner = self.type(depth - 1)
        inner = option(inner) if isinstance(inner, str) else inner
        return option(listed(inner) if kind < 0.9 else mapped(inner))

    def members(self, depth: int) -> list[Tree]:
        return [member(self.name(), self.type(depth)) for _ in range(self.random.randint(1, 4))]

    def edited(self, members: list[Tree], depth: int, *, is_top: bool) -> list[Tree]:
        """The members after some edits; they always keep one."""
        found: list[Tree] = []
        for field in members:
            chance = self.random.random()
            if chance < 0.12 and (found or field is not members[-1]) and len(members) > 1:
                continue
            new = {"name": field["name"], "type": self.changed(field["type"], depth)}
            if chance > 0.85:
                new |= {"name": self.name(), "extra": {"schemac.dev/renamedFrom": field["name"]}}
            found.append(new)
        found = found or [members[0]]
        for _ in range(self.random.randint(0, 2)):
            self.share_required = 0.1 if self.is_bold else 0
            type_ = self.type(depth if not self.is_bold else 0)
            is_added = self.is_bold or not isinstance(type_, str)
            found.insert(
                self.random.randint(0, len(found)),
                member(self.name(), type_ if is_added else option(type_)),
            )
        if is_top and self.random.random() < 0.3:
            self.random.shuffle(found)
        if self.random.random() < 0.2:
            self.swap(found)
        return found

    def swap(self, members: list[Tree]) -> None:
        """Let two fields that stay take each other's names."""
        stay = [m for m in members if "extra" not in m]
        if len(stay) < 2:
            return
        one, other = self.random.sample(stay, 2)
        one["extra"], other["extra"] = (
            {"schemac.dev/renamedFrom": one["name"]},
            {"schemac.dev/renamedFrom": other["name"]},
        )
        one["name"], other["name"] = other["name"], one["name"]

    def changed(self, type_: Any, depth: int) -> Any:
        if isinstance(type_, str):
            return option(type_) if self.random.random() < 0.3 else type_
        inner = type_["inner"]
        if isinstance(inner, str):
            if self.is_bold and self.random.random() < 0.05:
                return inner
            if self.is_bold and inner in self.NEVER and self.random.random() < 0.1:
                return option(self.NEVER[inner])
            wider = self.WIDER.get(inner)
            return option(self.random.choice(wider)) if wider and self.random.random() < 0.3 else type_
        if inner["kind"] == "Struct":
            return option(struct(*self.edited(inner["fields"], depth - 1, is_top=False)))
        part = "itemType" if inner["kind"] == "List" else "valueType"
        return option({**inner, part: self.changed(inner[part], depth - 1)})


def _random_pair(seed: int) -> Evolution:
    made = _Random(seed)
    fields = made.members(3)
    extra = KEYS if seed % 3 == 0 else {}
    new = made.edited(fields, 3, is_top=True)
    return Evolution.of({"fields": [K, *fields], "extra": extra}, {"fields": [K, *new], "extra": extra})


def _hold_random(paimon: Paimon, warehouse: Path, seed: int) -> None:
    evolution = _random_pair(seed)
    refused = {change.fact for change, said in evolution.judged if said.outcome is Outcome.REFUSED}
    _hold(evolution, paimon, warehouse, "drop all" if refused and refused <= WITHOUT_WORDS else "")


@pytest.mark.parametrize("seed", range(60))
def test_hold_random_pairs(paimon: Paimon, warehouse: Path, seed: int) -> None:
    _hold_random(paimon, warehouse, seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1000, 2000))
def test_hold_many_random_pairs(paimon: Paimon, warehouse: Path, seed: int) -> None:
    _hold_random(paimon, warehouse, seed)
