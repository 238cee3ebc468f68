"""CSV: what a sample of the rows looks like.

Layer: importers.
Shape: commas, or what is most often in the header: semicolons, tabs, bars. A column with an empty cell in the
sample is optional. Digits that are no number stay text: those that begin with zero.
Errors: SC552 unreadable-source.
Source: pyarrow.csv's inference, but for integers that it makes floats of.
"""

import re
from io import BytesIO
from pathlib import Path
from typing import Any

from schemac.importers.importer import Imported, Importer, Notes, first_line, refuse
from schemac.importers.sniffing import ALWAYS_NULL, described, read_sample
from schemac.language.physical.arrow import ArrowType, pa
from schemac.text.source.phrases import counted
from schemac.text.source.report import Report

_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars"}
_QUOTED = re.compile(r'"[^"]*"')
_BLOCK = 1 << 30
"""More than any sample, so that all of it is one block and every row counts for the types."""


def read(path: Path, report: Report) -> Imported | None:
    """Return the inferred schema."""
    sample = read_sample(path, report)
    if sample is None:
        return None
    text, goes_on = sample
    if goes_on:
        text = text[: text.rfind("\n") + 1] or text
    delimiter = _delimiter(text, path)
    try:
        table, raw = _tables(text, delimiter, goes_on)
        names = list(table.column_names)
    except (pa.ArrowException, UnicodeError) as error:
        reason = first_line(error).partition(". Consider")[0]
        refuse(path, f"it is not valid CSV: {reason.removeprefix('cSV parse error: ')}", report)
        return None
    if not table.num_rows:
        refuse(path, "its types cannot be inferred: it has no rows below its header", report)
        return None
    notes = Notes()
    fields = [
        pa.field(name, _type(values.type, name, raw.column(i), notes), nullable=values.null_count > 0)
        for i, (name, values) in enumerate(zip(names, table.columns, strict=True))
    ]
    more = (f"its columns are separated by {_DELIMITERS[delimiter]}",) if delimiter in ";|" else ()
    return described(fields, counted(table.num_rows, "row"), path, notes, report, *more)


def _delimiter(text: str, path: Path) -> str:
    if path.suffix.lower() == ".tsv":
        return "\t"
    header = _QUOTED.sub("", text.partition("\n")[0])
    return max((",", *_DELIMITERS), key=header.count)


def _tables(text: str, delimiter: str, goes_on: bool) -> tuple[Any, Any]:
    """Return the sample with the types that pyarrow finds, and all of it as text."""
    # Imported here for start-up time: this part of pyarrow is not loaded with it.
    from pyarrow import csv

    content = text.encode()

    def skip(row: Any) -> str:
        # Where the file goes on, the last row of the sample may be half a row.
        return "skip" if goes_on else "error"

    def read(names: list[str] | None) -> Any:
        columns = names or []
        return csv.read_csv(
            BytesIO(content),
            csv.ReadOptions(
                block_size=_BLOCK, use_threads=False, autogenerate_column_names=names is not None
            ),
            csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=skip),
            csv.ConvertOptions(
                strings_can_be_null=True,
                null_values=[""],
                column_types=dict.fromkeys(columns, pa.string()),
            ),
        )

    table = read(None)
    # By number and not by name: the same name may stand twice in a header, which is found later.
    return table, read([f"f{i}" for i in range(table.num_columns)]).slice(1)


def _type(type_: Any, name: str, raw: Any, notes: Notes) -> ArrowType:
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
        notes.add(
            (name,),
            f"a {'Decimal' if most <= 76 else 'String'} because some of its numbers are too large for Int64",
        )
        return pa.string() if most > 76 else pa.decimal128(38, 0) if most <= 38 else pa.decimal256(76, 0)
    # Seconds and nanoseconds are accidents of how a sample was written.
    if pa.types.is_timestamp(type_):
        return pa.timestamp("us", type_.tz)
    return pa.time32("ms") if pa.types.is_time(type_) else type_


IMPORTER = Importer("csv", "CSV, inferred from a sample", read)
