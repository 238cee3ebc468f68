"""What entries of the cache are keyed by: any option, setting or request that is another gives another key."""

from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from schemac.cli.main import main
from schemac.language.lint.settings import LintSettings
from schemac.language.logical.names import VARIANTS
from schemac.project.cache.entries import EntryKeys, digest
from schemac.project.cache.store import Cache
from schemac.project.comparing import ComparisonRequest
from schemac.project.manifests import CheckInputs
from schemac.project.options import CompileOptions
from schemac.project.overlays import RunOverlay


class Overlay(NamedTuple):
    content: bytes


OTHERS: dict[str, list[Any]] = {
    "strict": [True],
    "targets": [(), ("lance",), ("lance", "spark"), ("spark", "lance")],
    "are_targets_named": [True],
    "asked_for": [frozenset({"lance"}), frozenset({"lance", "spark"})],
    "versions": [{"spark": "4.0"}, {"spark": "4.1"}, {"lance": "4.0"}],
    "encodings": [{"string": "Utf8"}, {"string": "LargeUtf8"}],
    "has_metadata": [False],
    "show_losses": [True],
    "locked": [True],
    "system_columns": list(VARIANTS),
    "has_rules": [True],
    "denied": [frozenset({"lance"}), frozenset({"spark"})],
    "optional_artifacts": [frozenset({"a"}), frozenset({"b"}), frozenset({"a", "b"})],
    "overlay": [Overlay(b""), Overlay(b"a")],
}
PLAIN = CompileOptions(targets=("arrow",))


def other(**values: Any) -> CompileOptions:
    """The options with these other values."""
    return replace(PLAIN, **values)


def test_any_other_option_is_another_digest() -> None:
    options = [PLAIN, *(other(**{name: value}) for name in OTHERS for value in OTHERS[name])]
    assert len({digest(one) for one in options}) == len(options)


def test_know_every_option() -> None:
    assert {one.name for one in fields(CompileOptions)} == {*OTHERS, "edited"}


@pytest.mark.parametrize("name", ["asked_for", "denied", "optional_artifacts"])
def test_the_order_of_a_set_is_none(name: str) -> None:
    names = [f"n{number}" for number in range(50)]
    one, another = (other(**{name: frozenset(some)}) for some in (names, reversed(names)))
    assert digest(one) == digest(another)
    assert digest(other(versions={"a": "1", "b": "2"})) == digest(other(versions={"b": "2", "a": "1"}))


INPUTS: dict[type, Any] = {
    CheckInputs: CheckInputs(strict=False, system_columns=None, vocabularies={}, lint=None, rules=()),
    CompileOptions: PLAIN,
    ComparisonRequest: ComparisonRequest("lock"),
    LintSettings: LintSettings(),
    RunOverlay: RunOverlay("prod.yaml", b"", None),  # type: ignore[arg-type]
}
"""An example of each value that the keys of the cache are made of."""
NOT_IN_KEYS = {(CompileOptions, "edited"), (RunOverlay, "overlay")}
"""Fields that no key has: what is read in the place of files is keyed as what was read, and an overlay by its text."""


@pytest.mark.parametrize("type_", INPUTS)
def test_any_other_field_is_another_digest(type_: type) -> None:
    plain = INPUTS[type_]
    for one in fields(type_):
        changed = replace(plain, **{one.name: "something else"})
        assert (digest(changed) == digest(plain)) is ((type_, one.name) in NOT_IN_KEYS), one.name


def test_refuse_a_value_without_a_digest() -> None:
    with pytest.raises(TypeError, match="a object has no digest"):
        digest(replace(PLAIN, encodings={"string": object()}))


def test_know_all_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The law above is about every value that a command makes keys of."""
    inputs: set[type] = set()
    real = Cache.keys

    def keys(cache: Cache, sort: str, shared: object) -> EntryKeys:
        inputs.add(type(shared))
        return real(cache, sort, shared)

    monkeypatch.setattr(Cache, "keys", keys)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schemac.toml").write_text('[lint]\nselect = ["ACME801"]\nrules = ["rules.py"]\n')
    rule = 'Code("ACME801", "acme", Severity.WARNING, "x"), category="acme"'
    (tmp_path / "rules.py").write_text(
        "from schemac.language.lint.rule import rule\nfrom schemac.text.source.diagnostics import Code, Severity\n\n\n"
        f"@rule({rule})\ndef acme(subject, say):\n    'Ours.'\n"
    )
    (tmp_path / "trips.yaml").write_text("fields:\n- {name: a, type: Int64}\n")
    for command in ("lock", "lock --check", "check", "build", "breaking --against lock", "diff lock"):
        assert main(command.split()) == 0, command
    assert {one for one in inputs if is_dataclass(one)} == INPUTS.keys() - {RunOverlay}
    assert {one for one in inputs if not is_dataclass(one)} == {str, type(None)}
