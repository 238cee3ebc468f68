"""Options and types as a whole.

Layer: checks.
Errors: SC304 nested-option, and what each kind says of itself.
"""

from schemac.logical.checked import Checked
from schemac.logical.findings import Findings
from schemac.logical.slots import Slot
from schemac.source.catalogue import NESTED_OPTION
from schemac.syntax.remedies import Unwrap


def check_type(slot: Slot, findings: Findings) -> None:
    """One Option at most, and the kind's own rules."""
    if len(slot.options) > 1:
        findings.at_option(
            slot,
            1,
            NESTED_OPTION,
            f"{slot.path_text} is an Option inside an Option",
            help=Unwrap.part("keep the outer Option only", is_safe=True),
        )
    if isinstance(slot.type, Checked):
        slot.type.check(slot, findings)
