"""`schemac fmt`, `list`, `expand`, `docs` and `sample`: manifests in one style and in the standard form, their fields, pages and rows.

Layer: cli.
"""

import argparse
import json
import os
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from schemac.cli import arguments
from schemac.cli.output import exit_code, print_status, show
from schemac.cli.project import find_dataset, open_project
from schemac.cli.terminal import ExitCode, notify, put, put_manifest, put_rendered, put_source, table
from schemac.language.attributes.builtin import DESCRIPTION, Classification
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import Ownership, SchemaField, preorder, type_text_of
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile
from schemac.project.imported import FolderFiles
from schemac.project.manifests import CompiledFile, read_manifests
from schemac.project.options import CompileOptions
from schemac.project.workers import PROGRESS
from schemac.project.writing import write_file
from schemac.registry.engine import engines
from schemac.text.source.catalogue import MISSING_EXTRA, SAMPLE_OUTPUT, UNHELD_RECORDS, WRITE_FAILED
from schemac.text.source.diagnostics import Report, SchemaError
from schemac.text.source.files import install_help
from schemac.text.source.json_object import Json
from schemac.text.source.phrases import closest, counted
from schemac.text.source.rendering import render_diff, render_text
from schemac.text.source.text import decode_text, reason_of
from schemac.text.syntax.document import parse

if TYPE_CHECKING:
    # For start-up time: `--help` needs no Arrow.
    from schemac.artifacts.dataset import CheckedDataset
    from schemac.rows.samples.files import SampleFormat
    from schemac.rows.samples.sampler import Datasets

# fmt


def add_fmt_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac fmt`."""
    arguments.add_paths(parser)
    arguments.add_flag(parser, "--check", "write nothing; exit with 1 if a manifest would be reformatted")
    arguments.add_flag(parser, "--diff", "show what would change, and write nothing")
    arguments.add_output_arguments(parser)


class _Text(NamedTuple):
    """A file before and after."""

    name: str
    before: str
    after: str


def run_fmt(options: argparse.Namespace) -> int:
    """Format; return the exit code."""
    from schemac.language.formatting.format import formatted  # for start-up time: only here

    report = Report()
    _, files = open_project(options, report)
    PROGRESS.expect(len(files))
    texts: list[_Text] = []
    mistake: AssertionError | None = None
    for file in files:
        content = file.content(report)
        source = decode_text(content, file.name, report) if content is not None else None
        if source is None or content is None:
            continue
        before, local_report = content.decode("utf-8"), Report()
        try:
            PROGRESS.begin("parse", file.name)
            parse(source, local_report)
            report.extend(local_report.diagnostics)
            PROGRESS.begin("lay out", file.name)
            # What YAML cannot read stays as it is.
            after = before if local_report.has_errors else formatted(before, file.name)
        except AssertionError as error:
            # A mistake of ours in one file is told when the others are done.
            mistake = error
        else:
            texts.append(_Text(file.name, before, after))
    code = _write_formatted(options, texts, report)
    if mistake is not None:
        raise mistake
    return code


def _write_formatted(options: argparse.Namespace, texts: list[_Text], report: Report) -> int:
    """Write or show what changes; return the exit code."""
    from schemac.project.fixing import rewrite  # for start-up time: only here

    changed = [text for text in texts if text.after != text.before]
    left = len(texts) - len(changed)
    is_dry, is_text = options.diff or options.check, options.format != "json"
    if is_text and options.diff:
        put_source("".join(render_diff(*text) for text in changed))
    elif is_text and options.check:
        for text in changed:
            put(text.name)
    elif is_text and options.paths == ["-"]:
        put_source("".join(text.after for text in texts))
        if report.diagnostics:
            # The output is the text: what is wrong with it goes to the standard error.
            notify(render_text(report.diagnostics).rstrip())
        return exit_code(report.diagnostics, options)
    elif not is_dry:
        changed = [text for text in changed if rewrite(*text, report)]
    code = show(report.diagnostics, options, changed=[text.name for text in changed])
    done = "would reformat" if is_dry else "formatted"
    files, unchanged = counted(len(changed), "file"), counted(left, "file")
    print_status(f"{done} {files}; {unchanged} unchanged", options)
    return ExitCode.FINDINGS if is_dry and changed else code


# list

_HEAD = ("field", "type", "owner", "tags", "classification", "deprecated")


def add_list_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac list`."""
    arguments.add_paths(parser)
    help = "only fields with this tag; if repeated, only fields with all of the tags"
    arguments.add_repeatable(parser, "--tag", "TAG", help)
    help = "only fields of this owner; if repeated, fields of any of the owners"
    arguments.add_repeatable(parser, "--owner", "NAME", help)
    parser.add_argument(
        "--classification",
        action="append",
        default=[],
        choices=[str(one) for one in Classification],
        help="only fields with this classification; if repeated, fields with any of them",
    )
    arguments.add_flag(parser, "--deprecated", "fields that are deprecated")
    arguments.add_text_or_json(parser)


def run_list(options: argparse.Namespace) -> int:
    """List; what fields have from their struct, their group and their schema counts as theirs."""
    report = Report()
    project, files = open_project(options, report)
    compiled = _without_errors(files if not report.has_errors else [], project, report)
    fields: list[Json] = []
    for dataset in (dataset for file in compiled for dataset in file.datasets):
        for field in (field for field in preorder(dataset.columns) if field.is_member):
            owned = Ownership.of(field, dataset.schema)
            if _is_asked(owned, options):
                fields.append(_field_json(dataset, field, owned))
    project.cache.save()
    code = show(report.diagnostics, options, **({} if report.has_errors else {"fields": fields}))
    if report.has_errors or options.format == "json":
        return code
    if fields:
        put_rendered(table([_HEAD, *map(_row, fields)]) + "\n")
    datasets = counted(len({one["dataset"] for one in fields}), "dataset")
    print_status(f"{counted(len(fields), 'field')} of {datasets}", options)
    return code


def _is_asked(owned: Ownership, options: argparse.Namespace) -> bool:
    """Whether a field with this ownership is one of those that the options ask for."""
    return (
        {*options.tag} <= {*owned.tags}
        and (not options.owner or owned.owner in options.owner)
        and (not options.classification or owned.classification in options.classification)
        and (not options.deprecated or owned.deprecation is not None)
    )


def _field_json(dataset: LogicalDataset, field: SchemaField, owned: Ownership) -> Json:
    """Return a field, and what is known of it, as JSON; what is not known is null."""
    place = dataset.origins.location(field.declared_at)
    assert place is not None
    return {
        "dataset": dataset.name,
        "field": field.path_text,
        "type": type_text_of(field),
        "description": DESCRIPTION.read(field.extra),
        "owner": owned.owner,
        "tags": [*owned.tags],
        "classification": owned.classification,
        "deprecated": owned.deprecation and owned.deprecation.model_dump(by_alias=True),
        "file": place.source.name,
        "line": place.region.line,
    }


def _row(field: Json) -> tuple[str, ...]:
    """Return the cells of a field for a person, out of its JSON."""
    until = (field["deprecated"]["removeAfter"] or "yes") if field["deprecated"] else ""
    cells = (field["owner"] or "", ", ".join(field["tags"]), field["classification"] or "", until)
    return (f"{field['dataset']}.{field['field']}", field["type"], *cells)


# expand


def add_expand_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac expand`."""
    arguments.add_paths(parser)
    help = "write to this file instead of the terminal"
    # Not `out`, which is the folder of artifacts.
    parser.add_argument("--out", dest="expanded_file", metavar="FILE", help=help)
    arguments.add_output_arguments(parser)


def run_expand(options: argparse.Namespace) -> int:
    """Expand; of manifests with errors nothing is shown but these."""
    report = Report()
    out = options.expanded_file
    project, files = open_project(options, report)
    text = expand_files(files, project, report)
    project.cache.save()
    if not report.has_errors and out is None:
        put_manifest(text, options)
    elif not report.has_errors and write_file(out, text.encode(), report):
        print_status(f"wrote {out}", options)
    return show(report.diagnostics, options)


def expand_files(files: Sequence[ManifestFile], project: Project, report: Report) -> str:
    """Return the manifests of these files as one stream of documents; empty if one of them has an error."""
    from schemac.language.manifest.bind import expanded_text  # for start-up time: only here
    from schemac.language.manifest.library import Library, Reuse

    compiled = _without_errors(files, project, report)
    library = Library()
    texts: list[str] = []
    for file in compiled:
        if file.named:
            PROGRESS.begin("expand", file.file.name)
            source = decode_text(file.content, file.file.name, Report())
            assert source is not None, "a manifest that was compiled is a text"
            reuse = Reuse(FolderFiles(file.file.path, file.file.name, project=project), library)
            texts.append(expanded_text(parse(source, Report()), source, reuse))
    return "---\n".join(filter(None, texts))


def _without_errors(files: Sequence[ManifestFile], project: Project, report: Report) -> list[CompiledFile]:
    """Return the manifests, and report their errors alone: what else there is to say, `check` says. None after an error."""
    local_report = Report()
    compiled = read_manifests(files, project, local_report)
    report.extend(local_report.errors)
    return [] if report.has_errors else compiled


# docs


def add_docs_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac docs`."""
    arguments.add_paths(parser)
    parser.add_argument(
        "-o", "--out-folder", metavar="FOLDER", default="site", help="folder of the pages (default: site)"
    )
    help = "a site that any browser opens from the folder (html), or Markdown files"
    parser.add_argument("--format", dest="pages", choices=("html", "markdown"), default="html", help=help)
    parser.add_argument("--title", default="Datasets", help="title of the site (default: Datasets)")
    arguments.add_common(parser)


def run_docs(options: argparse.Namespace) -> int:
    """Write the pages; nothing is written if manifests have errors."""
    report = Report()
    _write_site(options, report)
    return show(report.diagnostics, options)


def _write_site(options: argparse.Namespace, report: Report) -> None:
    """Write the pages in the requested format, and print a summary; nothing is written after an error."""
    from schemac.documentation.model import read_site
    from schemac.documentation.pages import markdown_pages, write_pages  # for start-up time, as below

    project, files = open_project(options, report)
    compiled = _without_errors(files if not report.has_errors else [], project, report)
    site = None if report.has_errors else read_site(options.title, compiled, project, report)
    project.cache.save()
    if site is None or report.has_errors:
        return
    pages, first = markdown_pages, "index.md"
    if options.pages == "html":
        try:
            from schemac.documentation.html import html_pages
        except ModuleNotFoundError as error:
            help = f"{install_help(error)}; or write `--format markdown`"
            report.add(MISSING_EXTRA, f"the site needs {error.name}, which is not installed", help=help)
            return
        pages, first = html_pages, "index.html"
    folder: str = options.out_folder
    changed = write_pages(Path(folder), folder, pages(site), report)
    if not report.has_errors:
        datasets, files_changed = counted(len(site.datasets), "dataset"), counted(changed, "file")
        print_status(f"{datasets}: open {folder}/{first}; {files_changed} new or changed", options)


# sample

_MOST_PATHS = 8
"""So many fields are named for each rule that a form cannot break."""
NDJSON_HELP = "write them with `--format ndjson`, or to a file such as wrong.ndjson"
RULES_SUFFIX = ".rules.ndjson"
"""What the name of the file ends with that says what each wrong record breaks."""


def add_sample_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac sample`."""
    from schemac.artifacts.dataset import ROW_WRITER  # for start-up time: only here

    arguments.add_dataset(parser)
    no_rows = "'{}' rows cannot be made; specify at least 1"
    rows = partial(arguments.parse_number, allowed=range(1, 2**63), otherwise=no_rows)
    help = "how many rows (default: 1000)"
    parser.add_argument("-n", "--rows", type=rows, default=1000, metavar="N", help=help)
    no_seed = f"'{{}}' is not a valid seed; use a number from 0 to {2**63 - 1}"
    seed = partial(arguments.parse_number, allowed=range(2**63), otherwise=no_seed)
    help = "the same number gives the same rows (default: 0)"
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help=help)
    help = f"ndjson, csv, parquet, arrow, {', '.join(ROW_WRITER.names(engines()))} (default: by the name of the output, or ndjson)"
    parser.add_argument("--format", dest="rows_format", metavar="FORMAT", help=help)
    parser.add_argument(
        "--output", metavar="FILE", help="write to this file or table instead of the terminal"
    )
    help = "make records that each break one rule instead, and a file next to the output that lists the rules"
    arguments.add_flag(parser, "--wrong", help)


def run_sample(options: argparse.Namespace) -> int:
    """Make the rows; nothing is written where there are errors."""
    report = Report()
    form = _sample_format(options, report)
    loaded = _load_dataset(options, report) if form is not None else None
    if form is not None and loaded is not None:
        from schemac.rows.samples.files import TextFormat  # for start-up time, as above
        from schemac.rows.samples.sampler import Sampler

        dataset, others = loaded
        try:
            if options.wrong:
                _write_wrong(options, form, dataset, others, report)
            elif options.output is None:
                assert isinstance(form, TextFormat)
                for text in form.texts(Sampler(dataset, options.rows, options.seed, others)):
                    put_source(text)
            else:
                form.write(options.output, Sampler(dataset, options.rows, options.seed, others))
                rows = counted(options.rows, "row")
                print_status(f"wrote {rows} of {dataset.name} to {options.output}", options)
        except SchemaError as error:
            report.extend(error.diagnostics)
        except OSError as error:
            message = f"cannot write {options.output}: {reason_of(error)}"
            report.add(WRITE_FAILED, message, file=options.output or "")
    return show(report.diagnostics, options)


def _sample_format(options: argparse.Namespace, report: Report) -> "SampleFormat | None":
    """Return the form of the output; None after reporting why it cannot be written."""
    # For start-up time, as above.
    from schemac.rows.samples.files import NDJSON, TextFormat, format_of, sample_formats

    known = {one.name: one for one in sample_formats()}
    named, output = options.rows_format, options.output
    if named is not None and named not in known:
        near = closest(named, known)
        help = f"did you mean `--format {near}`?" if near else f"the formats are {', '.join(known)}"
        report.add(SAMPLE_OUTPUT, f"there is no format '{named}' for rows", help=help)
        return None
    by_name = format_of(output) if output is not None else None
    form = known[named] if named is not None else by_name or NDJSON
    if output is None and not isinstance(form, TextFormat):
        message = f"{form.name} cannot be printed"
        report.add(SAMPLE_OUTPUT, message, help=f"name a file with `--output rows{form.suffixes[0]}`")
        return None
    outputs = [] if output is None else [output, _rules_file(output)] if options.wrong else [output]
    existing = next(filter(os.path.lexists, outputs), None)
    if existing is not None:
        help = "remove it, or name another file"
        report.add(SAMPLE_OUTPUT, f"{existing} already exists", file=existing, help=help)
        return None
    return form


def _rules_file(output: str) -> str:
    """Return the path of the file that lists the rules which the records of an output break."""
    return os.path.splitext(output)[0] + RULES_SUFFIX


def _load_dataset(options: argparse.Namespace, report: Report) -> "tuple[CheckedDataset, Datasets] | None":
    """Return the dataset, and all datasets of the project by name."""
    from schemac.artifacts.dataset import CheckedDataset  # for start-up time, as above

    opened = find_dataset(options, report)
    if opened is None:
        return None
    project, file, dataset = opened
    compiled = read_manifests(project.manifests(Report()), project, Report())
    others = [one for manifest in compiled for one in manifest.datasets]
    arrow_options = CompileOptions.of(project).arrow_options
    datasets = {
        one.name: CheckedDataset(one, None, (), arrow_options, project.configuration.versions)
        for one in (*others, *file.datasets)
    }
    return datasets[dataset.name], datasets


def _write_wrong(
    options: argparse.Namespace,
    form: "SampleFormat",
    dataset: "CheckedDataset",
    others: "Datasets",
    report: Report,
) -> None:
    """Write or print the wrong records with the rules that they break, and report those that the form cannot hold."""
    from schemac.rows.samples.files import NDJSON, new_file  # for start-up time, as above
    from schemac.rows.samples.wrong_records import wrong_rows

    output: str | None = options.output
    generated = wrong_rows(dataset, options.seed, others)
    wrong_form = form.wrong(dataset, generated)
    rules = [
        {("line" if form is NDJSON else "row"): i, "_path": one.path, "_rule": one.rule}
        for i, one in enumerate(wrong_form.rows, 1)
    ]
    if output is None:
        for one, rule in zip(wrong_form.rows, rules, strict=True):
            put_source(f"{json.dumps({**rule, 'record': one.text}, ensure_ascii=False)}\n")
    elif wrong_form.rows:
        try:
            with new_file(_rules_file(output)) as stream:
                stream.writelines([f"{json.dumps(rule, ensure_ascii=False)}\n".encode() for rule in rules])
                stream.flush()
                form.write_wrong(output, dataset, wrong_form)
        except OSError:
            # Records without the file that says what they break are no use, and would be in the way of the next run.
            shutil.rmtree(output, ignore_errors=True)
            Path(output).unlink(missing_ok=True)
            raise
        records = counted(len(wrong_form.rows), "record")
        status = f"wrote {records} to {output}, and the rule that each one breaks to {_rules_file(output)}"
        print_status(status, options)
    else:
        message = f"{form.name} cannot hold any of the wrong records of {dataset.name}"
        report.add(SAMPLE_OUTPUT, message, file=output, help=NDJSON_HELP)
    for path, missing in generated.missing:
        notify(f"no record was found that breaks {missing.partition(':')[0]} of {path} and nothing else")
    if wrong_form.left_out and wrong_form.rows:
        message = f"{form.name} cannot hold the records that break {_rules_text(wrong_form.left_out)}"
        if output is None:
            notify(f"{message}; {NDJSON_HELP}")
        else:
            report.add(UNHELD_RECORDS, message, file=output, help=NDJSON_HELP)


def _rules_text(rules: "Sequence[tuple[str, str]]") -> str:
    """Return rules with the fields that they are of: the first ones, and the number of the others."""
    paths_by_rule: dict[str, list[str]] = {}
    for path, rule in rules:
        paths_by_rule.setdefault(rule.partition(":")[0], []).append(path)
    texts: list[str] = []
    for rule, paths in paths_by_rule.items():
        more = f" and {len(paths) - _MOST_PATHS:,} more" if len(paths) > _MOST_PATHS else ""
        texts.append(f"{rule} of {', '.join(paths[:_MOST_PATHS])}{more}" if any(paths) else rule)
    return "; ".join(texts)
