"""`schemac check` and `schemac build`: findings in manifests and pipelines with their fixes, and artifacts.

Layer: cli.
Shape: a named pipeline is checked as by `schemac run --dry-run`. Pipelines in a named folder are skipped, because their
input may not be on the machine that checks manifests. `build --check` compares the artifacts and writes none.
Source: for rules of what a build read, the syntax of GNU Make (4.2, "Rule Syntax") as far as gcc's `-MD` uses it, which Ninja reads too:
blanks, `#` and `:` are escaped with a backslash, `$` is doubled. A `%` in a target would be a pattern of Make's own.
"""

import argparse
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from schemac.artifacts.folder import NAME as PROVENANCE
from schemac.artifacts.store import Build, BuildResult, OutputStore
from schemac.artifacts.targets import ARTIFACTS, load_target, target_names
from schemac.cli.arguments import add_compile_arguments, add_engines, add_flag, add_watchable
from schemac.cli.output import exit_code, print_status, show, why_not
from schemac.cli.project import (
    Watched,
    compile_options_of,
    edited_of,
    imported_files,
    open_project,
    out_folder,
    report_files,
    watch,
)
from schemac.cli.terminal import ExitCode, notify, put_source
from schemac.language.physical import numpy_left_out
from schemac.project.building import Output, compile_files
from schemac.project.configuration import SETTINGS_FILES, Project, find_project
from schemac.project.discovery import ManifestFile, content_of, lock_path
from schemac.project.manifests import CompiledFile
from schemac.project.options import CompileOptions
from schemac.project.shared_work import collector_paused
from schemac.project.workers import PROGRESS, share_items
from schemac.project.writing import write_file
from schemac.text.source.catalogue import STALE_ARTIFACT, WRITE_FAILED
from schemac.text.source.diagnostics import Diagnostic, Report, Severity
from schemac.text.source.phrases import counted, listed
from schemac.text.source.rendering import count_summary, render_diff, render_text

if TYPE_CHECKING:
    from schemac.project.fixing import Fixing

# check


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac check`."""
    add_compile_arguments(parser)
    add_flag(parser, "--fix", "apply the safe fixes")
    help = "with --fix or --diff: also apply fixes that are guesses or change the meaning of a manifest"
    add_flag(parser, "--unsafe-fixes", help)
    help = "show what --fix would change, and write nothing; with --format json or sarif, the findings with their fixes"
    add_flag(parser, "--diff", help)
    add_watchable(parser)
    parser.set_defaults(target=None, no_metadata=False, losses=False, locked=False)


def run_check(options: argparse.Namespace) -> int:
    """Check; return the exit code."""
    return watch(options, lambda: _check_once(options)) if options.watch else _check_once(options).code


def _check_once(options: argparse.Namespace) -> Watched:
    """Check once, or fix if that was asked for; return the exit code with the files to watch."""
    report = Report()
    project, named_files = open_project(options, report)
    compile_options = compile_options_of(options, project, report)
    # What `--deny` names is checked also if nothing is built for it otherwise.
    checked_engines = {*compile_options.targets, *compile_options.denied}
    compile_options = replace(
        compile_options,
        targets=tuple(name for name in target_names() if name in checked_engines),
        asked_for=compile_options.asked_for.union(*(options.deny or ())),
        edited=edited_of(named_files),
    )
    if is_fixing(options) and not report.has_errors:
        return Watched(run_fixes(options, named_files, project, compile_options, report), project)
    if is_fixing(options) and fix_settings(options, report):
        return _check_once(options)
    files, pipelines = split_pipelines(named_files, compile_options.edited)
    # Targets make schemas with Arrow and no arrays; a pipeline needs Arrow with numpy, and it is loaded once.
    with nullcontext() if pipelines else numpy_left_out():
        output = compile_files(files, project, compile_options, report, is_whole=not options.paths)
    check_pipelines(pipelines, compile_options, report)
    project.cache.save()
    diagnostics = report.diagnostics
    code = show(diagnostics, options)
    report_files(output.files, project, options)
    print_status(f"{checked(output, pipelines, diagnostics)}{fix_hint(diagnostics)}", options)
    # Read again for those who watch alone.
    manifests = manifests_of(pipelines, compile_options.edited) if options.watch else ()
    others = (*imported_files(output.files), *manifests)
    return Watched(code, project, others)


def split_pipelines(
    files: Sequence[ManifestFile], edited: Mapping[str, bytes]
) -> tuple[list[ManifestFile], list[ManifestFile]]:
    """Return the manifests, and the pipelines among the named files."""
    pipelines = [file for file in files if file.is_named and _pipeline_in(file, edited) is not None]
    return [file for file in files if file not in pipelines], pipelines


def _pipeline_in(file: ManifestFile, edited: Mapping[str, bytes]) -> Mapping[str, object] | None:
    """Return the mapping of a pipeline file; None if the file is none."""
    content = edited.get(os.path.abspath(file.path)) or file.content(Report())
    # A pipeline has one of these words at least.
    if content is None or not (b"target" in content or b"source" in content):
        return None
    from schemac.language.manifest.documents import is_pipeline  # for start-up time: most files are none
    from schemac.text.syntax.document import documents_in

    documents = documents_in(content, file.name)
    value = documents[0].value if documents else None
    return value if isinstance(value, dict) and is_pipeline(value) else None


def manifests_of(pipelines: Sequence[ManifestFile], edited: Mapping[str, bytes]) -> Iterator[Path]:
    """Yield the manifests that pipelines name, also those that cannot be read, and their locks."""
    for file in pipelines:
        named = (_pipeline_in(file, edited) or {}).get("schema")
        manifest = file.path.parent / named if isinstance(named, str) else Path()
        # A path such as `.` has no name that a lock's could be made of.
        if manifest.name:
            yield from (manifest, lock_path(manifest))


def check_pipelines(pipelines: Sequence[ManifestFile], options: CompileOptions, report: Report) -> None:
    """Report what is wrong with pipelines and their manifests."""
    for file in pipelines:
        local_report = Report()
        try:
            # Imported here for start-up time, and because Spark is an extra that may not be there.
            from schemac.pipeline.conforming.load import checked_job
        except ModuleNotFoundError as error:
            report_missing_package(error, local_report)
        else:
            checked_job(Path(file.name), local_report, options.overlay, options.edited)
            local_report = without_ignored_in(file.name, local_report, options.edited)
        report.extend(local_report.diagnostics)


def report_missing_package(error: ModuleNotFoundError, report: Report) -> None:
    """Report that a package of the pipeline is not installed."""
    # Imported here for start-up time: few checks are of pipelines.
    from schemac.pipeline.codes import MISSING_PACKAGE
    from schemac.text.source.files import install_help

    message = f"the pipeline needs {error.name}, which is not installed"
    report.add(MISSING_PACKAGE, message, help=install_help(error))


def without_ignored_in(pipeline: str, report: Report, edited: Mapping[str, bytes]) -> Report:
    """Return what no comment in a pipeline, its manifest or its overlay ignores."""
    if not report.diagnostics:
        return report

    def text(name: str) -> bytes | None:
        return edited.get(os.path.abspath(name)) or content_of(name)

    project = find_project(Path(os.path.realpath(os.path.dirname(pipeline))), Report())
    remaining = Report()
    from schemac.project.fixing import without_ignored  # for start-up time: few runs have pipelines

    remaining.extend(without_ignored(report.diagnostics, text, project))
    return remaining


def fix_hint(diagnostics: Sequence[Diagnostic]) -> str:
    """Return how many of the findings have fixes, for the end of a summary."""
    fixes = [d.fix.is_safe for d in diagnostics if d.fix is not None]
    numbers = ((fixes.count(True), "--fix"), (fixes.count(False), "--fix --unsafe-fixes"))
    parts = [f"{number} with {options}" for number, options in numbers if number]
    return f"; can be fixed: {', '.join(parts)}" if parts else ""


def checked(output: Output, pipelines: Sequence[ManifestFile], findings: Sequence[Diagnostic]) -> str:
    """Return what was checked and found, for the summary: `checked 3 datasets, 1 pipeline: no findings`."""
    counts = [(len(output.datasets), "dataset")] if output.datasets or not pipelines else []
    counts += [(len(pipelines), "pipeline")] if pipelines else []
    what = ", ".join(counted(n, noun) for n, noun in counts)
    return f"checked {what}: {count_summary(findings) or 'no findings'}"


def is_fixing(options: argparse.Namespace) -> bool:
    """Whether fixes are to be carried out or shown. In a format for programs, findings have their fixes: `--diff` shows them as they are."""
    return options.format == "text" if options.diff else bool(options.fix)


def fix_settings(options: argparse.Namespace, report: Report) -> bool:
    """Fix what a configuration or an overlay is refused for; return whether a file was written, so that all has to be read again."""
    from schemac.project.fixing import Fixing  # for start-up time: only with `--fix`

    fixing = Fixing(options.unsafe_fixes)
    fixing.run(lambda _: () if fixing.after else report.diagnostics, {})
    if options.diff:
        put_source(_diff_of_fixes(fixing))
        return False
    fixing.write(report)
    if fixing.written:
        print_status(
            f"{_fix_summary(fixing, report.diagnostics, 'fixed')} in {listed(fixing.written)}", options
        )
    return bool(fixing.written)


def run_fixes(
    options: argparse.Namespace,
    named: Sequence[ManifestFile],
    project: Project,
    compile_options: CompileOptions,
    report: Report,
) -> int:
    """Apply all fixes and show the remaining findings; return the exit code of the check afterwards."""
    output, pipelines = Output(), list[ManifestFile]()

    def check(edited: dict[str, bytes]) -> Sequence[Diagnostic]:
        nonlocal output, pipelines
        local_report = Report()
        local_report.extend(report.diagnostics)
        overlay = compile_options.overlay
        content = edited.get(os.path.abspath(options.overlay)) if options.overlay is not None else None
        if content is not None:
            from schemac.project import overlays  # for start-up time: few runs have one

            # As the fixes have made it so far.
            overlay = overlays.overlay_of(content, str(options.overlay), local_report)
        now = replace(compile_options, edited={**compile_options.edited, **edited}, overlay=overlay)
        # What a fix has made readable may turn out to be a pipeline.
        files, pipelines = split_pipelines(named, now.edited)
        output = compile_files(files, project, now, local_report, is_whole=not options.paths)
        check_pipelines(pipelines, now, local_report)
        return local_report.diagnostics

    from schemac.project.fixing import Fixing  # for start-up time: only with `--fix`

    fixing = Fixing(options.unsafe_fixes)
    findings = fixing.run(check, dict(compile_options.edited))
    project.cache.save()
    if options.diff:
        put_source(_diff_of_fixes(fixing))
        left = count_summary(findings)
        print_status(
            f"{_fix_summary(fixing, findings, 'would fix')}{f'; left: {left}' if left else ''}", options
        )
        return ExitCode.FINDINGS if fixing.after else exit_code(findings, options)
    if options.paths == ["-"]:
        name, (unfixed,) = named[0].name, compile_options.edited.values()
        put_source(fixing.text(name) if name in fixing.after else unfixed.decode())
        notify(render_text(findings).rstrip() or "no findings")
        return exit_code(findings, options)
    written = Report()
    fixing.write(written)
    findings = (*findings, *written.diagnostics)
    code = show(findings, options)
    print_status(checked(output, pipelines, findings), options)
    print_status(_fix_summary(fixing, findings, "fixed"), options)
    return code


def _diff_of_fixes(fixing: "Fixing") -> str:
    """Return the changes of all fixed files as unified diffs."""
    return "".join(render_diff(n, fixing.before[n], fixing.text(n)) for n in fixing.after)


def _fix_summary(fixing: "Fixing", findings: Sequence[Diagnostic], done: str) -> str:
    """Return the last line: `fixed 3, 2 more with --unsafe-fixes`."""
    left = sum(d.fix is not None and not d.fix.is_safe for d in findings)
    more = f", {left} more with --unsafe-fixes" if left and not fixing.is_unsafe else ""
    return f"{done} {len(fixing.done)}{more}"


# build


def add_build_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac build`."""
    add_compile_arguments(parser)
    add_watchable(parser)
    parser.add_argument("--out", metavar="FOLDER", help="output folder (default: build)")
    help = "build for this engine only; may be repeated ({})"
    add_engines(parser, "--target", ARTIFACTS, "has no artifacts", help)
    add_flag(parser, "--check", "write nothing; exit with 4 if an artifact is not up to date")
    help = "write a rule for Make and Ninja with the files that the build read"
    parser.add_argument("--depfile", metavar="FILE", help=help)
    add_flag(parser, "--locked", "exit with 4 if a schema differs from its lock")
    add_flag(parser, "--no-metadata", "leave attributes out of the Arrow metadata")
    help = "show each kind of loss with its count and first field (losses.json lists every loss)"
    add_flag(parser, "--losses", help)


def run_build(options: argparse.Namespace) -> int:
    """Build; return the exit code."""
    if options.watch:
        return watch(options, lambda: _build_once(options))
    with collector_paused(is_last=True):
        return _build_once(options).code


def _build_once(options: argparse.Namespace) -> Watched:
    """Build or compare once, print the findings, and return the exit code with the files to watch."""
    report = Report()
    project, files = open_project(options, report, is_builder=True)
    out = options.out or project.configuration.out
    if options.depfile is not None and (reason := why_not(options.depfile)) is not None:
        report.add(WRITE_FAILED, f"cannot write {options.depfile}: {reason}", file=options.depfile)
    # Whatever process comes to need Arrow, it makes no arrays.
    with numpy_left_out():
        compile_options = compile_options_of(options, project, report)
        output = compile_files(files, project, compile_options, report, is_whole=not options.paths)
    written = BuildResult()
    if not report.has_errors:
        folder = out_folder(options, project)
        store = OutputStore(
            folder, out, project.folder, lambda text: print_status(text, options), share_items
        )
        # Who names manifests builds these and no others; what the others made stays as it is.
        build = Build(output.built, output.contents, not options.paths, output.missing)
        if options.check:
            store.compare(build, report)
        else:
            PROGRESS.begin("write", out)
            written = store.write(build, report)
        if options.depfile is not None and not report.has_errors:
            rule = depfile(os.path.relpath(folder / PROVENANCE), output.files, project, options.overlay)
            write_file(options.depfile, rule.encode(), report)
    project.cache.save()
    diagnostics = report.diagnostics
    is_by_kind = options.losses and options.format == "text"
    listed = by_kind(diagnostics, compile_options.targets) if is_by_kind else diagnostics
    show(listed, options)
    report_files(output.files, project, options)
    counts_text = count_summary(diagnostics if options.check else listed)
    if options.check:
        summary = _check_summary(out, output, diagnostics, counts_text)
    elif report.has_errors:
        summary = f"nothing was written: {counts_text}"
    else:
        summary = _build_summary(out, output, written, counts_text)
    print_status(summary, options)
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
            fields = f"{counted(len(losses), 'field')}{manifests}, such as {first.path}"
            which = fields if first.path else counted(files, "manifest")
            first = replace(first, message=f"{message} ({which})")
        others.append(first)
    return others


def _build_summary(out: str, output: Output, written: BuildResult, counts_text: str) -> str:
    """Return the last line for people: the written and removed files, and the number of losses and findings."""
    datasets, files = len(output.built), sum(len(dataset.files) for dataset in output.built.values())
    done = f"{counted(files, 'file')} in {out}, {written.files} new or changed"
    if written.removed:
        pronoun = "it" if written.removed == 1 else "them"
        removed = counted(written.removed, "dataset")
        done += f"; {removed} removed, because no manifest produces {pronoun} anymore"
    if written.left:
        done += f"; {counted(written.left, 'dataset')} of other manifests left unchanged"
    losses = output.losses
    noun = "loss is" if losses == 1 else "losses are"
    lost = f"; {losses} {noun} listed in {out}/*/losses.json" if losses else ""
    return f"{counted(datasets, 'dataset')}: {done}{lost}{'; ' if counts_text else ''}{counts_text}"


def _check_summary(out: str, output: Output, diagnostics: Sequence[Diagnostic], counts_text: str) -> str:
    """Return how many datasets are up to date, without those of manifests with errors."""
    count = len(output.datasets)
    noun = f"dataset{'s' if count != 1 else ''}"
    if any(d.is_error and d.code != STALE_ARTIFACT.id for d in diagnostics):
        return f"checked {count} {noun}: {counts_text}"
    stale = [d.file for d in diagnostics if d.code == STALE_ARTIFACT.id]
    late = sum(any(file.startswith(f"{out}/{name}/") for file in stale) for name in output.built)
    if late:
        return f"{late} of {count} {noun} {'is' if late == 1 else 'are'} not up to date: {counts_text}"
    end = (
        f", but the folder is not: {counts_text}" if stale else f"{'; ' if counts_text else ''}{counts_text}"
    )
    return f"{count} {noun} {'is' if count == 1 else 'are'} up to date{end}"


_SPECIAL = re.compile(r"[ \t#:]")


def depfile(target: str, files: Sequence[CompiledFile], project: Project, overlay: str | None) -> str:
    """Return a rule that makes a target depend on all that a build read, and one without prerequisites for each of these.

    So a manifest that was removed ends no build.
    """
    paths = [*imported_files(files), *([Path(overlay)] if overlay is not None else [])]
    for one in files:
        paths += [one.file.path, lock_path(one.file.path)]
        # A manifest that comes into a folder changes the folder, and nothing else that was read.
        if not one.file.is_named:
            paths.append(one.file.path.parent)
    paths += [
        project.folder / name for name in (*SETTINGS_FILES, *project.configuration.vocabularies.values())
    ]
    spellings: set[str] = set()
    for path in filter(Path.exists, paths):
        # From the working folder where that is shorter: Make takes two spellings for two files.
        inside = os.path.relpath(path)
        spellings.add(str(path.absolute()) if inside.startswith("..") else inside)
    # With the special characters of Make escaped.
    made, *names = (
        _SPECIAL.sub(r"\\\g<0>", path).replace("$", "$$") for path in (target, *sorted(spellings))
    )
    rule = " \\\n  ".join([f"{made}:", *names])
    return f"{rule}\n" + "".join(f"\n{name}:\n" for name in names if "%" not in name)
