"""Tables and files besides the source and the target: those of joins, and those that the schema refers to.

Layer: pipeline.
Shape: frozen models, as those of `job`, with the types that they share.
"""

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from schemac.language.attributes.builtin import find_zone
from schemac.rows.runs.storage import table_address
from schemac.rows.runs.tables import source_names
from schemac.text.syntax.model import AuthoredModel


class JobModel(AuthoredModel):
    """A mapping of a pipeline file."""

    # A job is also made in Python, of paths, lists and texts, which the strict models of a schema would refuse.
    model_config = ConfigDict(strict=False)


def _option_text(options: Any) -> Any:
    if not isinstance(options, dict):
        return options
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in options.items()
    }


TablePath = Annotated[str, AfterValidator(table_address)]
Paths = Annotated[tuple[str, ...], BeforeValidator(lambda path: (path,) if isinstance(path, str) else path)]
Options = Annotated[dict[str, str], BeforeValidator(_option_text)]


def _known_zone(zone: str | None) -> str | None:
    if zone is not None and find_zone(zone) is None:
        raise ValueError("expected a time zone such as `America/New_York`, `UTC` or `+02:00`")
    return zone


Zone = Annotated[str | None, AfterValidator(_known_zone)]


def known_format(text: Any) -> Any:
    """Fold the name of a format that we read ourselves, whatever its case; others are Spark's."""
    builtin_formats = ("csv", "json", "geojson", "parquet", "orc", *source_names())
    return text.lower() if isinstance(text, str) and text.lower() in builtin_formats else text


ColumnsByName = Annotated[
    dict[str, str],
    BeforeValidator(lambda on: {label: label for label in on} if isinstance(on, list | tuple) else on),
]


class Join(JobModel):
    """Another source whose columns a backfill reads, by the key of a row: `<name of the join>.<column>`."""

    path: Paths = Field(default=(), description="File, folder, glob or table; or a list of them.")
    format: Annotated[str, BeforeValidator(known_format)] = "parquet"
    timezone: Zone = None
    options: Options = Field(default_factory=dict, description="Options of the format.")
    on: ColumnsByName = Field(
        min_length=1,
        description="Columns that have to be equal: a list of names, or the column of the table and a Spark SQL expression"
        " over the columns of the source, such as `{city_id: id}`. The column `_rowid` has the table's own row ids.",
    )
    exact: bool = Field(
        default=False,
        description="Whether every row that gets values has to have a record, and every record a row.",
    )


class ReferencedTable(JobModel):
    """The table of a dataset that the schema refers to."""

    path: Paths = Field(default=(), description="Table, or files; or a list of them.")
    format: Annotated[str | None, BeforeValidator(known_format)] = Field(
        default=None, description="Format; by default that of the target."
    )
    timezone: Zone = None
    options: Options = Field(default_factory=dict, description="Options of the format.")
