"""What a change means for an engine.

Layer: versions. Values only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from schemac.text.source.catalogue import BREAKS_OLD_READERS, DEPENDS_ON_DATA, NEEDS_REWRITE, REFUSED_CHANGE
from schemac.text.source.diagnostic import Code
from schemac.text.source.json_object import Json
from schemac.versions.evolution.changes import Change


class Outcome(StrEnum):
    """From the lightest to the gravest."""

    SAFE = "safe"
    """Nothing has to be done."""
    METADATA = "metadata only"
    """The schema is written anew, no data is touched."""
    NEW_FILES = "new files only"
    """Takes effect in files that are written from now on."""
    REWRITE = "rewrite"
    """Stored data has to be written anew."""
    DATA = "depends on data"
    """Possible if the stored values allow it; a query tells."""
    REFUSED = "refused"
    """The engine does not do it, or what it does would break the table."""

    @property
    def rank(self) -> int:
        """The position in the order of gravity, 0 for the lightest."""
        return list(Outcome).index(self)


class Judgement(NamedTuple):
    """An outcome with its reason, and what can be done about it."""

    outcome: Outcome
    reason: str = ""
    way_out: str = ""


OF_DATA: Mapping[Outcome, Code] = {
    Outcome.REFUSED: REFUSED_CHANGE,
    Outcome.DATA: DEPENDS_ON_DATA,
    Outcome.REWRITE: NEEDS_REWRITE,
}
"""Codes of what a change means for stored data; the lighter outcomes are no findings."""
OF_READERS: Mapping[Outcome, Code] = {Outcome.REFUSED: BREAKS_OLD_READERS, Outcome.DATA: DEPENDS_ON_DATA}
"""Codes of what it means for programs that still have the old schema."""

SAFE = Judgement(Outcome.SAFE)
METADATA = Judgement(Outcome.METADATA)
NO_VERDICT = Judgement(
    Outcome.REFUSED,
    "no verdict is known for this change",
    "make the change in a new field, and drop the old one when it is no longer needed",
)
"""What nobody thought of is refused, never safe."""


def of_another_unit(change: Change, _pair: object, otherwise: Judgement = METADATA) -> Judgement:
    """Return the judgement of a change of unit, the same for every engine that stores numbers; `otherwise` if one side has no unit."""
    if change.old is None or change.new is None:
        return otherwise
    return Judgement(
        Outcome.REFUSED,
        f"stored numbers are in {change.old}, and nothing converts them to {change.new}",
        "add a new field with the new unit, fill it, then drop the old one",
    )


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of one engine on one change, for old data and for old readers of new data."""

    change: Change
    engine: str
    old_data: Judgement
    """Stored data under the new schema: what it takes until new readers can read it."""
    old_readers: Judgement
    """Programs that still have the old schema, reading what is written from now on."""

    @property
    def outcome(self) -> Outcome:
        """The graver of the two."""
        return max(self.old_data.outcome, self.old_readers.outcome, key=lambda outcome: outcome.rank)

    @property
    def rule(self) -> str:
        """A stable name for the rule: `lance.became-required`."""
        return f"{self.engine}.{self.change.fact}"

    def to_json(self) -> Json:
        """Return the verdict for programs."""
        return {
            **self.change.to_json(),
            "engine": self.engine,
            "oldData": _json(self.old_data, OF_DATA),
            "oldReaders": _json(self.old_readers, OF_READERS),
            "rule": self.rule,
        }


def _json(judgement: Judgement, codes: Mapping[Outcome, Code]) -> dict[str, str | None]:
    code = codes.get(judgement.outcome)
    return {
        "code": code.id if code else None,
        "outcome": str(judgement.outcome),
        "reason": judgement.reason,
        "wayOut": judgement.way_out,
    }
