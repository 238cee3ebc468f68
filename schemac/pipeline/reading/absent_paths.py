"""Finds the paths that a pipeline names and no record of its JSON source has: a slip of the pen, or a key that is left out.

Layer: pipeline.
Shape: records and the fields that are read from them in; the paths that none of them has out. A path whose value is null is there.
Rule: the first records have most paths. The others are searched up to the first record that has one: a list to explode, without
      which a run would write nothing, in the whole source, and fields, which only warn, in the first part of it. Broken records
      have no paths; a source without sound records lacks none.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame

from schemac.pipeline.declaration.job import FieldSource, Source
from schemac.pipeline.errors import AbsentPath, did_you_mean
from schemac.pipeline.reading.cutting import FAULT
from schemac.pipeline.reading.inputs import Json, file_part, parse_steps
from schemac.pipeline.reading.records import IN_RECORD, IS_RECORD, RECORD, Records
from schemac.pipeline.spark.packed import DELETE, RAW
from schemac.pipeline.spark.sql import name, parse_json_sql
from schemac.rows.judging.settings import Step
from schemac.text.syntax.events import written

FIRST_RECORDS = 200
"""How many records are looked at before the others are searched."""
MOST_RECORDS = 10_000
"""Among how many records the path of a field is searched: a key that is rarely there must not cost a second reading of the source."""


def absent_paths(
    records: Records, source: Source, fields: Mapping[str, FieldSource | None]
) -> list[AbsentPath]:
    """Find the list to explode, if no record has it, or else the paths of fields. Sources with columns have been checked already."""
    if records.columns is not None:
        return []
    explode = source.explode
    if explode is not None and records.exploded is not None and not explode.allow_missing:
        use, place = "the list that `explode` names", ("source", "explode")
        for absent in _absent(records.exploded, [AbsentPath(explode.path, use, place)]):
            keep_empty = ", keepEmpty: true" if explode.keep_empty else ""
            setting = f"explode: {{path: {written(explode.path)}{keep_empty}, allowMissing: true}}"
            way_out = f"if the list may be missing in every record, write `{setting}`"
            help = f"{absent.help} {way_out}" if absent.help else way_out
            return [replace(absent, help=help, loses_records=not explode.keep_empty, searched=None)]
    # The paths that the author wrote for fields, and for the marker of records that delete.
    paths = []
    for label, origin in fields.items():
        path = None if origin is None else origin.from_
        if path is None or path in records.partitions or file_part(path) is not None:
            continue
        use, place_of_path = f"from which `{label}` is read", ("fields", label, "from")
        if label == DELETE:
            use, place_of_path = "which tells records that delete from others", ("target", "delete", "from")
        paths.append(AbsentPath(path, use, place_of_path))
    return _absent(records.frame, paths, MOST_RECORDS)


def _absent(frame: DataFrame, paths: Sequence[AbsentPath], most: int | None = None) -> list[AbsentPath]:
    """Find the paths that no record of a frame of texts has, or none of the first ones."""
    if not paths:
        return []
    sound = frame.where(f"{FAULT} is null").select(RAW)
    texts = [row[0] for row in sound.limit(FIRST_RECORDS).collect()]
    first: list[dict[str, Any]] = []
    for text in texts:
        with suppress(ValueError, RecursionError):
            document = json.loads(text)
            first += [document] if isinstance(document, dict) else []
    missing = [
        one for one in paths if not any([*_values_at(record, parse_steps(one.path))] for record in first)
    ]
    searched = None
    if missing and not (len(first) == len(texts) < FIRST_RECORDS):
        sound = sound if most is None else sound.limit(most)
        records = sound.selectExpr(RAW, f"{parse_json_sql(RAW)} as {RECORD}").where(IS_RECORD)
        while missing:
            places = [Json(RECORD, (*IN_RECORD, *parse_steps(one.path))) for one in missing]
            tests = [f"({place.variant} is not null)" for place in places]
            presence = records.where(" or ".join(tests)).selectExpr(*tests).head(1)
            if not presence:
                break
            missing = [one for one, is_there in zip(missing, presence[0], strict=True) if not is_there]
        missing = missing if first or records.head(1) else []
        if missing and most is not None and sound.count() == most:
            searched = most
    elif not first:
        return []
    return [
        replace(one, help=_similar_paths(parse_steps(one.path), first), searched=searched) for one in missing
    ]


def _values_at(value: Any, steps: Sequence[Step]) -> Iterator[Any]:
    """Yield the value at the end of a path, if there is one."""
    for step in steps:
        is_key = isinstance(step, str) and isinstance(value, dict) and step in value
        is_position = isinstance(step, int) and isinstance(value, list) and step < len(value)
        if not (is_key or is_position):
            return
        value = value[step]
    yield value


def _similar_paths(steps: tuple[Step, ...], records: Sequence[dict[str, Any]]) -> str | None:
    """Return the paths of records that are similar to one that none of them has."""
    for depth, step in reversed([*enumerate(steps)]):
        around = [value for record in records for value in _values_at(record, steps[:depth])]
        keys = {key for value in around if isinstance(value, dict) for key in value}
        if keys and isinstance(step, str):
            known = [_path_text((*steps[:depth], key)) for key in keys]
            suggestion = did_you_mean(_path_text((*steps[:depth], step)), known)
            return suggestion and (suggestion if suggestion.endswith("?") else f"{suggestion};")
        if around:
            break
    return None


def _path_text(steps: Sequence[Step]) -> str:
    """Write a path as a pipeline has it."""
    parts = []
    for step in steps:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        else:
            is_plain = step and not any(sign in step for sign in ".[`")
            parts.append(f".{step if is_plain else name(step)}")
    return "".join(parts).removeprefix(".")
