"""Parts of a pipeline file: object stores, the tables of joins and of references, and how many records may break which rule.

Layer: pipeline.
Shape: frozen models, as those of `job`, with the types that they share. In each task `Limits` count what
       breaks them; together they say which limit was passed. A record counts once for a rule or a field, however often it breaks it.
Units: a limit is a share of all records when it is a fraction (0 <= x <= 1 with a decimal point), else records.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    ValidationInfo,
)

from schemac.language.attributes.builtin import find_zone
from schemac.rows.runs.storage import table_address, written_secrets
from schemac.rows.runs.tables import source_names
from schemac.text.syntax.model import AuthoredModel


class JobModel(AuthoredModel):
    """A mapping of a pipeline file."""

    # A job is also made in Python, of paths, lists and texts, which the strict models of a schema would refuse.
    model_config = ConfigDict(strict=False)


def _option_text(options: Any) -> Any:
    """Return options with their values as texts: true and false in lower case."""
    if not isinstance(options, dict):
        return options
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in options.items()
    }


def path_from(folder: Path, path: str) -> str:
    """Make a path in a folder hold from the root; addresses stay."""
    return path if "://" in path else str((folder / path).absolute())


def absolute_path(path: str, info: ValidationInfo) -> str:
    """Make a path hold from the root, if it is validated with the `folder` of its file as context."""
    return path if info.context is None else path_from(info.context["folder"], path)


TableName = Annotated[str, AfterValidator(table_address)]
TablePath = Annotated[TableName, AfterValidator(absolute_path)]
Paths = Annotated[
    tuple[Annotated[str, AfterValidator(absolute_path)], ...],
    BeforeValidator(lambda path: (path,) if isinstance(path, str) else path),
]
Options = Annotated[dict[str, str], BeforeValidator(_option_text)]


def _known_zone(zone: str | None) -> str | None:
    """Return the zone. Raises ValueError for one that is not in the database of time zones."""
    if zone is not None and find_zone(zone) is None:
        raise ValueError("expected a time zone such as `America/New_York`, `UTC` or `+02:00`")
    return zone


Zone = Annotated[str | None, AfterValidator(_known_zone)]


def known_format(text: Any) -> Any:
    """Return a format in lower case if it is one that we read ourselves; others are Spark's."""
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


def _known_address(address: str) -> str:
    """Return the address. Raises ValueError for a path without a scheme."""
    if "://" not in address:
        raise ValueError("expected an address such as `s3://rides` or `s3://rides/raw`")
    return address


def _without_secrets(value: Any) -> Any:
    """Refuse a secret in the file, which everyone with access to the repository could read."""
    if isinstance(value, dict):
        for place in written_secrets(value):
            name = ".".join(map(str, place))
            raise ValueError(
                f"`{name}` is a secret: write the name of an environment variable, such as ${{AWS_SECRET_ACCESS_KEY}}"
            )
    return value


class ObjectStore(JobModel):
    """How one address of an object store is accessed; `${NAME}` is an environment variable."""

    endpoint: str | None = Field(default=None, description="Address of the S3 API, if it is not Amazon's.")
    region: str | None = Field(default=None, description="Region of the store.")
    access_key_id: str | None = Field(default=None, description="`${NAME}` of an environment variable.")
    secret_access_key: str | None = Field(default=None, description="`${NAME}` of an environment variable.")
    session_token: str | None = Field(default=None, description="`${NAME}` of an environment variable.")
    path_style: bool | None = Field(
        default=None, description="Whether the bucket is part of the path of a request, not of its host."
    )
    options: Options = Field(
        default_factory=dict, description="Further options, by the names of the table's engine."
    )
    hadoop: Options = Field(default_factory=dict, description="Further options, by Hadoop's names.")


Stores = dict[
    Annotated[str, AfterValidator(_known_address)], Annotated[ObjectStore, BeforeValidator(_without_secrets)]
]


Key = tuple[str, ...]
"""Where a limit is below `maxQuarantined`: nowhere, or ("rules", "cast"), or ("fields", "fare")."""


def _checked_limit(limit: float | None) -> int | float | None:
    """Return the limit. Raises ValueError for one that is neither a count nor a share."""
    if limit is not None and (limit < 0 or (isinstance(limit, float) and limit > 1)):
        raise ValueError("expected a count of records, or a share between 0.0 and 1.0")
    return limit


Limit = Annotated[StrictInt | StrictFloat | None, AfterValidator(_checked_limit)]


class Passed(NamedTuple):
    """A limit that more records broke than it allows."""

    place: Key
    message: str


class Limits(JobModel):
    """Limits on records that do not fit: in total, by rule and by field."""

    total: Limit = Field(default=None, description="A count or a share of all records.")
    rules: dict[str, Limit] = Field(default_factory=dict, description="By rule, such as `cast`.")
    fields: dict[str, Limit] = Field(
        default_factory=dict, description="By field or path, such as `trip.fare`."
    )

    def each(self) -> Iterator[tuple[Key, int | float]]:
        """Yield the limits that are set, with their places."""
        if self.total is not None:
            yield (), self.total
        for group, limits in (("rules", self.rules), ("fields", self.fields)):
            for name, limit in limits.items():
                if limit is not None:
                    yield (group, name), limit

    def passed(self, records: int, quarantined: int, broken: Mapping[Key, int]) -> Passed | None:
        """Return the first limit that was passed; None if none was."""
        for key, limit in self.each():
            count = broken.get(key, 0) if key else quarantined
            if count > (limit if isinstance(limit, int) else limit * records):
                verbs = {"rules": "break the rule", "fields": "do not fit in the field"}
                description = f"{verbs[key[0]]} `{key[1]}`" if key else "do not fit"
                return Passed(key, f"{count} of {records} records {description}, the limit is {limit}")
        return None

    def count_broken(self, errors: pa.ListArray) -> Counter[Key]:
        """Count the records of a batch that break the rules, or are wrong in the fields, that have a limit; `errors` are their reasons."""
        counts: Counter[Key] = Counter()
        reasons, record = errors.flatten(), pc.list_parent_indices(errors)
        paths = pc.struct_field(reasons, "path")
        rules = pc.list_element(pc.split_pattern(pc.struct_field(reasons, "rule"), ":", max_splits=1), 0)
        for group, name in [key for key, _ in self.each() if key]:
            if group == "rules":
                is_meant = pc.equal(rules, name)
            else:
                inside = [pc.starts_with(paths, f"{name}{mark}") for mark in ".["]
                is_meant = pc.or_(pc.equal(paths, name), pc.or_(*inside))
            counts[group, name] += len(pc.unique(record.filter(is_meant)))
        return counts


def _authored_limits(value: Any) -> Any:
    """Return limits as a mapping: one number is the limit for all records. Raises ValueError."""
    if value is None:
        return {}
    if isinstance(value, dict | Limits):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("expected a count of records, a share between 0.0 and 1.0, or a mapping of limits")  # noqa: TRY004  pydantic's way
    return {"total": _checked_limit(value)}


AuthoredLimits = Annotated[Limits, BeforeValidator(_authored_limits)]
