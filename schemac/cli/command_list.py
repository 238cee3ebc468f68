"""`schemac list`: which fields there are, whose they are and what is known of them.

Layer: cli.
"""

import argparse

from schemac.cli.output import add_paths, add_text_or_json, exit_code, print_status, show
from schemac.cli.project import open_project
from schemac.cli.terminal import put_rendered, table
from schemac.language.attributes.builtin import Classification
from schemac.project.manifests import FieldFilter, listed_fields
from schemac.text.source.phrases import counted
from schemac.text.source.report import Report

_HEAD = ("field", "type", "owner", "tags", "classification", "deprecated")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_paths(parser)
    parser.add_argument(
        "--tag",
        action="append",
        default=[],
        metavar="TAG",
        help="only fields with this tag; if repeated, only fields with all of the tags",
    )
    parser.add_argument(
        "--owner",
        action="append",
        default=[],
        metavar="NAME",
        help="only fields of this owner; if repeated, fields of any of the owners",
    )
    parser.add_argument(
        "--classification",
        action="append",
        default=[],
        choices=[str(one) for one in Classification],
        help="only fields with this classification; if repeated, fields with any of them",
    )
    parser.add_argument("--deprecated", action="store_true", help="fields that are deprecated")
    add_text_or_json(parser)


def run(options: argparse.Namespace) -> int:
    """List; what fields have from their struct, their group and their schema counts as theirs."""
    report = Report()
    project, files = open_project(options, report)
    field_filter = FieldFilter(
        frozenset(options.tag),
        frozenset(options.owner),
        frozenset(map(Classification, options.classification)),
        options.deprecated,
    )
    listed = listed_fields(files, field_filter, project, report)
    project.cache.save()
    diagnostics = report.diagnostics
    if options.format == "json" and not report.has_errors:
        show(diagnostics, options, fields=[one.to_json() for one in listed])
        return exit_code(diagnostics, options)
    show(diagnostics, options)
    if not report.has_errors:
        if listed:
            rows: list[tuple[str, ...]] = [_HEAD]
            for one in listed:
                owned = one.ownership
                until = (owned.deprecation.remove_after or "yes") if owned.deprecation is not None else ""
                cells = (", ".join(owned.tags), owned.classification or "", until)
                rows.append((f"{one.dataset}.{one.path}", one.type_text, owned.owner or "", *cells))
            put_rendered(table(rows) + "\n")
        datasets = len({one.dataset for one in listed})
        fields = counted(len(listed), "field")
        print_status(f"{fields} of {counted(datasets, 'dataset')}", options)
    return exit_code(diagnostics, options)
