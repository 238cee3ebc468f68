"""Every fact is found, told and judged as it was reviewed.

Shape: `verdicts.txt` has a paragraph a case: the change, what each engine makes of it, what old readers do.
`rules.txt` has the name of the rule of each engine for each fact, and what the fact means at a field that Iceberg partitions or sorts by.
`further_verdicts.txt` has those of Paimon, of Spark with other versions of lance-spark, and of Spark where Lance may make the change too.
`spark_plans.txt` has the statements of the newest version, and what has none. `paimon_casts.txt` and `castability.txt` have a line a
type, with a letter for each type in the same order. `pytest tests/evolution --refresh '*'` writes them anew.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import EnumType
from fnmatch import fnmatch
from functools import cache, partial
from inspect import unwrap
from itertools import product
from pathlib import Path
from typing import Any, cast

import pytest

from schemac.engines.iceberg import judge as iceberg
from schemac.engines.paimon import judge as paimon
from schemac.engines.paimon.attributes import PaimonFact
from schemac.engines.paimon.types import LONGEST, PaimonType
from schemac.engines.spark import judge as spark
from schemac.engines.spark.attributes import SparkFact
from schemac.language.kinds.registry import BY_NAME, KINDS
from schemac.language.logical.facts import AnyFact, Fact
from schemac.language.logical.model import Castability, LogicalType
from schemac.registry.engine import Engine, builtin_engines, load_as
from schemac.text.source.diagnostics import Report
from schemac.versions.evolution import changes as fact_sets
from schemac.versions.evolution.castability import (
    can_be_rounded,
    castability,
    is_lossless_by_calendar,
    why_misfit,
)
from schemac.versions.evolution.changes import (
    NO_VERDICT,
    Change,
    Judgement,
    Outcome,
    Verdict,
    as_seen_by,
    facts,
)
from schemac.versions.evolution.constraints import LOOSENED, TIGHTENED
from schemac.versions.evolution.diff import diff_of
from schemac.versions.evolution.judge import JUDGE, RULES, judge, judged_engines
from schemac.versions.evolution.tables import TableChange
from schemac.versions.evolution.version_pair import (
    SchemaVersion,
    VersionPair,
    locked_schema_version,
    pair_versions,
)
from schemac.versions.identity.freeze import freeze, identify
from schemac.versions.identity.lock import LockedDataset
from tests.compiling import compile_bytes
from tests.conformance.manifest_types import Manifest
from tests.evolution.case import Case
from tests.evolution.cases import CASES, WHOLE_DATASETS

ENGINES = tuple(engine for engine in judged_engines() if engine != "paimon")
"""Those of `verdicts.txt`."""
VERSIONS = ("0.4.0", "next")
"""Versions of lance-spark that alter nothing, and columns too."""
VARIANTS = tuple(variant for kind in KINDS for variant in kind.variants())
LETTERS = {
    Castability.EQUAL: "=",
    Castability.LOSSLESS: "+",
    Castability.DEPENDS: "?",
    Castability.NEVER: ".",
}

CLOSED_SETS = {
    "DESCRIPTION_FACTS": "description-added description-changed description-removed",
    "TYPE_FACTS": """
        integer-widened integer-narrowed sign-changed float-widened float-narrowed number-family-changed
        precision-raised precision-lowered scale-raised scale-lowered time-unit-refined time-unit-coarsened
        zone-added zone-removed zone-changed temporal-type-changed text-and-bytes-swapped
        byte-length-changed list-size-changed list-size-fixed list-size-freed sorted-keys-changed
        type-replaced
    """,
    "LAYOUT_FACTS": """
        offset-width-changed buffer-layout-changed date-encoding-changed decimal-width-changed
        dictionary-added dictionary-removed dictionary-changed child-names-changed
    """,
    "KEY_FACTS": "primary-key-added primary-key-removed primary-key-moved clustering-key-changed",
    "STORAGE_FACTS": """
        packed-struct-changed blob-added blob-removed float-encoding-changed json-changed
        storage-version-changed
    """,
    "ATTRIBUTE_FACTS": "attribute-added attribute-removed attribute-changed",
    "CONSTRAINT_FACTS": "constraint-added constraint-removed constraint-narrowed constraint-widened constraint-changed",
    "DATASET_FACTS": "dataset-added dataset-dropped",
}
OTHER_PROPERTIES = (
    "extension-type-changed arrow-metadata-changed odf-type-changed archetype-changed targets-changed"
)
"""The members of the sets of facts that judges name whole. No fact is added to one: the judges of others name them too."""
_LENGTHS = (4, 5, 6, 10, 11, 12, 20, 29, 32, 40)
"""Of the longest texts of Paimon's types."""
PAIMON_TYPES: tuple[PaimonType, ...] = (
    *(
        PaimonType(root)
        for root in ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE")
    ),
    *(
        PaimonType("DECIMAL", digits)
        for digits in ((2, 2), (3, 0), (3, 2), (5, 0), (10, 0), (19, 0), (38, 18))
    ),
    *(PaimonType("CHAR", (length,)) for length in (4, 40)),
    *(PaimonType("VARCHAR", (length,)) for length in (*_LENGTHS, LONGEST)),
    *(PaimonType(root, (length,)) for root in ("BINARY", "VARBINARY") for length in (4, 8, LONGEST)),
    *(PaimonType(root, (digits,)) for root in ("TIME", "TIMESTAMP", "TIMESTAMP_LTZ") for digits in (3, 6)),
    PaimonType("BLOB"),
    PaimonType("VECTOR", (4,), (PaimonType("FLOAT"),)),
)
"""Rows and columns of `paimon_casts.txt`."""

OTHERS: dict[str, dict[str, Any]] = {
    "List": {"item_type": None, "fixed_length": None},
    "Map": {"key_type": None, "value_type": None},
    "Option": {"inner": None},
    "Struct": {"fields": ()},
}
"""Properties of kinds that cannot do without."""


@dataclass(frozen=True)
class Unheard:
    """A kind of a family that no rule names."""

    kind: str = "Unheard"
    family: str = "unheard"

    def parts(self) -> tuple[()]:
        return ()


def version(manifest: Manifest, name: str) -> SchemaVersion:
    compiled = compile_bytes(json.dumps(manifest, indent=1).encode(), f"{name}.yaml")
    assert compiled.datasets, compiled.diagnostics
    assert not {code for code in compiled.errors if code < "SC500"}, compiled.diagnostics
    return SchemaVersion(compiled.datasets[0], name)


def pair_of(case: Case) -> VersionPair:
    if not case.earlier and not case.between:
        return pair_versions(version(case.old, "old"), version(case.new, "new"))
    locked = LockedDataset("new")
    for manifest in (*case.earlier, case.old, *case.between, case.new):
        locked = freeze(identify(version(manifest, "new").dataset, locked))
    numbers = (len(case.earlier) + 1, len(locked.versions))
    return pair_versions(*(locked_schema_version(locked, number) for number in numbers))


@cache
def compared() -> tuple[tuple[Case, VersionPair, tuple[Change, ...]], ...]:
    """Every case with what changes in it."""
    pairs = [(case, pair_of(case)) for case in CASES]
    return tuple((case, pair, diff_of(pair)) for case, pair in pairs)


def verdicts(case: Case) -> tuple[tuple[Change, ...], tuple[Verdict, ...]]:
    pair, changes = next((pair, changes) for known, pair, changes in compared() if known is case)
    return changes, judge(changes, pair, judged_engines())


def lines() -> Iterator[str]:
    for case, pair, changes in compared():
        found = judge(changes, pair, ENGINES)
        yield f"# {case.name}"
        for change in changes:
            yield str(change)
            mine = [v for v in found if v.change is change]
            yield from (_line(v.engine, v.old_data) for v in mine)
            yield _line("old readers", mine[0].old_readers)
        yield ""
    yield "# a dataset comes or goes"
    for fact in sorted(WHOLE_DATASETS):
        change = Change(fact, "rides", "")
        yield str(change)
        found = judge([change], None, ENGINES)
        yield from (_line(v.engine, v.old_data) for v in found)
        yield _line("old readers", found[0].old_readers)
    yield "# what no engine has a row for"
    for key in ("", "lance.org/new"):
        change = Change(cast("Fact", "something-new"), "rides", "fare", key=key)
        yield str(change)
        yield from (_line(v.engine, v.old_data) for v in judge([change], None, ENGINES))


def further_lines() -> Iterator[str]:
    for case, pair, changes in compared():
        yield f"# {case.name}"
        yield from (_line(v.engine, v.old_data) for v in judge(changes, pair, ("paimon",)))
        for version in VERSIONS:
            found = judge(changes, pair, ("spark",), {"spark": version})
            yield from (_line(version, v.old_data) for v in found)
        spark_alone, eased = (
            judge(changes, pair, ("spark",), is_by_any_way=is_by_any_way) for is_by_any_way in (False, True)
        )
        yield from (
            _line("any way", v.old_data) for own, v in zip(spark_alone, eased, strict=True) if v != own
        )
        yield ""
    yield "# a dataset comes or goes"
    for fact in sorted(WHOLE_DATASETS):
        yield from (
            _line(v.engine, v.old_data) for v in judge([Change(fact, "rides", "")], None, ("paimon",))
        )


def spark_plans() -> Iterator[str]:
    for case, pair, _ in compared():
        report = Report()
        request = TableChange(
            LockedDataset(""), cast("Any", pair.new), old=cast("Any", pair.old), version="next"
        )
        planned = spark.TABLES.plan(request, report)
        assert planned is not None
        statements = [line.text for line in planned.lines if not line.text.startswith("  --")]
        if statements:
            yield from (f"# {case.name}", *statements)
            yield from (f"  error: {diagnostic.message}" for diagnostic in report.diagnostics)


def matrix() -> Iterator[str]:
    for old in VARIANTS:
        yield f"{old.type_text():<32}{''.join(_letter(old, new) for new in VARIANTS)}"
    for old, new in product(VARIANTS, VARIANTS):
        reason = why_misfit(old, new) if castability(old, new) is Castability.DEPENDS else ""
        if reason:
            yield f"{old.type_text()} → {new.type_text()}: {reason}"


def _letter(old: LogicalType, new: LogicalType) -> str:
    """`~` and `c` depend on the values too: the former may be rounded, in the latter all usual dates fit, in `C` both."""
    is_rounded, is_usual = can_be_rounded(old, new), is_lossless_by_calendar(old, new)
    if castability(old, new) is Castability.DEPENDS and (is_rounded or is_usual):
        return "C" if is_rounded and is_usual else "~" if is_rounded else "c"
    return LETTERS[castability(old, new)]


def _line(who: str, judgement: Judgement) -> str:
    reason = "; ".join(part for part in (judgement.reason, judgement.way_out) if part)
    return f"  {who:<12}{judgement.outcome:<17}{reason}".rstrip()


def paimon_casts() -> Iterator[str]:
    for old in PAIMON_TYPES:
        yield f"{old.type_text():<34}{''.join(_cast_letter(old, new) for new in PAIMON_TYPES)}"


def _cast_letter(old: PaimonType, new: PaimonType) -> str:
    """`x` is a cast that is made only where the table does not forbid it, `i` one that always is; in capitals if nothing is lost."""
    way = paimon.cast(old, new)
    if way is paimon.CastRule.NONE:
        return "."
    letter = "i" if way is paimon.CastRule.IMPLICIT else "x"
    return letter.upper() if old.parts or new.parts or paimon.is_lossless(old, new) else letter


def rules() -> Iterator[str]:
    """Which rule each engine has for each fact: a fact that joins a group shows here, for each of them."""
    judges = {engine.name: JUDGE.of(engine).rules for engine in builtin_engines() if engine.judge}
    for fact in facts().values():
        yield f"# {fact}"
        yield from (f"  {name:<12}{_rule(rules[fact])}" for name, rules in judges.items() if fact in rules)
        yield f"  {'old readers':<12}{_rule(RULES[fact])}" if fact in RULES else ""
        of_source = iceberg.ROWS[fact].of_source if fact in iceberg.ROWS else None
        yield from () if of_source is None else (_line("a source", of_source),)


def _rule(rule: Any) -> str:
    rule = unwrap(rule)
    rule = rule.func if isinstance(rule, partial) else rule
    return str(rule.outcome) if isinstance(rule, Judgement) else rule.__name__


GOLDENS = {
    "rules": rules,
    "verdicts": lines,
    "further_verdicts": further_lines,
    "castability": matrix,
    "spark_plans": spark_plans,
    "paimon_casts": paimon_casts,
}


@pytest.mark.parametrize("name", GOLDENS)
def test_judge_as_reviewed(name: str, request: pytest.FixtureRequest) -> None:
    golden = Path(__file__).with_name(f"{name}.txt")
    actual = "\n".join(GOLDENS[name]()) + "\n"
    pattern = request.config.getoption("--refresh")
    if pattern is not None and fnmatch(name, pattern):
        golden.write_text(actual, encoding="utf-8")
    assert actual == golden.read_text(encoding="utf-8"), (
        f"review, then: pytest tests/evolution --refresh '{name}'"
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_find_the_facts(case: Case) -> None:
    changes, found = verdicts(case)
    assert tuple(change.fact for change in changes) == case.facts
    for verdict in found:
        told = json.loads(json.dumps(verdict.to_json()))
        assert told["rule"] == f"{verdict.engine}.{verdict.change.fact}"
        assert {told["oldData"]["outcome"], told["oldReaders"]["outcome"]} <= set(Outcome)
        for judgement in (verdict.old_data, verdict.old_readers):
            is_grave = judgement.outcome in (Outcome.REFUSED, Outcome.DATA)
            assert not is_grave or judgement.reason, "a grave verdict says why"
            assert judgement.outcome is not Outcome.REFUSED or judgement.way_out, "and what can be done"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_find_as_much_on_the_way_back(case: Case) -> None:
    """Nothing that is found one way is lost on the other, but for old names, which are declared one way only."""
    back = diff_of(pair_versions(version(case.new, "new"), version(case.old, "old")))
    if not {Fact.FIELD_RENAMED, Fact.FIELD_MOVED} & set(case.facts):
        assert len(back) == len(case.facts)
    assert diff_of(pair_versions(version(case.new, "new"), version(case.new, "same"))) == ()


def test_think_of_every_fact() -> None:
    """Those of the core are known to all judges of ours, those of an engine to its own."""
    assert set(Fact) == RULES.keys()
    known = {engine: JUDGE.of(engine).rules.keys() for engine in builtin_engines() if engine.judge}
    brought: dict[Engine, set[AnyFact]] = {
        engine: set(load_as(engine.facts, EnumType, "")) for engine in builtin_engines() if engine.facts
    }
    assert all(known[engine] - set(Fact) == brought.get(engine, set()) for engine in known)
    assert all(judged >= set(Fact) for judged in known.values())
    assert set(facts().values()) == set(Fact).union(*brought.values())


def test_refuse_what_nobody_thought_of() -> None:
    """A fact that is in no group yet: every engine refuses it, and so do old readers."""
    unheard = Change(cast("Fact", "something-new"), "rides", "fare")
    for verdict in judge([unheard], None, judged_engines()):
        assert verdict.old_data is NO_VERDICT
        assert verdict.old_readers is NO_VERDICT


def test_add_no_fact_to_a_set_that_judges_name_whole() -> None:
    """A new fact gets a row of its own in each judge. In a set, it would get the verdict of its set without being thought of."""
    members = {name: frozenset(map(Fact, words.split())) for name, words in CLOSED_SETS.items()}
    assert {name: getattr(fact_sets, name) for name in members} == members
    properties = members.keys() - {"TYPE_FACTS", "DATASET_FACTS"}
    others = frozenset(map(Fact, OTHER_PROPERTIES.split()))
    assert others.union(*(members[name] for name in properties)) == fact_sets.PROPERTY_FACTS
    assert TIGHTENED | LOOSENED == fact_sets.CONSTRAINT_FACTS


@pytest.mark.parametrize("engine", judged_engines())
def test_tell_other_engines_of_an_attribute_that_is_not_theirs(engine: str) -> None:
    """A fact that another engine brings is to them the change of an attribute of anybody."""
    for was, is_, fact in ((None, "a", "added"), ("a", "b", "changed"), ("a", None, "removed")):
        change = Change(PaimonFact.COMMENT_CHANGED, "rides", "", was, is_)
        told = as_seen_by(engine, change)
        assert told == (change if engine == "paimon" else replace(change, fact=Fact(f"attribute-{fact}")))


def test_refuse_a_fact_that_its_own_engine_did_not_think_of(monkeypatch: pytest.MonkeyPatch) -> None:
    change = Change(SparkFact.TYPE_CHANGED, "rides", "fare", None, "varchar(2)")
    rules = {fact: rule for fact, rule in spark.JUDGE.rules.items() if fact in set(Fact)}
    monkeypatch.setattr(spark, "JUDGE", replace(spark.JUDGE, rules=rules))
    by_engine = {v.engine: v.old_data for v in judge([change], None, judged_engines())}
    assert by_engine.pop("spark") is NO_VERDICT
    assert NO_VERDICT not in by_engine.values()


@pytest.mark.parametrize("kind", [kind.__name__ for kind in KINDS])
def test_fit_no_kind_that_nobody_thought_of(kind: str) -> None:
    """Only null has a value for it."""
    known = {**OTHERS, "Decimal": {"precision": 9, "scale": 2}}.get(kind, {})
    other = BY_NAME[kind].model_construct(**known)
    expected = Castability.LOSSLESS if kind == "Null" else Castability.NEVER
    unheard = cast("Any", Unheard())
    assert castability(other, unheard) is expected
    assert castability(unheard, other) is Castability.NEVER


HOLDING_ALL = ("arrow", "lance", "spark", "odf")
"""The engines whose verdicts follow castability; Paimon and Iceberg have rules of their own, and their own oracles."""


@pytest.mark.parametrize("old", VARIANTS, ids=lambda variant: variant.type_text())
def test_judge_every_type_against_every_other(old: LogicalType) -> None:
    """No engine calls a change of type safe where values of the old type do not all fit the new one."""
    for new in VARIANTS:
        pair = pair_versions(_variant(old.type_text()), _variant(new.type_text()))
        changes = diff_of(pair)
        assert bool(changes) == (old != new)
        for verdict in judge(changes, pair, HOLDING_ALL):
            if castability(old, new) >= Castability.DEPENDS:
                assert verdict.old_data.outcome not in (Outcome.SAFE, Outcome.METADATA), str(verdict.change)


@cache
def _variant(title: str) -> SchemaVersion:
    """A schema of one column of this type; compiled once."""
    return version(_column(next(v for v in VARIANTS if v.type_text() == title)), "one")


def _column(type_: LogicalType) -> Manifest:
    properties = type_.model_dump(by_alias=True, exclude={"extra"})
    return {
        "fields": [
            {"name": "a", "type": {k: v for k, v in properties.items() if k == "timezone" or v is not None}}
        ]
    }


def test_have_a_case_for_every_fact() -> None:
    shown = {fact for case in CASES for fact in case.facts}
    assert set(facts().values()) - shown == WHOLE_DATASETS
    assert len(facts()) >= 40


@pytest.mark.parametrize("engine", ["arrow", "lance"])
def test_have_a_case_for_every_outcome(engine: str) -> None:
    shown = {v.old_data.outcome for case in CASES for v in verdicts(case)[1] if v.engine == engine}
    assert shown == set(Outcome)


def test_refuse_no_change_that_another_way_makes() -> None:
    """Spark and Lance change the same tables: asked about both ways, none is graver than the easier one."""
    eased = 0
    for case, pair, changes in compared():
        spark_alone = judge(changes, pair, ["spark"])
        lance_alone = judge(changes, pair, ["lance"])
        either = judge(changes, pair, ("spark", "lance"), is_by_any_way=True)
        unnamed = judge(changes, pair, ["spark"], is_by_any_way=True)
        assert either[::2] == unnamed
        assert either[1::2] == lance_alone
        for own, lance, found in zip(spark_alone, lance_alone, unnamed, strict=True):
            outcomes = (own.old_data.outcome, lance.old_data.outcome)
            assert found.old_data.outcome is min(outcomes, key=lambda outcome: outcome.rank), case.name
            eased += found != own
    assert eased > 50, "the cases have changes that only Lance makes"
