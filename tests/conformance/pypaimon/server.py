"""Answers questions with the real pypaimon, which lives in an environment of its own: it pins an old pyarrow.

Shape: one JSON object a line in, one out; Arrow data as a base64 IPC stream. It imports nothing of this project.
"""

import base64
import contextlib
import io
import json
import sys
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pypaimon import CatalogFactory, Schema
from pypaimon.casting.data_type_casts import can_execute_cast, supports_cast
from pypaimon.common.json_util import JSON
from pypaimon.schema.data_types import DataTypeParser, PyarrowFieldParser
from pypaimon.schema.schema_change import Move, MoveType, SchemaChange
from pypaimon.schema.table_schema import TableSchema

Json = dict[str, Any]


def parse(question: Json) -> Json:
    """What pypaimon understands of schema files: its own file of each, and the Arrow schema."""
    found = []
    for text in question["texts"]:
        table = TableSchema.from_json(text)
        try:
            arrow: Any = _packed(PyarrowFieldParser.from_paimon_schema(table.fields).empty_table())
        except Exception as error:  # noqa: BLE001 — whatever it raises is the answer
            arrow = {"error": str(error)}
        found.append({"file": JSON.to_json(table), "arrow": arrow})
    return {"tables": found}


def create(question: Json) -> Json:
    """The schema file that pypaimon writes for a new table with these columns."""
    catalog = CatalogFactory.create({"warehouse": question["warehouse"]})
    catalog.create_database("db", True)
    schema = _unpacked(question["arrow"]).schema
    keys = {"primary_keys": question.get("primary"), "partition_keys": question.get("partition")}
    made = Schema.from_pyarrow_schema(schema, **keys, options=question.get("options", {}), comment=None)
    catalog.create_table(f"db.{question['table']}", made, False)
    return {}


def add_columns(question: Json) -> Json:
    """A new version of a table's schema, with columns or members at paths."""
    catalog = CatalogFactory.create({"warehouse": question["warehouse"]})
    changes = [
        SchemaChange.add_column(path, DataTypeParser.parse_data_type(type_), None, None)
        for path, type_ in question["columns"]
    ]
    catalog.alter_table(f"db.{question['table']}", changes, False)
    return {}


def alter(question: Json) -> Json:
    """A new version of a table's schema by operations in the form of the REST catalog."""
    catalog = CatalogFactory.create({"warehouse": question["warehouse"]})
    changes = [_CHANGES[change["action"]](change) for change in question["changes"]]
    catalog.alter_table(f"db.{question['table']}", changes, False)
    return {}


def _move(tree: Json | None) -> Any:
    if tree is None:
        return None
    return Move(tree["fieldName"], tree["referenceFieldName"], MoveType[tree["type"]])


_CHANGES: dict[str, Callable[[Json], Any]] = {
    "addColumn": lambda c: SchemaChange.add_column(
        c["fieldNames"], DataTypeParser.parse_data_type(c["dataType"]), c["comment"], _move(c["move"])
    ),
    "renameColumn": lambda c: SchemaChange.rename_column(c["fieldNames"], c["newName"]),
    "dropColumn": lambda c: SchemaChange.drop_column(c["fieldNames"]),
    "updateColumnType": lambda c: SchemaChange.update_column_type(
        c["fieldNames"], DataTypeParser.parse_data_type(c["newDataType"]), c["keepNullability"]
    ),
    "updateColumnNullability": lambda c: SchemaChange.update_column_nullability(
        c["fieldNames"], c["newNullability"]
    ),
    "updateColumnComment": lambda c: SchemaChange.update_column_comment(c["fieldNames"], c["newComment"]),
    "updateColumnDefaultValue": lambda c: SchemaChange.update_column_default_value(
        c["fieldNames"], c["newDefaultValue"]
    ),
    "updateColumnPosition": lambda c: SchemaChange.update_column_position(_move(c["move"])),
    "setOption": lambda c: SchemaChange.set_option(c["key"], c["value"]),
    "removeOption": lambda c: SchemaChange.remove_option(c["key"]),
    "updateComment": lambda c: SchemaChange.update_comment(c["comment"]),
}


def casts(question: Json) -> Json:
    """For every pair of types: whether a cast is implicit, explicit, and whether pyarrow has one."""
    types = [DataTypeParser.parse_data_type(text) for text in question["types"]]
    found = [
        [supports_cast(a, b, False), supports_cast(a, b, True), can_execute_cast(a, b)]
        for a in types
        for b in types
    ]
    return {"casts": found}


def describe(question: Json) -> Json:
    """The Arrow schema of a table that stands in a warehouse."""
    return {"arrow": _packed(_arrow_schema(_table(question)).empty_table())}


def write(question: Json) -> Json:
    """Append, or upsert where there is a primary key."""
    table = _table(question)
    builder = table.new_batch_write_builder()
    writer, commit = builder.new_write(), builder.new_commit()
    rows = _unpacked(question["arrow"])
    writer.write_arrow(pa.Table.from_arrays(rows.columns, schema=_arrow_schema(table)))
    commit.commit(writer.prepare_commit())
    writer.close()
    commit.close()
    return {}


def read(question: Json) -> Json:
    """All rows of a table."""
    builder = _table(question).new_read_builder()
    return {"arrow": _packed(builder.new_read().to_arrow(builder.new_scan().plan().splits()))}


def _table(question: Json) -> Any:
    catalog = CatalogFactory.create({"warehouse": question["warehouse"]})
    return catalog.get_table(f"db.{question['table']}")


def _arrow_schema(table: Any) -> Any:
    return PyarrowFieldParser.from_paimon_schema(table.fields)


def _packed(table: Any) -> str:
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    return base64.b64encode(stream.getvalue()).decode()


def _unpacked(text: str) -> Any:
    return pa.ipc.open_stream(base64.b64decode(text)).read_all()


ANSWERS: dict[str, Callable[[Json], Json]] = {
    "parse": parse,
    "create": create,
    "add_columns": add_columns,
    "alter": alter,
    "casts": casts,
    "describe": describe,
    "write": write,
    "read": read,
}


def main() -> None:
    """Answer until there are no more questions; what the library prints goes elsewhere."""
    answers = sys.stdout
    for line in sys.stdin:
        question = json.loads(line)
        with contextlib.redirect_stdout(sys.stderr):
            try:
                answer = ANSWERS[question["do"]](question)
            except Exception as error:  # noqa: BLE001 — whatever it raises is the answer
                answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
