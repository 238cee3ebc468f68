"""Arrow schemas of others as values of a manifest.

Layer: importers.
Rule: metadata under our own keys may be written by anybody: constraints are taken as far as the checks of a manifest take them, and what they
      refuse is told.
"""

from collections.abc import Iterator

from schemac.arrow.lift import Note, lift
from schemac.attributes.constraints import OF_VALUES
from schemac.attributes.family import Family
from schemac.importers.constraining import fitting, without_missing
from schemac.kinds.option import Option
from schemac.kinds.registry import BY_NAME
from schemac.logical.path import FieldPath, Part
from schemac.physical.arrow import ArrowSchema
from schemac.source.json_object import Json
from schemac.source.report import Report

_OF_VALUES = tuple(attribute.key for attribute in OF_VALUES)
_PARTS = {"itemType": Part.ITEM, "keyType": Part.KEY, "valueType": Part.VALUE}


def from_arrow_schema(schema: ArrowSchema, file: str, report: Report, note: Note) -> Json:
    """Return the values of `fields` and `extra`; constraints that do not suit them are noted."""
    tree = lift(schema, file, report, note)
    for field in tree["fields"]:
        _keep_fitting(field, (field["name"],), note)
    checked, losses = without_missing(tree)
    for text in losses:
        note((), text)
    return checked if checked.get("extra") or "extra" not in tree else {"fields": checked["fields"]}


def _keep_fitting(place: Json, path: FieldPath, note: Note) -> None:
    """Leave out constraints that the type of a place cannot have, here and below."""
    type_ = place.get("type", place)
    constraints = {key: value for key, value in place.get("extra", {}).items() if key in _OF_VALUES}
    if constraints:
        _, lost = fitting({key: value for key, value in type_.items() if key != "extra"}, constraints)
        for key, reason in lost.items():
            note(path, f"not kept: {key.rpartition('/')[2]}: {constraints[key]} ({reason})")
            del place["extra"][key]
        if not place["extra"]:
            del place["extra"]
    for below, part in _below(type_, path):
        _keep_fitting(below, part, note)


def _below(type_: Json, path: FieldPath) -> Iterator[tuple[Json, FieldPath]]:
    inner = type_["inner"] if type_["kind"] == Option.__name__ else type_
    if BY_NAME[inner["kind"]].family is Family.STRUCT:
        yield from ((field, (*path, field["name"])) for field in inner["fields"])
    yield from ((inner[key], (*path, part)) for key, part in _PARTS.items() if key in inner)
