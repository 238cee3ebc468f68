"""Names of fields.

Layer: checks.
Errors: SC301 duplicate-field-name, SC302 empty-field-name, SC303 case-collision, SC322 control-character.
Source: Arrow's C data interface, on which Lance's way in stands, ends a name at the first NUL.
"""

import re
from collections.abc import Sequence

from schemac.logical.findings import Findings, Other
from schemac.logical.slots import Slot
from schemac.registry.engine import Trait
from schemac.registry.installed import with_trait
from schemac.source.catalogue import (
    CASE_COLLISION,
    CONTROL_CHARACTER,
    DUPLICATE_FIELD_NAME,
    EMPTY_FIELD_NAME,
)
from schemac.source.listing import listed
from schemac.syntax.remedies_within import DropCharacter

# Line ends and tabs come from headers of spreadsheets; all engines hold them.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def check_names(siblings: Sequence[Slot], findings: Findings) -> None:
    """Members of one struct, or the columns, have distinct names that are not blank."""
    by_name: dict[str, Slot] = {}
    by_folded: dict[str, Slot] = {}
    for slot in siblings:
        name = str(slot.segment)
        if not name.strip():
            findings.at_name(slot, EMPTY_FIELD_NAME, "a field has no name", help="give it a name")
            continue
        if not name.isprintable() and (control := _CONTROL.search(name)):
            character = f"U+{ord(control.group()):04X}"
            message = f"a name may not contain the control character {character}"
            findings.at_name(slot, CONTROL_CHARACTER, message, help=DropCharacter.of(control.group()))
        first = by_name.setdefault(name, slot)
        if first is not slot:
            findings.at_name(
                slot,
                DUPLICATE_FIELD_NAME,
                f"the name '{name}' is used twice",
                other=Other(first, "first used here"),
                help="rename one of the two",
            )
            continue
        twin = by_folded.setdefault(name.casefold(), slot)
        if twin is not slot:
            findings.at_name(
                slot,
                CASE_COLLISION,
                f"'{name}' and '{twin.segment}' differ only in case, which"
                f" {listed([*with_trait(Trait.IGNORES_CASE), 'SQL'])} ignore",
                other=Other(twin, "the other one"),
                help="rename one of the two",
            )
