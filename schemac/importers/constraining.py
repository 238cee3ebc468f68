"""Constraints that a source has of its values, as attributes of the manifest.

Layer: importers.
Rule: an attribute is taken if the checks of the manifest take it at its field; what they refuse is told above the field.
"""

from collections.abc import Mapping
from typing import Any

from schemac.attributes.constraints import ENUM, OF_VALUES
from schemac.checks.constraints import check_constraints
from schemac.kinds.option import Option
from schemac.logical.findings import Findings
from schemac.logical.model import LogicalType, Schema
from schemac.logical.origins import Origins
from schemac.logical.slots import columns
from schemac.source.json_object import Json
from schemac.source.report import Report
from schemac.syntax.reading import InvalidValueError

_BY_KEY = {attribute.key: attribute for attribute in OF_VALUES}


def typed(tree: Json) -> LogicalType | None:
    """Return the type of a tree without its Option; None for one that no kind takes."""
    try:
        found: LogicalType = LogicalType.model_validate(tree)
    except InvalidValueError:
        return None
    return found.inner_type() or found


def fitting(tree: Json, wanted: Mapping[str, Any]) -> tuple[Json, dict[str, str]]:
    """Return the constraints that a type can have, by their keys, and of the others why it cannot."""
    kept: Json = {}
    lost: dict[str, str] = {}
    inner = tree["inner"] if tree["kind"] == Option.__name__ else tree
    for key, value in wanted.items():
        reason = _refusal(inner, {**kept, key: value}, key)
        if reason is None:
            kept[key] = value
        else:
            lost[key] = reason
    return kept, lost


def enumerated(values: list[Any]) -> Json:
    """Return the attribute of the only values that a source names; those that stand there twice count once."""
    distinct: list[Any] = []
    for value in values:
        if not any(type(one) is type(value) and one == value for one in distinct):
            distinct.append(value)
    return {ENUM.key: distinct} if distinct else {}


def _refusal(tree: Json, extra: Json, key: str) -> str | None:
    """Return why a type cannot have constraints, the last of which is new."""
    try:
        _BY_KEY[key].typed(extra[key])
        schema = Schema.model_validate({"fields": [{"name": "x", "type": tree}]})
    except InvalidValueError as error:
        return str(error.errors()[0]["msg"])
    (slot,) = columns(schema)
    if slot.type.family not in (_BY_KEY[key].fits or ()):
        return f"it is not for values of {slot.type.type_text()}"
    slot.extra = {**slot.extra, **extra}
    report = Report()
    check_constraints(slot, Findings(report, Origins("")))
    first = next(iter(report.diagnostics), None)
    return None if first is None else first.message.removeprefix("x: ")
