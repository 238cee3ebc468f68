"""Findings in SARIF 2.1.0, for code scanning.

Layer: source.
Source: OASIS SARIF 2.1.0: lines and columns are one-based, a column counts UTF-16 units unless told otherwise; a file is a
URI (RFC 3986), relative to a base that has a name.
"""

import json
import os
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from schemac.source.catalogue import CATALOGUE
from schemac.source.diagnostic import Code, Diagnostic, Fix, Label
from schemac.source.json_object import Json
from schemac.version import __version__

_ROOT = "%SRCROOT%"


def render_sarif(diagnostics: Sequence[Diagnostic], codes: Mapping[str, Code] = CATALOGUE) -> str:
    """One log with one run, with a line end; `codes` by number describe the rules.

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
        "results": [_result(d, [code.id for code in used]) for d in diagnostics],
    }
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2) + "\n"


def _result(d: Diagnostic, rules: list[str]) -> Json:
    message = d.message + (f"\nhelp: {d.help}" if d.help else "")
    result: Json = {
        "ruleId": d.code,
        "ruleIndex": rules.index(d.code),
        "level": d.severity,
        "message": {"text": message},
    }
    if d.file:
        result["locations"] = [_location(d)]
    if d.labels:
        result["relatedLocations"] = [
            {**_location(label), "message": {"text": label.message}} for label in d.labels
        ]
    if d.fix is not None:
        result["fixes"] = [_fix(d.fix)]
    if d.path:
        logical = {"fullyQualifiedName": d.path, "kind": "member"}
        result.setdefault("locations", [{}])[0]["logicalLocations"] = [logical]
    return result


def _fix(fix: Fix) -> Json:
    """Return a fix; SARIF knows none that are unsafe, so its description says it."""
    changes: dict[str, list[Json]] = {}
    for edit in fix.edits:
        region = {
            "startLine": edit.line,
            "startColumn": edit.column,
            "endLine": edit.end_line,
            "endColumn": edit.end_column,
        }
        replacement = {"deletedRegion": region, "insertedContent": {"text": edit.text}}
        changes.setdefault(edit.file, []).append(replacement)
    return {
        "description": {"text": fix.title + ("" if fix.is_safe else " (unsafe)")},
        "artifactChanges": [
            {"artifactLocation": _artifact(file), "replacements": replacements}
            for file, replacements in changes.items()
        ],
    }


def _location(place: Diagnostic | Label) -> Json:
    physical: Json = {"artifactLocation": _artifact(place.file)}
    if place.line:
        physical["region"] = {
            "startLine": place.line,
            "startColumn": place.column,
            "endLine": place.end_line,
            "endColumn": place.end_column,
        }
    return {"physicalLocation": physical}


def _artifact(file: str) -> dict[str, str]:
    """Return a path from the root of the repository, an absolute one, or a URI that is one already."""
    if "://" in file:
        scheme, _, rest = file.partition("://")
        return {"uri": f"{scheme}://{quote(os.fsencode(rest), safe='/:@')}"}
    path = quote(os.fsencode(file))
    return {"uri": f"file://{path}"} if path.startswith("/") else {"uri": path, "uriBaseId": _ROOT}
