"""Writes ride records, two in a hundred of them wrong in one of twelve known ways.

The same arguments give the same bytes: `python generate.py FILE [ROWS]`.
"""

import json
import random
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Record = dict[str, Any]

ROWS = 201_600
BLOCK = 10_080
WRONG_EVERY = 50
_START = datetime(2026, 1, 1, tzinfo=UTC)
_ZONES = ("harbour", "old town", "station", "airport", "Österfeld", None)
_PARTS = tuple(number / 1000 for number in range(-1000, 1001))
_STREETS = ("Mill Lane", "Kaiserstraße", "Rue des Lilas", "Strand", "5th Avenue")


def ride(number: int, chance: random.Random) -> Record:
    """Make a sound record."""
    stops = [
        {"name": chance.choice(_STREETS), "minutes": chance.randrange(2, 40)}
        for _ in range(chance.randrange(4))
    ]
    return {
        "ride_id": f"R{number:08d}",
        "started_at": (_START + timedelta(seconds=number * 7, microseconds=number % 1_000)).isoformat(),
        "fare": chance.randrange(400, 9_001) / 100,
        "distance": chance.randrange(300, 40_000),
        "passengers": chance.randrange(1, 6),
        "rating": chance.choice((None, 3.5, 4.0, 4.5, 5.0)),
        "pickup": {
            "lon": chance.randrange(8_500_000, 8_900_001) / 1_000_000,
            "lat": chance.randrange(50_000_000, 50_300_001) / 1_000_000,
            "zone": chance.choice(_ZONES),
        },
        "stops": stops,
        "tags": {"payment": chance.choice(("card", "cash")), "channel": chance.choice(("app", "street"))},
        "comment": chance.choice((None, "friendly", "too fast", "clean car, on time")),
        "embedding": chance.choices(_PARTS, k=16),
    }


def _set(**changes: Any) -> Callable[[Record], Record]:
    return lambda record: {**record, **changes}


def _without(name: str) -> Callable[[Record], Record]:
    return lambda record: {key: value for key, value in record.items() if key != name}


WRONG: dict[str, Callable[[Record], Record]] = {
    "no key": _without("ride_id"),
    "a fare that is null": _set(fare=None),
    "a fare that is text": _set(fare="free"),
    "a fare in tenths of a cent": _set(fare=12.345),
    "a negative distance": _set(distance=-5),
    "more passengers than a byte holds": _set(passengers=300),
    "a day that does not exist": _set(started_at="2026-02-30T10:00:00+00:00"),
    "a vector that is too short": lambda r: {**r, "embedding": r["embedding"][:15]},
    "a text in a vector": lambda r: {**r, "embedding": [*r["embedding"][:15], "x"]},
    "a list of stops that is no list": _set(stops="none"),
    "a latitude in quotes": lambda r: {**r, "pickup": {**r["pickup"], "lat": "50.1"}},
    "half a line": lambda r: r,
}
"""Each way to be wrong; the last one is done to the text."""


def lines(numbers: range) -> Iterator[str]:
    """Write the records of a block as JSON, one a line."""
    chance = random.Random(20260101 + numbers.start)
    ways = list(WRONG.items())
    # One encoder for all records: `json.dumps` makes one for each.
    written = json.JSONEncoder(ensure_ascii=False).encode
    for number in numbers:
        record = ride(number, chance)
        if number % WRONG_EVERY != WRONG_EVERY - 1:
            yield f"{written(record)}\n"
            continue
        name, spoil = ways[number // WRONG_EVERY % len(ways)]
        text = written(spoil(record))
        yield f"{text[: len(text) // 2] if name == 'half a line' else text}\n"


def block(numbers: range) -> str:
    """Write a block of records; each has chances of its own, so that blocks can be written side by side."""
    return "".join(lines(numbers))


def main() -> None:
    """Write the file."""
    path = Path(sys.argv[1])
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else ROWS
    blocks = [range(start, min(start + BLOCK, rows)) for start in range(0, rows, BLOCK)]
    with path.open("w", encoding="utf-8", newline="\n") as stream, ProcessPoolExecutor() as processes:
        stream.writelines(processes.map(block, blocks))
    print(f"{rows:,} records, {rows // WRONG_EVERY:,} of them wrong, in {path}")


if __name__ == "__main__":
    main()
