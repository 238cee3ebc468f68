"""The overlay of a run.

Layer: project.
Shape: an overlay changes each dataset before it is emitted, for one environment; locks, ids and changes are those of
the manifest alone.
Errors: SC101 unreadable-file, SC237 invalid-overlay, SC216 duplicate-dataset.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from schemac.language.checks.run import check
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import preorder
from schemac.language.manifest.documents import is_overlay
from schemac.language.manifest.overlay import Overlay, read_overlay
from schemac.project.configuration import Project
from schemac.text.source.catalogue import DUPLICATE_DATASET, INVALID_OVERLAY
from schemac.text.source.diagnostics import Report
from schemac.text.source.phrases import Help
from schemac.text.source.text import decode_text, read_content
from schemac.text.syntax.document import parse
from schemac.versions.identity.compilation import Locked


@dataclass(frozen=True)
class RunOverlay:
    """An overlay, and the bytes that it was read from."""

    path: str
    content: bytes
    overlay: Overlay = field(compare=False)

    def over(
        self, dataset: LogicalDataset, locked: Locked | None, project: Project, report: Report
    ) -> tuple[LogicalDataset, Locked | None]:
        """Return a dataset and its ids with the overlay applied; mistakes that this makes are reported."""
        overlaid = self.overlay.over(dataset, report)
        if overlaid is dataset:
            return dataset, locked
        check(overlaid, report, project.vocabularies)
        if locked is None:
            return overlaid, None
        same = dict(zip(preorder(dataset.columns), preorder(overlaid.columns), strict=True))
        return overlaid, locked._replace(
            dataset=overlaid,
            ids={same[field]: id for field, id in locked.ids.items()},
            numbers={same[field]: numbers for field, numbers in locked.numbers.items()},
            shapes={same[field]: shape for field, shape in locked.shapes.items()},
        )

    def check_names(self, datasets: Collection[str], report: Report, *, is_whole: bool) -> None:
        """Report unknown datasets, and names that are used twice with the overlay."""
        used_names: dict[str, str] = {}
        for dataset in datasets:
            name = self.overlay.name(dataset)
            first = used_names.setdefault(name.casefold(), dataset)
            if first is not dataset:
                at = ("datasets", dataset if dataset in self.overlay.file.datasets else first, "name")
                message = f"{first} and {dataset} are both called '{name}' with this overlay"
                self.overlay.add(at, message, "rename one of the two", report, code=DUPLICATE_DATASET)
        for dataset in self.overlay.file.datasets if is_whole else ():
            if dataset not in datasets:
                help = Help.nearest(dataset, datasets, f"the datasets are {', '.join(datasets)}")
                self.overlay.add(("datasets", dataset), f"there is no dataset '{dataset}'", help, report)


def load_overlay(path: str, report: Report) -> RunOverlay | None:
    """Return the overlay in a file; None after reporting what is wrong with it."""
    content = read_content(Path(path), path, report)
    return None if content is None else overlay_of(content, path, report)


def overlay_of(content: bytes, path: str, report: Report) -> RunOverlay | None:
    """Return the overlay in the content of a file; None after reporting what is wrong with it."""
    source = decode_text(content, path, report)
    if source is None:
        return None
    documents = parse(source, report)
    if report.has_errors:
        return None
    if len(documents) != 1 or not is_overlay(documents[0].value):
        message = f"{path} is not an overlay: it has to be one mapping with `datasets`"
        report.add(INVALID_OVERLAY, message, file=path, help="write `datasets: {trips: {extra: {…}}}`")
        return None
    overlay = read_overlay(documents[0], report)
    return None if overlay is None else RunOverlay(path, content, overlay)
