"""Nothing that others wrote turns or hides what stands on a terminal."""

import json
import sys
import unicodedata
from functools import cache

import pytest

from schemac.cli.main import main
from schemac.text.source.phrases import json_printable, pictured, printable

JOINERS = "\u200c\u200d"


@cache
def obeyed() -> list[str]:
    """By Unicode's own tables: controls, separators, marks of direction, and what is not seen."""
    return [
        character
        for character in map(chr, range(sys.maxunicode + 1))
        if (
            unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
            or unicodedata.bidirectional(character)
            in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
            or (unicodedata.category(character) == "Cf" and unicodedata.bidirectional(character) == "BN")
        )
        and character not in JOINERS
    ]


def test_show_no_character_that_a_terminal_obeys() -> None:
    assert {"\x1b", "\u202e", "\u2066", "\u2028", "\ufeff", "\x9b"} <= set(obeyed())
    seen = [
        c
        for c in obeyed()
        if c in printable(f"a{c}b") or c in json_printable(json.dumps(f"a{c}b", ensure_ascii=False))
    ]
    # Those of musical and shorthand notation join what stands beside them, as the joiners do.
    assert {unicodedata.name(c).split()[0] for c in seen} <= {"MUSICAL", "SHORTHAND", "EGYPTIAN"}
    assert all(c == "\t" or c not in pictured(f"a{c}b") for c in obeyed() if c not in seen)
    assert all(len(pictured(c)) == 1 for c in obeyed())


@pytest.mark.parametrize("text", ["naïve", "名前", "👩\u200d🚀", "می\u200cخواهم", "a b"])
def test_leave_words_alone(text: str) -> None:
    assert printable(text) == pictured(text) == json_printable(text) == text


def test_json_says_the_same() -> None:
    for character in [*obeyed(), "\U000e0041", "ü"]:
        text = f"a{character}b"
        assert json.loads(json_printable(json.dumps(text, ensure_ascii=False))) == text


TURNED = "a\u202eb\x9bc"


@pytest.mark.parametrize("format", ["text", "json", "github", "sarif"])
@pytest.mark.parametrize("command", ["check", "diff", "breaking", "plan"])
def test_no_command_prints_them(
    command: str,
    format: str,
    tmp_path: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(str(tmp_path))
    document = {
        "name": "t",
        "fields": [{"name": "a\u202eb", "type": "Int8"}, {"name": "b", "type": "bad\u202e"}],
    }
    if command != "check":
        document["fields"] = [{"name": "a\u202eb", "type": "Int8", "description": TURNED}]
        write(document)
        assert main(["lock", "t.yaml"]) == 0
        document["fields"] = [{"name": "c\u2066", "type": "Int8", "description": f"x{TURNED}"}]
    write(document)
    if command == "plan":
        assert main(["lock", "t.yaml", "--drop", "a\u202eb"]) == 0
    if format in ("github", "sarif") and command in ("diff", "plan"):
        return
    more = {
        "check": ["t.yaml"],
        "diff": ["lock", "t.yaml"],
        "breaking": ["t.yaml", "--against", "lock"],
        "plan": ["t"],
    }
    main([command, *more[command], "--format", format])
    shown = capsys.readouterr()
    assert not {"\u202e", "\u2066", "\x9b"} & set(shown.out + shown.err), shown


def write(document: object) -> None:
    with open("t.yaml", "w", encoding="utf-8") as file:
        json.dump(document, file)
