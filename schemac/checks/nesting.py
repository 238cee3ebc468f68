"""Options and types as a whole.

Layer: checks.
Errors: SC304 nested-option, and what each kind says of itself.
"""

from schemac.logical.checked import Checked
from schemac.logical.findings import Findings
from schemac.logical.schema_fields import SchemaField
from schemac.source.catalogue import NESTED_OPTION
from schemac.source.help import Help


def check_type(field: SchemaField, findings: Findings) -> None:
    """One Option at most, and the kind's own rules."""
    if len(field.options) > 1:
        findings.at_option(
            field,
            1,
            NESTED_OPTION,
            f"{field.path_text} is an Option inside an Option",
            help=Help.unwrap("keep the outer Option only", is_safe=True),
        )
    if isinstance(field.type, Checked):
        field.type.check(field, findings)
