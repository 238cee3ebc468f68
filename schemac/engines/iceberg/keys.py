"""The fields that identify a row.

Layer: engines.
Shape: those that `iceberg.apache.org/identifierFields` names, else the primary key that the schema has for another engine.
Errors: SC583.
Source: the Iceberg table specification, "Identifier Field IDs": required, neither float nor double, and not inside a list,
a map or an optional struct.
"""

from collections.abc import Iterator, Mapping

from schemac.artifacts.emission import Emission
from schemac.attributes.family import Family
from schemac.engines.iceberg import attributes
from schemac.engines.iceberg.codes import ICEBERG_KEY
from schemac.engines.iceberg.types import NestedField
from schemac.logical.dataset import LogicalDataset
from schemac.logical.keys import named_key, primary_key
from schemac.logical.schema_fields import SchemaField, preorder
from schemac.source.help import Help
from schemac.source.suggest import closest


def identifier_ids(
    dataset: LogicalDataset, fields: Mapping[SchemaField, NestedField], emission: Emission
) -> tuple[int, ...]:
    """Ids of the identifier fields, in rising order; what is wrong with them is in the emission."""
    extra = dataset.schema.extra
    named = attributes.IDENTIFIER_FIELDS.read(extra)
    if named is not None:
        return tuple(sorted(_declared(dataset, named, fields, emission)))
    ids: list[int] = []
    for field in primary_key(dataset.columns) or named_key(dataset):
        reason = _identifier_error(field, fields)
        if reason:
            emission.lose(field, "a part of the primary key", f"no identifier field: {reason}")
            # Half of a key identifies nothing.
            return ()
        ids.append(fields[field].id)
    return tuple(sorted(ids))


def _declared(
    dataset: LogicalDataset, named: list[str], fields: Mapping[SchemaField, NestedField], emission: Emission
) -> Iterator[int]:
    schema_fields = {field.path_text: field for field in preorder(dataset.columns)}
    for i, name in enumerate(named):
        location = ("extra", attributes.IDENTIFIER_FIELDS.key, i)
        field = schema_fields.get(name)
        if field is None:
            near = closest(name, list(schema_fields))
            help = (
                Help.did_you_mean(near, name, mark="'")
                if near
                else "specify a field by its path, such as `address.city`"
            )
            emission.findings.at_schema(ICEBERG_KEY, f"there is no field '{name}'", *location, help=help)
            continue
        reason = _identifier_error(field, fields)
        if reason:
            message = f"{name} cannot identify rows: {reason}"
            emission.findings.at_schema(
                ICEBERG_KEY,
                message,
                *location,
                help=Help.remove(help="name other fields, or remove it", is_safe=False),
            )
            continue
        yield fields[field].id


def _identifier_error(schema_field: SchemaField, fields: Mapping[SchemaField, NestedField]) -> str:
    """Why a field cannot identify a row; empty if it can."""
    field = fields.get(schema_field)
    if field is None or field.type.fields or field.type.word in ("variant", "unknown"):
        return "it is not a plain value"
    if field.type.word in ("float", "double"):
        return f"Iceberg does not allow {field.type.word} here"
    for above in (schema_field, *schema_field.ancestors):
        if above.type.family in (Family.LIST, Family.MAP):
            return f"it is inside the {above.type.kind.lower()} {above.path_text}"
        if above.is_nullable:
            return f"{above.path_text} may be null"
    return ""
