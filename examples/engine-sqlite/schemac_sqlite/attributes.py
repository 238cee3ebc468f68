"""`sqlite.org`: what a table of SQLite says beyond types."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from schemac.language.attributes.attribute import Attribute

DOMAIN = "sqlite.org"


def _of_sql(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("a default is a text or a number")  # noqa: TRY004 — what a validator raises
    return value


DEFAULT = Attribute[Any](
    f"{DOMAIN}/default",
    Annotated[Any, AfterValidator(_of_sql)],
    "the value of the column in rows that are written without it",
)
PRIMARY_KEY = Attribute[list[str]](
    f"{DOMAIN}/primaryKey",
    Annotated[list[str], Field(min_length=1)],
    "the columns of the primary key",
    on_field=False,
    on_schema=True,
)
ATTRIBUTES = (DEFAULT, PRIMARY_KEY)
