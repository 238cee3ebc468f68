"""Manifests of the corpus and of the pages, and what fixes make of them."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from schemac.project.fixing import Fixing
from schemac.registry.codes import own_codes
from schemac.registry.pages import page
from schemac.source.diagnostic import Diagnostic, Severity
from tests.compiling import compile_bytes
from tests.golden import CORPUS


class Text(NamedTuple):
    """A manifest, and how it is read."""

    name: str
    content: bytes
    is_strict: bool = False
    folder: Path | None = None


def corpus() -> Iterator[Text]:
    """All manifests of the corpus."""
    for path in sorted((CORPUS / "accepted").glob("*/manifest.yaml")):
        yield Text(path.parent.name, path.read_bytes(), path.parent.name.startswith("strict"))
    for path in sorted((CORPUS / "rejected").glob("*/*.yaml")):
        yield Text(
            f"{path.parent.name}/{path.stem}", path.read_bytes(), path.stem.startswith("strict"), path.parent
        )


def pages() -> Iterator[Text]:
    """The manifests that the pages of codes show as wrong."""
    for code in own_codes().values():
        for n, example in enumerate(page(code).examples):
            if not example.is_right and example.language in ("yaml", "bytes"):
                content = example.text.encode()
                if example.language == "bytes":
                    content = re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes.fromhex(m[1].decode()), content)
                yield Text(f"{code.id}-{n}", content, code.id in ("SC213", "SC214"))


class Outcome(NamedTuple):
    """A text before and after its fixes."""

    before: Sequence[Diagnostic]
    after: Sequence[Diagnostic]
    content: bytes
    fixing: Fixing


_NAME = "manifest.yaml"


def findings_of(text: Text, content: bytes | None = None) -> tuple[Diagnostic, ...]:
    """Return what a build finds."""
    given = text.content if content is None else content
    return compile_bytes(given, _NAME, strict=text.is_strict, folder=text.folder).diagnostics


def fixed(text: Text, *, is_unsafe: bool) -> Outcome:
    """Fix a text in memory."""
    place = os.path.abspath(_NAME)
    fixing = Fixing(is_unsafe)
    after = fixing.run(lambda edited: findings_of(text, edited[place]), {place: text.content})
    content = fixing.text(_NAME).encode() if _NAME in fixing.after else text.content
    return Outcome(findings_of(text), after, content, fixing)


def errors(findings: Sequence[Diagnostic]) -> list[str]:
    """The codes of the errors."""
    return [d.code for d in findings if d.severity is Severity.ERROR]
