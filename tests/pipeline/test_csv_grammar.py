"""The grammar of CSV against Python's own reader, over every short text of the letters that matter; without Spark."""

import csv
import io
import itertools
import re

import pytest

from schemac.pipeline.reading.csv_grammar import CsvDialect
from schemac.pipeline.reading.json_records import records_of
from tests.pipeline.odd_records import odd_csv_files


def judged(text: str, **dialect: object) -> list[list[str]] | None:
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True, **dialect))  # type: ignore[arg-type]
    except csv.Error:
        return None
    return [row for row in rows if row]


def read(dialect: CsvDialect, text: str) -> list[list[str]] | None:
    records = list(dialect.records(text.splitlines(keepends=True)))
    if not all(map(dialect.is_sound, records)):
        return None
    return [[cell or "" for cell in dialect.values(record)] for record in records]


def texts(letters: str, longest: int) -> list[str]:
    found = (
        "".join(text) for size in range(1, longest + 1) for text in itertools.product(letters, repeat=size)
    )
    return [text for text in found if text.strip()]


@pytest.mark.parametrize(("sep", "quote"), list(itertools.product(",;\t|^]", "\"'")))
def test_every_short_text_is_read_as_python_reads_it(sep: str, quote: str) -> None:
    dialect = CsvDialect(sep=sep, quote=quote, escape=quote)
    for text in texts(f"a{sep}{quote}\n", 5):
        if any(not line.strip(" ") for line in text.split("\n")):
            continue
        assert read(dialect, text) == judged(text, delimiter=sep, quotechar=quote), repr(text)


@pytest.mark.long
def test_every_longer_text_is_read_as_python_reads_it() -> None:
    for text in texts('a,"\n', 8):
        assert read(CsvDialect(), text) == judged(text), repr(text)


def test_an_escape_that_is_no_quote_is_read_as_python_reads_it() -> None:
    """Outside quotes, and before other letters, an escape is a letter, as Spark has it; Python takes some more texts."""
    dialect = CsvDialect(escape="\\")
    for inner in texts('a,"\\\n', 5):
        text = f'"{inner}",b'
        outside = re.sub(dialect.quoted, "", text)
        if "\\" in outside or re.search(r"\\[^\"\\]", text):
            continue
        found = read(dialect, text)
        assert found in (None, judged(text, doublequote=False, escapechar="\\")), repr(text)


@pytest.mark.parametrize("seed", range(3))
def test_odd_files_are_read_as_python_reads_them(seed: int) -> None:
    for text in odd_csv_files(seed, 300):
        assert read(CsvDialect(), text) == judged(text), repr(text)


def test_no_record_is_good_behind_a_quote_that_stays_open() -> None:
    lines = ['1,"a\n', "2,b\n", '3,c",d\n', '4,"e"f,"g\n', '5,h"\n', "6,i\n"]
    records = list(CsvDialect().records(lines))
    assert records == ['1,"a\n2,b\n3,c",d', '4,"e"f,"g\n5,h"', "6,i"]
    assert [CsvDialect().is_sound(record) for record in records] == [True, False, True]


def test_a_quote_that_never_closes_takes_no_quadratic_time() -> None:
    lines = ['1,"a\n', *(f'{i},"b",c\n' for i in range(100_000))]
    assert sum(record.count("\n") + 1 for record in CsvDialect().records(lines)) == len(lines)


def test_every_letter_of_a_document_is_in_a_record_or_between_records() -> None:
    for letters in itertools.product('{}[],"1: \n', repeat=4):
        text = "".join(letters)
        found = "".join(records_of((text,)))
        assert [letter for letter in found if letter in '"1'] == [
            letter for letter in text if letter in '"1'
        ], text
