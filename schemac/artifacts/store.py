"""The output folder of a build.

Layer: artifacts.
Errors: SC541 stale-artifact, SC542 write-failed, SC543 foreign-folder, SC544 damaged-provenance, SC545 in-the-way.
A build that dies leaves every dataset as it was or as it will be: its folder is made aside and changes places with the
old one in one step. The provenance lists old and new files before the first of these steps, which it mostly does anyway, and
the new ones after the last, so that every file of ours is listed at any moment. Builds into one folder wait for each other.
"""

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from schemac.artifacts.folder import NAME, STAGING, Built, OutputFolder, Provenance, RefusedError, digest
from schemac.artifacts.swap import DatasetSwap, recover, remove_if_empty
from schemac.text.source.catalogue import STALE_ARTIFACT, WRITE_FAILED
from schemac.text.source.diagnostics import Report

_HELP = "run `schemac build`"
_SHARED_FROM = 500
"""Datasets from which on reading their artifacts is shared between the cores; below, a process costs more than it saves."""
_Unchanged = Collection[str] | None
"""The paths of a dataset that need not be written again; None if none of the dataset has to be written."""
_ShareItems = Callable[[Callable[[Sequence[str]], list[_Unchanged]], Sequence[str]], list[_Unchanged]]
"""Shares an action on items between the cores; the results are in the order of the items."""


class Build(NamedTuple):
    """The content that a build gives an output folder."""

    built: Mapping[str, Built]
    contents: Mapping[str, bytes]
    """By path below the folder; without those of datasets that are known by their digests alone."""
    is_whole: bool = True
    """Whether every manifest of the project was read: what none of them makes is to go."""
    missing: Callable[[Collection[str]], Mapping[str, bytes]] = lambda _: {}
    """Makes the contents of datasets that are known by their digests alone."""

    def merged(self, before: Provenance) -> Provenance:
        """Return the provenance afterwards: a build of some manifests leaves the datasets of the others. Raises RefusedError."""
        for dataset in self.built.values():
            try:
                dataset.manifest.encode()
            except UnicodeEncodeError:
                message = f"{NAME} cannot list the manifest {dataset.manifest!a}: its path is not UTF-8"
                raise RefusedError(WRITE_FAILED, message, "rename the file or the folder") from None
        if self.is_whole:
            return Provenance(self.built)
        read = {dataset.manifest for dataset in self.built.values()}
        untouched = {
            name: dataset
            for name, dataset in before.datasets.items()
            if name not in self.built and dataset.manifest not in read
        }
        return Provenance({**untouched, **self.built})

    def files(self, dataset: str) -> Mapping[str, str]:
        """Return the digests of one dataset's files; empty for a dataset that is to go."""
        return self.built[dataset].files if dataset in self.built else {}

    def of(self, dataset: str) -> dict[str, bytes]:
        """Return the contents of one dataset."""
        return {path: self.contents[path] for path in self.files(dataset)}

    def has(self, path: str, expected_digest: str, content: bytes) -> bool:
        """Whether these are the bytes that a file is to have."""
        made = self.contents.get(path)
        return made == content if made is not None else digest(content) == expected_digest

    def completed(self, datasets: Iterable[str]) -> "Build":
        """Return the build with the contents of these datasets, which are made if only their digests are known."""
        missing = {name for name in datasets if any(path not in self.contents for path in self.files(name))}
        return self._replace(contents={**self.contents, **self.missing(missing)}) if missing else self


class BuildResult(NamedTuple):
    """What a build changed in the output folder, in numbers."""

    files: int = 0
    """Those that are new or changed."""
    removed: int = 0
    """Datasets that nothing makes any more."""
    left: int = 0
    """Datasets of manifests that this build did not read."""


class OutputStore:
    """An output folder that builds are written to."""

    def __init__(
        self,
        out: Path,
        name: str,
        project: Path | None = None,
        notify: Callable[[str], None] = lambda _: None,
        share_items: _ShareItems = lambda act, items: act(items),
    ) -> None:
        self._share_items = share_items
        self._folder = OutputFolder(out, name, project)
        self._name = name
        self._notify = notify

    def write(self, build: Build, report: Report) -> BuildResult:
        """Write a build to the folder.

        Files that the folder's provenance lists and that nothing produces any more are removed; others are never
        touched.
        """
        try:
            with self._folder.lock(self._notify, is_exclusive=True):
                before = self._folder.provenance()
                recover(self._folder, before.paths)
                return self._write(build, before)
        except RefusedError as error:
            report.add(error.code, error.message, file=self._name, help=error.help)
        except (OSError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            report.add(WRITE_FAILED, f"cannot write {self._name}: {reason}", file=self._name)
        return BuildResult()

    def compare(self, build: Build, report: Report) -> None:
        """Report the files of the folder that differ from this build."""
        try:
            if not os.path.isdir(self._folder.root):
                self._compare(build, Provenance({}), report)
                return
            with self._folder.lock(self._notify, is_exclusive=False):
                self._compare(build, self._folder.provenance(), report)
        except RefusedError as error:
            report.add(error.code, error.message, file=self._name, help=error.help)
        except (OSError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            self._report_stale(report, "", f"cannot be read: {reason}")

    def _write(self, build: Build, before: Provenance) -> BuildResult:
        """Change the folders that differ, each in one step, and then the provenance; after a failure all are as before."""
        after = build.merged(before)
        gone = before.datasets.keys() - after.datasets.keys()
        # All is looked at before anything is changed.
        datasets = (*build.built, *sorted(gone))

        def unchanged_of(part: Sequence[str]) -> list[_Unchanged]:
            return [self._unchanged(dataset, build, before) for dataset in part]

        is_large = len(datasets) >= _SHARED_FROM
        looked_at = self._share_items(unchanged_of, datasets) if is_large else unchanged_of(datasets)
        every = dict(zip(datasets, looked_at, strict=True))
        changes = {dataset: unchanged for dataset, unchanged in every.items() if unchanged is not None}
        written = BuildResult(0, len(gone), len(after.datasets) - len(build.built))
        if not changes and not gone:
            if before != after:
                self._write_provenance(after.to_json())
            return written
        # Not before now it is known which of them have to be made.
        build = build.completed(changes)
        union = _union(before, after)
        # Where two datasets list one path, it is of the one that there will be.
        owners = {path: name for name, dataset in after.datasets.items() for path in dataset.files}
        listed = {name: union.datasets[name].files for name in changes}
        swaps = [
            DatasetSwap(self._folder, name, {path for path in files if owners.get(path, name) == name})
            for name, files in listed.items()
        ]
        provenance = self._folder.read(NAME)
        try:
            for (dataset, unchanged), swap in zip(changes.items(), swaps, strict=True):
                swap.stage(build.of(dataset), unchanged)
            if not union.paths() <= before.paths():
                self._write_provenance(union.to_json())
            for swap in swaps:
                swap.commit()
        except BaseException:
            for swap in reversed(swaps):
                swap.undo()
            recover(self._folder, union.paths)
            # On a full disk the list of both times stays, which names all that is ours.
            with suppress(OSError):
                self._write_provenance(provenance)
            raise
        # While the old files are cleared away, they have to be known for ours.
        recover(self._folder, union.paths)
        self._write_provenance(after.to_json())
        for dataset in gone:
            remove_if_empty(self._folder, dataset)
        changed = sum(len(build.of(dataset)) - len(unchanged) for dataset, unchanged in changes.items())
        return written._replace(files=changed)

    def _unchanged(self, dataset: str, build: Build, before: Provenance) -> _Unchanged:
        """Return the unchanged paths of a dataset; None if all its files are as they are to be. Raises RefusedError."""
        files = build.files(dataset)
        if not files:
            return () if self._folder.is_reachable(dataset) else None
        ours: Collection[str] = before.datasets[dataset].files if dataset in before.datasets else ()
        unchanged: set[str] = set()
        for path, expected_digest in files.items():
            present = self._folder.read(path)
            if present is not None and build.has(path, expected_digest, present):
                unchanged.add(path)
            elif present is not None and path not in ours:
                self._folder.refuse_in_the_way(path)
        has_leftovers = any(
            self._folder.is_reachable(path.rpartition("/")[0]) and os.path.lexists(self._folder.at(path))
            for path in set(ours) - files.keys()
        )
        is_same = len(unchanged) == len(files) and not has_leftovers
        return None if is_same else unchanged

    def _compare(self, build: Build, before: Provenance, report: Report) -> None:
        """Report artifacts that are missing or different, datasets and staging that remain, and a different provenance. Raises RefusedError."""
        # Checked first: where a build is refused, `schemac build` is no way out of stale files.
        after = build.merged(before)
        for path, expected_digest in (file for one in build.built.values() for file in one.files.items()):
            try:
                present = self._folder.read(path)
            except OSError as error:
                self._report_stale(report, path, f"cannot be read: {error.strerror}")
                continue
            if present is None:
                self._report_stale(report, path, "is missing")
            elif not build.has(path, expected_digest, present):
                self._report_stale(report, path, "differs from what its manifest compiles to")
        for name in before.datasets.keys() - after.datasets.keys():
            self._report_stale(report, name, "belongs to a dataset that no longer exists")
        if self._folder.is_folder(STAGING) and os.listdir(self._folder.at(STAGING)):
            self._report_stale(report, STAGING, "was left by a build that did not finish")
        present = self._folder.read(NAME)
        if not report.has_errors and present is not None and present != after.to_json():
            self._report_stale(report, NAME, "differs from what this build would write")

    def _report_stale(self, report: Report, path: str, what: str) -> None:
        """Report a path of the folder as out of date; an empty path is the folder itself."""
        path_text = f"{self._name}/{path}" if path else self._name
        report.add(STALE_ARTIFACT, f"{path_text} {what}", file=path_text, help=_HELP)

    def _write_provenance(self, content: bytes | None) -> None:
        """Replace the provenance in one step, or remove it if the content is None; as it is if it has this content."""
        if self._folder.read(NAME) == content:
            return
        if content is None:
            os.unlink(self._folder.at(NAME))
            return
        staging = self._folder.at(STAGING)
        new = f"{staging}/{NAME}"
        os.makedirs(staging, exist_ok=True)
        try:
            with open(new, "wb") as stream:
                stream.write(content)
            os.replace(new, self._folder.at(NAME))
        finally:
            with suppress(OSError):
                os.unlink(new)
            with suppress(OSError):
                os.rmdir(staging)


def _union(before: Provenance, after: Provenance) -> Provenance:
    """Return the provenance of everything that may be in the folder while it changes."""
    datasets = {**before.datasets, **after.datasets}
    for name in before.datasets.keys() & after.datasets.keys():
        old_files, new = before.datasets[name].files, after.datasets[name]
        if not old_files.keys() <= new.files.keys():
            datasets[name] = new._replace(files={**old_files, **new.files})
    return Provenance(datasets)


def built(manifest: str, manifest_content: bytes, contents: Mapping[str, bytes]) -> Built:
    """Return the provenance of one dataset."""
    return Built(
        manifest, digest(manifest_content), {path: digest(content) for path, content in contents.items()}
    )
