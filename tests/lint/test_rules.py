"""What rules go by: words that databases reserve, words of names, and fixes of what rules find."""

import subprocess
import sys
from pathlib import Path

import pytest

from schemac.cli.main import main
from schemac.engines.sql_dialects import RESERVED_WORDS
from schemac.language.lint.rule import Rule
from schemac.language.lint.run import builtin_rules
from schemac.language.lint.words import is_plural, plural_of, snake_case, words_of
from schemac.registry.codes import page

ASK = """
import duckdb
for (name,) in duckdb.execute(
    "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"
).fetchall():
    print(name)
"""


def test_know_the_words_that_duckdb_reserves() -> None:
    """In a process of its own, for the library complains where others of its kind are loaded beside it."""
    told = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True).stdout
    assert set(told.split()) == RESERVED_WORDS


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("trip_fare", ("trip", "fare")),
        ("tripFare", ("trip", "fare")),
        ("TripFare2", ("trip", "fare", "2")),
        ("HTTPStatus", ("http", "status")),
        ("größe_cm", ("größe", "cm")),
        ("fare (USD)", ("fare", "usd")),
        ("", ()),
    ],
)
def test_tell_words_of_names_apart(name: str, words: tuple[str, ...]) -> None:
    assert words_of(name) == words
    assert snake_case(name) == "_".join(words)


@pytest.mark.parametrize("word", ["tag", "city", "box", "stop", "day", "branch", "wish"])
def test_make_plurals_that_are_known_as_such(word: str) -> None:
    assert is_plural(plural_of(word))
    assert not is_plural(word)


@pytest.mark.parametrize("word", ["status", "address", "analysis", "physics", "bus", "gas"])
def test_take_no_singular_for_a_plural(word: str) -> None:
    assert not is_plural(word)


OF_MANIFESTS = [rule for rule in builtin_rules() if rule.code.id != "SC803"]
"""All but the one that settings break."""


@pytest.mark.parametrize("rule", OF_MANIFESTS, ids=lambda rule: rule.code.id)
def test_fix_what_rules_find(
    rule: Rule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With all rules at once on the wrong example of each page: fixed or found again, and never an error."""
    code = rule.code
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schemac.toml").write_text('[lint]\nselect = ["all"]\nmax-fields = 2\nmax-values = 2\n')
    path = tmp_path / "rides.yaml"
    (example, *_) = (one for one in page(code).examples if not one.is_right)
    path.write_text(example.text)
    assert main(["check", "--fix", "--unsafe-fixes", "--no-cache"]) == 0
    fixed = path.read_text()
    capsys.readouterr()
    assert main(["check", "--no-cache"]) == 0
    out, err = capsys.readouterr()
    assert "can be fixed" not in err
    assert f"[{code.id}]" in out or fixed != example.text
