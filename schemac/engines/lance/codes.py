"""The diagnostics of Lance; each has a page in `pages/`.

Layer: engines.
"""

from schemac.text.source.code import codes_in, error, note, warning

# fmt: off
LANCE_TYPE = error("SC501", "lance-type", "a type that Lance cannot store")
LANCE_NAME = error("SC502", "lance-name", "a field name that Lance does not allow")
LANCE_NAME_RISK = warning("SC503", "lance-name-risk", "a field name that Lance accepts but that causes problems")
LANCE_STORAGE_VERSION = error("SC504", "lance-storage-version", "a type that needs a newer storage version")
LANCE_STRUCTURE = error("SC505", "lance-structure", "a structure that Lance accepts but cannot read back")
LANCE_READ_RISK = warning("SC506", "lance-read-risk", "a structure that Lance reads only partly")
LANCE_UNSTABLE_VERSION = warning("SC507", "lance-unstable-version", "a storage version that is not for production")
LANCE_LOSS = note("SC511", "lance-loss", "something that Lance does not keep")
LANCE_NULL_VECTOR = note("SC554", "lance-null-vector", "a nullable vector with non-nullable items")
CODES = codes_in(globals())
"""By number."""
