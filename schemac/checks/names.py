"""Names of fields.

Layer: checks.
Errors: SC301 duplicate-field-name, SC302 empty-field-name, SC303 case-collision, SC322 control-character.
Source: Arrow's C data interface, which Lance reads through, ends a name at the first NUL.
"""

import re
from collections.abc import Sequence

from schemac.logical.findings import Findings, Other
from schemac.logical.schema_fields import SchemaField
from schemac.registry.engine import Trait
from schemac.registry.installed import with_trait
from schemac.source.catalogue import (
    CASE_COLLISION,
    CONTROL_CHARACTER,
    DUPLICATE_FIELD_NAME,
    EMPTY_FIELD_NAME,
)
from schemac.source.help import Help
from schemac.source.listing import listed

# Line ends and tabs come from headers of spreadsheets; all engines hold them.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def check_names(siblings: Sequence[SchemaField], findings: Findings) -> None:
    """Members of one struct, or the columns, have distinct names that are not blank."""
    by_name: dict[str, SchemaField] = {}
    by_folded: dict[str, SchemaField] = {}
    for field in siblings:
        name = str(field.segment)
        if not name.strip():
            findings.at_name(field, EMPTY_FIELD_NAME, "a field has no name", help="give it a name")
            continue
        if not name.isprintable() and (control := _CONTROL.search(name)):
            character = f"U+{ord(control.group()):04X}"
            message = f"a name may not contain the control character {character}"
            findings.at_name(field, CONTROL_CHARACTER, message, help=Help.remove_character(control.group()))
        first = by_name.setdefault(name, field)
        if first is not field:
            findings.at_name(
                field,
                DUPLICATE_FIELD_NAME,
                f"the name '{name}' is used twice",
                other=Other(first, "first used here"),
                help="rename one of the two",
            )
            continue
        duplicate = by_folded.setdefault(name.casefold(), field)
        if duplicate is not field:
            findings.at_name(
                field,
                CASE_COLLISION,
                f"'{name}' and '{duplicate.segment}' differ only in case, which"
                f" {listed([*with_trait(Trait.IGNORES_CASE), 'SQL'])} ignore",
                other=Other(duplicate, "the other one"),
                help="rename one of the two",
            )
