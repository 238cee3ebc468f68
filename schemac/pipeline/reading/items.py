"""Makes the items of a list in each record records of their own (`explode`), from which the rest of the record is in reach.

Layer: pipeline.
Shape: a record with the item in place of its list, once for each item: `lines.sku` is then a path into the item, and `id`
       one into the record around it. Of JSON the record is written again as text, with the digits of its numbers.
Rule: a list that is empty, null or missing gives no record, or with `keepEmpty` one without an item. What is not a list gives
      one record that breaks the rule `type`. A record that is broken stays one, whole.
"""

import json

from pyspark.sql import DataFrame, functions
from pyspark.sql.types import ArrayType, DataType, StructField, StructType

from schemac.pipeline.declaration.job import Explode
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.cutting import FAULT
from schemac.pipeline.reading.inputs import Json, parse_steps, unknown_column, with_numbers_marked
from schemac.pipeline.reading.texts import BatchSource
from schemac.pipeline.spark.columns import RAW
from schemac.pipeline.spark.sql import concat, first_of, fresh, is_alone, literal, name, parsed, struct, when
from schemac.text.source.catalogue import SOURCE_TYPE_MISMATCH

WHOLE, LIST, HEAD, TAIL, ITEM = "__whole", "__list", "__head", "__tail", "__item"
NO_LIST = "type"
PLACE = ("source", "explode")


def items_of_texts(texts: BatchSource, explode: Explode) -> BatchSource:
    """Give the records of JSON's items."""
    steps = tuple(str(step) for step in parse_steps(explode.path))
    other_columns = [name(label) for label in texts.frame.columns if label not in (RAW, FAULT)]
    columns = [RAW, FAULT, *other_columns]
    whole = Json(WHOLE, (0,), is_marked=True)
    head, tail = _around(whole, steps)
    place = Json(WHOLE, (0, *steps))
    items = f"try_variant_get({place.variant}, '$', 'array<variant>')"
    parsed_frame = texts.frame.selectExpr(*columns, f"{parsed(with_numbers_marked(RAW))} as {WHOLE}")
    frame = parsed_frame.selectExpr(
        *columns, WHOLE, f"{items} as {LIST}", f"{head} as {HEAD}", f"{tail} as {TAIL}"
    )
    frame = frame.selectExpr(*other_columns, f"explode({_entries(place, explode)}) as {ITEM}")
    return texts.with_frame(frame.selectExpr(*other_columns, f"{ITEM}.r as {RAW}", f"{ITEM}.f as {FAULT}"))


def _entries(place: Json, explode: Explode) -> str:
    """Each record with its fault, as an array."""
    x = fresh()
    as_it_is = f"array({_entry(RAW, FAULT)})"
    is_broken = f"({FAULT} is not null or not {is_alone(WHOLE)} or not startswith(ltrim({RAW}), '{{'))"
    is_nothing = f"({place.variant} is null or is_variant_null({place.variant}))"
    items = f"if(size({LIST}) = 0, array(parse_json('null')), {LIST})" if explode.keep_empty else LIST
    item = f"coalesce({Json(x, is_marked=True).text}, 'null')"
    each = f"transform({items}, {x} -> {_entry(concat([HEAD, item, TAIL]), 'null')})"
    none = f"slice({as_it_is}, 1, 0)"
    return first_of(
        [
            (is_broken, as_it_is),
            (is_nothing, as_it_is if explode.keep_empty else none),
            (f"{LIST} is null", f"array({_entry(RAW, literal(NO_LIST))})"),
        ],
        each,
    )


def _entry(text: str, fault: str) -> str:
    return struct([("r", text), ("f", f"cast({fault} as string)")])


def _around(whole: Json, steps: tuple[str, ...]) -> tuple[str, str]:
    """Write what is in a record before and behind the value at a path: SQL text of two texts."""
    first, *rest = steps
    k, v = fresh(), fresh()
    members = f"try_variant_get({whole.variant}, '$', 'map<string,variant>')"
    others = f"to_json(map_filter({members}, ({k}, {v}) -> {k} <> {literal(first)}))"
    unmarked = Json("{}", is_marked=True).text.replace("to_json({})", others)
    comma = when(f"{others} = '{{}}'", "''", "','")
    opened = f"regexp_replace({unmarked}, '[}}]$', {comma})"
    head = concat([opened, literal(json.dumps(first, ensure_ascii=False) + ":")])
    tail = literal("}")
    if rest:
        inner_head, inner_tail = _around(Json(whole.root, (*whole.steps, first), True), tuple(rest))
        return concat([head, inner_head]), concat([inner_tail, tail])
    return head, tail


def items_of_columns(
    frame: DataFrame, types: dict[str, DataType], explode: Explode
) -> tuple[DataFrame, dict[str, DataType]]:
    """Give the rows of a column's items, and the types of the columns then."""
    first, *rest = [str(step) for step in parse_steps(explode.path)]
    if first not in types:
        raise unknown_column(first, [*types])
    item_type = _item_type(types[first], tuple(rest), explode.path)
    place = functions.col(".".join(name(step) for step in (first, *rest)))
    made = functions.explode_outer(place) if explode.keep_empty else functions.explode(place)
    if not rest:
        columns = [
            made.alias(label) if label == first else functions.col(name(label)) for label in frame.columns
        ]
        return frame.select(*columns), {**types, first: item_type}
    inside = functions.col(name(first)).withField(".".join(map(name, rest)), functions.col(ITEM))
    items = frame.select("*", made.alias(ITEM)).withColumn(first, inside).drop(ITEM)
    return items, {**types, first: item_type}


def _item_type(data_type: DataType, rest: tuple[str, ...], path: str) -> DataType:
    """Give the type of a column with the item in place of the list."""
    if not rest:
        if isinstance(data_type, ArrayType):
            return data_type.elementType
        message = f"`explode` names `{path}`, which is {data_type.simpleString()} in the source, not a list"
        raise PipelineError(SOURCE_TYPE_MISMATCH, message, "name a list of the source", place=PLACE)
    if not isinstance(data_type, StructType):
        message = f"`explode` names `{path}`, and `{rest[0]}` is looked for in a value that has no members"
        raise PipelineError(SOURCE_TYPE_MISMATCH, message, "name a list of the source", place=PLACE)
    if rest[0] not in data_type.names:
        raise unknown_column(rest[0], data_type.names)
    return StructType(
        [
            StructField(part.name, _item_type(part.dataType, rest[1:], path))
            if part.name == rest[0]
            else part
            for part in data_type.fields
        ]
    )
