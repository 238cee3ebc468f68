"""The judge in Python takes each value that a type can hold: the samples of every variant of every kind, and zero."""

import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import schemac
from tests.conformance.boundaries import DAY, EPOCH, PER_SECOND, YEARS, Bounded, all_types
from tests.conformance.manifest_types import member
from tests.judging.records import RecordJudge

TYPES = {
    label: bounded
    for label, bounded in all_types().items()
    if bounded.kind in ("Decimal", "Date", "Timestamp") or bounded.kind.lstrip("U").startswith("Int")
}


def token(bounded: Bounded, value: Any) -> str | None:
    """A value as JSON; None where no text says it, for it lies in another year than 1 to 9999."""
    if bounded.kind not in ("Date", "Timestamp"):
        return format(Decimal(value), "f")
    per_second = Decimal(1) / DAY if bounded.kind == "Date" else Decimal(PER_SECOND[bounded.unit])
    seconds, below = divmod(int(value * 10**9 / per_second), 10**9)
    seconds -= below < 0
    if not YEARS[0] + DAY <= seconds <= YEARS[1] - DAY:
        return None
    days, second = divmod(seconds, DAY)
    day = EPOCH.date().fromordinal(EPOCH.toordinal() + days).isoformat()
    if bounded.kind == "Date":
        return f'"{day}"'
    clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.{below % 10**9:09}"
    return f'"{day}T{clock}{"Z" if bounded.timezone else ""}"'


@pytest.mark.parametrize("label", TYPES)
def test_take_what_a_type_holds(label: str) -> None:
    bounded = TYPES[label]
    text = json.dumps({"name": "t", "fields": [member("f", bounded.manifest)]})
    (dataset,) = schemac.compile_text(text)
    schema = dataset.to_arrow()
    judge, taken = RecordJudge(schema), 0
    for value in {*bounded.values, 0}:
        said = token(bounded, value)
        if said is not None:
            judged = judge.json(f'{{"f": {said}}}')
            assert judged.values is not None, (said, judged.reasons)
            pa.array([judged.values["f"]], schema.field("f").type)
            taken += 1
    assert taken
