"""Every kind of file in every hostile shape, before every command that reads it.

Run as a program, so that children are forked off a small process: `python -m tests.project.hostile FOLDER START STEP`
runs every `STEP`-th case and prints one line of JSON for each.
"""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from schemac.cli.main import main

HANGS = 60.0
"""Seconds after which a child is taken to hang; nothing is measured by it."""
MEMORY = 6 << 30
"""Bytes of addresses that a child may have: who reads a device to its end does not take the machine along."""

Maker = Callable[[Path], None]

MANIFEST = """name: trips
fields:
  - name: fare
    type: Float64
    extra: {acme.com/owner: team, acme.com/tier: 3}
"""
PIPELINE = "source: {path: trips.ndjson}\nschema: tables/trips.yaml\ntarget: {path: trips.lance}\n"
CONFIGURATION = 'manifests = ["tables"]\n[vocabularies]\n"acme.com" = "vocabulary.json"\n'
VOCABULARY = '{"properties": {"owner": {"type": "string"}}}'


_TABLE = """
import lance, schemac
(trips,) = schemac.compile_file("tables/trips.yaml")
lance.write_dataset(trips.to_arrow().empty_table(), "trips.lance", data_storage_version="2.1")
"""


def make_project(folder: Path) -> None:
    """A sound project with everything in it, built and locked."""
    (folder / "tables").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "tables/trips.yaml").write_text(MANIFEST)
    (folder / "schemac.toml").write_text(CONFIGURATION)
    (folder / "vocabulary.json").write_text(VOCABULARY)
    (folder / "pipeline.yaml").write_text(PIPELINE)
    (folder / "trips.ndjson").write_text('{"fare": 1.5}\n')
    os.chdir(folder)
    assert main(["lock"]) == 0
    assert main(["build"]) == 0
    # In a process of its own: what Lance starts does not outlive a fork.
    subprocess.run([sys.executable, "-c", _TABLE], check=True)
    shutil.copytree("build/trips/paimon", "paimon/schema")


_READING = (
    "check",
    "build",
    "build --check",
    "build --locked",
    "lock",
    "lock --check",
    "diff lock",
    "breaking --against lock",
    "rename trips fare price",
    "run --dry-run pipeline.yaml",
)
_VERIFY, _PLAN, _APPLY = (
    "verify trips --table trips.lance",
    "plan trips --table trips.lance",
    "apply trips --table trips.lance --yes",
)
_OF_PAIMON = tuple(command.replace("trips.lance", "paimon") for command in (_VERIFY, _PLAN, _APPLY))
_CONFIGURED = (
    "check",
    "build",
    "lock",
    "diff lock",
    "breaking --against lock",
    "run --dry-run pipeline.yaml",
)
FILES: dict[str, tuple[str, tuple[str, ...]]] = {
    "manifest": ("tables/trips.yaml", (*_READING, _VERIFY, _OF_PAIMON[1], "check tables/trips.yaml")),
    "lock": ("tables/trips.lock", (*_READING, _PLAN, _OF_PAIMON[2])),
    "table": ("trips.lance", (_VERIFY, _APPLY)),
    "version of a table": ("trips.lance/_versions/18446744073709551614.manifest", (_VERIFY, _APPLY)),
    "table of Paimon": ("paimon/schema/schema-0", _OF_PAIMON),
    "configuration": ("schemac.toml", _CONFIGURED),
    "configuration of Python": ("pyproject.toml", _CONFIGURED),
    "vocabulary": ("vocabulary.json", _CONFIGURED),
    "provenance": (
        "build/artifacts.json",
        ("build", "build --check", "diff build", "breaking --against build"),
    ),
    "artifact": (
        "build/trips/lance/schema.binpb",
        ("build", "build --check", "diff build", "breaking --against build"),
    ),
    "pipeline": ("pipeline.yaml", ("run --dry-run pipeline.yaml", "check pipeline.yaml", "check")),
    **{
        f"source{suffix}": (f"source{suffix}", (f"import source{suffix}",))
        for suffix in (
            *(".json", ".ndjson", ".csv", ".sql", ".yaml", ".bin", ".txtpb", ".binpb", ".arrow", ".parquet"),
            ".lance",
        )
    },
    "source in JSON of Spark": ("schema.json", ("import --from spark schema.json",)),
    "source of Paimon": ("schema-0", ("import --from paimon schema-0",)),
}
"""Where each kind of file lies, and the commands that read it."""

DEEP = 100_000
_CHAIN = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 1_000))
_TYPES = "".join(f"t{i}: &t{i} {{kind: List, itemType: *t{i - 1}}}\n" for i in range(1, 1_000))
CONTENTS: dict[str, bytes] = {
    "empty": b"",
    "one line end": b"\n",
    "NUL": b"\x00",
    "NULs": b"\x00" * 10_000,
    "byte order mark": b"\xef\xbb\xbf",
    "UTF-16": MANIFEST.encode("utf-16"),
    "UTF-16 without a mark": MANIFEST.encode("utf-16-le"),
    "UTF-32": MANIFEST.encode("utf-32"),
    "Latin-1": b"# gr\xf6\xdfe\n",
    "surrogates": b'"\xed\xa0\x80"',
    "control characters": bytes(range(1, 32)),
    "random": random.Random(7).randbytes(10_000),
    "open brackets": b"[" * DEEP,
    "brackets": b"[" * DEEP + b"]" * DEEP,
    "open braces": b'{"a":' * DEEP,
    "braces": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "brackets below a key": b'{"a":' + b"[" * DEEP + b"]" * DEEP + b"}",
    "brackets in TOML": b"a = " + b"[" * DEEP + b"]" * DEEP,
    "braces in TOML": b"a = " + b"{a = " * DEEP + b"1" + b"}" * DEEP,
    "dots in TOML": b"a" + b".a" * DEEP + b" = 1",
    "tables in TOML": b"[a" + b".a" * DEEP + b"]",
    "alias chain": _CHAIN.encode(),
    "alias chain of types": (
        f"t0: &t0 {{kind: String}}\n{_TYPES}fields: [{{name: a, type: *t999}}]\n".encode()
    ),
    "alias in itself": b"fields: &a [*a]\n",
    "huge number": b"9" * 10_000,
    "huge number below a key": b'{"version": ' + b"9" * 10_000 + b"}",
    "huge exponent": b'{"version": 1e999999999}',
    "no number": b'{"version": NaN}',
    "half a surrogate pair": b'{"name": "\\ud800", "fields": [{"name": "\\udfff", "type": "Int8"}]}',
    "half a surrogate pair as a key": b'{"\\ud800": 1}',
    "reference to itself": b'{"$ref": "#"}',
    "reference below to itself": b'{"properties": {"owner": {"$ref": "#/properties/owner"}}}',
    "reference to nothing": b'{"$ref": "#/$defs/nothing"}',
    "reference to the network": b'{"$ref": "http://localhost:9/x.json"}',
    "reference to a file": b'{"$ref": "file:///etc/hostname"}',
    "pattern that is none": b'{"properties": {"owner": {"pattern": "("}}}',
    "pattern that goes back": b'{"properties": {"owner": {"pattern": "^(t|e|a|m|te|am)*$"}}}',
    "wrong sorts": b'{"manifests": 1, "fields": {"a": 1}, "datasets": [], "name": [], "type": {}}',
    "lists of wrong sorts": b'[1, null, {"fields": null}]',
    "wide": b'{"fields": [' + b",".join([b'{"name": "a", "type": "Int8"}'] * 5_000) + b"]}",
    "long line": b"x" * 3_000_000,
    "long key": b'{"' + b"k" * 1_000_000 + b'": 1}',
    "text that turns round": 'name: "a\u202eb"\nfields: [{name: "\u202e", type: Int8}]\n'.encode(),
}


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _link(target: str) -> Maker:
    return lambda path: path.symlink_to(target)


def _without_permission(path: Path) -> None:
    path.write_text("x")
    path.chmod(0)


SHAPES: dict[str, Maker] = {
    "missing": lambda path: None,
    "folder": lambda path: path.mkdir(),
    "pipe": _pipe,
    "link to itself": lambda path: path.symlink_to(path.name),
    "link to nothing": _link("nothing"),
    "link to its folder": _link("."),
    "link upwards": _link(".."),
    "link to zeros": _link("/dev/zero"),
    "link to nought": _link("/dev/null"),
    "without permission": _without_permission,
}
NAMES: dict[str, str] = {
    "as the provenance": "artifacts.json",
    "as the provenance in capitals": "ARTIFACTS.JSON",
    "as the losses of another": "trips/losses.json",
    "as a folder of another": "trips/lance",
    "as a file of another": "trips/lance/schema.binpb",
    "long": "x" * 300,
    "long in bytes": "ä" * 200,
    "long account": "x" * 300 + "/y",
    "upwards": "../x",
    "dots": "..",
    "absolute": "/x",
    "staging": ".schemac-new",
    "NUL": "a\\0b",
    "escape": "a\\e[31m",
    "right to left": "a\\u202eb",
    "device of Windows": "NUL",
    "blank": " ",
    "line end": "a\\nb",
    "substitution": "${env:HOME}",
}


ARGUMENTS: dict[str, str] = {
    "long": "x" * 5_000,
    "deep": "x/" * 1_500,
    "deeper": "x/" * 5_000,
    "surrogate": "\udcff",
    "escape": "a\x1b[31m",
    "right to left": "a\u202eb",
    "link": "tables/loop/x",
    "device": "/dev/null",
    "below a device": "/dev/null/x",
    "nothing": "",
}
"""Words of a command line, where a path or a name is wanted."""


class Case(NamedTuple):
    """One file in one shape, and a command that meets it."""

    kind: str
    shape: str
    path: str
    make: Maker
    command: str


def cases() -> Iterator[Case]:
    """Everything with everything."""
    for kind, (path, commands) in FILES.items():
        makers = SHAPES | {shape: _writer(content) for shape, content in CONTENTS.items()}
        for shape, make in makers.items():
            for command in commands:
                yield Case(kind, shape, path, make, command)
    for shape, name in NAMES.items():
        content = f'name: "{name}"\nfields: [{{name: a, type: Int8}}]\n'.encode()
        for command in ("check", "build", "lock", "build --check"):
            yield Case("second manifest", f"name {shape}", "tables/other.yaml", _writer(content), command)
    for shape, maker in SHAPES.items():
        for command in _READING:
            yield Case("file beside", shape, "tables/beside.yaml", maker, command)
    for option in ("out", "manifests", "vocabulary"):
        for shape, value in {
            "NUL": "a\\u0000b",
            "long": "x" * 5_000,
            "deep": "x/" * 5_000,
            "home": "~",
        }.items():
            words = {"out": f'out = "{value}"', "manifests": f'manifests = ["{value}"]'}
            text = words.get(option, f'[vocabularies]\n"acme.com" = "{value}"')
            for command in ("check", "build", "lock"):
                yield Case(f"setting {option}", shape, "schemac.toml", _writer(text.encode()), command)
    for command in (
        "check",
        "build",
        "import",
        "lock",
        "diff",
        "breaking --against",
        "run",
        *(
            "verify trips --table",
            "plan trips --table",
            "apply trips --table",
            "init",
            "explain",
            "rename trips fare",
        ),
        *(
            "build --out",
            "import trips.ndjson --out",
            "import trips.ndjson --name",
            "check --config",
            "lock --show",
        ),
    ):
        for shape, word in ARGUMENTS.items():
            yield Case("argument", shape, "tables/loop", SHAPES["link to itself"], f"{command} {word}")


def _writer(content: bytes) -> Maker:
    return lambda path: _write(path, content)


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def meet(case: Case, folder: Path, log: Path) -> int | None:
    """The status that a command ends with in this folder; None for one that has to be killed."""
    path = folder / case.path
    if path.is_dir():
        shutil.rmtree(path)
    elif path.exists() and case.kind != "argument":
        path.unlink()
    case.make(path)
    child = os.fork()
    if not child:
        code = 99
        try:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            os.chdir(folder)
            handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(handle, 1)
            os.dup2(handle, 2)
            code = main(case.command.split(" "))
            sys.stdout.flush()
            sys.stderr.flush()
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else 98
        finally:
            os._exit(code)
    end = time.monotonic() + HANGS
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def run(folder: Path, start: int, step: int) -> None:
    """Some of the cases, each in a fresh copy of the project."""
    log = folder / "log"
    make_project(folder / "sound")
    # Loaded once, before the children part.
    for command in ("import --from spark x", "run --dry-run x"):
        main(command.split(" "))
    for case in list(cases())[start::step]:
        shutil.rmtree(folder / "met", ignore_errors=True)
        shutil.copytree(folder / "sound", folder / "met", symlinks=True)
        status = meet(case, folder / "met", log)
        said = log.read_bytes().decode("utf-8", "replace")
        found = {"kind": case.kind, "shape": case.shape, "command": case.command[:60], "status": status}
        print(
            json.dumps({"case": found, "said": said[-400:] if "internal" in said else said[:300]}), flush=True
        )


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
