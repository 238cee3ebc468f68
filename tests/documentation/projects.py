"""A project with what pages have to show: references, versions, attributes, and texts that mean harm."""

import random
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from schemac.cli.main import main
from schemac.project.configuration import Project
from schemac.project.stages import check_source
from schemac.text.source.diagnostics import Report, SourceText
from schemac.versions.identity.freeze import freeze, identify
from schemac.versions.identity.lock import Lock, LockedDataset
from schemac.versions.identity.lockfile import write_lock

HARM = "</script><script>window.harm=1</script><img src=x onerror=window.harm=1>\"' \u202e{{ 7*7 }}"
CUSTOMERS = """\
name: customers
description: Who ordered
extra: {schemac.dev/owner: crm, schemac.dev/tags: [core]}
fields:
  - {name: id, type: Int64, description: Never reused, extra: {lance.org/primaryKey: {position: 1}}}
  - name: address
    type: {kind: Struct, fields: [{name: city, type: String, extra: {schemac.dev/classification: personal}}]}
  - name: fax
    description: "See *the* [rules](https://wiki.example/fax).\n\n| a | b |\n|:-:|--:|\n| 1 | `x` |\n\n# Old\n\n> gone"
    type: String
    extra: {schemac.dev/deprecated: {removeAfter: 2027-03-31, successor: id}}
"""
ORDERS = """\
name: orders
extra: {schemac.dev/references: [{fields: [customer], dataset: customers, to: [id]}, {fields: [id], dataset: elsewhere}]}
fields:
  - {name: id, type: Int64}
  - {name: codes, type: {kind: List, itemType: {kind: String, extra: {schemac.dev/maxLength: 9}}}}
  - {name: vector, type: {kind: List, itemType: Float32, fixedLength: 3}}
  - {name: customer, type: Int64, extra: {schemac.dev/minimum: 1}}
  - {name: total, type: {kind: Decimal, precision: 8, scale: 2}}
"""


def hostile() -> str:
    """Return a manifest all of whose texts mean harm, wherever a text may stand."""
    text = HARM.replace("\\", "\\\\").replace('"', '\\"')
    return f"""\
name: reviews
description: "{text}"
extra:
  schemac.dev/owner: "{text}"
  schemac.dev/tags: ["{text}"]
  schemac.dev/deprecated: {{note: "{text}"}}
  schemac.dev/references: [{{fields: [id], dataset: "{text}"}}]
  example.org/x: "{text}"
fields:
  - {{name: id, type: Int8}}
  - name: "{text}"
    description: "{text}"
    type: {{kind: Map, keyType: String, valueType: {{kind: String, extra: {{example.org/y: "{text}"}}}}}}
    extra: {{schemac.dev/tags: ["{text}"], example.org/z: ["{text}"]}}
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Customers, orders with three versions and a change since, and reviews that mean harm."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tables").mkdir()
    (tmp_path / "schemac.toml").write_text('manifests = ["tables"]\n')
    texts = {"customers": CUSTOMERS, "orders": ORDERS, "reviews": hostile()}
    for name, text in texts.items():
        (tmp_path / f"tables/{name}.yaml").write_text(text, encoding="utf-8")
    orders = tmp_path / "tables/orders.yaml"
    for old, new in (("precision: 8", "precision: 9"), ("Int64}\n", "Int64, description: Ours}\n"), ("", "")):
        assert main(["lock", "-q", "--max-findings", "0"]) == 0
        orders.write_text(orders.read_text().replace(old, new, 1))
    orders.write_text(orders.read_text() + "  - {name: note, type: {kind: Option, inner: String}}\n")
    return tmp_path


_TYPES = (
    "Int32", "Int64", "UInt8", "Float32", "String", "Binary", "{kind: Option, inner: Int32}", "{kind: Option, inner: String}",
    "{kind: Decimal, precision: 8, scale: 2}", "{kind: Decimal, precision: 9, scale: 2}", "{kind: Decimal, precision: 9, scale: 4}",
    "{kind: Timestamp, unit: Millisecond}", "{kind: Timestamp, unit: Microsecond, timezone: null}",
    "{kind: List, itemType: Int32}", "{kind: List, itemType: {kind: Option, inner: Int64}}",
    "{kind: List, itemType: Float32, fixedLength: 3}", "{kind: Map, keyType: String, valueType: Int32}",
    "{kind: Map, keyType: String, valueType: Int32, keysSorted: true}",
    "{kind: Struct, fields: [{name: x, type: Int32}, {name: y, type: String}]}",
    "{kind: Struct, fields: [{name: y, type: String}, {name: x, type: Int64}]}",
    "{kind: Struct, fields: [{name: y, type: String, description: ours}, {name: z, type: {kind: List, itemType: Int32}}]}",
)  # fmt: skip
_EXTRAS = (
    "", "description: one", "description: two", "extra: {schemac.dev/tags: [a, b]}", "extra: {x.org/a: {b: [1, null]}}",
    "extra: {x.org/a: 1, schemac.dev/tags: [b]}", "extra: {lance.org/encoding: {compression: zstd}}",
    "extra: {lance.org/encoding: {compression: lz4, dictDivisor: 2}}", "extra: {schemac.dev/owner: me}",
)  # fmt: skip
_SCHEMA = ("", "description: all", "extra: {schemac.dev/unique: [[k]]}", "extra: {paimon.apache.org/options: {a: '1', b: '2'}}",
           "extra: {paimon.apache.org/options: {a: '2'}, schemac.dev/owner: us}")  # fmt: skip


def drawn_versions(seed: int, count: int) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield manifests that follow each other, and the former names of the fields that each renames.

    A field comes, goes, comes back, moves, and changes its type and attributes, often to what they were before.
    """
    draw = random.Random(seed)
    columns: dict[str, list[str]] = {}
    extra = ""
    for _ in range(count):
        renamed: dict[str, str] = {}
        for _ in range(draw.randint(1, 4)):
            name, free = draw.choice("abcdefgh"), [one for one in "abcdefgh" if one not in columns]
            what = draw.random()
            if name not in columns:
                columns[name] = [draw.choice(_TYPES), draw.choice(_EXTRAS)]
            elif what < 0.15:
                del columns[name]
                renamed.pop(name, None)
            elif what < 0.3 and free and not renamed:
                renamed[free[0]] = name
                columns = {free[0] if one == name else one: held for one, held in columns.items()}
            elif what < 0.4:
                columns[name] = columns.pop(name)
            else:
                columns[name][what < 0.7] = draw.choice(_EXTRAS if what < 0.7 else _TYPES)
        if draw.random() < 0.2:
            extra = draw.choice(_SCHEMA)
        columns.setdefault("k", ["Int32", ""])
        fields = [
            f"  - {{name: {name}, type: {type_}{f', {words}' if words and _fits(words, type_) else ''}}}\n"
            for name, (type_, words) in columns.items()
        ]
        yield f"name: drawn\n{extra}\nfields:\n{''.join(fields)}", renamed


def _fits(extra: str, type_: str) -> bool:
    return "lance.org" not in extra or _TYPES.index(type_) < _TYPES.index(
        "{kind: Timestamp, unit: Millisecond}"
    )


def lock_versions(path: Path, versions: Iterable[tuple[str, dict[str, str]]]) -> LockedDataset:
    """Write a manifest and its lock, with a version for each of these that differs from the one before."""
    lock = Lock()
    for text, renamed in versions:
        report = Report()
        (dataset,) = check_source(SourceText(text, path.name), Project(path.parent), report)
        assert not report.has_errors, report.diagnostics
        locked = lock.dataset(dataset.name)
        found = identify(dataset, locked, renamed=renamed)
        lock = lock.with_dataset(freeze(found))
        path.write_text(text, encoding="utf-8")
    path.with_suffix(".lock").write_text(write_lock(lock), encoding="utf-8")
    return lock.dataset(dataset.name)
