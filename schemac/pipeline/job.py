"""The pipeline file: where records come from, which schema they must fit, where they go.

Layer: pipeline.
Shape: frozen models with the names of the file in camelCase; the master of the file's grammar.
Units: `maxQuarantined` is a share of all records when it is a fraction (0 <= x < 1 with a decimal point), else records.
"""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from schemac.attributes.zones import find_zone
from schemac.kinds.units import TimeUnit
from schemac.pipeline.limits import AuthoredLimits, Limits
from schemac.runs.identity import IDENTIFIER
from schemac.runs.modes import Mode
from schemac.runs.storage import Storage, table_address, written_secrets
from schemac.runs.tables import sink_engine, sink_names, source_names
from schemac.syntax.model import AuthoredModel


class _Model(AuthoredModel):
    # A job is also made in Python, of paths, lists and texts, which the strict models of a schema would refuse.
    model_config = ConfigDict(strict=False)


EpochUnit = Literal["Day", TimeUnit]
"""What a number that means a timestamp counts."""


class Coerce(StrEnum):
    """What may be converted without being told: nothing, or text and numbers into each other when exact."""

    NONE = "none"
    TEXT = "text"


class Unexpected(StrEnum):
    """What a key of a record that no field takes does to the record."""

    IGNORE = "ignore"
    REJECT = "reject"


class Keys(StrEnum):
    """What a run does about records with the same primary key: nothing, find them, or also refuse keys of the table.

    `check` costs a shuffle, and `refuse` reads the keys of the table besides.
    """

    TRUST = "trust"
    CHECK = "check"
    REFUSE = "refuse"


def _option_text(options: Any) -> Any:
    if not isinstance(options, dict):
        return options
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in options.items()
    }


def _one_path_or_many(path: Any) -> Any:
    return (path,) if isinstance(path, str) else path


TablePath = Annotated[str, AfterValidator(table_address)]
Paths = Annotated[tuple[str, ...], BeforeValidator(_one_path_or_many)]
Options = Annotated[dict[str, str], BeforeValidator(_option_text)]


def _known_zone(zone: str | None) -> str | None:
    if zone is not None and find_zone(zone) is None:
        raise ValueError("expected a time zone such as `America/New_York`, `UTC` or `+02:00`")
    return zone


Zone = Annotated[str | None, AfterValidator(_known_zone)]


def _known_format(text: Any) -> Any:
    """Fold the name of a format that we read ourselves, whatever its case; others are Spark's."""
    own = ("csv", "json", "geojson", "parquet", "orc", *source_names())
    return text.lower() if isinstance(text, str) and text.lower() in own else text


def _known_sink(name: str | None) -> str | None:
    if name is not None and name not in sink_names():
        raise ValueError(f"expected an engine that writes tables: {', '.join(sink_names())}")
    return name


class Source(_Model):
    """Where records come from. Each option is honoured, or refused by its name (see `source_options`)."""

    path: Paths = Field(default=(), description="File, folder or glob; or a list of them.")
    format: Annotated[str, BeforeValidator(_known_format)] = Field(
        default="json",
        description=f"csv, json, geojson, parquet, orc, {', '.join(source_names())}, or any Spark format.",
    )
    timezone: Zone = Field(
        default=None, description="Zone of the clocks in the source that are written without one."
    )
    options: Options = Field(default_factory=dict, description="Options of the format.")


class FieldSource(_Model):
    """Where one field comes from, when not from the column of its own name."""

    from_: str | None = Field(
        default=None, alias="from", description="Path such as `properties.mag` or `xyz[2]`."
    )
    format: str | None = Field(default=None, description="Date or time pattern, such as `MMM dd yyyy`.")
    epoch: EpochUnit | None = Field(default=None, description="The number counts this unit since 1970-01-01.")
    zone: Zone = Field(
        default=None, description="Zone of this field's clocks, where the source's is another."
    )


def _field_source(value: Any) -> Any:
    return {"from": value} if isinstance(value, str) else value


class DeleteMarker(_Model):
    """Which records delete the row of their key."""

    from_: str = Field(alias="from", description="Path in the record, such as `op` or `meta.op`.")
    value: str = Field(description="Text with which the record deletes.")


class Target(_Model):
    """The table that takes the good rows."""

    path: TablePath
    format: Annotated[str | None, AfterValidator(_known_sink)] = Field(
        default=None, description=f"Engine that writes the table: {', '.join(sink_names())}."
    )
    mode: Mode = Mode.CREATE
    latest: str | None = Field(
        default=None,
        description="With `upsert`: the field whose greatest value wins among rows with one key.",
    )
    delete: DeleteMarker | None = Field(
        default=None, description="With `upsert`: records that delete the row of their key."
    )
    allow_empty: bool = Field(
        default=False, description="Whether `overwrite` may leave a table that has rows without any."
    )
    max_rows_per_file: int = Field(default=1 << 20, gt=0)


def _run_id(id: str | None) -> str | None:
    if id is not None and not IDENTIFIER.match(id):
        raise ValueError("expected up to 64 letters, digits, `_` and `-`")
    return id


class Quarantine(_Model):
    """The dataset that takes the other rows, each with its raw record and every reason."""

    path: TablePath


def _known_address(address: str) -> str:
    if "://" not in address:
        raise ValueError("expected an address such as `s3://rides` or `s3://rides/raw`")
    return address


def _without_secrets(told: Any) -> Any:
    """Refuse a secret that stands in the file, where whoever reads the repository would read it."""
    if isinstance(told, dict):
        for place in written_secrets(told):
            name = ".".join(map(str, place))
            raise ValueError(
                f"`{name}` is a secret: write the name of an environment variable, such as ${{AWS_SECRET_ACCESS_KEY}}"
            )
    return told


class ObjectStore(_Model):
    """How one address of an object store is reached; `${NAME}` is an environment variable."""

    endpoint: str | None = Field(default=None, description="Address of the S3 API, where it is not Amazon's.")
    region: str | None = None
    access_key_id: str | None = Field(default=None, description="`${NAME}` of an environment variable.")
    secret_access_key: str | None = Field(default=None, description="`${NAME}` of an environment variable.")
    session_token: str | None = Field(default=None, description="`${NAME}` of an environment variable.")
    path_style: bool | None = Field(
        default=None, description="Whether the bucket stands in the path of a request, not in its host."
    )
    options: Options = Field(
        default_factory=dict, description="Further options by the names of the engine of the table."
    )
    hadoop: Options = Field(default_factory=dict, description="Further options by Hadoop's names.")


Stores = dict[
    Annotated[str, AfterValidator(_known_address)],
    Annotated[ObjectStore, BeforeValidator(_without_secrets)],
]


class Severity(StrEnum):
    """What a record that breaks a rule comes to: the quarantine, or the table, and is counted."""

    QUARANTINE = "quarantine"
    WARN = "warn"


class Spark(_Model):
    """How Spark is started."""

    master: str | None = Field(
        default=None,
        description="Spark master; without one, that of `spark-submit`, or all cores of this machine.",
    )
    settings: Options = Field(default_factory=dict, description="Extra `spark.*` settings.")
    wait_for_executors: float | None = Field(
        default=None,
        gt=0,
        description="Seconds after which a run stops that no executor takes up; else it waits.",
    )


class Job(_Model):
    """One pipeline: read, conform, keep what does not fit beside its reason, write."""

    source: Source
    schema_: str | None = Field(default=None, alias="schema", description="Manifest, relative to this file.")
    dataset: str | None = Field(
        default=None, description="Name of the dataset, if the manifest holds several."
    )
    fields: dict[str, Annotated[FieldSource | None, BeforeValidator(_field_source)]] = Field(
        default_factory=dict, description="Where a field comes from; null: from nowhere, it is always null."
    )
    target: Target
    run: Annotated[str | None, AfterValidator(_run_id)] = Field(
        default=None, description="Id of the run, such as that of a batch; a run is committed once."
    )
    quarantine: Quarantine | None = None
    unexpected: Unexpected = Unexpected.IGNORE
    coerce: Coerce = Coerce.NONE
    keys: Keys = Keys.TRUST
    null_values: tuple[str, ...] = Field(default=(), description="Texts that mean null, as whole values.")
    max_quarantined: AuthoredLimits = Field(
        default=Limits(), description="A count or a share of records, or such limits for rules and fields."
    )
    rules: dict[str, Severity] = Field(
        default_factory=dict, description="`warn`: records that break the rule are counted and written."
    )
    spark: Spark = Field(default_factory=Spark)
    storage: Stores = Field(
        default_factory=dict, description="How object stores are reached, by address such as `s3://rides`."
    )
    version: Literal[1] = 1

    @property
    def compares_keys(self) -> bool:
        """Whether records with the same primary key are found out."""
        return self.keys is not Keys.TRUST or self.target.mode is Mode.UPSERT

    @property
    def storage_options(self) -> Storage:
        """How object stores are reached."""
        told = {address: store.model_dump(by_alias=True) for address, store in self.storage.items()}
        return Storage.parse(told)

    @property
    def warned(self) -> tuple[str, ...]:
        """The rules whose records are written."""
        return tuple(rule for rule, severity in self.rules.items() if severity is Severity.WARN)

    @property
    def quarantine_path(self) -> str:
        """Where bad rows go: as told, or beside the target."""
        if self.quarantine is not None:
            return self.quarantine.path
        path, suffix = self.target.path.rstrip("/"), sink_engine(self.target.format).table_suffix
        return f"{path.removesuffix(suffix)}.quarantine{suffix}"
