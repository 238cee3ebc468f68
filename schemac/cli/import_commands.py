"""`schemac import`: a manifest from an existing file or table.

Layer: cli.
Shape: each version that the source has becomes one of the lock, with the numbers that its engine gave; a source
that numbers every field gives the lock its ids.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext, redirect_stdout
from functools import partial
from pathlib import Path
from typing import NamedTuple

from schemac.artifacts.folder import make_folder
from schemac.cli import arguments
from schemac.cli.output import exit_code, print_status, show
from schemac.cli.terminal import put_manifest
from schemac.importers.datasets import from_tree
from schemac.importers.importer import ImportedSchema, NumberedVersion
from schemac.importers.sources import formats, import_source, standard_form
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import preorder
from schemac.language.manifest.standard import fitted_name, is_dataset_name
from schemac.language.manifest.write import write_manifest
from schemac.project.discovery import lock_name
from schemac.text.source.catalogue import INVALID_DATASET_NAME, UNREADABLE_SOURCE, WRITE_FAILED
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import Json
from schemac.text.source.text import reason_of
from schemac.versions.identity.freeze import adopt, adopt_ids
from schemac.versions.identity.lock import Lock, LockedDataset, Numbers
from schemac.versions.identity.lockfile import write_lock


def add_import_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac import`."""
    parser.add_argument("source", metavar="SOURCE", help="file or table")
    help = "format of the source (default: recognized by its name or content)"
    parser.add_argument("--from", dest="source_format", choices=formats(), help=help)
    arguments.add_repeatable(parser, "--skip", "COLUMN", "leave a column out; may be repeated")
    parser.add_argument("--name", help="name of the dataset (default: the name of the source)")
    help = "new file to write, or a folder for one file per dataset (default: standard output); existing files are never overwritten"
    parser.add_argument("--out", metavar="PATH", help=help)
    arguments.add_flag(
        parser, "--strict", "write only what is in the ODF standard; keep the rest as comments"
    )
    arguments.add_output_arguments(parser)


def run_import(options: argparse.Namespace) -> int:
    """Import; manifests, and the lock where the source has ids, appear only if there was no error."""
    report = Report()
    path = Path(options.source)
    imported = import_source(path, options.source_format, report, options.skip)
    if imported is not None and not report.has_errors:
        manifests = _imported_manifests(imported, path, options, report)
        if not report.has_errors:
            is_whole = not (options.name or options.skip or options.strict)
            _write_or_print(manifests, imported.text if is_whole else None, options, report)
    diagnostics = report.diagnostics
    if options.format != "text" or diagnostics:
        # Where the manifest goes to standard output, findings go to standard error.
        is_apart = options.out is None and options.format == "text"
        with redirect_stdout(sys.stderr) if is_apart else nullcontext():
            show(diagnostics, options)
    return exit_code(diagnostics, options)


class _Manifest(NamedTuple):
    """A dataset that was imported, and its manifest."""

    dataset: LogicalDataset
    imported: ImportedSchema
    text: str


def _imported_manifests(
    imported: ImportedSchema, path: Path, options: argparse.Namespace, report: Report
) -> list[_Manifest]:
    """Return the manifests of all datasets of a source; what is wrong with one of them is in the report."""
    if imported.others and options.name:
        message = f"{path} holds {len(imported.others) + 1} datasets, but --name gives one name"
        report.add(UNREADABLE_SOURCE, message, file=str(path), help="remove --name")
    if options.name and not is_dataset_name(options.name):
        help = f"`--name {fitted_name(options.name)}`"
        report.add(INVALID_DATASET_NAME, f"'{options.name}' is not a valid dataset name", help=help)
    if report.has_errors:
        return []
    manifests: list[_Manifest] = []
    for one in (imported, *imported.others):
        original_name = one.name or path.resolve().name.partition(".")[0]
        name = options.name or fitted_name(original_name)
        comments = (*one.comments, *one.notes.at(()))
        if name not in (options.name, original_name):
            comments = (*comments, f"its name was {original_name}")
        whole = standard_form(one) if options.strict else one
        dataset = from_tree(whole.schema, name, options.source, report)
        if dataset is not None:
            text = write_manifest(dataset, comments, whole.notes.at, is_strict=options.strict)
            manifests.append(_Manifest(dataset, whole, text))
    return manifests


def _write_or_print(
    manifests: list[_Manifest], edited: str | None, options: argparse.Namespace, report: Report
) -> None:
    """Write manifests and their locks to `--out`, or print the manifests; `edited` replaces their text if it is not None."""
    stream = edited if edited is not None else "---\n".join(one.text for one in manifests)
    if options.out is None:
        put_manifest(stream, options)
        if any(one.imported.versions for one in manifests):
            status = "the source has field ids, which are kept in a lock next to the manifest; use --out to write both"
            print_status(status, options)
        return
    files: dict[str, str] = {}
    if os.path.isdir(options.out) or options.out.endswith("/"):
        for one in manifests:
            manifest = os.path.join(options.out, f"{one.dataset.name.replace('/', '.')}.yaml")
            files |= {manifest: one.text, **_lock_files([one], manifest, options, report)}
    else:
        files = {options.out: stream, **_lock_files(manifests, options.out, options, report)}
    if not report.has_errors:
        _write_new_files(files, options, report)


def _lock_files(
    manifests: Sequence[_Manifest], path: str, options: argparse.Namespace, report: Report
) -> dict[str, str]:
    """Return the lock of a file, by its path, with every dataset in it whose source has ids; empty if none has."""
    lock = Lock()
    for one in manifests:
        if not one.imported.versions:
            continue
        name = one.dataset.name
        compile = partial(from_tree, name=name, file=options.source, report=report)
        locked = adopted(one.dataset, one.imported, compile)
        if locked is None:
            status = f"the ids in the source do not fit the fields of {name}, so its lock does not have them"
            print_status(status, options)
        else:
            lock = lock.with_dataset(locked)
    return {lock_name(path): write_lock(lock)} if lock.datasets else {}


def _write_new_files(files: dict[str, str], options: argparse.Namespace, report: Report) -> None:
    """Write all files or none; a file that exists already is reported, and stays."""
    written: list[str] = []
    try:
        if options.out.endswith("/"):
            make_folder(os.path.dirname(options.out))
        for name, text in files.items():
            with open(name, "x", encoding="utf-8", newline="\n") as stream:
                written.append(name)
                stream.write(text)
    except FileExistsError as error:
        help = "name another file with --out, or remove it"
        report.add(WRITE_FAILED, f"{error.filename} already exists", file=str(error.filename), help=help)
    except OSError as error:
        report.add(WRITE_FAILED, f"cannot write {options.out}: {reason_of(error)}", file=options.out)
    else:
        print_status(f"wrote {' and '.join(files)}", options)
        return
    for name in written:
        os.unlink(name)


Compile = Callable[[Json], LogicalDataset | None]
"""Makes the dataset of a schema in the standard's long form."""

_NONE = Numbers()


def adopted(dataset: LogicalDataset, imported: ImportedSchema, compile: Compile) -> LockedDataset | None:
    """Return the lock of an imported dataset; None if its source has no numbers."""
    locked = LockedDataset(dataset.name)
    for version in imported.versions:
        present = dataset if version is imported.versions[-1] else compile(version.schema)
        if present is None:
            return None
        if isinstance(version, NumberedVersion):
            fields = preorder(present.columns)
            ids = {field: version.ids[field.path] for field in fields if field.path in version.ids}
            locked = adopt_ids(present, locked, ids, version.highest)
            continue
        numbers = {field: version.numbers.get(field.path, _NONE) for field in preorder(present.columns)}
        after = adopt(present, locked, numbers, version.highest, version.data)
        if after is None:
            return None
        locked = after
    return locked if locked.versions else None
