"""The corpus of values: what every token, cell and typed value is in every type, which every judge of values is held against.

Shape: four files of JSON lines under `corpus/`. A line of `tokens` and `cells` is [settings, place, text, {outcome: names of fields}], one of
       `columns` is [type of the column, name of the field, outcomes of its values]. An outcome is `=` where the value is the text itself, `= …`
       with the value, or the rules that are broken, each with its path below the field and with what it shows where that is not the text itself.
       The lines of `constraints` are those of `tests.constraints.corpus`.
       `python -m tests.judging.value_corpus` writes the files anew: read the diff before it is committed, it is the definition of values.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

import schemac
from schemac.rows.judging.arrays import to_field
from schemac.rows.judging.settings import Coerce, FieldOrigin, ValidationSettings
from schemac.rows.judging.typed_values import nullable_array
from schemac.rows.validation.result import Validation
from tests.engines.json_records import COLUMNS
from tests.judging.cells import CellReader
from tests.judging.records import RecordJudge

FOLDER = Path(__file__).parent / "corpus"
_BRAIN = {b"ARROW:extension:name": b"lance.bfloat16"}
FIELDS: dict[str, pa.Field] = {
    name: pa.field(name, held)
    for name, held in {
        "bool": pa.bool_(), "i8": pa.int8(), "i64": pa.int64(), "u8": pa.uint8(), "u64": pa.uint64(), "f16": pa.float16(), "f32": pa.float32(), "f64": pa.float64(),
        "d12_2": pa.decimal128(12, 2), "d38_10": pa.decimal128(38, 10), "d5_m3": pa.decimal128(5, -3), "d50_5": pa.decimal256(50, 5), "text": pa.string(), "bytes": pa.binary(),
        "bytes16": pa.binary(16), "day": pa.date32(), "day64": pa.date64(), "time_s": pa.time32("s"), "time_ns": pa.time64("ns"), "utc_us": pa.timestamp("us", "UTC"),
        "utc_ns": pa.timestamp("ns", "UTC"), "clock_ms": pa.timestamp("ms"), "india_us": pa.timestamp("us", "+05:30"), "duration": pa.duration("ms"), "uuid": pa.uuid(),
        "json": pa.json_(), "null": pa.null(),
    }.items()
} | {"brain": pa.field("brain", pa.binary(2), metadata=_BRAIN)}  # fmt: skip
_TIMES = ("day", "utc_us", "utc_ns", "clock_ms", "india_us")
CLOCK_CHANGES = (
    '"2024-03-31T02:30:00"',
    '"2024-10-27T02:30:00"',
    '"2024-03-31T03:00:00"',
    '"2024-10-27T03:00:00"',
)
NULLS = ("", "NULL", "\\N", "1", "null", 'a"b', "é")
SETTINGS: dict[str, ValidationSettings] = {
    "plain": ValidationSettings(),
    "text": ValidationSettings(coerce=Coerce.TEXT, null_values=NULLS),
    "berlin": ValidationSettings(timezone="Europe/Berlin"),
    "second": ValidationSettings(fields={name: FieldOrigin(epoch="Second") for name in _TIMES}),
    "microsecond": ValidationSettings(timezone="Asia/Tokyo", fields={name: FieldOrigin(epoch="Microsecond") for name in _TIMES}),
}  # fmt: skip
OF_TIMES = ("berlin", "second", "microsecond")


def placed(field: pa.Field, place: str) -> pa.Field:
    """The field in a place of a record."""
    name, item = field.name, field.with_name("item")
    match place:
        case "list":
            return pa.field(name, pa.list_(item))
        case "pair":
            return pa.field(name, pa.list_(item.with_nullable(False), 2))
        case "map":
            return pa.field(name, pa.map_(pa.string(), item))
        case "key":
            return pa.field(name, pa.map_(item.with_nullable(False), pa.int8()))
        case "struct":
            return pa.field(
                name, pa.struct([field.with_name("m").with_nullable(False), pa.field("o", pa.int8())])
            )
        case "required":
            return field.with_nullable(False)
    return field


TEXTS = {"": "{}", "required": "{}", "list": "[{}, null]", "pair": "[{}, {}]", "map": '{{"k": {}}}', "struct": '{{"m": {}, "o": 1}}', "key": "{{{}: 1}}"}  # fmt: skip


def fields_at(place: str, settings: str) -> list[pa.Field]:
    """The fields in a place, those that a record can have there."""
    found = [FIELDS[name] for name in (_TIMES if settings in OF_TIMES else FIELDS)]
    if place == "key":
        found = [field for field in found if field.name not in ("null", "json", "bytes16", "brain")]
    return [placed(field, place) for field in found if place != "map" or field.name != "null"]


def outcomes(
    schema: pa.Schema, settings: ValidationSettings, place: str, texts: Iterable[str], *, is_cell: bool
) -> Iterator[dict[str, str]]:
    """For each text the outcome in every field."""
    judges = [
        (RecordJudge(pa.schema([field]), settings), CellReader(pa.schema([field]), settings))
        for field in schema
    ]
    for text in texts:
        found = {}
        for field, (judge, cells) in zip(schema, judges, strict=True):
            if is_cell:
                judged = cells.csv({field.name: text})
            else:
                judged = judge.json(f'{{"{field.name}": {TEXTS[place].format(text, text)}}}')
            if judged.values is None:
                found[field.name] = "; ".join(
                    told(one.path[len(field.name) :], one.rule, one.value, text) for one in judged.reasons
                )
            else:
                value = judged.values[field.name]
                nullable = field.with_nullable(True)
                (shown,) = shown_values(to_field(nullable_array([value], nullable), nullable))
                found[field.name] = "=" if shown in (repr(text), repr(content(text))) else f"= {shown}"
        yield found


def content(token: str) -> Any:
    """What the text of a token says."""
    return json.loads(token) if token.startswith('"') else token


def told(path: str, rule: str, value: str | None, text: str) -> str:
    """A reason, without what it shows where that is the text itself."""
    shown = (
        ""
        if value is not None and value in (text[:1000], str(_content_or(text))[:1000])
        else f" {json.dumps(value, ensure_ascii=False)}"
    )
    return f"{path} {rule}{shown}".strip()


def _content_or(text: str) -> Any:
    try:
        return content(text)
    except ValueError:
        return text


def shown_values(array: pa.Array) -> list[str]:
    """Each value as text: NaN is not itself, and zero has a sign."""
    return [repr(_shown(value)) for value in array]


def _shown(value: pa.Scalar) -> Any:
    if not value.is_valid:
        return None
    is_ = pa.types
    if isinstance(value, pa.ExtensionScalar) or is_.is_dictionary(value.type):
        return _shown(value.value)
    if is_.is_map(value.type):
        return (
            [] if value.values is None else [(_shown(entry[0]), _shown(entry[1])) for entry in value.values]
        )
    if is_.is_struct(value.type):
        return {member.name: _shown(value[i]) for i, member in enumerate(value.type)}
    if is_.is_nested(value.type):
        return [_shown(item) for item in value.values]
    return value.value if hasattr(value, "value") and is_.is_temporal(value.type) else value.as_py()


def grouped(found: dict[str, str]) -> dict[str, str]:
    """The names of fields by their outcome."""
    groups: dict[str, list[str]] = {}
    for name, outcome in found.items():
        groups.setdefault(outcome, []).append(name)
    return {outcome: " ".join(names) for outcome, names in groups.items()}


def lines_of_texts(texts: dict[tuple[str, str], list[str]], *, is_cell: bool) -> Iterator[str]:
    """The lines of the corpus for texts by settings and place."""
    for (settings, place), some in texts.items():
        schema = pa.schema(fields_at(place, settings))
        for text, found in zip(
            some, outcomes(schema, SETTINGS[settings], place, some, is_cell=is_cell), strict=True
        ):
            yield json.dumps([settings, place, text, grouped(found)], ensure_ascii=False)


def read(name: str) -> list[Any]:
    """The lines of a file of the corpus."""
    return [
        json.loads(line)
        for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
        if line
    ]


def column_outcomes(found: Validation, height: int) -> list[str]:
    """What became of each value of a column that was alone in its table."""
    reasons: dict[int, list[str]] = {}
    for one in found.reasons:
        path = one.path.removeprefix("f")
        reasons.setdefault(one.row, []).append(
            f"{path} {one.rule} {json.dumps(one.value, ensure_ascii=False)}".strip()
        )
    values = iter(shown_values(found.good.column("f").combine_chunks()) if found.good.num_rows else [])
    return ["; ".join(reasons[row]) if row in reasons else f"= {next(values)}" for row in range(height)]


def dataset_of(type_text: str) -> schemac.Dataset:
    """A dataset of one field, which may be absent."""
    (found,) = schemac.compile_text(
        f"name: t\nfields:\n- {{name: f, type: {{kind: Option, inner: {type_text}}}}}\n"
    )
    return found


def arrays() -> dict[str, pa.Array]:
    """Columns of every type, by name."""
    from tests.validation.columns import SOURCES

    more = {
        "uint": pa.array([0, 255, 2**64 - 1, None], pa.uint64()), "half": pa.array([0.5, None], pa.float16()), "nanos": pa.array([0, 1, -1, 2**63 - 1, None], pa.timestamp("ns")),
        "seconds": pa.array([0, 253402300799, 253402300800, -62135596801, None], pa.timestamp("s", "Europe/Berlin")), "millis": pa.array([0, 1500, -1, None], pa.timestamp("ms")),
        "day64": pa.array([0, 86_400_000, 1, None], pa.date64()), "time": pa.array([0, 1, 86_399_999_999, None], pa.time64("us")), "time_ms": pa.array([0, 1500, None], pa.time32("ms")),
        "duration": pa.array([0, 1500, -1, 2**63 - 1, None], pa.duration("ms")), "wide": pa.array([None, 10**40, 1], pa.decimal256(50, 0)), "fixed": pa.array([b"ab", None], pa.binary(2)),
        "large": pa.array(["1", "x", None], pa.large_string()), "nothing": pa.nulls(2), "words": pa.array(["1", "x", None]).dictionary_encode(), "views": pa.array(["1", "x", None], pa.string_view()),
        "vector": pa.array([[1, 2], None, [None, 300]], pa.list_(pa.float32(), 2)), "lists": pa.array([[[1]], [], [None], None], pa.list_(pa.list_(pa.int8()))), "uuid": pa.array([b"0123456789abcdef", None], pa.uuid()),
    }  # fmt: skip
    return {name: pa.array(values, held) for name, (held, values) in SOURCES.items()} | more


def lines_of_columns() -> Iterator[str]:
    """The lines of the corpus for typed columns: every type of column for every field that it may become."""
    for source, array in arrays().items():
        for name, (type_text, _) in COLUMNS.items():
            dataset = dataset_of(type_text)
            try:
                found = dataset.validate(pa.table({"f": array}))
            except schemac.SchemaError as error:
                outcome = [error.diagnostics[0].code]
            else:
                outcome = column_outcomes(found, len(array))
            yield json.dumps([source, name, outcome], ensure_ascii=False)


def texts_of_tokens() -> dict[tuple[str, str], list[str]]:
    """The tokens by settings and place."""
    from tests.judging.texts import MOMENTS, NUMBERS, all_tokens

    tokens = all_tokens()
    strings = [token for token in tokens if token.startswith('"')]
    times = [json.dumps(text) for text in MOMENTS]
    found = {
        ("plain", ""): tokens,
        ("text", ""): tokens[::3],
        ("berlin", ""): [*times, *CLOCK_CHANGES],
        ("second", ""): NUMBERS,
        ("microsecond", ""): NUMBERS,
    }
    for step, place in enumerate(("list", "pair", "map", "struct", "required")):
        found["plain", place] = tokens[step::5]
    return found | {("plain", "key"): strings[::3], ("text", "list"): tokens[3::5]}


def texts_of_cells() -> dict[tuple[str, str], list[str]]:
    """The cells by settings and place."""
    from tests.judging.texts import MOMENTS, NUMBERS, all_tokens, cell_texts

    cells = cell_texts()
    found = {
        ("plain", ""): cells,
        ("text", ""): cells[::3],
        ("plain", "required"): cells[::7],
        ("berlin", ""): MOMENTS[::3],
        ("second", ""): NUMBERS[::3],
    }
    tokens = [token for token in all_tokens() if not {"\n", "\r", "\x00"} & {*token}]
    for step, place in enumerate(("list", "map", "struct")):
        found["plain", place] = [TEXTS[place].format(token, token) for token in tokens[step::9]] + cells[
            step::11
        ]
    return found


def write() -> None:
    """Write the files anew; the texts of those that are there are kept."""
    from tests.constraints.corpus import lines_of_constraints

    FOLDER.mkdir(exist_ok=True)
    files = {
        "tokens": lines_of_texts(texts_of_tokens(), is_cell=False),
        "cells": lines_of_texts(texts_of_cells(), is_cell=True),
        "columns": lines_of_columns(),
        "constraints": lines_of_constraints(),
    }
    for name, lines in files.items():
        (FOLDER / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    write()
