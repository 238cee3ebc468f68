"""Findings about fields that may have been renamed without a declaration.

Layer: project.
Errors: SC405 possible-rename.
"""

import shlex
from typing import NamedTuple

from schemac.evolution.undeclared_renames import UndeclaredRename
from schemac.manifest.write import scalar
from schemac.project.compared import Comparison
from schemac.source.catalogue import POSSIBLE_RENAME
from schemac.source.diagnostic import Diagnostic
from schemac.source.listing import listed
from schemac.source.report import Report
from schemac.source.span import WHOLE_FILE


class Question(NamedTuple):
    """What an author is asked about a field that was removed."""

    message: str
    help: str


def question(rename: UndeclaredRename, file: str) -> Question:
    """Return what to ask about a field that is no longer in a manifest."""
    first, *others = rename.successors
    if others:
        paths = listed([successor.path for successor in rename.successors])
        message = f"{rename.path} was removed, and {paths} were added, whose types hold all its values"
    else:
        types = (
            f"both of type {first.type}"
            if rename.type == first.type
            else f"whose type {first.type} holds all values of {rename.type}"
        )
        message = f"{rename.path} was removed and {first.path} was added, {types}"
    attribute = f"`schemac.dev/renamedFrom: {scalar(rename.old_name)}`"
    help = (
        f"write {attribute} under the `extra:` of the one that is the same field"
        if others
        else f"if it is the same field, write under its `extra:` {attribute}"
    )
    if rename.has_lock:
        command = f"schemac lock {shlex.quote(file)} --drop {shlex.quote(rename.path)}"
        help += f"; if its values are to go, run `{command}`"
    return Question(message, help)


def possible_renames_text(count: int) -> str:
    """Return the number of possible renames in words."""
    return f"{count} possible rename{'' if count == 1 else 's'}"


def rename_findings(comparison: Comparison) -> tuple[Diagnostic, ...]:
    """Return what to ask about the fields that one comparison may take for others."""
    report = Report()
    for rename in comparison.renames:
        asked, successor = question(rename, comparison.new), rename.successors[0]
        place = successor.location
        report.add(
            POSSIBLE_RENAME,
            asked.message,
            file=place.file if place is not None else comparison.new,
            at=place.region if place is not None else WHOLE_FILE,
            path=successor.path,
            help=asked.help,
        )
    return report.diagnostics
