"""`schemac lock`: freeze the present schemas as the next versions.

Layer: cli.
"""

import argparse
from pathlib import Path

from schemac.cli.exit_code import ExitCode
from schemac.cli.output import add_compile_arguments, exit_code, print_status, show
from schemac.cli.terminal import notify
from schemac.physical.arrow import numpy_left_out
from schemac.project.discovery import lock_path
from schemac.project.merging import merge_driver, resolve
from schemac.source.report import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_compile_arguments(parser)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument(
        "--check",
        action="store_true",
        help="write nothing; exit with 4 if a schema differs from its lock",
    )
    mode.add_argument("--resolve", action="store_true", help="resolve merge conflicts in locks")
    mode.add_argument(
        "--restore",
        action="append",
        type=_parse_field_id,
        metavar="FIELD=ID",
        help="lock, and give a field the id that it had before it was dropped or renamed; may be repeated",
    )
    parser.add_argument(
        "--drop",
        action="append",
        default=[],
        metavar="FIELD",
        help="lock although a new field may be this one renamed: the old field is dropped with its values; may be repeated",
    )
    mode.add_argument("--show", type=int, metavar="N", help="print version N as a manifest")
    mode.add_argument(
        "--merge-driver",
        nargs=3,
        metavar=("BASE", "OURS", "THEIRS"),
        help="merge three lock files into OURS; for git: `driver = schemac lock --merge-driver %%O %%A %%B`",
    )


def run(options: argparse.Namespace) -> int:
    """Lock; return the exit code."""
    if options.drop and (
        options.check or options.resolve or options.show is not None or options.merge_driver
    ):
        notify("schemac lock: argument --drop: it is for the next version, which this command does not write")
        return ExitCode.USAGE
    report = Report()
    with numpy_left_out():
        if options.merge_driver:
            _base, ours, theirs = map(Path, options.merge_driver)
            merge_driver(ours, theirs, report)
        elif options.resolve:
            _resolve(options, report)
        else:
            # Imported here for start-up time: git starts the merge driver once for each lock.
            from schemac.cli.locking import lock_manifests
            from schemac.project.shared_work import collector_paused

            with collector_paused():
                lock_manifests(options, report)
    diagnostics = report.diagnostics
    show(diagnostics, options)
    return exit_code(diagnostics, options)


def _parse_field_id(text: str) -> tuple[str, int]:
    path_text, equals, id = text.rpartition("=")
    if not (path_text and equals and id.isascii() and id.isdigit()):
        raise argparse.ArgumentTypeError(
            f"'{text}' does not have the form FIELD=ID, such as fare=2; see the ids with `--show` or in the lock"
        )
    return path_text, int(id)


def _resolve(options: argparse.Namespace, report: Report) -> None:
    """Merge the two halves of every lock with conflict marks."""
    paths = [Path(path) for path in options.paths] or [Path()]
    locks = sorted({lock for path in paths for lock in _locks(path)})
    resolved_count = 0
    for path in locks:
        if resolve(path, path.as_posix(), report):
            resolved_count += 1
            print_status(f"{path.as_posix()}: resolved; check the manifest, then run `schemac lock`", options)
    if not resolved_count and not report.has_errors:
        print_status("no lock has merge conflict markers", options)


def _locks(path: Path) -> list[Path]:
    if path.is_dir():
        # A lock of something else has no manifest beside it.
        return [
            lock
            for lock in path.rglob("*.lock")
            if lock.is_file() and any(lock.with_suffix(suffix).exists() for suffix in (".yaml", ".yml"))
        ]
    return [path if path.suffix == ".lock" else lock_path(path)]
