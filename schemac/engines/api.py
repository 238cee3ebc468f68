"""The Python API of the engines: a dataset in the form of each, and datasets from the schemas of each.

Layer: engines, above their folders. The one module that names all of them, so that their methods have types and docstrings.
An engine of another distribution is reached by its name: `Dataset.artifacts`, `Dataset.losses`, `from_source`.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from schemac.artifacts.dataset import CheckedDataset
from schemac.importers.datasets import from_tree
from schemac.language.manifest.standard import fitted_name
from schemac.text.source.catalogue import UNREADABLE_SOURCE
from schemac.text.source.diagnostics import Report
from schemac.text.source.files import extra_named

if TYPE_CHECKING:
    import pyarrow as pa

    from schemac.engines.lance._generated.lance.file_pb2 import Schema as LanceSchema
    from schemac.importers.importer import ImportedSchema
    from schemac.rows.validation.result import Validation

__all__ = [
    "Dataset", "from_avro", "from_bigquery", "from_datacontract", "from_dbt", "from_delta", "from_duckdb",
    "from_iceberg", "from_jsonschema", "from_lance", "from_odcs", "from_odf", "from_paimon",
    "from_postgres", "from_protobuf", "from_pydantic", "from_snowflake", "from_source", "from_spark",
    "from_spark_ddl",
]  # fmt: skip

OdfForm = Literal["schema", "event", "metadata-event", "snapshot", "resource"]
"""The documents of the standard that a schema may be in."""


class Dataset(CheckedDataset):
    """A checked dataset: convert it for an engine, validate rows, or make sample rows."""

    def to_table(
        self,
        rows: Iterable[Any],
        *,
        references: Mapping[str, Any] | None = None,
        keys: Literal["check", "trust"] = "check",
        unexpected: Literal["ignore", "reject"] = "reject",
        timezone: str | None = None,
    ) -> "pa.Table":
        """Return rows as a `pyarrow.Table` with the schema of `to_arrow()`; every value is exact.

        A row is a mapping from names to values, a JSON text, a dataclass, a pydantic model, or a tuple in the order of the fields. Values are
        those of a JSON record, or Python objects: dates, times, datetimes, timedeltas, bytes, UUIDs, `Decimal`. The
        settings are those of `validate`, but a name that is not a field is refused unless `unexpected` allows it.

        Raises UnfitRowsError, a SchemaError, if a row does not fit; its `validation` has the reasons of every row.

        >>> rides.to_table([{"ride_id": "a", "fare": "12.50"}])  # doctest: +SKIP
        """
        validation = self.validate(
            rows, references=references, keys=keys, unexpected=unexpected, timezone=timezone
        )
        return validation.raise_if_bad().good

    def validate(
        self,
        table: Any,
        *,
        references: Mapping[str, Any] | None = None,
        keys: Literal["check", "trust"] = "check",
        unexpected: Literal["ignore", "reject"] = "ignore",
        timezone: str | None = None,
    ) -> "Validation":
        """Check the rows of a table by the rules of a pipeline: types, ranges, nulls, and all constraints.

        `table` is a pyarrow table, batch or reader, any object that exports Arrow data (polars frames, DuckDB relations), a pandas frame, or
        rows as in `to_table`. Columns are found by name. `references` has the tables of the datasets that the schema refers to; missing ones are listed in `unchecked` of the result. With `keys="trust"` the primary key is not checked. `timezone` is the zone of local times that are written without one.

        Raises SchemaError if the table cannot be checked at all, for example because a column of the schema is missing.
        """
        # Imported here for start-up time: rows are for those who have some.
        with extra_named():
            from schemac.rows.judging.settings import Unexpected
            from schemac.rows.validation.validating import ValidationRules, validated

        return validated(
            self, table, ValidationRules(references or {}, keys, Unexpected(unexpected), timezone)
        )

    def sample(
        self, n: int = 1000, *, seed: int = 0, references: "Mapping[str, CheckedDataset] | None" = None
    ) -> "pa.Table":
        """Return a table with `n` rows that satisfy the schema: types, constraints, keys, references and conditions.

        The same seed gives the same rows. `references` has the datasets that the schema refers to, directly or indirectly, by name;
        rows refer to the first rows of their samples with the same seed and `n`. Raises SchemaError if no sample can be made, ValueError for an `n` below 1.
        """
        if n < 1:
            raise ValueError(f"n is {n}, but has to be at least 1")
        with extra_named():
            from schemac.rows.samples.sampler import sample_table  # for start-up time, as above

        return sample_table(self, n, seed, references or {})

    def _repr_html_(self) -> str:
        """Return the fields as an HTML table, for notebooks."""
        from schemac.language.attributes.builtin import DESCRIPTION
        from schemac.language.logical.model import preorder, type_text_of
        from schemac.text.source.rendering import html_table

        rows = [
            (field.path_text, type_text_of(field), str(DESCRIPTION.read(field.extra) or ""))
            for field in preorder(self._logical.columns)
            if field.is_member
        ]
        return html_table(self.name, ("field", "type", "description"), rows)

    def to_lance(self) -> "LanceSchema":
        """Return the `lance.file.Schema` message that Lance creates from `to_arrow()`. Raises SchemaError if Lance cannot hold the schema."""
        self._emit("lance")
        # Imported here for start-up time: protobuf is for those who ask for a message.
        from schemac.engines.lance.artifact import to_message

        return to_message(self._compilation.lowered, self._compilation.numbers)

    def to_spark(self) -> dict[str, Any]:
        """Return Spark's StructType as JSON text. Raises SchemaError if Spark cannot hold the schema."""
        return self._json("spark")

    def to_spark_ddl(self) -> str:
        """Return the statements for a catalog of lance-spark as one text, each with a semicolon at the end of its last line."""
        return "".join(f"{statement};\n" for statement in self.to_spark_statements())

    def to_spark_statements(self) -> tuple[str, ...]:
        """Return CREATE TABLE and, if there is a primary key, the ALTER TABLE that sets it: one text for each `spark.sql` call."""
        from schemac.engines.spark import artifact as spark  # for start-up time, as above

        emission = self._emit("spark")
        return spark.statements(self._compilation, spark.to_fields(self._compilation.lowered, emission))

    def to_paimon(self, *, time_millis: int = 0) -> dict[str, Any]:
        """Return Paimon's schema file as a dict, with the keys in Paimon's order. Raises SchemaError if Paimon cannot hold the schema."""
        schema = self._json("paimon")
        return {**schema, "timeMillis": time_millis} if time_millis else schema

    def to_iceberg(self) -> dict[str, Any]:
        """Return Iceberg's schema as a dict for `pyiceberg.schema.Schema.model_validate`. Raises SchemaError if Iceberg cannot hold it."""
        return self._json("iceberg")

    def to_jsonschema(self) -> dict[str, Any]:
        """Return the JSON Schema (2020-12) of a record. Raises SchemaError if a type cannot be written as JSON."""
        return self._json("jsonschema")

    def to_python(self) -> str:
        """Return the source of a Python module with the Spark and Arrow schemas and the column names."""
        return self._text("python")

    def to_pydantic(self) -> str:
        """Return the source of a Python module with pydantic models. Raises SchemaError if a model cannot represent a type."""
        return self._text("pydantic")

    def to_avro(self) -> dict[str, Any]:
        """Return the Avro record as a dict for `fastavro.parse_schema`. Raises SchemaError if Avro cannot hold the schema."""
        return self._json("avro")

    def to_protobuf(self) -> str:
        """Return the text of a `.proto` file with the message. Raises SchemaError if Protobuf cannot hold the schema."""
        return self._text("protobuf")

    def _json(self, target: str) -> dict[str, Any]:
        """Return the object in the first file of a target."""
        document: dict[str, Any] = json.loads(self._text(target))
        return document

    def _text(self, target: str) -> str:
        """Return the first file of a target as text, which is the one that holds the schema."""
        return next(iter(self.artifacts(target).values())).decode()

    def to_odf(self, form: OdfForm = "event") -> str:
        """Return the schema in the standard's YAML with all defaults: the bare schema, its event, or a whole document.

        Raises SchemaError if the standard does not have a kind of the schema.
        """
        from schemac.engines.odf.artifact import to_text  # for start-up time, as above

        self._emit("odf")
        return to_text(self._logical, form)

    def to_odf_flatbuffers(self) -> bytes:
        """Return the SetDataSchema event in the standard's binary form. Raises SchemaError if the standard does not have a kind of the schema."""
        from schemac.engines.odf.binary import write_binary  # for start-up time, as above

        self._emit("odf")
        return write_binary(self._logical)


def from_source(path: str | Path, *, format: str | None = None, name: str | None = None) -> Dataset:
    """Return the dataset of a file or table in any format of `schemac import`; without `format`, it is recognized.

    Raises SchemaError if it cannot be read.
    """
    from schemac.importers.sources import import_source  # for start-up time, as below

    report = Report()
    imported = import_source(Path(path), format, report)
    return from_imported(imported, name, str(path), report, Path(path).name.partition(".")[0])


def from_imported(
    imported: "ImportedSchema | None", name: str | None, file: str, report: Report, default: str = ""
) -> Dataset:
    """Return the dataset that an importer read; `default` is its name where nothing else says one. Raises SchemaError if it has errors."""
    if imported is not None and imported.others:
        names = ", ".join(str(one.name) for one in (imported, *imported.others))
        held = f"{file} holds {len(imported.others) + 1} datasets ({names})"
        message = f"{held}, but only one can be imported here"
        help = "split the file, or import it with `schemac import`"
        report.add(UNREADABLE_SOURCE, message, file=file, help=help)
    report.raise_errors()
    assert imported is not None
    logical = from_tree(imported.schema, name or imported.name or default, file, report)
    report.raise_errors()
    assert logical is not None
    return Dataset(logical, None, report.diagnostics)


def from_spark(struct_type: dict[str, Any], *, name: str = "dataset") -> Dataset:
    """Return the dataset of a StructType as JSON text. Raises SchemaError if a type has no kind."""
    return _from_value("spark", struct_type, name, name)


def from_spark_ddl(text: str, *, name: str | None = None) -> Dataset:
    """Return the dataset of a CREATE TABLE, or of a list of columns. Raises SchemaError if it cannot be read."""
    return _from_value("ddl", text, name or "<ddl>", name, "dataset")


def from_odf(source: str | Path | bytes, *, name: str | None = None) -> Dataset:
    """Return the dataset of the standard's event or document: a path, the bytes of a file, or a text of several lines.

    Raises SchemaError if it cannot be read.
    """
    if isinstance(source, Path) or (isinstance(source, str) and "\n" not in source):
        return from_source(source, format="odf", name=name)
    return _from_value("odf", source, "<odf>", name, "odf")


def from_lance(path: str | Path, *, name: str | None = None) -> Dataset:
    """Return the dataset of a Lance table's newest version. Raises SchemaError if it cannot be read."""
    return from_source(path, format="lance", name=name)


def from_paimon(path: str | Path, *, name: str | None = None) -> Dataset:
    """Return the dataset of a Paimon table's newest schema, or of one schema file. Raises SchemaError if it cannot be read."""
    return from_source(path, format="paimon", name=name)


def from_jsonschema(path: str | Path, *, name: str | None = None) -> Dataset:
    """Return the dataset of a file with the JSON Schema of an object. Raises SchemaError if it cannot be read."""
    return from_source(path, format="jsonschema", name=name)


def from_pydantic(path: str | Path, *, name: str | None = None) -> Dataset:
    """Return the dataset of a Python file with one pydantic model; the file is not run. Raises SchemaError if it cannot be read."""
    return from_source(path, format="pydantic", name=name)


def from_avro(path: str | Path, *, name: str | None = None) -> Dataset:
    """Return the dataset of a file with an Avro record. Raises SchemaError if it cannot be read."""
    return from_source(path, format="avro", name=name)


def from_protobuf(path: str | Path, *, name: str | None = None) -> Dataset:
    """Return the dataset of a `.proto` file with one message. Raises SchemaError if it cannot be read."""
    return from_source(path, format="protobuf", name=name)


def from_iceberg(source: Any, *, name: str | None = None) -> Dataset:
    """Return the dataset of an Iceberg table: its folder, a metadata file, or a table or schema of pyiceberg.

    Raises SchemaError if it cannot be read.
    """
    if isinstance(source, str | Path):
        return from_source(source, format="iceberg", name=name)
    return _from_value("iceberg", source, "<pyiceberg>", name, "table")


def from_delta(path: str | Path, *, name: str | None = None) -> Dataset:
    """Return the dataset of a Delta table's newest version. Raises SchemaError if it cannot be read."""
    return from_source(path, format="delta", name=name)


def from_odcs(path: str | Path) -> tuple[Dataset, ...]:
    """Return the datasets of a contract of the Open Data Contract Standard. Raises SchemaError if it cannot be read."""
    return _all_of_file(path, "odcs")


def from_datacontract(path: str | Path) -> tuple[Dataset, ...]:
    """Return the datasets of a datacontract.yaml. Raises SchemaError if it cannot be read."""
    return _all_of_file(path, "datacontract")


def from_dbt(path: str | Path) -> tuple[Dataset, ...]:
    """Return the datasets of a property file of dbt. Raises SchemaError if it cannot be read."""
    return _all_of_file(path, "dbt")


def from_postgres(text: str) -> tuple[Dataset, ...]:
    """Return the datasets of CREATE TABLE statements of PostgreSQL. Raises SchemaError if they cannot be read."""
    return _all_of_text(text, "postgres")


def from_duckdb(text: str) -> tuple[Dataset, ...]:
    """Return the datasets of CREATE TABLE statements of DuckDB. Raises SchemaError if they cannot be read."""
    return _all_of_text(text, "duckdb")


def from_snowflake(text: str) -> tuple[Dataset, ...]:
    """Return the datasets of CREATE TABLE statements of Snowflake. Raises SchemaError if they cannot be read."""
    return _all_of_text(text, "snowflake")


def from_bigquery(text: str) -> tuple[Dataset, ...]:
    """Return the datasets of CREATE TABLE statements of BigQuery. Raises SchemaError if they cannot be read."""
    return _all_of_text(text, "bigquery")


def _from_value(format: str, value: Any, file: str, name: str | None, default: str = "") -> Dataset:
    """Return the dataset of a value in a format. Raises SchemaError if it cannot be read."""
    from schemac.importers.sources import import_value  # for start-up time, as above

    report = Report()
    return from_imported(import_value(format, value, file, report), name, file, report, default)


def _all_of_file(path: str | Path, format: str) -> tuple[Dataset, ...]:
    """Return all datasets of a file in a format. Raises SchemaError if it cannot be read."""
    from schemac.importers.sources import import_source  # for start-up time, as above

    report = Report()
    return _each(import_source(Path(path), format, report), str(path), report)


def _all_of_text(text: str, format: str) -> tuple[Dataset, ...]:
    """Return all datasets of a text in a format. Raises SchemaError if it cannot be read."""
    from schemac.importers.sources import import_value  # for start-up time, as above

    report = Report()
    return _each(import_value(format, text, f"<{format}>", report), f"<{format}>", report)


def _each(imported: "ImportedSchema | None", file: str, report: Report) -> tuple[Dataset, ...]:
    """Return all datasets that an importer found. Raises SchemaError if one of them is not sound."""
    report.raise_errors()
    assert imported is not None
    return tuple(
        from_imported(replace(one, others=()), fitted_name(one.name or file), file, report)
        for one in (imported, *imported.others)
    )
