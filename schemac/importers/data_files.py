"""Files of data: what a sample of CSV, NDJSON or JSON looks like, and the schema that a Parquet file keeps.

Layer: importers.
Shape: CSV is separated by commas, or by what is most often in the header: semicolons, tabs, bars. A column with an empty cell in the
      sample is optional. Digits that are no number stay text: those that begin with zero.
      Of JSON (a record a line, a JSON array, the features of a GeoJSON document) every value is looked at. A field that a record of the
      sample lacks is optional, as is one that is null; a field with values of several sorts is a String. pyarrow's own reader is not
      asked, for it makes floats of large integers, timestamps of dates, and gives up where sorts are mixed.
      What writers put into a Parquet file for themselves is left out, with a comment; so are logical types that Arrow has no type for,
      with a note. The ids that table formats such as Iceberg give to every field become those of the lock.
Errors: SC551 unsupported-arrow-type; SC552 unreadable-source, at the record that cannot be read.
Source: pyarrow.csv's inference, but for integers that it makes floats of.
      LogicalTypes.md of apache/parquet-format, and what pyarrow makes of them.
"""

import json
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from schemac.importers import importer
from schemac.importers.datasets import MOST_DIGITS, decimal_type, from_arrow_schema
from schemac.importers.sources import ALWAYS_NULL, described, read_sample
from schemac.language.logical.model import FieldPath, Part
from schemac.language.physical import ArrowField, ArrowType, pa, parts_of, with_parts
from schemac.text.source.diagnostics import Located, Report, SourceText, Span
from schemac.text.source.json_object import Json
from schemac.text.source.phrases import counted

_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars"}
_QUOTED = re.compile(r'"[^"]*"')
_BLOCK = 1 << 30
"""More than any sample, so that all of it is one block and every row counts for the types."""


def read_csv(path: Path, report: Report) -> importer.ImportedSchema:
    """Return the schema inferred from a sample of CSV. Raises UnreadableSourceError."""
    text, goes_on = read_sample(path)
    if goes_on:
        text = text[: text.rfind("\n") + 1] or text
    header = _QUOTED.sub("", text.partition("\n")[0])
    delimiter = "\t" if path.suffix.lower() == ".tsv" else max((",", *_DELIMITERS), key=header.count)
    try:
        table, raw = _typed_and_raw(text, delimiter, goes_on)
        names = list(table.column_names)
    except (pa.ArrowException, UnicodeError) as error:
        reason = importer.first_line(error).partition(". Consider")[0]
        reason = f"it is not valid CSV: {reason.removeprefix('cSV parse error: ')}"
        raise importer.UnreadableSourceError(reason) from error
    if not table.num_rows:
        reason = "its types cannot be inferred: it has no rows below its header"
        raise importer.UnreadableSourceError(reason)
    notes = importer.ImportNotes()
    fields = [
        pa.field(name, _column_type(values.type, name, raw.column(i), notes), nullable=values.null_count > 0)
        for i, (name, values) in enumerate(zip(names, table.columns, strict=True))
    ]
    more = (f"its columns are separated by {_DELIMITERS[delimiter]}",) if delimiter in ";|" else ()
    return described(fields, counted(table.num_rows, "row"), path, notes, report, *more)


def _typed_and_raw(text: str, delimiter: str, goes_on: bool) -> tuple[Any, Any]:
    """Return the sample with the types that pyarrow finds, and all of it as text."""
    # Imported here for start-up time: this part of pyarrow is not loaded with it.
    from pyarrow import csv

    content = text.encode()
    # Where the file goes on, the last row of the sample may be half a row.
    invalid = "skip" if goes_on else "error"

    def read(names: list[str] | None) -> Any:
        columns = names or []
        return csv.read_csv(
            BytesIO(content),
            csv.ReadOptions(
                block_size=_BLOCK, use_threads=False, autogenerate_column_names=names is not None
            ),
            csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=lambda _: invalid
            ),
            csv.ConvertOptions(
                strings_can_be_null=True, null_values=[""], column_types=dict.fromkeys(columns, pa.string())
            ),
        )

    table = read(None)
    # By number and not by name: the same name may stand twice in a header, which is found later.
    return table, read([f"f{i}" for i in range(table.num_columns)]).slice(1)


def _column_type(type_: Any, name: str, raw: Any, notes: importer.ImportNotes) -> ArrowType:
    """Return the type of a column for a manifest, by the inferred one and the raw texts; notes why it is another."""
    from pyarrow import compute  # for start-up time, as above

    def is_in_any(pattern: str) -> bool:
        return bool(compute.any(compute.match_substring_regex(raw, pattern)).as_py())

    if pa.types.is_null(type_):
        notes.add((name,), ALWAYS_NULL)
        return pa.string()
    if pa.types.is_integer(type_) and is_in_any(r"^[+-]?0[0-9]"):
        notes.add((name,), "a String because some of its numbers begin with zero")
        return pa.string()
    is_large = pa.types.is_floating(type_) and is_in_any(r"^[+-]?[0-9]{19,}$")
    if is_large and not is_in_any(r"[^0-9+-]"):
        most = compute.max(compute.utf8_length(raw)).as_py()
        kind = "Decimal" if most <= MOST_DIGITS else "String"
        notes.add((name,), f"a {kind} because some of its numbers are too large for Int64")
        return _large_integers(most)
    # Seconds and nanoseconds are accidents of how a sample was written.
    if pa.types.is_timestamp(type_):
        return pa.timestamp("us", type_.tz)
    return pa.time32("ms") if pa.types.is_time(type_) else type_


def _large_integers(digits: int) -> ArrowType:
    """Return the type of integers with more digits than those of 64 bits have."""
    if digits > MOST_DIGITS:
        return pa.string()
    return decimal_type(38 if digits <= 38 else MOST_DIGITS)


CSV = importer.Importer("csv", "CSV, inferred from a sample", read_csv)


_BLANK = re.compile(r"\s*")
_FEATURES = re.compile(r'\s*\{.*?"features"\s*:\s*\[', re.DOTALL)
_DATE = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])", re.ASCII)
_TIMESTAMP = re.compile(
    _DATE.pattern + r"[T ](?:[01]\d|2[0-3]):[0-5]\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?", re.ASCII
)
_DEEPEST = 100
"""Levels of nesting that are looked at; the manifest language stops far above it."""
_SORTS = {
    type(None): "nulls",
    bool: "booleans",
    int: "integers",
    float: "numbers",
    dict: "objects",
    list: "lists",
}


def read_ndjson(path: Path, report: Report) -> importer.ImportedSchema:
    """Return the schema inferred from a sample of JSON records. Raises UnreadableSourceError."""
    text, goes_on = read_sample(path)
    notes, top = importer.ImportNotes(), _SampledValues()
    for record in _records(SourceText(text, str(path)), text, goes_on):
        top.add(record)
    return described(top.fields((), notes), counted(top.count, "record"), path, notes, report)


def _records(source: SourceText, text: str, goes_on: bool) -> Iterator[Json]:
    """Yield the records of a sample; where the file goes on, the last one may be cut off and is left out. Raises UnreadableSourceError."""

    def no_record(reason: str, at: int) -> importer.UnreadableSourceError:
        """Return the error for something that is not a record, at an offset."""
        reason = f"it has no JSON records: {reason}"
        return importer.UnreadableSourceError(reason, Located(source, Span(at, at)))

    features = _FEATURES.match(text) if '"FeatureCollection"' in text[:4096] else None
    is_array = features is not None or text.lstrip().startswith("[")
    at = features.end() if features is not None else text.index("[") + 1 if is_array else 0
    decoder = json.JSONDecoder()
    count = 0
    while (at := _after_blanks(text, at)) < len(text):
        if is_array and text[at] == "]":
            break
        if is_array and count:
            if text[at] != ",":
                raise no_record("a comma is expected between records", at)
            at = _after_blanks(text, at + 1)
        try:
            record, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            if goes_on and count:
                break
            reason = error.msg[:1].lower() + error.msg[1:]
            raise no_record(reason, error.pos) from None
        except (RecursionError, ValueError) as error:
            raise no_record(f"a value in it cannot be read: {error}", at) from None
        if not isinstance(record, dict):
            raise no_record(f"a record has to be an object, not {json.dumps(record)[:40]}", at)
        yield record
        at, count = end, count + 1
    else:
        if is_array and not goes_on:
            raise no_record("the array is never closed", len(text))
    if not count:
        raise no_record("there is none", at)


def _after_blanks(text: str, at: int) -> int:
    """Return the offset of the first character from an offset on that is no white space."""
    blank = _BLANK.match(text, at)
    return blank.end() if blank is not None else at


class _SampledValues:
    """The sorts of values that a sample has at one place, from which the type follows."""

    def __init__(self, depth: int = 0) -> None:
        self.count = 0
        self._depth = depth
        self._sorts: dict[str, int] = {}
        self._least = self._most = 0
        self._items: _SampledValues | None = None
        self._members: dict[str, _SampledValues] = {}

    def add(self, value: Any) -> None:
        """Count one more value."""
        self.count += 1
        sort = self._sort(value)
        self._sorts[sort] = self._sorts.get(sort, 0) + 1
        if sort == "integers":
            self._least, self._most = min(self._least, value), max(self._most, value)
        elif sort == "lists":
            if self._items is None:
                self._items = _SampledValues(self._depth + 1)
            for item in value:
                self._items.add(item)
        elif sort == "objects":
            for name, member in value.items():
                if name not in self._members:
                    self._members[name] = _SampledValues(self._depth + 1)
                self._members[name].add(member)

    def _sort(self, value: Any) -> str:
        """Return the plural name of the sort that a value of JSON is counted under; deep objects and lists are texts."""
        if isinstance(value, str):
            if _DATE.fullmatch(value):
                return "dates"
            match = _TIMESTAMP.fullmatch(value)
            return "texts" if match is None else "instants" if match[3] else "local times"
        # What is nested too deeply is kept as text.
        is_deep = self._depth >= _DEEPEST and isinstance(value, dict | list)
        return "texts" if is_deep else _SORTS[type(value)]

    def fields(self, path: FieldPath, notes: importer.ImportNotes) -> list[ArrowField]:
        """Return the members of the objects that were seen."""
        count = self._sorts.get("objects", 0)
        return [
            pa.field(name, member.type((*path, name), notes), member.is_optional(count))
            for name, member in self._members.items()
        ]

    def is_optional(self, places: int) -> bool:
        """Whether a value is missing or null in some of the places where it could be."""
        return self.count < places or "nulls" in self._sorts

    def type(self, path: FieldPath, notes: importer.ImportNotes) -> ArrowType:
        """Return the type that holds all the values."""
        sorts = set(self._sorts) - {"nulls"}
        if not sorts:
            notes.add(path, ALWAYS_NULL)
            return pa.string()
        if sorts == {"integers", "numbers"}:
            return pa.float64()
        if len(sorts) > 1:
            if not sorts <= {"texts", "dates", "instants", "local times"}:
                counts = ", ".join(f"{self._sorts[sort]} {sort}" for sort in self._sorts if sort in sorts)
                notes.add(path, f"a String because the sample has {counts}")
            return pa.string()
        (sort,) = sorts
        if sort == "integers":
            return self._integer(path, notes)
        if sort == "lists":
            items = self._items
            if items is None or not items.count:
                notes.add(path, "all lists in the sample are empty, so the type of their items is unknown")
                return pa.list_(pa.field("item", pa.string()))
            item = items.type((*path, Part.ITEM), notes)
            return pa.list_(pa.field("item", item, items.is_optional(0)))
        if sort == "objects":
            if not self._members:
                notes.add(path, "in the sample always an object without members")
            return pa.struct(self.fields(path, notes))
        types: dict[str, ArrowType] = {
            "booleans": pa.bool_(),
            "numbers": pa.float64(),
            "texts": pa.string(),
            "dates": pa.date32(),
            "instants": pa.timestamp("us", "UTC"),
            "local times": pa.timestamp("us"),
        }
        return types[sort]

    def _integer(self, path: FieldPath, notes: importer.ImportNotes) -> ArrowType:
        """Return the narrowest type for the integers of the sample: Int64, UInt64, a decimal, or a string with a note."""
        if self._least >= -(2**63) and self._most < 2**63:
            return pa.int64()
        if self._least >= 0 and self._most < 2**64:
            return pa.uint64()
        digits = max(len(str(abs(self._least))), len(str(self._most)))
        if digits > MOST_DIGITS:
            notes.add(path, f"a String because the sample has a number with {digits} digits")
        return _large_integers(digits)


NDJSON = importer.Importer(
    "ndjson", "JSON records, one per line or in an array, inferred from a sample", read_ndjson
)


_FIELD_ID = b"PARQUET:field_id"
_DROPPED_TYPES = ("ENUM", "BSON", "INTERVAL", "GEOMETRY", "GEOGRAPHY")
_OF_WRITERS = re.compile(
    rb"pandas|ARROW:schema|iceberg\.schema|huggingface|parquet\.(avro|proto|thrift|strict\.typing)\..*|avro\.schema"
    rb"|thrift\.(class|descriptor)|writer\.(model\.name|date\.proleptic|time\.zone|zone\.conversion\.legacy)"
    rb"|org\.apache\.(spark|hudi)\..*|hoodie_.*|com\.databricks\..*|presto_version|trino_version"
)
"""Metadata by which a writer recognises its own files; it repeats the schema in the writer's words."""
_GROUP = re.compile(r"( +)\w+ group field_id=-?\d+ (.*?)(?: \((\w+).*\))? \{")


def read_parquet(path: Path, report: Report) -> importer.ImportedSchema:
    """Return the schema of a Parquet file; of a folder, that of its first file."""
    # Imported here for start-up time: this part of pyarrow is not loaded with it.
    from pyarrow import parquet

    file = next((p for p in sorted(path.rglob("*.parquet")) if p.is_file()), None) if path.is_dir() else path
    if file is None:
        raise importer.UnreadableSourceError("this folder has no Parquet file")
    try:
        with parquet.ParquetFile(file) as opened:
            schema, columns = opened.schema_arrow, opened.schema
            leaves = map(columns.column, range(len(columns)))
            types = [(leaf.path, leaf.logical_type) for leaf in leaves]
            variants = _variants(str(columns))
    except (pa.ArrowException, OSError, MemoryError, OverflowError) as error:
        reason = f"it is not a Parquet file: {importer.first_line(error)}"
        raise importer.UnreadableSourceError(reason, file=file) from error
    notes = importer.ImportNotes()
    for place, logical in types:
        # The column that a leaf belongs to; names in a leaf's place may hold dots themselves.
        holders = [name for name in schema.names if f"{place}.".startswith(f"{name}.")]
        if logical.type in _DROPPED_TYPES and holders:
            crs = json.loads(logical.to_json()).get("crs") if logical.type.startswith("GEO") else None
            reference = f" (coordinates in {str(crs)[:60]})" if crs else ""
            dropped = f"Parquet's type {logical.type} of {place} is not kept{reference}"
            notes.add((max(holders, key=len),), dropped)
    for variant in variants:
        notes.add(variant, "Parquet's type VARIANT is not kept: this field has its storage type")
    writer_keys = [key.decode() for key in schema.metadata or {} if _OF_WRITERS.fullmatch(key)]
    comments = [f"not kept: the metadata {', '.join(writer_keys)}"] if writer_keys else []
    if file is not path:
        comments.insert(0, f"from {file.relative_to(path)}, the first file of the folder")
    tree = from_arrow_schema(_without_additions(schema), str(path), report, notes.add)
    ids = field_ids(schema)
    if ids:
        comments.append("its ids are those of a file; those of a table are in the table's metadata")
    versions = (importer.NumberedVersion(tree, ids, max(ids.values())),) if ids else ()
    return importer.ImportedSchema(tree, tuple(comments), notes=notes, versions=versions)


def field_ids(schema: "pa.Schema") -> dict[FieldPath, int]:
    """Return the ids of all fields by their paths, as table formats write them; empty if they are not one for every field."""
    path_ids: list[tuple[FieldPath, int]] = []

    def enter(f: "pa.Field", path: FieldPath) -> None:
        path_ids.append((path, int((f.metadata or {}).get(_FIELD_ID, b"-1"))))
        parts, is_struct = parts_of(f.type), pa.types.is_struct(f.type)
        nameless = (Part.KEY, Part.VALUE) if len(parts) == 2 else (Part.ITEM,)
        for i, part in enumerate(parts):
            enter(part, (*path, part.name if is_struct else nameless[i]))

    for column in schema:
        enter(column, (column.name,))
    ids = [id for _, id in path_ids]
    is_sound = all(id > 0 for id in ids) and len(set(ids)) == len(ids)
    return dict(path_ids) if is_sound else {}


def _variants(schema_text: str) -> Iterator[FieldPath]:
    """Yield the paths of groups with the type VARIANT, which pyarrow shows only in the text of a schema."""
    above: list[tuple[int, str]] = []
    for match in map(_GROUP.fullmatch, schema_text.split("\n")):
        if match is None:
            continue
        depth = len(match[1])
        above = [*(holder for holder in above if holder[0] < depth), (depth, match[2])]
        if match[3] == "Variant":
            # Of a list or a map between them the nearest name that a manifest has is the column's.
            is_plain = not any(name in ("list", "key_value") for _, name in above)
            path = tuple(name for _, name in above)
            yield path if is_plain else path[:1]


def _without_additions(schema: "pa.Schema") -> "pa.Schema":
    """Return the schema without what Parquet's reader adds at every level.

    That is field numbers, and `element` as the name of a list's item, which Parquet prescribes.
    """

    def field(f: "pa.Field") -> "pa.Field":
        metadata = {k: v for k, v in (f.metadata or {}).items() if k != _FIELD_ID}
        # pyarrow reads a column of nulls that may not be null, but makes none.
        is_nullable = f.nullable or pa.types.is_null(f.type)
        has_names = pa.types.is_struct(f.type) or pa.types.is_map(f.type)
        type_ = with_parts(f.type, field if has_names else item)
        return pa.field(f.name, type_, is_nullable, metadata or None)

    def item(f: "pa.Field") -> "pa.Field":
        return field(f.with_name("item") if f.name == "element" else f)

    metadata = {
        key: value for key, value in (schema.metadata or {}).items() if not _OF_WRITERS.fullmatch(key)
    }
    return pa.schema([field(f) for f in schema], metadata or None)


PARQUET = importer.Importer("parquet", "Parquet file, or a folder of them", read_parquet)
