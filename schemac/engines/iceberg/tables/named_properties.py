"""Table properties that name fields, which have to follow them.

Layer: engines.
Shape: the default name mapping says which field the columns of files without ids are; the properties of columns have a
field's full name at their end. What a schema says of properties itself `schemac rename` follows.
Source: `MappingUtil.update` and `MetricsConfig.updateProperties` of Java, `update_mapping` of pyiceberg.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemac.engines.iceberg.attributes import COLUMNS, OF_COLUMN
from schemac.engines.iceberg.names import NAME_MAPPING, full_name
from schemac.engines.iceberg.types import IcebergSchema, NestedField
from schemac.source.json_object import Json


def followed(
    properties: Mapping[str, str], old: IcebergSchema, new: IcebergSchema, ids: Mapping[int, int]
) -> dict[str, str]:
    """Return the properties for a new schema; `ids` are those of the old schema's fields in the new one's numbering."""
    after = {field.id: full_name(path) for path, field in new.preorder()}
    names = {full_name(path): after.get(ids[field.id]) for path, field in old.preorder()}
    updated: dict[str, str] = {}
    for key, value in properties.items():
        start, of_column, name = key.partition(OF_COLUMN)
        if of_column and name in names:
            name_now = names[name]
            if name_now is not None:
                updated[f"{start}{of_column}{name_now}"] = value
        elif key == COLUMNS:
            listed = [names.get(name.strip(), name.strip()) for name in value.split(",")]
            updated[key] = ",".join(name for name in listed if name is not None)
        elif key == NAME_MAPPING and (mapping := _read(value)) is not None:
            updated[key] = mapping.following(old, new, ids).text
        else:
            updated[key] = value
    return updated


def reassigned_names(
    properties: Mapping[str, str], old: IcebergSchema, new: IcebergSchema, ids: Mapping[int, int]
) -> tuple[str, ...]:
    """Return the names of columns in files without ids that would be those of other fields from now on."""
    mapping = _read(properties.get(NAME_MAPPING, ""))
    return () if mapping is None else mapping.following(old, new, ids).reassigned


def _read(text: str) -> "_NameMapping | None":
    """Return a name mapping; None for what is none."""
    try:
        entries = json.loads(text)
    except ValueError:
        return None
    return _NameMapping(entries) if _are_entries(entries) else None


def _are_entries(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(entry, dict)
        and isinstance(entry.get("names"), list)
        and _are_entries(entry.get("fields", []))
        for entry in value
    )


@dataclass(frozen=True)
class _NameMapping:
    """Names of columns in files, by field."""

    entries: Sequence[Json]
    reassigned: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The mapping as the property has it."""
        return json.dumps(self.entries, ensure_ascii=False)

    def following(self, old: IcebergSchema, new: IcebergSchema, ids: Mapping[int, int]) -> "_NameMapping":
        """Return the mapping with the names of fields that were renamed or added; earlier names stay."""
        names = {ids[field.id]: field.name for _, field in old.preorder()}
        reassigned: list[str] = []

        def level(entries: Sequence[Json], fields: Sequence[NestedField], at: tuple[str, ...]) -> list[Json]:
            by_id = {field.id: field for field in fields}
            ids_by_name = {field.name: field.id for field in fields if names.get(field.id) != field.name}
            updated: list[Json] = []
            for entry in entries:
                id = ids.get(entry["field-id"], entry["field-id"]) if "field-id" in entry else None
                lost = [name for name in entry["names"] if ids_by_name.get(name, id) != id]
                reassigned.extend(full_name((*at, name)) for name in lost)
                remaining = [name for name in entry["names"] if name not in lost]
                field = by_id.get(id) if id is not None else None
                if field is not None and field.name in ids_by_name and field.name not in remaining:
                    remaining.append(field.name)
                below = field.type.fields if field is not None else ()
                inner = level(entry.get("fields", []), below, (*at, field.name if field is not None else "?"))
                changed = {"names": remaining, **({"fields": inner} if inner else {})}
                updated.append({**entry, **({} if id is None else {"field-id": id}), **changed})
            return [*updated, *_entries(field for field in fields if field.id not in names)]

        return _NameMapping(level(self.entries, new.columns, ()), tuple(reassigned))


def _entries(fields: Iterator[NestedField]) -> list[Json]:
    return [
        {
            "field-id": field.id,
            "names": [field.name],
            **({"fields": below} if (below := _entries(iter(field.type.fields))) else {}),
        }
        for field in fields
    ]
