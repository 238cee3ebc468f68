"""Findings as reports of CI servers: GitHub, GitLab, JUnit and SARIF.

Layer: text.
Shape: findings name files from the working folder, which is not always the root of the repository. A file outside of the repository
has an absolute path.
Source: GitHub, the documentation of workflow commands (`%`, line ends and, in properties, `:` and `,` are escaped); it resolves the file
against the checkout. GitLab, the documentation of the code quality report: two findings with one fingerprint are the same one, also
between commits. JUnit, the XML that Ant and Maven Surefire write: Jenkins' XML Schema (junit-10) allows no line on a `testcase`, so the
line is in the text. SARIF 2.1.0, by OASIS: lines and columns are one-based, a column counts UTF-16 units, a file is a URI (RFC 3986).
"""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree as Xml

from schemac.text.source.catalogue import CATALOGUE
from schemac.text.source.diagnostics import Code, Diagnostic, Edit, Fix, Label, Severity
from schemac.text.source.json_object import Json
from schemac.text.source.phrases import printable
from schemac.version import __version__


def render(
    form: str, diagnostics: Sequence[Diagnostic], fail_on: Severity, codes: Callable[[], Mapping[str, Code]]
) -> str:
    """Return the findings in one of the forms `github`, `sarif`, `junit` and `gitlab`; only SARIF describes all `codes`."""
    if form == "github":
        return render_github(diagnostics)
    if form == "sarif":
        return render_sarif(diagnostics, codes())
    return render_junit(diagnostics, fail_on) if form == "junit" else render_gitlab(diagnostics)


def from_root(diagnostics: Iterable[Diagnostic], here: Path) -> list[Diagnostic]:
    """Return the findings with files as they are called from the root of the repository; where there is none, from the folder."""
    root = next((one for one in (here, *here.parents) if (one / ".git").exists()), here)

    def place(file: str) -> str:
        if not file or "://" in file:
            return file
        path = os.path.normpath(os.path.join(here, file))
        inside = os.path.relpath(path, root)
        is_outside = inside == ".." or inside.startswith(f"..{os.sep}")
        return (path if is_outside else inside).replace(os.sep, "/")

    return [
        replace(
            diagnostic,
            file=place(diagnostic.file),
            labels=tuple([replace(label, file=place(label.file)) for label in diagnostic.labels]),
            fix=diagnostic.fix
            and diagnostic.fix._replace(
                edits=tuple([edit._replace(file=place(edit.file)) for edit in diagnostic.fix.edits]),
            ),
        )
        for diagnostic in diagnostics
    ]


_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render_github(diagnostics: Iterable[Diagnostic]) -> str:
    """Return one workflow command for each finding, each on a line."""
    commands: list[str] = []
    for d in diagnostics:
        # GitHub shows what is in the repository; all else is told by name.
        is_inside = bool(d.file) and not d.file.startswith("/") and "://" not in d.file
        properties = {"file": d.file} if is_inside else {}
        if d.line and is_inside:
            properties |= {"line": str(d.line), "endLine": str(d.end_line), "col": str(d.column)}
            # GitHub takes an end column only for a finding within one line.
            if d.end_line == d.line:
                properties["endColumn"] = str(d.end_column)
        properties["title"] = f"{d.code} {d.slug}"
        listed = ",".join(f"{key}={_escape_for_github(value, ':,')}" for key, value in properties.items())
        place = "" if is_inside or not d.file else f"{d.file}:{d.line}: " if d.line else f"{d.file}: "
        message = _escape_for_github(place + d.message_with_help)
        commands.append(f"::{_COMMANDS[d.severity]} {listed}::{message}\n")
    return "".join(commands)


def _escape_for_github(text: str, more: str = "") -> str:
    """Return a text with what separates GitHub's commands percent-encoded; `more` are further such characters."""
    text = printable(text, keep="\r\n")
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def render_gitlab(diagnostics: Sequence[Diagnostic]) -> str:
    """Return one JSON document, with a line end."""
    seen: Counter[str] = Counter()
    document: list[Json] = []
    for d in diagnostics:
        # Without the line, so that a finding stays the same where lines are inserted above it.
        what = f"{d.code}\0{d.file}\0{d.path}\0{d.message}"
        seen[what] += 1
        fingerprint = sha256(f"{what}\0{seen[what]}".encode(errors="backslashreplace")).hexdigest()
        document.append(
            {
                "description": printable(f"{d.code}: {d.message_with_help}", keep="\n"),
                "check_name": d.slug,
                "fingerprint": fingerprint,
                "severity": _SEVERITIES[d.severity],
                "location": {
                    # A finding that is about no file is at the root.
                    "path": d.file or ".",
                    "lines": {"begin": max(1, d.line), "end": max(1, d.end_line)},
                },
            }
        )
    return json.dumps(document, indent=2) + "\n"


_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 (section 2.2) does not have, not even as references."""


def render_junit(diagnostics: Sequence[Diagnostic], fail_on: Severity = Severity.ERROR) -> str:
    """Return one XML report, with a line end; findings of `fail_on` or graver are failures. A report without findings has one test that passed."""
    root = Xml.Element("testsuites", name="schemac")
    by_file: dict[str, list[Diagnostic]] = {} if diagnostics else {"": []}
    for diagnostic in diagnostics:
        by_file.setdefault(diagnostic.file, []).append(diagnostic)
    for file, group in by_file.items():
        suite = Xml.SubElement(root, "testsuite", name=_xml_text(file) or "schemac")
        if file:
            suite.set("file", _xml_text(file))
        if not group:
            Xml.SubElement(suite, "testcase", name="no findings", classname="schemac")
        for d in group:
            name = f"{d.code} {d.slug}{f' ({d.path})' if d.path else ''}"
            attributes = {"name": _xml_text(name), "classname": _xml_text(d.file) or "schemac"}
            case = Xml.SubElement(suite, "testcase", attributes)
            help = f"help: {d.help}" if d.help else ""
            lines = [f"{d.severity}[{d.code}]: {d.message}", d.place, *d.excerpt, help]
            body = _xml_text("\n".join(line for line in lines if line))
            if d.severity.rank <= fail_on.rank:
                Xml.SubElement(case, "failure", message=_xml_text(d.message), type=d.severity).text = body
            else:
                Xml.SubElement(case, "system-out").text = body
        _set_counts(suite, group, fail_on)
    _set_counts(root, diagnostics, fail_on)
    Xml.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{Xml.tostring(root, encoding="unicode")}\n'


def _set_counts(element: Xml.Element, group: Sequence[Diagnostic], fail_on: Severity) -> None:
    """Set the numbers of tests and failures of an element; one without findings counts as one test that passed."""
    element.set("tests", str(len(group) or 1))
    element.set("failures", str(sum(d.severity.rank <= fail_on.rank for d in group)))
    element.set("errors", "0")


def _xml_text(text: str) -> str:
    """Return a text without characters that XML does not permit."""
    return _ILLEGAL.sub("�", printable(text, keep="\n\t"))


_ROOT = "%SRCROOT%"


def render_sarif(diagnostics: Sequence[Diagnostic], codes: Mapping[str, Code] = CATALOGUE) -> str:
    """Return one log with one run, with a line end; `codes` by number describe the rules.

    A code that is not among them, as an engine of another distribution may report one, is described by its slug.
    """
    others = {
        d.code: Code(d.code, d.slug, d.severity, d.slug.replace("-", " "))
        for d in diagnostics
        if d.code not in codes
    }
    known = (*codes.values(), *others.values())
    used = [code for code in known if any(d.code == code.id for d in diagnostics)]
    rules = [
        {
            "id": code.id,
            "name": code.slug,
            "shortDescription": {"text": code.title},
            "defaultConfiguration": {"level": code.severity},
        }
        for code in used
    ]
    run = {
        "tool": {"driver": {"name": "schemac", "version": __version__, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "the root of the repository"}}},
        "results": [_sarif_result(d, [code.id for code in used]) for d in diagnostics],
    }
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2) + "\n"


def _sarif_result(d: Diagnostic, rules: list[str]) -> Json:
    """Return a finding as a SARIF result with its labels and fix; `rules` are the ids that it refers to by index."""
    result: Json = {
        "ruleId": d.code,
        "ruleIndex": rules.index(d.code),
        "level": d.severity,
        "message": {"text": d.message_with_help},
    }
    if d.file:
        result["locations"] = [_sarif_location(d)]
    if d.labels:
        result["relatedLocations"] = [
            {**_sarif_location(label), "message": {"text": label.message}} for label in d.labels
        ]
    if d.fix is not None:
        result["fixes"] = [_sarif_fix(d.fix)]
    if d.path:
        logical = {"fullyQualifiedName": d.path, "kind": "member"}
        result.setdefault("locations", [{}])[0]["logicalLocations"] = [logical]
    return result


def _sarif_fix(fix: Fix) -> Json:
    """Return a fix; SARIF knows none that are unsafe, so its description says it."""
    changes: dict[str, list[Json]] = {}
    for edit in fix.edits:
        replacement = {"deletedRegion": _sarif_region(edit), "insertedContent": {"text": edit.text}}
        changes.setdefault(edit.file, []).append(replacement)
    return {
        "description": {"text": fix.title + ("" if fix.is_safe else " (unsafe)")},
        "artifactChanges": [
            {"artifactLocation": _sarif_artifact(file), "replacements": replacements}
            for file, replacements in changes.items()
        ],
    }


def _sarif_location(place: Diagnostic | Label) -> Json:
    """Return a place as SARIF has it; without a region where the line is unknown."""
    physical: Json = {"artifactLocation": _sarif_artifact(place.file)}
    if place.line:
        physical["region"] = _sarif_region(place)
    return {"physicalLocation": physical}


def _sarif_region(place: Diagnostic | Label | Edit) -> Json:
    """Return the lines and columns of a place as SARIF has them."""
    ends = {"endLine": place.end_line, "endColumn": place.end_column}
    return {"startLine": place.line, "startColumn": place.column, **ends}


def _sarif_artifact(file: str) -> dict[str, str]:
    """Return a path from the root of the repository, an absolute one, or a URI that is one already."""
    if "://" in file:
        scheme, _, rest = file.partition("://")
        return {"uri": f"{scheme}://{quote(os.fsencode(rest), safe='/:@')}"}
    path = quote(os.fsencode(file))
    return {"uri": f"file://{path}"} if path.startswith("/") else {"uri": path, "uriBaseId": _ROOT}
