"""Readers in plain Python, which say what records and values stand in odd JSON and CSV, and such input, drawn by chance."""

import csv
import io
import json
import random
from collections.abc import Iterator
from typing import Any

Cells = list[str]


def json_record(line: str | bytes) -> dict[str, Any] | None:
    """The record of a line; None where it is not one JSON object and nothing else."""
    try:
        text = line if isinstance(line, str) else line.decode("utf-8")
        value = json.loads(text, parse_constant=_refused, object_pairs_hook=_without_twins)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refused(constant: str) -> Any:
    raise ValueError(constant)


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


SOUND = ['{"id": %d}', '{"id": %d, "s": "é"}', ' {"id": %d}\t', '{"id": %d, "o": {"id": 0, "s": "}"}}', '{"s": "{", "id": %d}',
         '{"id": %d, "l": [{"id": 0}, {}]}', '{"id": %d, "s": "a]},b"}']  # fmt: skip
BEHIND = ['{"id": 0}', " {}", ",", ", {}", "}", "]", "]}", "x", " // c", " # c", " trailing", ",null]", ', {"_end": true}]',
          '"', "\\", "\x00", "/* */", "1", " null", "\u2028", "\ufeff", "{", "[", ":", ", ", "[]", "]]]", "\x1a"]  # fmt: skip
BYTES = [b"\xff", b"\xc3", b"\xe2\x82", b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\x80", b"\xfc"]


def odd_json_lines(seed: int, count: int) -> Iterator[bytes]:
    """Lines that are records, and lines that something stands behind, in, or before."""
    rng = random.Random(seed)
    for number in range(count):
        line = rng.choice(SOUND) % number
        kind = rng.randrange(6)
        if kind == 0:
            line += rng.choice(BEHIND)
        elif kind == 1:
            line += rng.choice(SOUND) % (number + count)
        elif kind == 2:
            at = rng.randrange(len(line))
            line = line[:at] + rng.choice(["", '"', "}", "{", ",", "\\", " "]) + line[at + rng.randrange(2) :]
        data = line.encode()
        if kind == 3:
            at = rng.randrange(len(data))
            data = data[:at] + rng.choice(BYTES) + data[at:]
        if data.strip() and not {b"\n", b"\r"} & {data[i : i + 1] for i in range(len(data))}:
            yield data


def csv_records(text: str, **dialect: Any) -> list[Cells] | None:
    """The records of CSV text; None where a quote is not as it should be."""
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True, **dialect))
    except csv.Error:
        return None
    return [list(row) for row in rows if row]


CELLS = ["", "a", "b c", '""', '"a"', '"a,b"', '"a;b"', '"a""b"', '"\n"', '"a\nb"', '"a\r\nb"', '"', 'a"', '"a', '"a"b', 'a"b"',
         ' "a"', '"a" ', "é", "'a'", "\\", '"a\\"', "1", "#a", "\t", '"\n\n"', '","', '"""', '""""']  # fmt: skip


def odd_csv_files(seed: int, count: int, columns: int = 3, rows: int = 4) -> Iterator[str]:
    """Files with a header, of which some hold quotes and line breaks where they do not belong."""
    rng = random.Random(seed)
    for _ in range(count):
        lines = [",".join(f"c{i}" for i in range(columns))]
        is_odd = rng.random() < 0.7
        for _ in range(rows):
            cells = [rng.choice(CELLS if is_odd else CELLS[:11]) for _ in range(columns)]
            lines.append(",".join(cells))
        yield rng.choice(["\n", "\r\n"]).join(lines) + rng.choice(["", "\n"])
