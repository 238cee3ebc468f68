"""With a cache a project comes out as without one: output, exit codes, findings and artifacts, whatever was edited before."""

import random
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemac import version
from schemac.artifacts.targets import Artifact
from schemac.project import stages
from schemac.project.cache import entries
from schemac.project.targets import Emitted, emit_targets
from tests.identity.commands import schemac
from tests.project.trees import Tree, tree

KINDS = (
    "Int32",
    "Int64",
    "String",
    "{kind: Option, inner: Float64}",
    "{kind: Decimal, precision: 50, scale: 2}",
)
"""The last is one that not every engine has."""
ATTRIBUTES = (
    "",
    "acme.com/tier: 1",
    "acme.com/tier: high",
    "lance.org/primaryKey: {position: 1}",
    "acme.com/owner: a",
    "schemac.dev/enum: ['1']",
)
"""Of which a vocabulary may refuse some."""
SETTINGS = (
    "",
    "strict = true\n",
    'targets = ["arrow", "spark"]\n',
    'targets = ["arrow", "iceberg"]\n',
    "metadata = false\n",
    'encodings = {string = "large_string"}\n',
    'systemColumns = "rfc"\n',
    'vocabularies = {"acme.com" = "acme.json"}\n',
    'vocabularies = {"acme.com" = "nowhere.json"}\n',
    'out = "elsewhere"\n',
    'target = ["arrow"]\n',
    '[lint]\nselect = ["all"]\n',
    '[lint]\nignore = ["SC871"]\n',
    '[lint]\nseverity = {SC871 = "error"}\n',
    '[lint]\nextend-select = ["naming"]\nper-path = {"tables/a.yaml" = ["all"]}\n',
    '[lint]\nrules = ["rules.py"]\nextend-select = ["acme"]\n',
)
VOCABULARIES = (
    '{"properties": {"tier": {"type": "integer"}}}',
    '{"properties": {"tier": {"type": "string"}}, "additionalProperties": false}',
    '{"type": 1}',
)
COMMANDS = (
    *(("build",),) * 4,
    *(("check",),) * 2,
    *(("lock",),) * 2,
    ("build", "--losses"),
    ("build", "--target", "spark"),
    ("build", "--no-metadata", "--out", "other"),
    ("build", "tables/a.yaml"),
    ("build", "--check"),
    ("build", "--locked", "--format", "sarif"),
    ("check", "tables"),
    ("check", "--strict", "--format", "json"),
    ("check", "tables/b.yaml", "tables/a.yaml"),
    ("lock", "--check"),
    ("breaking", "--against", "../before", "--format", "json"),
    ("breaking", "--against", "lock"),
    ("breaking", "--against", "lock:1", "--transitive", "--engine", "spark"),
    ("diff", "../before"),
    ("diff", "lock:1", "--format", "json"),
    ("plan", "a"),
    ("build", "--overlay", "over.yaml"),
    ("check", "--deny", "losses"),
    ("build", "--deny", "losses=spark"),
)
RULES = """\
from schemac.language.lint.rule import rule
from schemac.text.source.diagnostics import Code, Severity

@rule(Code("ACME801", "acme-{word}", Severity.WARNING, "a {word}"), category="acme", is_default=True)
def acme(subject, say):
    say.schema("{word}")
"""
"""Rules of the project's own."""
NAMES = ("a", "b", "c")
SOURCE = """\
$schema: https://opendatafabric.org/schemas/source/v1alpha1/Source
headers:
  name: %s
spec:
  read:
    kind: Csv
    schema:
      fields:
        - {name: fare, type: String}
"""
"""Beside a dataset of its name it is called `<name>.source`."""


class Step(NamedTuple):
    """One edit of both projects, and the command that follows it."""

    edit: str
    file: str
    other: str
    kind: str
    attribute: str
    setting: str
    vocabulary: str
    seed: int
    command: tuple[str, ...]


EDITS = (
    *("write",) * 4,
    *("write with a group",) * 3,
    *("write with a comment", "write with a comment", "write the rules"),
    *("write the group", "write the group", "write the inner group", "write the group before"),
    *("break the group", "remove the inner group", "move the group", "write the overlay"),
    *(
        "write another name",
        "write a source",
        "break",
        "remove",
        "move",
        "move the lock",
        "copy with the lock",
    ),
    *(
        "configure",
        "configure",
        "change the vocabulary",
        "damage an artifact",
        "delete an artifact",
        "link an artifact",
    ),
    *(
        "upgrade",
        "flip",
        "cut",
        "empty",
        "put something else",
        "delete the cache",
        "carry",
        "nothing",
        "nothing",
    ),
)
STEPS = st.builds(
    Step,
    *map(st.sampled_from, (EDITS, NAMES, NAMES, KINDS, ATTRIBUTES, SETTINGS, VOCABULARIES)),
    st.integers(0, 2**32),
    st.sampled_from(COMMANDS),
)


def manifest(name: str, kind: str, attribute: str) -> str:
    extra = f"    extra: {{{attribute}}}\n" if attribute else ""
    return f"name: {name}\nfields:\n  - name: id\n    type: Int64\n  - name: fare\n    type: {kind}\n{extra}"


def group(name: str, kind: str, imported: str = "") -> str:
    """A file with a group; one that imports another puts its group in as well."""
    fields = f"      - name: $(of)_{name}\n        type: {kind}\n"
    if not imported:
        return f"groups:\n  {name}:\n    parameters: {{of: {{default: x}}}}\n    fields:\n{fields}"
    return f"imports: [{imported}.yaml]\n{group(name, kind)}      - use: {imported}\n"


def edit_groups(folder: Path, step: Step) -> None:
    """Do to the imported files of a project what a step says."""
    outer, inner = folder / "tables/groups/outer.yaml", folder / "tables/groups/inner.yaml"
    match step.edit:
        case "write with a group":
            text = manifest(step.file, step.kind, step.attribute)
            used = f"imports: [groups/outer.yaml]\n{text}  - use: outer\n    with: {{of: {step.other}}}\n"
            (folder / f"tables/{step.file}.yaml").write_text(used)
        case "write the group":
            outer.write_text(group("outer", step.kind, "inner"))
        case "write the inner group":
            inner.write_text(group("inner", step.kind))
        case "write the group before":
            before = folder.parent / "before/groups"
            before.mkdir(exist_ok=True)
            (before / "outer.yaml").write_text(group("outer", step.kind))
        case "break the group":
            outer.write_text(group("outer", "Int3", "inner" if step.seed % 2 else "outer"))
        case "remove the inner group":
            inner.unlink(missing_ok=True)
        case "move the group" if outer.exists():
            outer.replace(outer.with_name("elsewhere.yaml"))


def edit_project(folder: Path, step: Step) -> None:
    """Do to one project what a step says; what is done to its cache is done only to the project that has one."""
    path, other = folder / f"tables/{step.file}.yaml", folder / f"tables/{step.other}.yaml"
    own, others = path.with_suffix(".lock"), other.with_suffix(".lock")
    match step.edit:
        case "write":
            path.write_text(manifest(step.file, step.kind, step.attribute))
        case "write another name":
            path.write_text(manifest(step.other.upper(), step.kind, step.attribute))
        case "write a source":
            path.write_text(SOURCE % step.other)
        case "write with a comment":
            text = manifest(step.file, step.kind, step.attribute or "a.b/c: 1")
            code = ("SC871", "SC835", "SC502")[step.seed % 3]
            path.write_text(text.rstrip() + f"  # schemac: ignore[{code}] said\n")
        case "write the rules":
            (folder / "rules.py").write_text(RULES.format(word="odd" if step.seed % 2 else "even"))
        case "break":
            path.write_text(manifest(step.file, "Int3", step.attribute))
        case "remove":
            path.unlink(missing_ok=True)
        case "move" if path.exists():
            path.replace(other)
        case "move the lock" if own.exists():
            own.replace(others)
        case "copy with the lock" if path.exists() and own.exists() and path != other:
            shutil.copy(path, other)
            shutil.copy(own, others)
        case "configure":
            (folder / "schemac.toml").write_text(step.setting)
        case "change the vocabulary":
            (folder / "schemac.toml").write_text('vocabularies = {"acme.com" = "acme.json"}\n')
            (folder / "acme.json").write_text(step.vocabulary)
        case "damage an artifact" | "delete an artifact" | "link an artifact":
            edit_artifact(folder, step)
        case "upgrade":
            use_version("0.1.0" if step.seed % 2 else "0.2.0")
        case "carry":
            # Another machine has the project elsewhere, with all files new.
            copy = folder.with_name("copy")
            shutil.copytree(folder, copy, symlinks=True, copy_function=shutil.copy)
            shutil.rmtree(folder)
            copy.rename(folder)
        case "write the overlay":
            name = f"    name: {step.other}_there\n" if step.seed % 2 else "    extra: {}\n"
            (folder / "over.yaml").write_text(f"datasets:\n  {step.file}:\n{name}")
        case edit if "group" in edit:
            edit_groups(folder, step)
        case _:
            damage_cache(folder, random.Random(step.seed), step.edit)


def use_version(text: str) -> None:
    """Work with a compiler that writes its version into an artifact."""
    version.__version__ = text
    entries.fingerprint.cache_clear()

    def emit(*arguments: Any, **named: Any) -> Emitted:
        made = EMIT(*arguments, **named)
        made.artifacts.append(Artifact("arrow/version.txt", text.encode()))
        return made

    vars(stages)["emit_targets"] = emit


EMIT = emit_targets


def edit_artifact(folder: Path, step: Step) -> None:
    paths = [path for path in sorted(visible(folder)) if path.startswith(("build/", "other/"))]
    if not paths:
        return
    path = folder / paths[step.seed % len(paths)]
    # A link may lead to what a later build has put elsewhere.
    content = path.read_bytes() if path.exists() else b""
    path.unlink()
    if step.edit == "damage an artifact":
        path.write_bytes(content[:-1] + b"#")
    elif step.edit == "link an artifact":
        path.symlink_to("losses.json")


def damage_cache(folder: Path, source: random.Random, damage: str) -> None:
    """Damage the entries as a disk, another program or another version would."""
    for file in sorted((folder / ".schemac/cache").glob("*.sqlite")):
        content = bytearray(file.read_bytes())
        match damage:
            case "flip" if content:
                content[source.randrange(len(content))] ^= 1 << source.randrange(8)
            case "cut":
                del content[source.randrange(len(content) + 1) :]
            case "empty":
                content.clear()
            case "put something else":
                content[:] = source.randbytes(100)
        file.unlink()
        if damage != "delete the cache":
            file.write_bytes(content)


def visible(folder: Path) -> Tree:
    """All that people keep, and see."""
    return {path: content for path, content in tree(folder).items() if not path.startswith(".schemac/")}


def compare(cached: Path, plain: Path, command: tuple[str, ...]) -> None:
    """A command does the same in both, and does it again."""
    for _ in range(2):
        one, other = schemac(cached, *command), schemac(plain, *command, "--no-cache")
        assert one.returncode == other.returncode
        for told, expected in ((one.stdout, other.stdout), (one.stderr, other.stderr)):
            assert told.replace(str(cached), "HERE") == expected.replace(str(plain), "HERE")
        assert other.returncode != 3, other.stderr
        assert visible(cached) == visible(plain)
    assert not (plain / ".schemac").exists()


def _come_out_as_without(steps: list[Step]) -> None:
    before = version.__version__
    use_version(before)
    with TemporaryDirectory() as name:
        cached, plain = (Path(name).resolve() / sort / "project" for sort in ("cached", "plain"))
        try:
            for folder in (cached, plain):
                (folder / "tables/groups").mkdir(parents=True)
                (folder / "tables/groups/outer.yaml").write_text(group("outer", "Int32", "inner"))
                (folder / "tables/groups/inner.yaml").write_text(group("inner", "Int32"))
                (folder / "schemac.toml").write_text("")
                (folder / "over.yaml").write_text("datasets: {}\n")
                for file in NAMES:
                    (folder / f"tables/{file}.yaml").write_text(manifest(file, "Int32", ""))
                shutil.copytree(folder / "tables", folder.parent / "before")
            compare(cached, plain, ("build",))
            for step in steps:
                for folder in (cached, plain):
                    edit_project(folder, step)
                compare(cached, plain, step.command)
        finally:
            use_version(before)
            vars(stages)["emit_targets"] = EMIT


def step(edit: str, command: str = "build", **given: Any) -> Step:
    """A step of a chosen history."""
    plain = Step(edit, "a", "b", "Int32", "", "", VOCABULARIES[0], 0, tuple(command.split()))
    return plain._replace(**given)


HISTORIES = {
    "a lock that a manifest is brought back to": (
        step("nothing", "lock"),
        step("nothing"),
        step("write", "lock", kind="Int64"),
        step("write", kind="Int32"),
    ),
    "a lock that lost its manifest": (step("nothing", "lock tables/a.yaml"), step("nothing"), step("remove")),
    "a lock that went": (step("nothing", "lock"), step("nothing"), step("move the lock", other="c")),
    "another name for a source": (step("write a source", other="b"), step("remove", file="b")),
    "a name that is taken": (step("write another name"), step("write"), step("write another name")),
    "options": (step("nothing", "build --losses"), step("nothing", "build --target spark"), step("nothing")),
    "a vocabulary": tuple(
        step("write" if n == 0 else "change the vocabulary", attribute=ATTRIBUTES[2], vocabulary=vocabulary)
        for n, vocabulary in enumerate((VOCABULARIES[0], *VOCABULARIES))
    ),
    "settings": tuple(step("configure", setting=setting) for setting in SETTINGS),
    "rules": (
        step("write", "check", kind="String", attribute="schemac.dev/enum: ['1']"),
        *(step("configure", "check", setting=setting) for setting in SETTINGS[-5:-1]),
        step("write with a comment", "check", kind="String", attribute="schemac.dev/enum: ['1']"),
        step("write with a comment", "build", kind="String", attribute="schemac.dev/enum: ['1']", seed=1),
        step("configure", "check", setting=SETTINGS[-1]),
        step("write the rules", "check", seed=1),
        step("write the rules", "check", seed=2),
        step("nothing", "check --deny losses"),
        step("nothing", "build --deny losses=spark"),
        step("nothing", "lock"),
    ),
    "another version": (step("upgrade", seed=0), step("upgrade", seed=1), step("carry")),
    "artifacts": (
        step("damage an artifact", "build --check", seed=3),
        step("damage an artifact", seed=5),
        step("delete an artifact", "build --check", seed=4),
        step("delete an artifact", seed=6),
        step("link an artifact", seed=2),
    ),
    "entries": tuple(step(damage, seed=7) for damage in ("flip", "cut", "empty", "put something else")),
    "comparisons": (
        step("nothing", "lock"),
        *(
            step("write", command, kind="Int64")
            for command in ("breaking --against ../before", "diff lock:1", "lock")
        ),
        *(
            step("write", f"breaking --against {what}")
            for what in ("lock", "lock:1", "lock --transitive", "../before")
        ),
        step("move the lock", "breaking --against lock", other="c"),
        step("configure", "breaking --against ../before", setting=SETTINGS[2]),
    ),
    "plans": (step("nothing", "lock"), step("nothing", "plan a"), step("break", "plan a", file="b")),
    "groups": (
        step("write with a group", "lock"),
        step("write with a group", "build --locked", file="b"),
        *(
            step(edit, command, kind=kind)
            for edit, command, kind in (
                ("nothing", "check", ""),
                ("write the group", "build", "Int64"),
                ("write the inner group", "lock", "Int64"),
                ("write the inner group", "breaking --against lock:1", "String"),
                ("write the group before", "breaking --against ../before --format json", "String"),
                ("write the group before", "breaking --against ../before --format json", "Int64"),
                ("write the inner group", "diff ../before", "Int64"),
                ("break the group", "check --format json", ""),
                ("write the group", "build", "Int64"),
                ("remove the inner group", "build", ""),
                ("write the inner group", "build --check", "Int64"),
                ("move the group", "check", ""),
            )
        ),
    ),
    "an overlay": (
        step("write the overlay", "build --overlay over.yaml", seed=1),
        step("nothing", "build"),
        step("write the overlay", "build --overlay over.yaml --out other", seed=1, other="c"),
        step("write the overlay", "build --overlay over.yaml --out other", seed=2),
        step("write the overlay", "build --check --overlay over.yaml", seed=1, other="c"),
    ),
    "a broken manifest": (step("break", "check"), step("nothing"), step("write")),
}


@pytest.mark.parametrize("history", HISTORIES)
def test_come_out_as_without_after(history: str) -> None:
    _come_out_as_without([*HISTORIES[history]])


@given(st.lists(STEPS, min_size=12, max_size=12))
@settings(
    max_examples=5, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
def test_come_out_as_without(steps: list[Step]) -> None:
    _come_out_as_without(steps)


@pytest.mark.long
@given(st.lists(STEPS, min_size=30, max_size=30))
@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
def test_come_out_as_without_after_very_many_edits(steps: list[Step]) -> None:
    _come_out_as_without(steps)
