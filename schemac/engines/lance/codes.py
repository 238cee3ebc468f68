"""The diagnostics of Lance; each has a page in `pages/`.

Layer: engines.
"""

from schemac.source.code import Code, Severity

LANCE_TYPE = Code("SC501", "lance-type", Severity.ERROR, "a type that Lance cannot store")
LANCE_NAME = Code("SC502", "lance-name", Severity.ERROR, "a field name that Lance does not allow")
LANCE_NAME_RISK = Code(
    "SC503", "lance-name-risk", Severity.WARNING, "a field name that Lance accepts but that causes problems"
)
LANCE_STORAGE_VERSION = Code(
    "SC504", "lance-storage-version", Severity.ERROR, "a type that needs a newer storage version"
)
LANCE_STRUCTURE = Code(
    "SC505", "lance-structure", Severity.ERROR, "a structure that Lance accepts but cannot read back"
)
LANCE_READ_RISK = Code(
    "SC506", "lance-read-risk", Severity.WARNING, "a structure that Lance reads only partly"
)
LANCE_UNSTABLE_VERSION = Code(
    "SC507", "lance-unstable-version", Severity.WARNING, "a storage version that is not for production"
)
LANCE_LOSS = Code("SC511", "lance-loss", Severity.NOTE, "something that Lance does not keep")
LANCE_NULL_VECTOR = Code(
    "SC554", "lance-null-vector", Severity.NOTE, "a nullable vector with non-nullable items"
)
CODES = (
    LANCE_TYPE,
    LANCE_NAME,
    LANCE_NAME_RISK,
    LANCE_STORAGE_VERSION,
    LANCE_STRUCTURE,
    LANCE_READ_RISK,
    LANCE_UNSTABLE_VERSION,
    LANCE_LOSS,
    LANCE_NULL_VECTOR,
)
"""By number."""
