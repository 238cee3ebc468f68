"""Imported schemas as checked datasets, and Arrow schemas as values of a manifest.

Layer: importers.
Rule: Arrow schemas of others as values of a manifest: metadata under our own keys may be written by anybody: constraints are taken as
      far as the checks of a manifest take them, and what they refuse is told.
"""

from collections.abc import Iterator
from dataclasses import replace

from pydantic import ValidationError

from schemac.arrow.from_arrow import Note, lift
from schemac.importers.constraints import fitting, without_missing
from schemac.language.attributes.attribute import Family
from schemac.language.attributes.constraints import OF_VALUES
from schemac.language.checks.run import check
from schemac.language.kinds.option import Option
from schemac.language.kinds.registry import BY_NAME
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import FieldPath, Part, Schema, quoted
from schemac.language.logical.origins import Origins
from schemac.language.logical.schema_fields import columns
from schemac.language.physical.arrow import ArrowSchema
from schemac.text.source.catalogue import UNSUPPORTED_ARROW_TYPE
from schemac.text.source.diagnostic import Diagnostic, Severity
from schemac.text.source.json_object import Json
from schemac.text.source.report import Report
from schemac.text.syntax.model_errors import model_errors


def from_tree(tree: Json, name: str, file: str, report: Report) -> LogicalDataset | None:
    """Return the checked dataset of a schema in the standard's long form, as importers give it."""
    try:
        schema = Schema.model_validate(tree)
    except ValidationError as error:
        # Types that Arrow has and no kind admits, such as a decimal with a scale of a thousand.
        for problem in model_errors(error, Schema, tree):
            column = tree["fields"][problem.path[1]]["name"]
            path = quoted(column)
            help = f"leave the column out with `--skip '{column}'`"
            report.add(UNSUPPORTED_ARROW_TYPE, f"{path}: {problem.message}", file=file, path=path, help=help)
        return None
    dataset = LogicalDataset(name, schema, columns(schema), Origins(file))
    checked = Report()
    check(dataset, checked)
    names = {quoted(field.name): field.name for field in schema.fields}
    report.extend(_with_way_out(diagnostic, names) for diagnostic in checked.diagnostics)
    return None if checked.has_errors or report.has_errors else dataset


def _with_way_out(diagnostic: Diagnostic, names: dict[str, str]) -> Diagnostic:
    """Add to an error about a column of a source how to leave the column out."""
    column = next((n for title, n in names.items() if f"{diagnostic.path}.".startswith(f"{title}.")), None)
    if column is None or diagnostic.severity is not Severity.ERROR:
        return diagnostic
    skip = f"leave the column out with `--skip '{column}'`"
    return replace(diagnostic, help=f"{diagnostic.help}; or {skip}" if diagnostic.help else skip)


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
