"""The reference pages of the guide name everything that there is, and show what commands write."""

import re
from pathlib import Path

import schemac
from schemac.artifacts.targets import Emission
from schemac.cli.main import COMMANDS
from schemac.language.attributes.registry import ATTRIBUTES, DOMAINS, OPEN
from schemac.language.kinds.registry import BY_NAME
from schemac.language.logical.dataset import Findings, LogicalDataset
from schemac.language.logical.model import SchemaField
from schemac.language.physical import LoweredField, LoweredSchema
from schemac.registry.codes import builtin_codes, loss_pages, page
from schemac.rows.judging.settings import LONGEST_VALUE
from schemac.rows.judging.tokens import LONGEST_KEY, MOST_LEVELS
from schemac.text.source.pages import rule_pages
from schemac.versions.evolution.changes import Change
from schemac.versions.identity.compilation import Compilation
from schemac.versions.identity.lock import Lock
from schemac.versions.identity.lockfile import write_lock
from tests.guide.examples import examples
from tests.identity.trees import fields, locked

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs"


def test_compile_the_manifest_that_is_shown() -> None:
    (shown, *_) = (e.text for e in examples(GUIDE / "reference/manifest.md") if e.language == "yaml")
    (dataset,) = schemac.compile_text(shown)
    assert dataset.name == "rides"
    assert dataset.to_lance().fields[0].unenforced_primary_key_position == 1


def test_show_types_of_engines_as_they_are() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    manifest = next(e.text for e in examples(ROOT / "README.md") if e.name == "tables/trips.yaml")
    (dataset,) = schemac.compile_text(manifest.replace("bigint", "Int64"))
    cells = {
        row[0].strip(): [cell.strip(" `") for cell in row[1:4]]
        for row in (line.strip("|").split("|") for line in readme.splitlines() if line.startswith("| "))
        if len(row) == 4
    }
    names = ("fare", "rating", "embedding")
    arrow = dataset.to_arrow()
    required = {field.name: "" if field.nullable else " not null" for field in arrow}
    assert [
        re.sub(r"<item: float( not null)?>", "<float>", f"{arrow.field(n).type}{required[n]}") for n in names
    ] == cells["Arrow"]
    lance = {field.name: field.logical_type for field in dataset.to_lance().fields if field.parent_id == -1}
    assert [lance[name] for name in names] == cells["Lance"]
    ddl = dataset.to_spark_ddl()
    assert all(f"`{name}` {type}" in ddl for name, type in zip(names, cells["Spark"], strict=True))
    paimon = {field["name"]: field["type"] for field in dataset.to_paimon()["fields"]}
    assert paimon["fare"] == cells["Paimon"][0]
    assert paimon["rating"] == cells["Paimon"][1]


def test_show_lines_of_a_lock_as_they_are_written() -> None:
    tags = {"kind": "Map", "keyType": {"kind": "String"}, "valueType": {"kind": "Int32"}}
    lock, _ = locked(fields(id="Int64", fare="Float64", tags=tags))
    lines = write_lock(Lock((lock,))).splitlines()
    (shown, *_) = (e.text for e in examples(GUIDE / "explanation/ids-and-locks.md") if e.language == "text")
    assert set(shown.splitlines()) <= set(lines)


def test_list_every_command_and_kind() -> None:
    commands = (GUIDE / "reference/command-line.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `schemac (\w+)", commands, re.MULTILINE)) == set(COMMANDS)
    manifest = (GUIDE / "reference/manifest.md").read_text(encoding="utf-8")
    assert all(re.search(rf"\b{kind}\b", manifest) for kind in BY_NAME)


def test_list_the_attributes_of_every_domain() -> None:
    manifest = (GUIDE / "reference/manifest.md").read_text(encoding="utf-8")
    shown: dict[str, tuple[bool, bool]] = {}
    for domain, cell in re.findall(r"^\| `([\w.]+\.[a-z]+)`[^|]*\| (.*) \|$", manifest, re.MULTILINE):
        for part in cell.split("; "):
            places = (not part.startswith("on the schema"), part.startswith("on "))
            shown |= {f"{domain}/{name}": places for name in re.findall(r"`(\w+)`", part)}
    known = {**ATTRIBUTES, **OPEN}
    assert shown == {
        key: (attribute.on_field, attribute.on_schema)
        for key, attribute in known.items()
        if attribute.on_field or attribute.on_schema  # `linkedObjects` is an attribute of data blocks
    }


def test_link_to_the_losses_of_every_engine() -> None:
    text = (GUIDE / "explanation/losses.md").read_text(encoding="utf-8")
    assert set(re.findall(r"/losses/(\w+)\.md\)", text)) == set(loss_pages())


def test_list_the_closed_domains() -> None:
    prose, *_ = page(builtin_codes()["SC310"]).split("```")
    assert set(re.findall(r"`([\w.]+)`", prose)) == set(DOMAINS)


def test_name_what_functions_of_engines_get() -> None:
    text = (GUIDE / "how-to/write-an-engine.md").read_text(encoding="utf-8")
    shown = {
        cls: re.findall(r"`(\w+)`", cell)
        for cls, cell in re.findall(r"^\| `([A-Z]\w+)`[^|]*\| (.*) \|$", text, re.MULTILINE)
    }
    classes = (Compilation, LogicalDataset, SchemaField, LoweredSchema, LoweredField, Emission, Change)
    assert list(shown) == [cls.__name__ for cls in classes]
    known = {
        "SchemaField",
        "findings",
        *dir(Findings),
    }  # what cells about other classes name, and what `Emission` has
    for cls in classes:
        assert set(shown[cls.__name__]) <= {*dir(cls), *getattr(cls, "__annotations__", ()), *known}


def test_state_the_limits_of_records_and_reasons() -> None:
    reading = (GUIDE / "reference/reading.md").read_text(encoding="utf-8")
    for text in (reading, rule_pages()["malformed"]):
        assert f"more than {MOST_LEVELS} levels of brackets" in text
        assert f"first {LONGEST_VALUE:,} characters" in " ".join(text.split())
    assert f"a key of {LONGEST_KEY:,} characters or more" in reading


def test_keep_the_front_page_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 200
    assert len((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()) <= 150
