"""How many records may break which rule before nothing is written.

Layer: pipeline.
Shape: `Limits` as a pipeline file has them; `Broken` counts in each task what they ask for; together they say which limit was
       passed. A record counts once for a rule or a field, however often it breaks it.
Units: a limit is a share of all records when it is a fraction (0 <= x <= 1 with a decimal point), else records.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, StrictFloat, StrictInt

from schemac.text.syntax.model import AuthoredModel

Key = tuple[str, ...]
"""Where a limit is below `maxQuarantined`: nowhere, or ("rules", "cast"), or ("fields", "fare")."""


def _share_below_one(limit: float | None) -> int | float | None:
    if limit is not None and (limit < 0 or (isinstance(limit, float) and limit > 1)):
        raise ValueError("expected a count of records, or a share between 0.0 and 1.0")
    return limit


Limit = Annotated[StrictInt | StrictFloat | None, AfterValidator(_share_below_one)]


class Passed(NamedTuple):
    """A limit that was passed."""

    place: Key
    message: str


class Limits(AuthoredModel):
    """Limits on records that do not fit: in total, by rule and by field."""

    model_config = ConfigDict(strict=False)

    total: Limit = Field(default=None, description="A count or a share of all records.")
    rules: dict[str, Limit] = Field(default_factory=dict, description="By rule, such as `cast`.")
    fields: dict[str, Limit] = Field(
        default_factory=dict, description="By field or path, such as `trip.fare`."
    )

    def each(self) -> Iterator[tuple[Key, int | float]]:
        """List the limits that are set, with their places."""
        if self.total is not None:
            yield (), self.total
        for group, limits in (("rules", self.rules), ("fields", self.fields)):
            for name, limit in limits.items():
                if limit is not None:
                    yield (group, name), limit

    def passed(self, records: int, quarantined: int, broken: Mapping[Key, int]) -> Passed | None:
        """Find the first limit that was passed."""
        for key, limit in self.each():
            count = broken.get(key, 0) if key else quarantined
            if count > (limit if isinstance(limit, int) else limit * records):
                verbs = {"rules": "break the rule", "fields": "do not fit in the field"}
                description = f"{verbs[key[0]]} `{key[1]}`" if key else "do not fit"
                return Passed(key, f"{count} of {records} records {description}, the limit is {limit}")
        return None


def _limits(value: Any) -> Any:
    """One number is short for the total."""
    if value is None:
        return {}
    if isinstance(value, dict | Limits):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("expected a count of records, a share between 0.0 and 1.0, or a mapping of limits")  # noqa: TRY004  pydantic's way
    return {"total": _share_below_one(value)}


AuthoredLimits = Annotated[Limits, BeforeValidator(_limits)]


class Broken:
    """Counts, for the limits of rules and fields, the records that break them."""

    def __init__(self, limits: Limits) -> None:
        self.keys = [key for key, _ in limits.each() if key]
        self.counts: Counter[Key] = Counter()

    def add(self, errors: pa.ListArray) -> None:
        """Count the records of a batch by their reasons."""
        if not self.keys:
            return
        reasons, record = errors.flatten(), pc.list_parent_indices(errors)
        paths = pc.struct_field(reasons, "path")
        rules = pc.list_element(pc.split_pattern(pc.struct_field(reasons, "rule"), ":", max_splits=1), 0)
        for key in self.keys:
            group, name = key
            if group == "rules":
                is_meant = pc.equal(rules, name)
            else:
                inside = [pc.starts_with(paths, f"{name}{mark}") for mark in ".["]
                is_meant = pc.or_(pc.equal(paths, name), pc.or_(*inside))
            self.counts[key] += len(pc.unique(record.filter(is_meant)))
