"""Findings about the slots of one schema.

Layer: logical.
"""

from typing import NamedTuple

from schemac.attributes.odf import DESCRIPTION
from schemac.logical.origins import Origins
from schemac.logical.slots import Slot, TreePath
from schemac.source.diagnostic import Code, Label, Severity
from schemac.source.report import Report, label


class Other(NamedTuple):
    """A second slot that a finding points at."""

    slot: Slot
    message: str


class Findings:
    """Adds to a report what is found at slots, with the place in the manifest that each has."""

    def __init__(self, report: Report, origins: Origins) -> None:
        self.report = report
        self.origins = origins

    def at_name(
        self,
        slot: Slot,
        code: Code,
        message: str,
        *,
        help: str = "",
        other: Other | None = None,
        severity: Severity | None = None,
    ) -> None:
        """Report a finding about a slot's name, or about a nameless slot as a whole."""
        place = (*slot.declared_at, "name") if slot.is_member else slot.declared_at
        labels: tuple[Label, ...] = ()
        if other is not None and self.origins.source is not None:
            there = self.origins.place((*other.slot.declared_at, "name"))
            if there is not None:
                labels = (label(other.message, there.source, there.span), *there.labels)
        self._add(slot, place, code, message, help, labels, severity=severity)

    def at_type(self, slot: Slot, code: Code, message: str, *steps: str | int, help: str = "") -> None:
        """Report a finding about a slot's type, or about the property of it that `steps` lead to."""
        place = (*slot.type_at, *steps) if steps else (*slot.type_at, "kind")
        self._add(slot, place, code, message, help)

    def at_option(self, slot: Slot, index: int, code: Code, message: str, *, help: str = "") -> None:
        """Report a finding about one of the Options around a slot's type, counted from the outermost."""
        place = (*slot.type_at[: len(slot.type_at) - len(slot.options) + index], "kind")
        self._add(slot, place, code, message, help)

    def at_extra(
        self,
        slot: Slot,
        key: str,
        code: Code,
        message: str,
        *steps: str | int,
        help: str = "",
        on_key: bool = False,
    ) -> None:
        """Report a finding about an attribute of a slot, or about the part of its value that `steps` lead to."""
        places = slot.extra_places(key)
        place = next((p for p in places if self.origins.has(p)), places[0])
        self._add(slot, (*place, *steps), code, message, help, on_key=on_key)

    def at_description(self, slot: Slot, code: Code, message: str, *, help: str = "") -> None:
        """Report a finding about a slot's description, wherever it is written."""
        friendly = (*slot.declared_at, "description")
        if self.origins.has(friendly):
            self._add(slot, friendly, code, message, help)
        else:
            self.at_extra(slot, DESCRIPTION.key, code, message, help=help)

    def at_schema(
        self, code: Code, message: str, *steps: str | int, help: str = "", on_key: bool = False
    ) -> None:
        """Report a finding about the schema as a whole, or about the part that `steps` lead to."""
        self._add(None, steps, code, message, help, on_key=on_key)

    def _add(
        self,
        slot: Slot | None,
        place: TreePath,
        code: Code,
        message: str,
        help: str,
        labels: tuple[Label, ...] = (),
        on_key: bool = False,
        severity: Severity | None = None,
    ) -> None:
        found = self.origins.place(place, on_key=on_key)
        self.report.add(
            code,
            message,
            spot=found,
            file=self.origins.file,
            path=slot.path_text if slot is not None else "",
            help=help,
            labels=labels,
            severity=severity,
        )
