"""No text makes the compiler fail: random text, random near-YAML, and manifests of the corpus with random damage.

Source: every finding is a Diagnostic; anything else that leaves `check_text` is a mistake of ours.
"""

import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import schemac
from schemac.text.source.ci_reports import render_github
from schemac.text.source.diagnostics import findings_document
from schemac.text.source.rendering import render_text
from tests.effort import law
from tests.golden import CORPUS

MANIFESTS = sorted(
    path.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff")
    for path in CORPUS.rglob("*.yaml")
    if path.stat().st_size < 20_000
)
WORDS = sorted({word for text in MANIFESTS for word in text.split() if len(word) < 60})
TOKENS = [
    *WORDS,
    *"[]{}:,-?&*!|>'\"%@`#~<=",
    "\n",
    "\n  ",
    "\n    - ",
    ": ",
    "- ",
    "? ",
    "&a ",
    "*a",
    "!!int ",
    "---\n",
    "...\n",
]
TOKENS += [
    "\t",
    "\r",
    "\x00",
    "\ufeff",
    "\u2028",
    "\x85",
    "🚀",
    "é",
    "\ud800",
    "0x",
    "1e999",
    ".nan",
    "-0",
    "9" * 30,
    "null",
]

near_yaml = st.lists(st.sampled_from(TOKENS), max_size=60).map("".join)
any_text = st.text(st.characters(codec=None), max_size=200)


@st.composite
def damaged_manifests(draw: st.DrawFn) -> str:
    """A manifest in which some lines are deleted, doubled, swapped or moved in, and some words replaced."""
    lines = draw(st.sampled_from(MANIFESTS)).split("\n")
    for _ in range(draw(st.integers(1, 4))):
        i, j = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
        damage = draw(st.sampled_from(["delete", "double", "swap", "indent", "word", "cut"]))
        if damage == "delete" and len(lines) > 1:
            del lines[i]
        elif damage == "double":
            lines.insert(i, lines[j])
        elif damage == "swap":
            lines[i], lines[j] = lines[j], lines[i]
        elif damage == "indent":
            lines[i] = draw(st.sampled_from([" ", "  ", "\t", "- "])) + lines[i]
        elif damage == "word":
            words = lines[i].split(" ")
            words[draw(st.integers(0, len(words) - 1))] = draw(st.sampled_from(TOKENS))
            lines[i] = " ".join(words)
        else:
            lines[i] = lines[i][: draw(st.integers(0, len(lines[i])))]
    return "\n".join(lines)


def _survive(text: str, *, strict: bool) -> None:
    found = schemac.check_text(text, strict=strict)
    for d in found:
        assert d.line == 0 or (d.line, d.column) <= (d.end_line, d.end_column)
    render_text(found, colour=True)
    json.dumps(findings_document(found))
    render_github(found)
    if any(d.severity is schemac.Severity.ERROR for d in found):
        with pytest.raises(schemac.SchemaError):
            schemac.compile_text(text, strict=strict)
        return
    for dataset in schemac.compile_text(text, strict=strict):
        dataset.to_arrow()
        for target in ("lance", "spark"):
            with suppress(schemac.SchemaError):
                dataset.losses(target)


QUICK = law(150)
THOROUGH = settings(
    max_examples=20_000, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


@QUICK
@given(any_text, st.booleans())
def test_survive_random_text(text: str, strict: bool) -> None:
    _survive(text, strict=strict)


@QUICK
@given(near_yaml, st.booleans())
def test_survive_near_yaml(text: str, strict: bool) -> None:
    _survive(text, strict=strict)


@pytest.mark.slow
@law(400)
@given(damaged_manifests(), st.booleans())
def test_survive_damaged_manifests(text: str, strict: bool) -> None:
    _survive(text, strict=strict)


@pytest.mark.long
@THOROUGH
@given(st.one_of(any_text, near_yaml, damaged_manifests()), st.booleans())
def test_survive_everything_for_long(text: str, strict: bool) -> None:
    _survive(text, strict=strict)


def test_survive_every_prefix_of_a_manifest() -> None:
    text = (CORPUS / "accepted" / "rfc_016_sample" / "manifest.yaml").read_text(encoding="utf-8")
    for end in range(0, len(text), 7):
        _survive(text[:end], strict=False)
