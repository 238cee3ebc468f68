"""Whether arrays of one layout are cast to another.

Layer: evolution.
Source: `pyarrow.dataset`, asked with every pair of layouts (`tests/conformance/test_verdicts.py`).
"""

from schemac.attributes.arrow import read_hints
from schemac.attributes.family import Family
from schemac.logical.schema_fields import SchemaField

_BYTES = (Family.TEXT, Family.BYTES)


def missing_cast(old: SchemaField, new: SchemaField) -> str:
    """Which cast pyarrow lacks between two layouts; empty if it has the one in question."""
    before, after = read_hints(old.extra), read_hints(new.extra)
    had_view = before.buffer is not None and before.buffer.kind == "View"
    has_view = after.buffer is not None and after.buffer.kind == "View"
    if Family.LIST in (old.type.family, new.type.family) and (had_view or has_view):
        # Out of views it makes lists, but loses the last one, and says nothing.
        return "pyarrow cannot cast between lists and list views"
    if before.dictionary is None and after.dictionary is not None:
        is_cast = old.type.family in _BYTES and new.type.family in _BYTES and not had_view
        return "" if is_cast else "pyarrow can make dictionaries only of contiguous texts and bytes"
    if before.dictionary is not None and after.dictionary is None and (had_view or has_view):
        return "pyarrow cannot cast between dictionaries and views"
    return ""
