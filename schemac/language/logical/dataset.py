"""A dataset as it was declared: its key, the locations in its text, and findings at its fields.

Layer: language.
Shape: the fields of a key are ordered by their position; those without one follow, as they are in the schema.
Source: Lance's table format, "Unenforced Primary Key".
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from schemac.language.attributes.attribute import Role
from schemac.language.attributes.builtin import DESCRIPTION
from schemac.language.attributes.registry import are_telling, of_role
from schemac.language.logical.model import Schema, SchemaField, preorder
from schemac.language.logical.names import Naming
from schemac.text.source.diagnostics import Code, Label, Report, labels_at
from schemac.text.source.json_object import TreePath

if TYPE_CHECKING:
    from schemac.text.syntax.document import Document, Location, ValueOrigin  # they need a parser


class Origins(NamedTuple):
    """The document and the place in it of one schema's mapping; without a document, a file name alone."""

    file: str
    document: "Document | None" = None
    base: TreePath = ()
    named_at: TreePath | None = None
    """Where the document gives the dataset its name; None if it does not."""
    overlaid: "Mapping[TreePath, ValueOrigin]" = MappingProxyType({})
    """Where overlays have the attributes that they give, by the paths of these; the paths start at the schema's mapping."""

    def location(self, path: TreePath, *, on_key: bool = False) -> "Location | None":
        """Return where a value is, or its key; `path` starts at the schema's mapping. It may be in another text."""
        if self.document is None:
            return None
        for depth in range(len(path), 0, -1) if self.overlaid else ():
            if (overlaid := self.overlaid.get(path[:depth])) is not None:
                return overlaid.child(*path[depth:]).location(on_key=on_key)
        return self.document.location((*self.base, *path), on_key=on_key)

    @property
    def name_location(self) -> "Location | None":
        """Where the dataset's name is, or what is first in its schema."""
        if self.document is None:
            return None
        if self.named_at is not None:
            return self.document.location(self.named_at)
        return self.document.location((*self.base, "fields"), on_key=True)

    def has(self, path: TreePath) -> bool:
        """Whether the text has a value at exactly this path."""
        location = self.location(path)
        return location is not None and location.is_exact


@dataclass(frozen=True)
class LogicalDataset:
    """A named schema, its fields, and where it was written. Equal means: same name, same meaning."""

    name: str
    schema: Schema
    columns: tuple[SchemaField, ...] = dataclasses.field(compare=False, repr=False)
    origins: Origins = dataclasses.field(compare=False, repr=False)
    is_whole: bool = dataclasses.field(default=True, compare=False, repr=False)
    """Whether every field of the manifest could be read."""
    unread: frozenset[TreePath] = dataclasses.field(default=frozenset(), compare=False, repr=False)
    """Where types stand that could not be read; a text replaces each, so that what is around it can be checked."""
    naming: Naming = dataclasses.field(default=Naming(), compare=False, repr=False)
    """What the manifest calls the standard's system columns."""
    is_source: bool = dataclasses.field(default=False, compare=False, repr=False)
    """Whether this is what a source reads; if a dataset has the same name, it is called `<name>.source`."""

    def is_read(self, field: SchemaField) -> bool:
        """Whether the whole type of a field could be read."""
        at = field.type_at
        return not any(path[: len(at)] == at for path in self.unread)


LAST_POSITION = 2**32
"""Of a part of a key without a position: above every position."""


def primary_key(columns: Sequence[SchemaField]) -> tuple[SchemaField, ...]:
    """Return the fields of the primary key in its order, at whatever depth; none where the schema declares no key."""
    parts = of_role(Role.KEY_PART)
    positions: dict[SchemaField, int] = {}
    for field in preorder(columns):
        for attribute in parts if field.extra and are_telling(field.extra) else ():
            if (part := attribute.read(field.extra)) is not None:
                positions.setdefault(field, part.position or LAST_POSITION)
    return tuple(sorted(positions, key=positions.__getitem__))


def named_key(dataset: LogicalDataset) -> tuple[SchemaField, ...]:
    """Return the columns that an engine's attribute of the schema lists as its primary key, as they are in the schema."""
    names = {
        name for attribute in of_role(Role.PRIMARY_KEY) for name in attribute.read(dataset.schema.extra) or ()
    }
    return tuple([field for field in dataset.columns if field.segment in names])


class Other(NamedTuple):
    """A second field that a finding points at."""

    field: SchemaField
    message: str


class Findings:
    """Adds to a report what is found at fields, with the place in the manifest that each has."""

    def __init__(self, report: Report, origins: Origins) -> None:
        self.report = report
        self.origins = origins

    def at_name(
        self, field: SchemaField, code: Code, message: str, *, help: str = "", other: Other | None = None
    ) -> None:
        """Report a finding about a field's name, or about a nameless field as a whole."""
        path = (*field.declared_at, "name") if field.is_member else field.declared_at
        labels: tuple[Label, ...] = ()
        if other is not None:
            labels = labels_at(self.origins.location((*other.field.declared_at, "name")), other.message)
        self._add(field, path, code, message, help, labels=labels)

    def at_type(
        self, field: SchemaField, code: Code, message: str, *steps: str | int, help: str = ""
    ) -> None:
        """Report a finding about a field's type, or about the property of it that `steps` lead to."""
        path = (*field.type_at, *steps) if steps else (*field.type_at, "kind")
        self._add(field, path, code, message, help)

    def at_option(self, field: SchemaField, index: int, code: Code, message: str, *, help: str = "") -> None:
        """Report a finding about one of the Options around a field's type, counted from the outermost."""
        path = (*field.type_at[: len(field.type_at) - len(field.options) + index], "kind")
        self._add(field, path, code, message, help)

    def at_extra(
        self,
        field: SchemaField | None,
        key: str,
        code: Code,
        message: str,
        *steps: str | int,
        help: str = "",
        on_key: bool = False,
    ) -> None:
        """Report a finding about an attribute of a field, or of the schema if that is None, or about the part of its value that `steps` lead to."""
        paths = field.extra_places(key) if field is not None else [("extra", key)]
        path = next((p for p in paths if self.origins.has(p)), paths[0])
        self._add(field, (*path, *steps), code, message, help, on_key=on_key)

    def at_description(self, field: SchemaField, code: Code, message: str, *, help: str = "") -> None:
        """Report a finding about a field's description, wherever it is written."""
        friendly = (*field.declared_at, "description")
        if self.origins.has(friendly):
            self._add(field, friendly, code, message, help)
        else:
            self.at_extra(field, DESCRIPTION.key, code, message, help=help)

    def at_dataset(self, code: Code, message: str, help: str) -> None:
        """Report a finding about the dataset, at its name, or at what is first in its schema."""
        location, file = self.origins.name_location, self.origins.file
        self.report.add(code, message, location=location, file=file, help=help)

    def at_schema(
        self,
        code: Code,
        message: str,
        *steps: str | int,
        help: str = "",
        on_key: bool = False,
        labels: tuple[Label, ...] = (),
    ) -> None:
        """Report a finding about the schema as a whole, or about the part that `steps` lead to."""
        self._add(None, steps, code, message, help, on_key=on_key, labels=labels)

    def _add(
        self,
        field: SchemaField | None,
        path: TreePath,
        code: Code,
        message: str,
        help: str,
        *,
        on_key: bool = False,
        labels: tuple[Label, ...] = (),
    ) -> None:
        """Report a finding at a path in the file; `on_key` marks the key there, not its value."""
        self.report.add(
            code,
            message,
            location=self.origins.location(path, on_key=on_key),
            file=self.origins.file,
            path=field.path_text if field is not None else "",
            help=help,
            labels=labels,
        )
