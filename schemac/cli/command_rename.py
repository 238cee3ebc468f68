"""`schemac rename`: another name or place for a field, with its id and its data.

Layer: cli.
"""

import argparse
from collections.abc import Iterator
from typing import Any

from schemac.cli.output import add_no_cache, add_output_arguments, print_status, show_all
from schemac.cli.project import find_dataset, open_project
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.manifest.write import scalar
from schemac.project.manifests import CompiledFile, read_manifests
from schemac.project.name_edits import write
from schemac.project.referring import referring_fields
from schemac.project.renaming import planned_rename
from schemac.text.source.report import Report
from schemac.text.source.text import SourceText, read_file
from schemac.text.syntax.document import parse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("dataset", metavar="DATASET", help="name of the dataset, or its manifest")
    parser.add_argument("old", metavar="OLD", help="the field's path, such as fare or stops.item.name")
    parser.add_argument(
        "new",
        metavar="NEW",
        help="its new name, or a path such as price.fare to move it into that struct; to move a field out of a struct"
        " to the top level, its current name",
    )
    parser.add_argument("--config", metavar="FILE", help=argparse.SUPPRESS)
    add_no_cache(parser)
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Rename; manifest and lock change together, or neither."""
    report = Report()
    opened = find_dataset(options, report)
    if opened is not None:
        project, file, dataset = opened
        planned = planned_rename(file, dataset, options.old, options.new, project, report)
        if planned is not None and write(planned, report):
            renamed, *others = planned.renamed
            locked = (
                f", version {renamed.version} in its lock" if renamed.version else "; there is no lock yet"
            )
            print_status(f"{renamed.file}: {options.old} is now {renamed.path}{locked}", options)
            for other in others:
                version = f", version {other.version} in its lock" if other.version else ""
                print_status(
                    f"{other.file} uses the same group: the field is now {other.path}{version}", options
                )
            options.paths = []
            every = read_manifests(open_project(options, Report())[1], project, Report())
            referring = referring_fields(every, dataset.name, options.old, renamed.path)
            for hint in (*referring, *_pipeline_hints(file, dataset, options.old, renamed.path)):
                print_status(hint, options)
    return show_all(report, options)


def _pipeline_hints(file: CompiledFile, dataset: LogicalDataset, old: str, new: str) -> Iterator[str]:
    """Yield what to look at in pipelines next to a manifest, after a column has got another name."""
    if old not in {str(field.segment) for field in dataset.columns}:
        return
    manifest = file.file.path.resolve()
    for path in sorted(manifest.parent.glob("*.y*ml")):
        try:
            content = read_file(path, 1 << 20)[: 1 << 20].decode("utf-8-sig")
        except (OSError, UnicodeDecodeError):
            continue
        if "schema" not in content or "target" not in content:
            continue
        documents = parse(SourceText(content, path.name), Report())
        value: Any = documents[0].value if len(documents) == 1 else None
        if not isinstance(value, dict) or not isinstance(value.get("schema"), str) or "target" not in value:
            continue
        if (path.parent / value["schema"]).resolve() != manifest:
            continue
        fields = value.get("fields") or {}
        if isinstance(fields, dict) and old in fields:
            yield f"{path.name}: its `fields` uses {old}; change that to {new}"
        else:
            yield f"{path.name}: its records still have {old}; write `{scalar(new)}: {scalar(old)}` under `fields`"
