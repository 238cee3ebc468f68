"""Primary keys of sources.

Layer: importers.
"""

from collections.abc import Sequence

from schemac.attributes.attribute import Role
from schemac.attributes.family import Family
from schemac.attributes.registry import of_role
from schemac.kinds.option import Option
from schemac.kinds.registry import BY_NAME
from schemac.source.json_object import Json

_UNKEYED = frozenset({Family.STRUCT, Family.LIST, Family.MAP})


def mark_key(tree: Json, names: Sequence[str]) -> bool:
    """Mark the columns of a key in a schema in the standard's long form; where one of them cannot be in a key, none is marked."""
    by_name = {field["name"]: field for field in tree["fields"]}
    fields = [by_name.get(name) for name in names]
    for field in fields:
        if field is None or field["type"]["kind"] == Option.__name__:
            return False
        if BY_NAME[field["type"]["kind"]].family in _UNKEYED:
            return False
    for attribute in of_role(Role.KEY_PART):
        for position, field in enumerate(fields, start=1):
            assert field is not None
            field["extra"] = {**field.get("extra", {}), attribute.key: {"position": position}}
    return True
