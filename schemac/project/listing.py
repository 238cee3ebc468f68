"""The fields of manifests, and manifests with their groups inserted.

Layer: project.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from schemac.language.attributes.builtin import DESCRIPTION, Classification
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.schema_fields import Ownership, SchemaField, preorder, type_text_of
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile
from schemac.project.manifests import read_manifests
from schemac.text.source.diagnostic import Severity
from schemac.text.source.json_object import Json
from schemac.text.source.report import Report


@dataclass(frozen=True, slots=True)
class FieldFilter:
    """The conditions on fields to list; all of them have to hold, and an empty one always does."""

    tags: frozenset[str] = frozenset()
    """A field has to have all of them."""
    owners: frozenset[str] = frozenset()
    classifications: frozenset[Classification] = frozenset()
    is_deprecated: bool = False

    def takes(self, ownership: Ownership) -> bool:
        """Whether a field is asked for."""
        return (
            self.tags <= set(ownership.tags)
            and (not self.owners or ownership.owner in self.owners)
            and (not self.classifications or ownership.classification in self.classifications)
            and (not self.is_deprecated or ownership.deprecation is not None)
        )


@dataclass(frozen=True, slots=True)
class ListedField:
    """One field, and what is known of it."""

    dataset: str
    path: str
    type_text: str
    description: str | None
    ownership: Ownership
    file: str
    line: int

    def to_json(self) -> Json:
        """Return it for programs; what is not known is null."""
        deprecation = self.ownership.deprecation
        return {
            "dataset": self.dataset,
            "field": self.path,
            "type": self.type_text,
            "description": self.description,
            "owner": self.ownership.owner,
            "tags": [*self.ownership.tags],
            "classification": self.ownership.classification,
            "deprecated": deprecation.model_dump(by_alias=True) if deprecation is not None else None,
            "file": self.file,
            "line": self.line,
        }


def listed_fields(
    files: Sequence[ManifestFile], field_filter: FieldFilter, project: Project, report: Report
) -> list[ListedField]:
    """Return the fields that are asked for, members of structs too, in the order of the manifests."""
    local_report = Report()
    compiled = read_manifests(files, project, local_report) if not report.has_errors else []
    report.extend(d for d in local_report.diagnostics if d.severity is Severity.ERROR)
    if report.has_errors:
        return []
    return [
        _listed(dataset, field, ownership)
        for file in compiled
        for dataset in file.datasets
        for field in preorder(dataset.columns)
        if field.is_member and field_filter.takes(ownership := Ownership.of(field, dataset.schema))
    ]


def _listed(dataset: LogicalDataset, field: SchemaField, ownership: Ownership) -> ListedField:
    place = dataset.origins.location(field.declared_at)
    assert place is not None
    return ListedField(
        dataset.name,
        field.path_text,
        type_text_of(field),
        DESCRIPTION.read(field.extra),
        ownership,
        place.source.name,
        place.source.position(place.span.start).line,
    )
