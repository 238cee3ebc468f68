"""Spark: the DDL of tables, a script with CREATE TABLE statements or a bare list of columns.

Layer: engines.
Shape: columns become a StructType in its JSON form, which `schemac.engines.spark.reader` reads; the table properties that lance-spark
      knows become metadata of their columns or the storage version, the primary key and Paimon's partition keys become attributes, all
      other properties `spark.apache.org/tableProperties`, or Paimon's options where the table is Paimon's.
Units: The words of an SQL text: places are zero-based and half-open, in code points of the text.
Errors: SC551 unsupported-arrow-type, SC552 unreadable-source at the very word; raises MalformedError for a quote without end.
Source: SqlBaseParser.g4 of Spark 4 (`dataType`) and the table properties of lance-spark. As in Spark 4.3, columns of a primary key may
      not be null.
      The tokenizer of sqlglot for Spark, which knows its quotes, escapes and comments.
"""

import re
from functools import partial
from pathlib import Path
from typing import Any

from schemac.arrow.from_arrow import field_attributes
from schemac.engines.spark import columns as lance_spark
from schemac.engines.spark.attributes import TABLE_PROPERTIES
from schemac.engines.spark.columns import storage_attribute
from schemac.engines.spark.ddl_statement import CreateTable, read_script
from schemac.engines.spark.reader import from_struct_type
from schemac.importers import importer
from schemac.language.attributes import arrow
from schemac.language.attributes.attribute import Role
from schemac.language.attributes.builtin import DESCRIPTION
from schemac.language.attributes.registry import roles
from schemac.language.kinds.sequences import String
from schemac.language.logical.model import FieldPath, Part
from schemac.registry.engine import engines
from schemac.text.source.diagnostics import Located, Report
from schemac.text.source.json_object import Json
from schemac.text.syntax.type_text import ColumnText, MalformedTypeError, TypeText, TypeWord

_TOKEN = re.compile(r"\w+|\S")


def split_words(text: str) -> list[TypeWord]:
    """Return all words of an SQL text, without comments. Raises MalformedTypeError."""
    from schemac.engines.sql_script import SqlScript  # which loads sqlglot, an extra that may not be there

    words: list[TypeWord] = []
    for token in SqlScript("spark", str).tokens(text):
        start, end = token.start, token.end + 1
        is_text = token.token_type.name in ("STRING", "RAW_STRING")
        if is_text or text[start] == "`":
            words.append(TypeWord(token.text, is_quoted=True, is_text=is_text, start=start, end=end))
            continue
        # Some words come together, such as PRIMARY KEY or <>.
        words += [
            TypeWord(m[0], is_quoted=False, is_text=False, start=m.start(), end=m.end())
            for m in _TOKEN.finditer(text, start, end)
        ]
    return words


_ATOMIC = {
    "tinyint": "byte",
    "smallint": "short",
    "int": "integer",
    "bigint": "long",
    "real": "float",
    **dict.fromkeys(("dec", "numeric"), "decimal"),
    "character": "char",
    "timestamp without time zone": "timestamp_ntz",
    **dict.fromkeys(("timestamp with time zone", "timestamp with local time zone"), "timestamp"),
    **{f"time {zone} time zone": "time" for zone in ("without", "with", "with local")},
}
"""JSON's word where it is not DDL's in small letters."""
_PROPERTY_MARKS = {
    **{mark: mark for mark in (lance_spark.VECTOR_SIZE, lance_spark.FLOAT16, lance_spark.BYTE_WIDTH)},
    "arrow.large_var_char": lance_spark.LARGE_STRING,
    "arrow.large_var_binary": lance_spark.LARGE_BINARY,
    "lance.encoding": lance_spark.BLOB,
    **{f"lance.{name}": lance_spark.ENCODING_PREFIX + name for name in lance_spark.ENCODINGS},
}
"""Keys in a column's metadata by what follows the column's name in a table property."""


_NAME = "ddl"


def read(path: Path, report: Report) -> importer.ImportedSchema | None:
    """Return the schemas of a file with statements."""
    return from_ddl(importer.script_text(path), str(path), report)


def from_ddl(text: str, file: str, report: Report) -> importer.ImportedSchema | None:
    """Return the schemas of CREATE TABLE statements, or of a list of columns as `StructType.fromDDL` takes it."""
    source = importer.script_source(text, file)
    try:
        tables = read_script(split_words(source.content), source.content)
    except MalformedTypeError as error:
        formats = [format for engine in engines() for format in engine.formats]
        others = [one.name for one in formats if ".sql" in one.suffixes and one.name != _NAME]
        place = Located(source, error.span)
        help = f"it is read as DDL of Spark; for another dialect, add --from {', --from '.join(others)}"
        raise importer.UnreadableSourceError(str(error), place, help=help) from error
    names = importer.script_names(tables, source)
    datasets = [
        importer.read_or_report(partial(_imported, table, name, file, report), file, report)
        for table, name in zip(tables, names, strict=True)
    ]
    whole = [imported for imported in datasets if imported is not None]
    return importer.together(whole) if len(whole) == len(datasets) else None


def _imported(table: CreateTable, name: str | None, file: str, report: Report) -> importer.ImportedSchema:
    """Return a table as a dataset; columns without a kind are in the report."""
    notes = importer.ImportNotes()
    # Spark makes the columns of a key required, whatever the case of their names in it.
    folded_key = {name.casefold() for name in table.key}
    columns = [
        _column(c._replace(is_required=True) if c.name.casefold() in folded_key else c, (), notes)
        for c in table.columns
    ]
    head = list(table.head)
    if len(table.name) > 2:
        head.append(f"from the table {'.'.join(table.name)}")
    words = next((roles(engine.domain) for engine in engines() if engine.name == table.provider), {})
    key, partition = words.get(Role.PRIMARY_KEY), words.get(Role.PARTITION_KEY)
    extra: Json = {key.key: _as_declared(table.key, table)} if key is not None and table.key else {}
    if key is None and not _mark_key(table, columns):
        head.append(f"not kept: PRIMARY KEY ({', '.join(table.key)})")
    rest = _move_properties(columns, table.properties)
    if stored := storage_attribute(rest.get(lance_spark.FILE_FORMAT_VERSION)):
        extra |= stored
        del rest[lance_spark.FILE_FORMAT_VERSION]
    imported = from_struct_type({"type": "struct", "fields": columns}, file, report, notes)
    if table.comment is not None:
        extra[DESCRIPTION.key] = table.comment
    if table.partitions and partition is not None:
        extra[partition.key] = _as_declared(table.partitions, table)
    elif table.partitions:
        # Such an attribute is of one engine, and would hold a table of another to the limits of that engine.
        head.append(f"not kept: PARTITIONED BY ({', '.join(table.partitions)})")
    if rest:
        extra[words.get(Role.OPTIONS, TABLE_PROPERTIES).key] = rest
    tree = {**imported.schema, **({"extra": extra} if extra else {})}
    return importer.ImportedSchema(tree, tuple(head), name, imported.notes)


def _as_declared(names: tuple[str, ...], table: CreateTable) -> list[str]:
    """Return names as the columns are written; Spark ignores case."""
    by_folded = {column.name.casefold(): column.name for column in table.columns}
    return [by_folded.get(name.casefold(), name) for name in names]


def _mark_key(table: CreateTable, columns: list[Json]) -> bool:
    """Mark the columns of the key, and return True; mark none and return False if one of them cannot be in a key of Lance."""
    by_name = {column["name"].casefold(): column for column in columns}
    key = [by_name[name.casefold()] for name in table.key if name.casefold() in by_name]
    if len(key) < len(table.key) or any(isinstance(column["type"], dict) for column in key):
        return False
    for position, column in enumerate(key, start=1):
        position_mark = {lance_spark.PRIMARY_KEY_POSITION: str(position)}
        column["metadata"] |= {lance_spark.PRIMARY_KEY: "true", **position_mark}
    return True


def _column(column: ColumnText, holder: FieldPath, notes: importer.ImportNotes) -> Json:
    """Return a column in the JSON form of Spark's StructField; note clauses that are lost."""
    path = (*holder, column.name)
    for text in column.others:
        notes.add(path, f"not kept: {text}")
    metadata = {} if column.comment is None else {"comment": column.comment}
    type_ = _type(column.type, path, notes)
    return {"name": column.name, "type": type_, "nullable": not column.is_required, "metadata": metadata}


def _type(written: TypeText, path: FieldPath, notes: importer.ImportNotes) -> Any:
    """Return a type as Spark's JSON has it."""
    if written.head == "struct":
        return {"type": "struct", "fields": [_column(member, path, notes) for member in written.arguments]}
    if written.head == "array":
        notes.add(path, "DDL cannot express whether items may be null")
        item = _type(written.types[0], (*path, Part.ITEM), notes)
        return {"type": "array", "elementType": item, "containsNull": True}
    if written.head == "map":
        notes.add(path, "DDL cannot express whether values may be null")
        key = _type(written.types[0], (*path, Part.KEY), notes)
        value = _type(written.types[1], (*path, Part.VALUE), notes)
        return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}
    name = _ATOMIC.get(written.head, written.head)
    parameters = [parameter.head for parameter in written.types]
    # A decimal's scale may be left out in DDL alone.
    if name == "decimal" and len(parameters) == 1:
        parameters.append("0")
    return f"{name}({','.join(parameters)})" if written.bracket else name


def _move_properties(columns: list[Json], properties: dict[str, str]) -> dict[str, str]:
    """Move lance-spark's properties about columns into their metadata; return the other properties."""
    rest = dict(properties)
    for column in columns:
        keys = {mark: f"{column['name']}.{suffix}" for suffix, mark in _PROPERTY_MARKS.items()}
        marks = {mark: rest[key] for mark, key in keys.items() if key in rest}
        metadata = _valid_marks(marks, column["type"])
        column["metadata"].update(metadata)
        for mark in metadata:
            del rest[keys[mark]]
    return rest


def _valid_marks(marks: dict[str, str], type_: Any) -> Json:
    """Return the marks that mean something for a type; lance-spark refuses or ignores the others."""
    accepted: Json = {}
    is_of_floats = isinstance(type_, dict) and type_.get("elementType") in ("float", "double")
    if is_of_floats and _is_length(marks.get(lance_spark.VECTOR_SIZE)):
        accepted[lance_spark.VECTOR_SIZE] = int(marks[lance_spark.VECTOR_SIZE])
        if marks.get(lance_spark.FLOAT16) == "true" and type_["elementType"] == "float":
            accepted[lance_spark.FLOAT16] = "true"
    if type_ == "binary":
        if marks.get(lance_spark.BLOB) == "blob":
            accepted[lance_spark.BLOB] = "true"
        elif _is_length(marks.get(lance_spark.BYTE_WIDTH)):
            accepted[lance_spark.BYTE_WIDTH] = int(marks[lance_spark.BYTE_WIDTH])
        elif marks.get(lance_spark.LARGE_BINARY) == "true":
            accepted[lance_spark.LARGE_BINARY] = "true"
    is_text = isinstance(type_, str) and type_.startswith(("string", "varchar(", "char(", "variant"))
    if is_text and marks.get(lance_spark.LARGE_STRING) == "true":
        accepted[lance_spark.LARGE_STRING] = "true"
    of_encoding = [lance_spark.ENCODING_PREFIX + name for name in lance_spark.ENCODINGS]
    encoding = {mark: marks[mark] for mark in of_encoding if mark in marks}
    # Only what is an attribute in whole; the rest would come back as metadata that nobody checks.
    is_whole = arrow.METADATA.key not in field_attributes(encoding, String.__name__)
    return {**accepted, **encoding} if is_whole else accepted


def _is_length(text: str | None) -> bool:
    return text is not None and re.fullmatch(r"[1-9][0-9]{0,9}", text) is not None and int(text) < 2**31


IMPORTER = importer.Importer(_NAME, "Spark DDL: CREATE TABLE, or a list of columns", read, from_ddl)
