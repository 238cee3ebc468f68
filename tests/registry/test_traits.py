"""What people are told of engines is true, and is told of every engine that it is true of."""

import json
from pathlib import Path

import pytest

import schemac
from schemac.importers import sources
from schemac.importers.sources import refuse_foreign
from schemac.registry import engine as registry
from schemac.registry.engine import Engine, Trait, builtin_engines, with_trait
from schemac.text.source.diagnostics import Report
from schemac.text.source.phrases import listed
from schemac.versions.evolution.tables import TABLES

OTHER = Engine("other", "Other", position=1, traits=frozenset(Trait))
SCHEMA = "fields: [{name: a, type: Int32}, {name: A, type: {kind: Decimal, precision: 2, scale: 3}}]"


@pytest.mark.parametrize(
    ("words", "text"), [((), ""), (("a",), "a"), (("a", "b"), "a and b"), (("a", "b", "c"), "a, b and c")]
)
def test_list_words(words: tuple[str, ...], text: str) -> None:
    assert listed(words) == text


@pytest.mark.parametrize("trait", Trait)
def test_say_each_of_some_engine(trait: Trait) -> None:
    assert with_trait(trait)


def test_round_where_it_is_said() -> None:
    own = [engine for engine in builtin_engines() if TABLES.is_of(engine) and not engine.alters]
    assert own
    for engine in own:
        assert (Trait.ROUNDS in engine.traits) == (not TABLES.of(engine).why_no_rounding)


def test_tell_it_of_an_engine_that_joins(monkeypatch: pytest.MonkeyPatch) -> None:
    every = (*builtin_engines(), OTHER)
    monkeypatch.setattr(registry, "engines", lambda: every)
    told = " ".join(f"{d.message} {d.help}" for d in schemac.check_text(SCHEMA))
    assert "which Spark, Other and SQL ignore" in told
    assert "Spark, Paimon and Other refuse this" in told


DOCUMENTS = (sources.ForeignDocument("a note of Other", sources.has_keys("other"), "do not"),)


def test_refuse_documents_of_an_engine_that_joins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    joined = OTHER._replace(documents=f"{__name__}:DOCUMENTS")
    monkeypatch.setattr(sources, "engines", lambda: (joined,))
    (tmp_path / "a.json").write_text(json.dumps({"other": 1}))
    report = Report()
    assert refuse_foreign(tmp_path / "a.json", report)
    assert "a.json is a note of Other, not data" in report.diagnostics[0].message
