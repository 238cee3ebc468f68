"""Fixes do what they say: what was fixed is gone, nothing else is wrong, and nothing else has changed."""

import re
from collections import Counter
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemac.text.source.diagnostics import Diagnostic, Fix, SourceText
from schemac.text.source.text import span_of
from tests.fixing import Sort, Text, beside, corpus, errors, findings_of, fixed, pages

TEXTS = {text.name: text for text in (*corpus(), *pages(), *beside())}

NOT_EXACT = {
    r".*(, or | or (?=[0-9`])|; otherwise)|keep (one|this)|Spark and Paimon": "a choice for the author",
    r"(add|give|specify|name|use|choose|rename|put|mark|move|make|compare|calculate|change|leave|start|flatten|close|indent|save|compile) ": "there are many ways to do it, or it is to be done elsewhere",
    r"the (kinds|events|fields|form|greatest|last|least|system)|allowed here|its (parameters|entries)|Lance knows|it (is for|applies)|an? \w+ takes|there is|lists and maps|that folder|a name of|binaries and": "what is allowed, to choose from",
    r"\w+: ": "what an attribute is for",
    r"write (?![`'\"]|it in quotes)|set the ": "in words",
    r"`schemac|see `schemac": "a command",
    r".*…": "with a gap in it",
    r".*, for example": "an example",
}
"""Helps that do not say what to write, and why."""
EXACT = {
    "SC105": "an example",
    "SC113": "where the value is that is meant, nobody knows",
    "SC203": "an example",
    "SC204": "an example",
    "SC207": "an example",
    "SC233": "it is the only item of a list",
    "SC237": "there is an overlay for the dataset already",
    "SC313": "it is the only entry of a mapping",
    "SC314": "an example",
    "SC327": "an example",
    "SC583": "the list has the field already",
    "SC611": "an alias stands for it elsewhere",
}
"""Codes with helps that say what to write and that are no fix, and why."""


@pytest.mark.parametrize("name", TEXTS)
def test_fix_what_is_said_to_be_fixed(name: str) -> None:
    text = TEXTS[name]
    for is_unsafe in {not d.fix.is_safe for d in findings_of(text) if d.fix is not None}:
        keep_laws(text, is_unsafe=is_unsafe)


def keep_laws(text: Text, *, is_unsafe: bool) -> None:
    before, after, content, fixing = fixed(text, is_unsafe=is_unsafe)
    wanted = [d for d in before if d.fix is not None and (d.fix.is_safe or is_unsafe)]
    assert not [d for d in after if d.fix is not None and (d.fix.is_safe or is_unsafe)], (
        "nothing is left to fix"
    )
    # Of two slips of one key only one becomes the key.
    texts = {_texts(fix) for fix in fixing.done}
    passed_over = [d for d in wanted if d.fix not in fixing.done and _texts(d.fix) in texts]
    gone = Counter(_what(d) for d in wanted if d not in passed_over) & Counter(_what(d) for d in after)
    assert not gone, "what was fixed is not found again"
    # What was hidden behind a mistake comes to light; it is of the same stage, or of a later one.
    revealed = Counter(errors(after)) - Counter(errors(before))
    stages = {d.code[:3] for d in wanted}
    assert all(code[:3] >= min(stages) for code in revealed), revealed
    assert not revealed or stages
    if not wanted:
        assert content == text.content
    else:
        again = fixed(text._replace(content=content), is_unsafe=is_unsafe)
        assert again.content == content
        assert not again.fixing.done
    assert fixing.done or not wanted
    assert content.endswith(b"\n") >= text.content.endswith(b"\n"), "the last line still ends"


def _texts(fix: Fix | None) -> tuple[str, ...]:
    """What a fix writes."""
    return () if fix is None else tuple(edit.text for edit in fix.edits)


def _what(found: Diagnostic) -> tuple[str, str, str, int]:
    return found.code, found.message, found.path, found.line


def test_change_nothing_outside_of_edits() -> None:
    count = 0
    for text in TEXTS.values():
        for found in findings_of(text):
            if found.fix is None:
                continue
            source = SourceText(text.content.decode(), text.file)
            for edit in found.fix.edits:
                span = span_of(source, edit)
                region = source.region(span)
                assert tuple(region) == edit[1:5]
                assert edit.text != source.excerpt(span)
                count += 1
    assert count > 400


def test_say_why_a_help_has_no_fix() -> None:
    """Helps that say exactly what to write are fixes, but for those of a few codes."""
    codes: set[str] = set()
    sorts: set[str] = set()
    with_fix = 0
    for text in TEXTS.values():
        for found in findings_of(text):
            sort = next((p for p in NOT_EXACT if re.match(p, found.help)), None)
            with_fix += found.fix is not None
            if found.help and found.fix is None:
                sorts |= {sort} if sort is not None else set()
                codes |= {found.code} if sort is None else set()
    assert sorts == set(NOT_EXACT)
    assert codes == set(EXACT)
    assert with_fix >= 400


SLIPS = {
    "Int64": "bigint",
    "String": "string2",
    "type": "tpye",
    "Millisecond": "milliseconds",
    "fields:": "columns:",
    "kind": "knd",
    "itemType": "items",
    "extra": "extras",
    "Option": "Optional",
}
"""Words of the language, and what somebody writes for them."""


@cache
def _sound_manifests() -> list[Text]:
    """The manifests without errors."""
    return [t for t in TEXTS.values() if t.sort is Sort.MANIFEST and not errors(findings_of(t))]


@st.composite
def mutated(draw: st.DrawFn) -> Text:
    """A sound manifest with a few slips of the pen."""
    text = draw(st.sampled_from(_sound_manifests()))
    content = text.content.decode()
    for _ in range(draw(st.integers(1, 3))):
        word = draw(st.sampled_from(sorted(SLIPS)))
        places = [m.start() for m in re.finditer(rf"(?<!\w){word}", content)]
        if places:
            at = draw(st.sampled_from(places))
            content = content[:at] + SLIPS[word] + content[at + len(word) :]
        elif draw(st.booleans()):
            lines = content.splitlines(keepends=True)
            n = draw(st.integers(0, len(lines) - 1))
            content = "".join([*lines[: n + 1], lines[n], *lines[n + 1 :]])
    return text._replace(content=content.encode())


def _keep_laws_of_mutated(text: Text, is_unsafe: bool) -> None:
    keep_laws(text, is_unsafe=is_unsafe)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(mutated(), st.booleans())
def test_fix_slips(text: Text, is_unsafe: bool) -> None:
    keep_laws(text, is_unsafe=is_unsafe)


@pytest.mark.long
@settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
@given(mutated(), st.booleans())
def test_fix_many_slips(text: Text, is_unsafe: bool) -> None:
    keep_laws(text, is_unsafe=is_unsafe)
