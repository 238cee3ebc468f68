"""`schemac build`: writes artifacts, or checks with `--check` that they are up to date.

Layer: cli.
Source: for rules of what a build read, the syntax of GNU Make (4.2, "Rule Syntax") as far as gcc's `-MD` uses it, which Ninja reads too:
blanks, `#` and `:` are escaped with a backslash, `$` is doubled. A `%` in a target would be a pattern of Make's own.
"""

import argparse
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from schemac.artifacts.folder import NAME as PROVENANCE
from schemac.artifacts.store import Build, Store, Written
from schemac.artifacts.targets import ARTIFACTS, load_target
from schemac.cli.output import (
    add_compile_arguments,
    add_deny,
    add_engines,
    denied_engines,
    exit_code,
    print_status,
    show,
    why_not,
)
from schemac.cli.project import (
    Watched,
    add_stdin,
    add_watch,
    imported_files,
    open_project,
    out_folder,
    overlay_of,
    report_files,
    watch,
)
from schemac.language.physical import numpy_left_out
from schemac.project.building import Output, compile_files
from schemac.project.configuration import FILES, Project
from schemac.project.discovery import lock_path
from schemac.project.imported import FolderFiles
from schemac.project.manifests import CompiledFile
from schemac.project.options import CompileOptions
from schemac.project.shared_work import collector_paused
from schemac.project.workers import PROGRESS, share
from schemac.text.source.catalogue import STALE_ARTIFACT, WRITE_FAILED
from schemac.text.source.diagnostic import Diagnostic, Severity
from schemac.text.source.phrases import counted
from schemac.text.source.rendering import count_summary
from schemac.text.source.report import Report
from schemac.text.source.text import reason_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_compile_arguments(parser)
    add_deny(parser)
    add_stdin(parser)
    add_watch(parser)
    parser.add_argument("--out", metavar="FOLDER", help="output folder (default: build)")
    help = "build for this engine only; may be repeated ({})"
    add_engines(parser, "--target", ARTIFACTS, "has no artifacts", help)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 4 if an artifact is not up to date"
    )
    parser.add_argument(
        "--depfile",
        metavar="FILE",
        help="write a rule for Make and Ninja with the files that the build read",
    )
    parser.add_argument("--locked", action="store_true", help="exit with 4 if a schema differs from its lock")
    parser.add_argument(
        "--no-metadata", action="store_true", help="leave attributes out of the Arrow metadata"
    )
    parser.add_argument(
        "--losses",
        action="store_true",
        help="show each kind of loss with its count and first field (losses.json lists every loss)",
    )


def run(options: argparse.Namespace) -> int:
    """Build; return the exit code."""
    if options.watch:
        return watch(options, lambda: _once(options))
    with collector_paused(is_last=True):
        return _once(options).code


def _once(options: argparse.Namespace) -> Watched:
    """Build or compare once, print the findings, and return the exit code with the files to watch."""
    report = Report()
    project, files = open_project(options, report, is_builder=True)
    if options.depfile is not None and (reason := why_not(options.depfile)) is not None:
        report.add(WRITE_FAILED, f"cannot write {options.depfile}: {reason}", file=options.depfile)
    # Whatever process comes to need Arrow, it makes no arrays.
    with numpy_left_out():
        compile_options = replace(_options(options, project), overlay=overlay_of(options, report))
        output = compile_files(files, project, compile_options, report, is_whole=not options.paths)
    written = Written()
    if not report.has_errors:
        name = options.out or project.configuration.out
        store = Store(
            out_folder(options, project),
            name,
            project.folder,
            lambda text: print_status(text, options),
            share,
        )
        # Who names manifests builds these and no others; what the others made stays as it is.
        build = Build(output.built, output.contents, not options.paths, output.missing)
        if options.check:
            store.compare(build, report)
        else:
            PROGRESS.begin("write", name)
            written = store.write(build, report)
        if options.depfile is not None and not report.has_errors:
            _write_depfile(options, project, output, report)
    project.cache.save()
    diagnostics = report.diagnostics
    is_by_kind = options.losses and options.format == "text"
    listed = by_kind(diagnostics, compile_options.targets) if is_by_kind else diagnostics
    show(listed, options)
    report_files(output.files, project, options)
    if options.check:
        print_status(_check_summary(options, project, output, diagnostics), options)
    else:
        counts_text = count_summary(listed)
        print_status(_summary(options, project, output, written, counts_text, report.has_errors), options)
    return Watched(exit_code(diagnostics, options), project, imported_files(output.files))


def by_kind(diagnostics: Sequence[Diagnostic], targets: Sequence[str]) -> list[Diagnostic]:
    """Return the findings with one in place of all notes of the same loss, which counts them and shows the first."""
    codes = {load_target(name).loss_code.id for name in targets}
    same: dict[tuple[str, str], list[Diagnostic]] = {}
    others = []
    for one in diagnostics:
        if one.code in codes and one.severity is Severity.NOTE:
            same.setdefault((one.code, one.message.removeprefix(f"{one.path}: ")), []).append(one)
        else:
            others.append(one)
    for (_, message), losses in same.items():
        first = losses[0]
        if len(losses) > 1:
            files = len({one.file for one in losses})
            manifests = f" in {files} manifests" if files > 1 else ""
            which = (
                f"{counted(len(losses), 'field')}{manifests}, such as {first.path}"
                if first.path
                else counted(files, "manifest")
            )
            text = f"{message} ({which})"
            first = replace(first, message=text, excerpt=first.excerpt, fix=first.fix)
        others.append(first)
    return others


def _write_depfile(options: argparse.Namespace, project: Project, output: Output, report: Report) -> None:
    from schemac.project.writing import replace_file

    target = os.path.relpath(out_folder(options, project) / PROVENANCE).replace(os.sep, "/")
    others = (Path(options.overlay),) if options.overlay is not None else ()
    try:
        replace_file(Path(options.depfile), depfile(target, output.files, project, others).encode())
    except OSError as error:
        report.add(WRITE_FAILED, f"cannot write {options.depfile}: {reason_of(error)}", file=options.depfile)


def _options(options: argparse.Namespace, project: Project) -> CompileOptions:
    """Return the options of a compilation by the command line, which goes before the settings of the project."""
    compile_options = CompileOptions.of(
        project,
        options.target,
        strict=options.strict,
        metadata=not options.no_metadata,
        system_columns=options.system_columns,
    )
    return replace(
        compile_options,
        show_losses=options.losses,
        denied=denied_engines(options, compile_options.targets),
        has_rules=True,
        locked=options.locked,
    )


def _summary(
    options: argparse.Namespace,
    project: Project,
    output: Output,
    written: Written,
    counts_text: str,
    has_errors: bool,
) -> str:
    """Return the last line for people: the written and removed files, and the number of losses and findings."""
    if has_errors:
        return f"nothing was written: {counts_text}"
    out = options.out or project.configuration.out
    datasets, files = len(output.built), sum(len(dataset.files) for dataset in output.built.values())
    done = f"{counted(files, 'file')} in {out}, {written.files} new or changed"
    if written.removed:
        pronoun = "it" if written.removed == 1 else "them"
        done += (
            f"; {_counted_datasets(written.removed)} removed, because no manifest produces {pronoun} anymore"
        )
    if written.left:
        done += f"; {_counted_datasets(written.left)} of other manifests left unchanged"
    losses = output.losses
    noun = "loss is" if losses == 1 else "losses are"
    lost = f"; {losses} {noun} listed in {out}/*/losses.json" if losses else ""
    return f"{_counted_datasets(datasets)}: {done}{lost}{'; ' if counts_text else ''}{counts_text}"


def _counted_datasets(number: int) -> str:
    return counted(number, "dataset")


def _check_summary(
    options: argparse.Namespace, project: Project, output: Output, diagnostics: Sequence[Diagnostic]
) -> str:
    """Return how many datasets are up to date, without those of manifests with errors."""
    counts_text = count_summary(diagnostics)
    count = len(output.datasets)
    noun = f"dataset{'s' if count != 1 else ''}"
    if any(d.severity is Severity.ERROR and d.code != STALE_ARTIFACT.id for d in diagnostics):
        return f"checked {count} {noun}: {counts_text}"
    out = options.out or project.configuration.out
    stale = [d.file for d in diagnostics if d.code == STALE_ARTIFACT.id]
    late = sum(any(file.startswith(f"{out}/{name}/") for file in stale) for name in output.built)
    if late:
        return f"{late} of {count} {noun} {'is' if late == 1 else 'are'} not up to date: {counts_text}"
    if stale:
        return (
            f"{count} {noun} {'is' if count == 1 else 'are'} up to date, but the folder is not: {counts_text}"
        )
    return (
        f"{count} {noun} {'is' if count == 1 else 'are'} up to date{'; ' if counts_text else ''}{counts_text}"
    )


_SPECIAL = re.compile(r"[ \t#:]")


def depfile(target: str, files: Iterable[CompiledFile], project: Project, others: Iterable[Path]) -> str:
    """Return a rule that makes a target depend on all that a build read, and one without prerequisites for each of these.

    So a manifest that was removed ends no build. `others` are files that were named, such as an overlay.
    """
    paths = [*others]
    for one in files:
        paths += [one.file.path, lock_path(one.file.path)]
        # A manifest that comes into a folder changes the folder, and nothing else that was read.
        if not one.file.is_named:
            paths.append(one.file.path.parent)
        around = FolderFiles(one.file.path, one.file.name)
        paths += [around.place(path) for path, _ in one.imported.files]
    paths += [project.folder / name for name in (*FILES, *project.configuration.vocabularies.values())]
    spellings: set[str] = set()
    for path in filter(Path.exists, paths):
        # From the working folder where that is shorter: Make takes two spellings for two files.
        inside = os.path.relpath(path)
        spellings.add((str(path.absolute()) if inside.startswith("..") else inside).replace(os.sep, "/"))
    names = [_escaped(path) for path in sorted(spellings)]
    rule = " \\\n  ".join([f"{_escaped(target)}:", *names])
    return f"{rule}\n" + "".join(f"\n{name}:\n" for name in names if "%" not in name)


def _escaped(path: str) -> str:
    """Return a path for a rule of Make, with its special characters escaped."""
    return _SPECIAL.sub(lambda match: f"\\{match[0]}", path).replace("$", "$$")
