"""The examples of a page, and the files around them: those that every page has, and those that the page shows."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

_FENCE = r"(?ms)^```(\w+) (wrong|right)\n(.*?)^```$"
_FILE = r"(?ms)^```(\w+) ([\w./=-]*\.[\w./=-]+)\n(.*?)^```$"


class Example(NamedTuple):
    """One example of a page."""

    language: str
    is_right: bool
    text: str


class ExampleFile(NamedTuple):
    """A file that the examples of a page read."""

    format: str
    path: str
    text: str


def examples_of(page: str) -> tuple[Example, ...]:
    """Return all examples of a page, in their order."""
    return tuple(Example(m[1], m[2] == "right", m[3]) for m in re.finditer(_FENCE, page))


def files_of(page: str) -> tuple[ExampleFile, ...]:
    """Return the files that the examples of a page read."""
    return tuple(ExampleFile(*m.groups()) for m in re.finditer(_FILE, page))


RIDES = {"rides.yaml": "fields:\n  - name: fare\n    type: Float64\n", "rides.ndjson": '{"fare": 1.5}\n'}


def lay_out(page: str, folder: Path) -> None:
    """Write the files that the examples of a page read."""
    for name, text in RIDES.items():
        (folder / name).write_text(text)
    for file in files_of(page):
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if file.format in ("lance", "parquet"):
            _write_table(file.format, path, [json.loads(line) for line in file.text.splitlines()])
        else:
            path.write_bytes(_bytes(file.text) if file.format == "bytes" else file.text.encode())


def _bytes(text: str) -> bytes:
    return re.sub(rb"\\x([0-9a-f]{2})", lambda found: bytes.fromhex(found[1].decode()), text.encode())


def _write_table(format: str, path: Path, rows: list[Any]) -> None:
    table = pa.Table.from_pylist(rows)
    if format == "lance":
        import lance

        lance.write_dataset(table, path)
    else:
        from pyarrow import parquet

        parquet.write_table(table, path)
