"""Whatever a name, a text or an argument holds, a terminal gets nothing from it that it obeys."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import schemac
from schemac.cli.main import COMMANDS, main
from schemac.importers.datasets import from_tree
from schemac.language.manifest.write import write_manifest
from schemac.text.source.diagnostics import Report
from schemac.text.source.phrases import printable

TURN = "a\u202eb"
RED = "a\x1b[31mb"
SIGNS = ("\u202e", "\x85", "\u2028", "\ufeff", "\U000e0001", "\xad", "\t", "\r", "\x7f", "\x1b")
MANIFEST = """\
name: "trips"
description: "a\\u202eb"
fields: [{name: "a\\u202eb", type: Int8, description: "\\u2066x\\x85"}]
"""


def _is_harmless(text: str) -> bool:
    return printable(text, keep="\n\t") == text


def _status(arguments: list[str]) -> int:
    try:
        return main(arguments)
    except SystemExit as left:
        return int(left.code or 0)


@pytest.mark.parametrize("command", [*COMMANDS, "nothing"])
@pytest.mark.parametrize("word", [TURN, RED], ids=["turn", "red"])
def test_repeat_arguments_without_harm(
    command: str,
    word: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments in (
        [word],
        [f"--{word}"],
        [word, word],
        [f"--format={word}"],
        ["--fromat", word],
        [f"x/{word}"],
    ):
        _status([command, *arguments])
        said = capsys.readouterr()
        assert _is_harmless(said.out + said.err), arguments
    _status([f"{command}{word}"])
    said = capsys.readouterr()
    assert _is_harmless(said.out + said.err)


@pytest.mark.parametrize(
    "command",
    [
        *(
            "check",
            "build",
            "build --check",
            "lock",
            "lock --show 1",
            "diff lock",
            "import t.yaml",
            "plan trips",
        ),
        *(
            "import schema.json --from spark",
            "import t.sql",
            "breaking --against old.yaml",
            "rename trips x y",
        ),
        *(f"{c} --format json" for c in ("check", "diff lock", "breaking --against old.yaml", "plan trips")),
        *(
            f"{c} --format {f}"
            for c in ("check --strict t.yaml",)
            for f in ("github", "sarif", "text", "json")
        ),
    ],
)
def test_print_names_without_harm(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.yaml").write_text(MANIFEST)
    assert main(["lock"]) == 0
    (tmp_path / "t.yaml").write_text(MANIFEST.replace("Int8", "Int16") + "# \u202e\n")
    (tmp_path / "schemac.toml").write_text('manifests = ["t.yaml"]\n')
    (tmp_path / "old.yaml").write_text(MANIFEST)
    (tmp_path / "t.sql").write_text("CREATE TABLE `t\u202e` (`a\u202eb` INT COMMENT 'x\u202e')")
    (tmp_path / "schema.json").write_text(
        '{"type": "struct", "fields": [{"name": "a\u202eb", "type": "integer", "nullable": true, '
        '"metadata": {"comment": "\\u001b[31m"}}]}'
    )
    capsys.readouterr()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert _status(command.split()) in (0, 1, 4)
    said = capsys.readouterr()
    assert said.out + said.err
    assert _is_harmless(said.out + said.err)


def test_give_a_program_the_bytes_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A manifest that only had to be edited is its author's text, in which an escape would mean something else."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.yaml").write_text(f'fields:\n  - {{name: "{TURN}", type: Int8}}  # {TURN}\n')
    assert main(["import", "t.yaml", "--from", "odf"]) == 0
    piped = capsys.readouterr().out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["import", "t.yaml", "--from", "odf"]) == 0
    assert _is_harmless(capsys.readouterr().out)
    (again,) = schemac.compile_text(piped)
    assert again.schema.fields[0].name == TURN


@pytest.mark.parametrize("sign", SIGNS, ids=[f"U+{ord(sign):04X}" for sign in SIGNS])
@pytest.mark.parametrize(
    "make", [str, "a{}b".format, "a {} '\"\\ ".format, "{}: x".format, "# {0}\n{0}".format]
)
@pytest.mark.parametrize("is_strict", [False, True])
def test_write_manifests_that_say_the_same(sign: str, make: Callable[[str], str], is_strict: bool) -> None:
    text = make(sign)
    extra = {"opendatafabric.org/description": text, "acme.com/x": {"k": [text]}}
    tree = {"fields": [{"name": "a", "type": {"kind": "Int8"}, "extra": extra}], "extra": extra}
    dataset = from_tree(tree, "t", "t.yaml", Report())
    assert dataset is not None
    written = write_manifest(dataset, is_strict=is_strict)
    assert _is_harmless(written)
    (back,) = schemac.compile_text(written)
    assert back.schema == dataset.schema
