"""What every command prints, in terminals of several widths and kinds: nothing is lost, too wide, or painted where it must not be."""

import io
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from schemac.cli.main import COMMANDS, main

RIDES = """\
name: rides
description: Every ride that a passenger has asked for, whether it took place or not, from all cities
fields:
  - {name: id, type: Int32}
  - {name: größe, type: {kind: Option, inner: String}, description: how large it was – in the words of the driver}
  - {name: a_field_with_quite_a_long_name_indeed, type: {kind: Decimal, precision: 10, scale: 2}}
"""
LATER = (
    RIDES.replace("Int32", "Int16")
    .replace("precision: 10", "precision: 8")
    .replace("Option, inner: String", "Binary")
    + "  - {name: at, type: Date, extra: {schemac.dev/owner: me, schemac.dev/tags: [one, two, three], schemac.dev/classification: personal}}\n"
)
AWRY = (
    "name: rides\nfields:\n  - {name: id, type: Flota64}\n  - {name: ID, type: Int8}\n  - {name: id, type: Int8}\n"
    "  - {name: größe, type: {kind: Decimal, precision: 99, scale: 2}, description: how large it was – in the words of the driver}\n"
)
ROWS = {
    "init": ("init --list-templates", "init rides.yaml"),
    "check": ("check rides.yaml", "check awry", "check nothing"),
    "fmt": ("fmt rides.yaml", "fmt --diff rides.yaml", "fmt nothing.yaml"),
    "build": ("build rides.yaml", "build awry", "build --check rides.yaml"),
    "import": ("import schema.sql", "import rides.lance", "import nothing.parquet"),
    "list": ("list rides.yaml", "list rides.yaml --owner me"),
    "expand": ("expand rides.yaml",),
    "sample": ("sample rides.yaml -n 2", "sample rides.yaml --wrong", "sample rides.yaml --format none"),
    "lock": ("lock changed", "lock --check changed", "lock rides.yaml --show 1"),
    "rename": ("rename rides id number", "rename rides nothing number"),
    "diff": ("diff lock:1 rides.yaml", "diff lock:9 rides.yaml"),
    "breaking": ("breaking --against lock:1 rides.yaml", "breaking --against rides.lance rides.yaml"),
    "plan": ("plan rides.yaml --from 1", "plan rides.yaml --table rides.lance", "plan changed/rides.yaml"),
    "apply": ("apply rides.yaml --table rides.lance --dry-run", "apply rides.yaml --table nothing.lance"),
    "verify": ("verify rides.yaml --table rides.lance", "verify rides.yaml --table nothing.lance"),
    "run": ("run nothing.yaml", "run rides.yaml"),
    "runs": ("runs rides.lance", "runs nothing.lance"),
    "schema": ("schema config", "schema nothing"),
    "docs": ("docs --format markdown", "docs awry"),
    "clean": ("clean",),
    "explain": ("explain SC201", "explain losses/spark", "explain", "explain SC2001"),
    "completion": ("completion bash", "completion cmd"),
}
"""What each command is asked, with wrong words too."""
UNASKED = {"lsp": "it speaks to an editor, not to a person"}
OWN_WIDTH = {
    *(
        "fmt --diff rides.yaml",
        "import schema.sql",
        "import rides.lance",
        "expand rides.yaml",
        "lock rides.yaml --show 1",
    ),
    *("sample rides.yaml -n 2", "sample rides.yaml --wrong", "schema config", "completion bash"),
    *("explain SC201", "explain losses/spark"),
}
"""Their output is a text that is copied or read by programs, and has lines of its own."""


class Kind(NamedTuple):
    """What takes the output."""

    columns: int
    environment: dict[str, str]
    is_terminal: bool = True
    encoding: str = "utf-8"

    @property
    def is_painted(self) -> bool:
        """Whether colours may be there."""
        return "FORCE_COLOR" in self.environment or (self.has_cursor and "NO_COLOR" not in self.environment)

    @property
    def has_cursor(self) -> bool:
        """Whether it is a terminal that understands more than lines."""
        return self.is_terminal and self.environment.get("TERM") != "dumb"


KINDS = {
    "painted, 40": Kind(40, {"FORCE_COLOR": "1"}),
    "painted, 80": Kind(80, {"TERM": "xterm-256color"}),
    "painted, 200": Kind(200, {"TERM": "xterm-256color"}),
    "without colours": Kind(80, {"NO_COLOR": "1"}),
    "dumb": Kind(80, {"TERM": "dumb"}),
    "painted pipe": Kind(80, {"FORCE_COLOR": "1"}, is_terminal=False),
    "pipe": Kind(80, {}, is_terminal=False),
    "pipe of ASCII": Kind(40, {}, is_terminal=False, encoding="ascii"),
}
PAINT = re.compile(r"\x1b\[[0-9;]*m")
CURSOR = re.compile(r"\x1b\[(?:\?25[lh]|[0-9]*[AK])|\r")
"""What a line of progress is written with."""
EXCERPT = re.compile(r"\s*\d* ?\| ?")
HEADS = ("field", "type", "owner", "tags", "classification", "deprecated")
"""Of the columns of `list`; a narrow table has those of its cells alone."""
LONGEST_CELL = 30


class _Stream(io.TextIOWrapper):
    """An output that says what it is."""

    def __init__(self, kind: Kind) -> None:
        super().__init__(io.BytesIO(), encoding=kind.encoding, newline="\n", write_through=True)
        self._is_terminal = kind.is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    @property
    def text(self) -> str:
        self.flush()
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode(self.encoding)


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset with two versions, a table of the first, one that is not as it was locked, and a manifest with mistakes."""
    lance = pytest.importorskip("lance")
    import pyarrow as pa

    folder = tmp_path_factory.mktemp("material")
    rides = folder / "rides.yaml"
    rides.write_text(RIDES, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["lock", "rides.yaml", "-q"]) == 0
    names = ("id", "größe", "a_field_with_quite_a_long_name_indeed")
    types = (pa.int32(), pa.string(), pa.decimal128(10, 2))
    schema = pa.schema(
        [pa.field(name, type_, nullable=name == "größe") for name, type_ in zip(names, types, strict=True)]
    )
    lance.write_dataset(pa.table({name: [] for name in names}, schema=schema), str(folder / "rides.lance"))
    rides.write_text(LATER, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["lock", "rides.yaml", "-q"]) == 0
    (folder / "changed").mkdir()
    for name in ("rides.yaml", "rides.lock"):
        shutil.copy(folder / name, folder / "changed")
    (folder / "changed/rides.yaml").write_text(LATER.replace("Int16", "Int8"), encoding="utf-8")
    (folder / "awry").mkdir()
    (folder / "awry/awry.yaml").write_text(AWRY, encoding="utf-8")
    (folder / "schema.sql").write_text(
        "CREATE TABLE trips (a BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY, b TEXT, c NUMERIC(10, 2))"
    )
    (folder / "schemac.toml").write_text('manifests = ["rides.yaml"]\n')
    return folder


def _printed(words: str, kind: Kind, material: Path, folder: Path) -> tuple[int, str]:
    """The exit code, and all that stands in the terminal, with its escapes."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(material, folder)
    out, err = _Stream(kind), _Stream(kind)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("NO_COLOR", "FORCE_COLOR", "TERM", "SCHEMAC_TRACEBACK"):
            patch.delenv(name, raising=False)
        patch.setenv("COLUMNS", str(kind.columns))
        for name, value in kind.environment.items():
            patch.setenv(name, value)
        patch.chdir(folder)
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        try:
            code = main(words.split())
        except SystemExit as left:
            code = int(left.code or 0)
        return code, out.text + err.text


def _words(text: str) -> set[str]:
    """The words of a text without its excerpts, which end where the terminal does, and without the heads of tables."""
    lines = [line for line in PAINT.sub("", text).splitlines() if not EXCERPT.match(line)]
    return {word.strip(";,") for line in lines for word in line.split()} - {"", *HEADS}


def _too_wide(text: str, columns: int) -> Iterator[str]:
    """Yield the lines that could have been wrapped, but are too wide."""
    for line in CURSOR.sub("", PAINT.sub("", text)).splitlines():
        if len(line) <= columns or EXCERPT.match(line):
            continue
        # The parts of an option stay together, and so do the cells of a table.
        whole = re.sub(r"\[[^\]]*\]|--[a-z-]+ \{[^}]*\}", lambda found: found[0].replace(" ", "_"), line)
        cells = re.split(r" {2,}", line.strip())
        is_row = len(cells) > 1 and all(len(cell) <= LONGEST_CELL for cell in cells)
        if len(whole.split()) > 2 and not is_row:
            yield line


def _problems(words: str, wanted: str, kind: Kind, text: str) -> Iterator[tuple[str, str]]:
    unpainted = PAINT.sub("", text)
    wanted = wanted.encode(kind.encoding, "schemac.plain").decode()
    if unpainted != text and not kind.is_painted:
        yield "colours", text
    if "\x1b" in (CURSOR.sub("", unpainted) if kind.has_cursor else unpainted):
        yield "escapes", text
    if words.endswith("--help"):
        # Narrow help breaks long words too.
        if "".join(unpainted.split()) != "".join(wanted.split()):
            yield "lost", text
    elif lost := _words(wanted) - _words(text):
        yield "lost", str(lost)
    wide = list(_too_wide(text, kind.columns)) if kind.is_terminal and words not in OWN_WIDTH else []
    if wide:
        yield "too wide", "\n".join(wide)


def test_ask_every_command() -> None:
    assert {*ROWS, *UNASKED} == {*COMMANDS}


@pytest.mark.parametrize("command", ROWS)
def test_print_the_same_for_every_terminal(command: str, material: Path, tmp_path: Path) -> None:
    found = []
    for words in (*ROWS[command], f"{command} --help"):
        code, wanted = _printed(words, KINDS["pipe"], material, tmp_path / "work")
        assert code in (0, 1, 2, 4), (words, wanted)
        assert wanted
        for name, kind in KINDS.items():
            again, text = _printed(words, kind, material, tmp_path / "work")
            assert again == code, (words, name)
            found += [(words, name, *problem) for problem in _problems(words, wanted, kind, text)]
    assert found == [], "\n".join(map(str, found))
