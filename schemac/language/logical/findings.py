"""Findings about the fields of one schema, and kinds with rules of their own.

Layer: language.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

from schemac.language.attributes.builtin import DESCRIPTION
from schemac.language.logical.dataset import Origins
from schemac.language.logical.model import SchemaField
from schemac.text.source.json_object import TreePath
from schemac.text.source.report import Code, Label, Report, Severity, label


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
        self,
        field: SchemaField,
        code: Code,
        message: str,
        *,
        help: str = "",
        other: Other | None = None,
        severity: Severity | None = None,
    ) -> None:
        """Report a finding about a field's name, or about a nameless field as a whole."""
        path = (*field.declared_at, "name") if field.is_member else field.declared_at
        labels: tuple[Label, ...] = ()
        if other is not None and self.origins.source is not None:
            there = self.origins.location((*other.field.declared_at, "name"))
            if there is not None:
                labels = (label(other.message, there.source, there.span), *there.labels)
        self._add(field, path, code, message, help, labels=labels, severity=severity)

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
        field: SchemaField,
        key: str,
        code: Code,
        message: str,
        *steps: str | int,
        help: str = "",
        on_key: bool = False,
    ) -> None:
        """Report a finding about an attribute of a field, or about the part of its value that `steps` lead to."""
        paths = field.extra_places(key)
        path = next((p for p in paths if self.origins.has(p)), paths[0])
        self._add(field, (*path, *steps), code, message, help, on_key=on_key)

    def at_description(self, field: SchemaField, code: Code, message: str, *, help: str = "") -> None:
        """Report a finding about a field's description, wherever it is written."""
        friendly = (*field.declared_at, "description")
        if self.origins.has(friendly):
            self._add(field, friendly, code, message, help)
        else:
            self.at_extra(field, DESCRIPTION.key, code, message, help=help)

    def at_schema(
        self, code: Code, message: str, *steps: str | int, help: str = "", on_key: bool = False
    ) -> None:
        """Report a finding about the schema as a whole, or about the part that `steps` lead to."""
        self._add(None, steps, code, message, help, on_key=on_key)

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
        severity: Severity | None = None,
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
            severity=severity,
        )


class CheckedKind(ABC):
    """A kind whose properties can be combined to something that means nothing."""

    __slots__ = ()

    @abstractmethod
    def check(self, field: SchemaField, findings: Findings) -> None:
        """Report what no grammar can."""
