"""Findings as a JUnit report, which Jenkins, GitLab, Azure and other CI servers show.

Layer: source.
Source: the JUnit XML that Ant and Maven Surefire write: a `testsuite` for each file, a `testcase` for each finding. What makes the
command fail is a `failure`; any other finding is a test that passed, with the finding as its output. Jenkins' XML Schema (junit-10)
allows no place on a `testcase`, and its xUnit plugin refuses reports that differ: the line is in the text alone.
"""

import re
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as Xml

from schemac.source.diagnostic import Diagnostic, Severity
from schemac.source.printable import printable

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 (section 2.2) does not have, not even as references."""
_CLEAN = "no findings"


def render_junit(diagnostics: Sequence[Diagnostic], fail_on: Severity = Severity.ERROR) -> str:
    """One report, with a line end; findings of `fail_on` or graver are failures. A report without findings has one test that passed."""
    root = Xml.Element("testsuites", name="schemac")
    by_file: dict[str, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        by_file.setdefault(diagnostic.file, []).append(diagnostic)
    for file, group in by_file.items():
        suite = Xml.SubElement(root, "testsuite", name=_text(file) or "schemac")
        if file:
            suite.set("file", _text(file))
        for diagnostic in group:
            _case(suite, diagnostic, fail_on)
        _count(suite, group, fail_on)
    if not by_file:
        suite = Xml.SubElement(root, "testsuite", name="schemac", tests="1", failures="0", errors="0")
        Xml.SubElement(suite, "testcase", name=_CLEAN, classname="schemac")
    _count(root, diagnostics, fail_on)
    Xml.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{Xml.tostring(root, encoding="unicode")}\n'


def _case(suite: Xml.Element, d: Diagnostic, fail_on: Severity) -> None:
    place = f"{d.file}:{d.line}:{d.column}" if d.line else d.file
    attributes = {"name": _text(f"{d.code} {d.slug}{f' ({d.path})' if d.path else ''}")}
    attributes["classname"] = _text(d.file) or "schemac"
    case = Xml.SubElement(suite, "testcase", attributes)
    lines = [f"{d.severity}[{d.code}]: {d.message}", place, *d.excerpt, f"help: {d.help}" if d.help else ""]
    body = _text("\n".join(line for line in lines if line))
    if _fails(d, fail_on):
        Xml.SubElement(case, "failure", message=_text(d.message), type=d.severity).text = body
    else:
        Xml.SubElement(case, "system-out").text = body


def _count(element: Xml.Element, group: Iterable[Diagnostic], fail_on: Severity) -> None:
    diagnostics = list(group)
    element.set("tests", str(len(diagnostics) or 1))
    element.set("failures", str(sum(_fails(d, fail_on) for d in diagnostics)))
    element.set("errors", "0")


def _fails(d: Diagnostic, fail_on: Severity) -> bool:
    return d.severity.rank <= fail_on.rank


def _text(text: str) -> str:
    return _ILLEGAL.sub("�", printable(text, keep="\n\t"))
