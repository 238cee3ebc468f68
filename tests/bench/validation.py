"""`Dataset.validate` beside hand-written checks: `python -m tests.bench.validation`, which `make bench-pipeline` runs too.

An Arrow table beside the same checks by pyarrow.compute; rows of Python, of which none, every fifth or each is wrong, beside a model of
pydantic. The two sides of a pair take turns; seconds are those of the processor, and the least of the rounds counts.
"""

import argparse
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

import schemac

MANIFEST = """
name: rows
fields:
  - {name: id, type: Int64, extra: {schemac.dev/minimum: 0}}
  - {name: name, type: String, extra: {schemac.dev/maxLength: 40, schemac.dev/pattern: '^name [0-9]+$'}}
  - {name: price, type: {kind: Decimal, precision: 12, scale: 2}, extra: {schemac.dev/minimum: 0}}
  - {name: at, type: {kind: Timestamp, unit: Microsecond}}
  - {name: colour, type: {kind: Option, inner: String}, extra: {schemac.dev/enum: [red, green, blue]}}
  - {name: day, type: Date}
  - {name: x, type: {kind: Option, inner: Float64}}
"""
COLOURS = ("red", "green", "blue")
WRONG_SHARES = {"none wrong": 0, "20 % wrong": 5, "all wrong": 1}
"""Each how many-th row is wrong, 0 for none."""


class Row(BaseModel):
    """The same rules by pydantic."""

    model_config = ConfigDict(strict=True)
    id: Annotated[int, Field(ge=0, lt=2**63)]
    name: Annotated[str, Field(max_length=40, pattern="^name [0-9]+$")]
    price: Annotated[Decimal, Field(ge=0, max_digits=12, decimal_places=2)]
    at: datetime
    colour: Annotated[str | None, Field(pattern="^(red|green|blue)$")] = None
    day: date
    x: float | None = None


ROWS = TypeAdapter(list[Row])


def rows_of(count: int, wrong_share: int) -> list[dict[str, Any]]:
    """Make rows, some with text where the number of an id should be."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        {
            "id": "soon" if wrong_share and i % wrong_share == 0 else i,
            "name": f"name {i}",
            "price": Decimal(i % 100_000) / 4,
            "at": start + timedelta(milliseconds=i),
            "colour": COLOURS[i % 3],
            "day": date(2020, 1, 1) + timedelta(days=i % 3000),
            "x": i * 0.37,
        }
        for i in range(count)
    ]


def by_arrow(table: pa.Table) -> int:
    """Return how many rows break a rule, by pyarrow.compute."""
    columns = [
        *(table[name].is_null() for name in ("id", "name", "price", "at", "day")),
        pc.less(table["id"], 0),
        pc.greater(pc.utf8_length(table["name"]), 40),
        pc.invert(pc.match_substring_regex(table["name"], "^name [0-9]+$")),
        pc.less(table["price"], pa.scalar(Decimal(0), table["price"].type)),
        pc.invert(pc.is_in(table["colour"], pa.array(COLOURS))),
    ]
    wrong = columns[0]
    for column in columns[1:]:
        wrong = pc.or_kleene(wrong, column)
    return int(pc.sum(wrong).as_py() or 0)


def by_pydantic(rows: list[dict[str, Any]]) -> int:
    """Return how many errors pydantic has, each with its place and its words."""
    try:
        ROWS.validate_python(rows)
    except ValidationError as error:
        return len(error.errors(include_url=False))
    return 0


def show(name: str, count: int, rounds: int, own: Callable[[], object], other: Callable[[], object]) -> None:
    """Print the ratio of two sides that take turns."""
    seconds: list[list[float]] = [[], []]
    for _ in range(rounds):
        for case, times in zip((own, other), seconds, strict=True):
            start = time.process_time()
            case()
            times.append(time.process_time() - start)
    a, b = map(min, seconds)
    print(
        f"{name:<32}{count:>11,}  validate / by hand, processor: {a:.2f} / {b:.2f} s = {a / b:.2f}",
        flush=True,
    )


def main() -> None:
    """Measure, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of Arrow; of Python a twentieth")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    (dataset,) = schemac.compile_text(MANIFEST)
    few = max(1, options.rows // 20)
    table = pa.Table.from_pylist(rows_of(few, 0), dataset.to_arrow())
    table = pa.concat_tables([table] * (options.rows // few)).combine_chunks()
    show(
        "Arrow / pyarrow.compute",
        len(table),
        options.rounds,
        lambda: dataset.validate(table),
        lambda: by_arrow(table),
    )
    for name, share in WRONG_SHARES.items():
        rows = rows_of(few, share)
        own, other = (lambda: dataset.validate(rows)), (lambda: by_pydantic(rows))  # noqa: B023  # called at once
        assert len({one.row for one in dataset.validate(rows).reasons}) == by_pydantic(rows)
        show(f"rows / pydantic, {name}", few, options.rounds, own, other)


if __name__ == "__main__":
    main()
