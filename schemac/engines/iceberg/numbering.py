"""Ids as Iceberg gives them to a new table.

Layer: engines.
Source: `TypeUtil.assignFreshIds` of Java and `assign_fresh_schema_ids` of pyiceberg: all fields of one level, then what is
below each. CREATE TABLE and `create_table` number so, whatever ids a schema has.
"""

from schemac.engines.iceberg.types import IcebergSchema, NestedField


def fresh_ids(schema: IcebergSchema) -> dict[int, int]:
    """Return the id of each field in a new table, by the id that it has here."""
    new_ids: dict[int, int] = {}

    def number(fields: tuple[NestedField, ...]) -> None:
        for field in fields:
            new_ids[field.id] = len(new_ids) + 1
        for field in fields:
            number(field.type.fields)

    number(schema.columns)
    return new_ids
