"""The output folder of a build.

Floor: 11 (artifacts).
Errors: SC541 stale-artifact, SC542 write-failed.
A build that dies leaves every file as it was or as it will be: contents go to a neighbour under another name and
take the place of the old file in one step, the provenance last of all.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from schemac.artifacts.provenance import NAME, Built, Provenance, digest, read_provenance
from schemac.source.catalogue import STALE_ARTIFACT, WRITE_FAILED
from schemac.source.report import Report

_SUFFIX = ".schemac-new"


@dataclass(frozen=True, slots=True)
class _Staged:
    """A file whose new content lies beside it, with what it held before."""

    path: str
    before: bytes | None

    def restore(self) -> None:
        if self.before is None:
            os.unlink(self.path)
        else:
            Path(self.path).write_bytes(self.before)


class Store:
    """An output folder, and what the present build puts into it."""

    def __init__(self, out: Path, name: str) -> None:
        self._out = out
        self._name = name
        self._before = read_provenance(out) or Provenance()

    def write(self, built: Mapping[str, Built], contents: Mapping[str, bytes], report: Report) -> int:
        """Put these datasets' files into the folder; returns how many files changed.

        Datasets of manifests that this build did not read stay. Files that the folder's provenance lists and that
        nothing produces any more are removed; others are never touched.
        """
        merged = self._merged(built)
        folders: set[str] = set()
        staged: list[_Staged] = []
        replaced = 0
        try:
            for path, content in {**contents, NAME: merged.to_json()}.items():
                self._stage(path, content, folders, staged)
            for file in staged:
                os.replace(file.path + _SUFFIX, file.path)
                replaced += 1
            kept = {path for dataset in merged.datasets.values() for path in dataset.files}
            for path in {path for dataset in self._before.datasets.values() for path in dataset.files} - kept:
                self._remove(path)
        except OSError as error:
            for file in staged:
                Path(file.path + _SUFFIX).unlink(missing_ok=True)
            for file in staged[:replaced]:
                file.restore()
            reason = (error.strerror or str(error)).lower()
            report.add(WRITE_FAILED, f"cannot write {self._name}: {reason}", file=self._name)
        return len([file for file in staged if not file.path.endswith(f"/{NAME}")])

    def compare(self, built: Mapping[str, Built], contents: Mapping[str, bytes], report: Report) -> None:
        """Say which files of the folder are not what this build would write."""
        help = "run `schemac build`"
        for path, content in contents.items():
            shown = f"{self._name}/{path}"
            try:
                is_stale = (self._out / path).read_bytes() != content
            except FileNotFoundError:
                report.add(STALE_ARTIFACT, f"{shown} is missing", file=shown, help=help)
                continue
            except OSError as error:
                report.add(STALE_ARTIFACT, f"{shown} cannot be read: {error.strerror}", file=shown, help=help)
                continue
            if is_stale:
                report.add(
                    STALE_ARTIFACT, f"{shown} is not what its manifest compiles to", file=shown, help=help
                )
        read = {dataset.manifest for dataset in built.values()}
        for name, dataset in self._before.datasets.items():
            if dataset.manifest in read and name not in built:
                shown = f"{self._name}/{name}"
                report.add(STALE_ARTIFACT, f"{shown} is of a dataset that is gone", file=shown, help=help)
        if (
            not report.has_errors
            and (self._out / NAME).is_file()
            and self._read() != self._merged(built).to_json()
        ):
            shown = f"{self._name}/{NAME}"
            report.add(STALE_ARTIFACT, f"{shown} is not what this build would write", file=shown, help=help)

    def _merged(self, built: Mapping[str, Built]) -> Provenance:
        read = {dataset.manifest for dataset in built.values()}
        others = {n: d for n, d in self._before.datasets.items() if n not in built and d.manifest not in read}
        return Provenance({**others, **built})

    def _stage(self, path: str, content: bytes, folders: set[str], staged: list["_Staged"]) -> None:
        """Write a file's content beside it, unless it is there already."""
        final = f"{self._out}/{path}"
        folder = final.rpartition("/")[0]
        if folder not in folders:
            os.makedirs(folder, exist_ok=True)
            folders.add(folder)
        before: bytes | None = None
        try:
            with open(final, "rb") as stream:
                before = stream.read()
        except FileNotFoundError:
            pass
        if before == content:
            # What an interrupted build may have left here is of no use any more.
            if os.path.lexists(final + _SUFFIX):
                os.unlink(final + _SUFFIX)
            return
        staged.append(_Staged(final, before))
        with open(final + _SUFFIX, "wb") as stream:
            stream.write(content)

    def _read(self) -> bytes:
        return (self._out / NAME).read_bytes()

    def _remove(self, path: str) -> None:
        (self._out / path).unlink(missing_ok=True)
        for folder in PurePosixPath(path).parents:
            try:
                (self._out / folder).rmdir()
            except OSError:
                return


def built(manifest: str, manifest_content: bytes, contents: Mapping[str, bytes]) -> Built:
    """The provenance of one dataset."""
    return Built(
        manifest, digest(manifest_content), {path: digest(content) for path, content in contents.items()}
    )
