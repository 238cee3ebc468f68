"""Asks Paimon's own Java library about schema files; a script for a Python with JPype, which needs nothing of this package.

Shape: arguments are the jars, joined as a class path is, and the warehouse; each line of the input is a JSON list of a
question and its arguments, each line of the output its answer, or {"error": …}.
"""

import json
import sys
from pathlib import Path
from typing import Any

import jpype


class Catalog:
    """A catalog in a folder."""

    def __init__(self, warehouse: str) -> None:
        options = jpype.JClass("org.apache.paimon.options.Options")()
        options.set("warehouse", f"file://{warehouse}")
        context = jpype.JClass("org.apache.paimon.catalog.CatalogContext").create(options)
        self.catalog = jpype.JClass("org.apache.paimon.catalog.CatalogFactory").createCatalog(context)
        self.catalog.createDatabase("d", True)
        self.warehouse = warehouse

    def version(self) -> str:
        """Which Paimon answers."""
        return str(
            jpype.JClass("org.apache.paimon.catalog.Catalog").class_.getPackage().getImplementationVersion()
        )

    def create(self, name: str, text: str) -> str:
        """Make a table of a schema file; the file that Paimon writes."""
        schema = jpype.JClass("org.apache.paimon.schema.TableSchema").fromJson(text).toSchema()
        self.catalog.createTable(self._table(name), schema, False)
        return self._file(name, 0)

    def rows(self, name: str, values: list[list[Any]]) -> list[list[Any]]:
        """Write rows of numbers and texts, and read them back."""
        table = self.catalog.getTable(self._table(name))
        builder = table.newBatchWriteBuilder()
        writer, commit = builder.newWrite(), builder.newCommit()
        for row in values:
            made = jpype.JClass("org.apache.paimon.data.GenericRow")(len(row))
            for i, value in enumerate(row):
                made.setField(i, self._value(value))
            writer.write(made)
        commit.commit(writer.prepareCommit())
        writer.close()
        commit.close()
        reading = table.newReadBuilder()
        reader = reading.newRead().createReader(reading.newScan().plan().splits())
        found, rows = reader.toCloseableIterator(), []
        while found.hasNext():
            row = found.next()
            rows.append([self._read(row, i, value) for i, value in enumerate(values[0])])
        found.close()
        return rows

    def alter(self, name: str, version: int, steps: list[list[Any]]) -> str:
        """Make the next version of a table by these steps; its schema file."""
        changes = jpype.JClass("org.apache.paimon.schema.SchemaChange")
        parse = jpype.JClass("org.apache.paimon.types.DataTypeJsonParser").parseAtomicTypeSQLString
        made = jpype.JClass("java.util.ArrayList")()
        for verb, field, *rest in steps:
            if verb == "add":
                made.add(changes.addColumn(field, parse(rest[0])))
            elif verb == "rename":
                made.add(changes.renameColumn(field, rest[0]))
            elif verb == "type":
                made.add(changes.updateColumnType(field, parse(rest[0])))
            elif verb == "option":
                made.add(changes.setOption(field, rest[0]))
            elif verb == "drop":
                made.add(changes.dropColumn(field))
        self.catalog.alterTable(self._table(name), made, False)
        return self._file(name, version)

    def _table(self, name: str) -> Any:
        return jpype.JClass("org.apache.paimon.catalog.Identifier").create("d", name)

    def _file(self, name: str, version: int) -> str:
        return Path(self.warehouse, "d.db", name, "schema", f"schema-{version}").read_text()

    @staticmethod
    def _value(value: Any) -> Any:
        if isinstance(value, str):
            return jpype.JClass("org.apache.paimon.data.BinaryString").fromString(value)
        return jpype.JLong(value) if isinstance(value, int) else value

    @staticmethod
    def _read(row: Any, i: int, like: Any) -> Any:
        if row.isNullAt(i):
            return None
        return str(row.getString(i)) if isinstance(like, str) else int(row.getLong(i))


def main(jars: str, warehouse: str) -> None:
    """Answer until the input ends."""
    jpype.startJVM("-Dlog4j.configurationFile=none", classpath=jars.split(":"))
    catalog = Catalog(warehouse)
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        try:
            answer = getattr(catalog, name)(*arguments)
        except jpype.JException as error:
            answer = {"error": str(error)}
        print("answer " + json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
