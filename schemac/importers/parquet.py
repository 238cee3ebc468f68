"""Parquet: the Arrow schema that the file keeps, or what its own types mean.

Floor: 7 (importers).
"""

from pathlib import Path

from schemac.importers.importer import Imported, Importer, refuse
from schemac.lifting.lift import lift
from schemac.physical.arrow import pa
from schemac.source.report import Report

_FIELD_ID = b"PARQUET:field_id"


def read(path: Path, report: Report) -> Imported | None:
    """The schema of a Parquet file; of a folder, that of its first file."""
    # Imported here for start-up time: this part of pyarrow is not loaded with it.
    from pyarrow import parquet

    file = next((p for p in sorted(path.rglob("*.parquet")) if p.is_file()), None) if path.is_dir() else path
    if file is None:
        refuse(path, "no Parquet file lies in this folder", report)
        return None
    try:
        schema = parquet.read_schema(file)
    except pa.ArrowException as error:
        refuse(file, f"it is no Parquet file: {str(error).splitlines()[0].lower()}", report)
        return None
    return Imported(lift(_without_additions(schema), str(path), report))


def _without_additions(schema: "pa.Schema") -> "pa.Schema":
    """The schema without what Parquet's reader adds at every level.

    That is field numbers, and `element` as the name of a list's item, which Parquet prescribes.
    """

    def field(f: "pa.Field") -> "pa.Field":
        metadata = {k: v for k, v in (f.metadata or {}).items() if k != _FIELD_ID}
        return pa.field(f.name, type_of(f.type), f.nullable, metadata or None)

    def type_of(t: "pa.DataType") -> "pa.DataType":
        if pa.types.is_struct(t):
            return pa.struct([field(member) for member in t])
        if pa.types.is_map(t):
            return pa.map_(field(t.key_field), field(t.item_field), t.keys_sorted)
        if pa.types.is_fixed_size_list(t):
            return pa.list_(item(t.value_field), t.list_size)
        if pa.types.is_large_list(t):
            return pa.large_list(item(t.value_field))
        return pa.list_(item(t.value_field)) if pa.types.is_list(t) else t

    def item(f: "pa.Field") -> "pa.Field":
        return field(f.with_name("item") if f.name == "element" else f)

    return pa.schema([field(f) for f in schema], schema.metadata)


IMPORTER = Importer("parquet", "Parquet file, or a folder of them", read)
