"""The records of a manifest as models of pydantic.

Layer: manifest.
Shape: made from the annotations of the records, which are the master. pydantic writes their JSON Schemas, and the tests ask
it whether `schemac.syntax.reading` reads as it does; nothing else loads it.
"""

from functools import cache, reduce
from operator import or_
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    TypeAdapter,
    WithJsonSchema,
    create_model,
    model_validator,
)
from pydantic_core import CoreSchema

from schemac.logical.model import LogicalType
from schemac.source.json_object import Json
from schemac.syntax.reading import MISSING, Before, Bounds, Rule
from schemac.syntax.record import OpenRecord, Record

_CONFIG = ConfigDict(frozen=True, strict=True, defer_build=True, protected_namespaces=())


def json_schema(annotation: Any) -> Json:
    """Return the JSON Schema of what an annotation accepts."""
    schema: Json = TypeAdapter(pydantic_form(annotation)).json_schema(by_alias=True)
    return schema


def pydantic_form(annotation: Any) -> Any:
    """Return an annotation in which records are models, and bounds are pydantic's."""
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return _AnyKind if annotation is LogicalType else _model(annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        inner, *marks = arguments
        return reduce(_marked, marks, pydantic_form(inner))
    if origin in (Union, UnionType):
        return reduce(or_, map(pydantic_form, arguments))
    if origin is tuple:
        items: Any = tuple
        return Annotated[items[pydantic_form(arguments[0]), ...], Field(strict=False)]
    if origin in (list, dict):
        of: Any = origin
        return of[tuple(map(pydantic_form, arguments))]
    assert origin in (None, Literal), annotation
    return annotation


def _marked(inner: Any, mark: Bounds | Before | Rule) -> Any:
    """Return a type with a bound, or with what is done before or after it is read."""
    if isinstance(mark, Before):
        return Annotated[inner, BeforeValidator(mark.rewrite)]
    if isinstance(mark, Rule):
        checked = Annotated[inner, AfterValidator(mark.check)]
        return (
            checked
            if mark.json_schema is None
            else Annotated[checked, WithJsonSchema(dict(mark.json_schema))]
        )
    given = {
        "ge": mark.ge,
        "gt": mark.gt,
        "le": mark.le,
        "min_length": mark.min_length,
        "pattern": mark.pattern,
    }
    bounds: Any = {key: value for key, value in given.items() if value is not None}
    if not mark.is_strict:
        bounds["strict"] = False
    return Annotated[inner, Field(**bounds)]


@cache
def _model(record: type[Record]) -> type[BaseModel]:
    fields: dict[str, Any] = {
        name: (
            pydantic_form(found.written_annotation),
            Field(alias=found.alias, **({} if found.default is MISSING else {"default": found.default})),
        )
        for name, found in record.model_fields.items()
    }
    config = ConfigDict(**_CONFIG, extra="allow" if issubclass(record, OpenRecord) else "forbid")

    def check(self: Any) -> Any:
        record.check_together(self)
        return self

    validators: dict[str, Any] = {"check": model_validator(mode="after")(check)}
    made: type[BaseModel] = create_model(
        record.__name__,
        __config__=config,
        __doc__=record.__doc__,
        __validators__=validators,
        **fields,
    )
    return made


class _AnyKind:
    """Stands for all kinds, which contain each other."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        kinds = reduce(or_, map(_model, LogicalType.kinds.values()))
        return handler.generate_schema(Annotated[kinds, Discriminator("kind")])
