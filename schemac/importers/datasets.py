"""Imported schemas as checked datasets, and fields, constraints, keys and Arrow schemas of sources as values of a manifest.

Layer: importers.
Rule: an attribute is written if the checks of the manifest accept it at its field; any other is a comment above the field.
      Metadata under schemac's own keys may be written by anybody: a constraint is imported as far as the checks of a manifest accept
      it, and what they refuse is reported.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from schemac.arrow.constraints import key_paths
from schemac.arrow.from_arrow import Note, from_arrow, without_attributes
from schemac.importers.importer import ImportNotes
from schemac.language.attributes.attribute import NESTED, Family, Role
from schemac.language.attributes.constraints import CHECK, ENUM, OF_VALUES, REFERENCES, UNIQUE
from schemac.language.attributes.registry import ATTRIBUTES, of_role
from schemac.language.checks.constraints import check_constraints, check_row_constraints
from schemac.language.checks.run import check
from schemac.language.kinds.nested import Map, Null, Option, Struct
from schemac.language.kinds.registry import BY_NAME
from schemac.language.kinds.sequences import List
from schemac.language.logical import model
from schemac.language.logical.dataset import Findings, LogicalDataset, Origins
from schemac.language.physical import ArrowSchema, ArrowType, pa
from schemac.text.source.catalogue import UNSUPPORTED_ARROW_TYPE
from schemac.text.source.diagnostics import Diagnostic, Report, Severity
from schemac.text.source.json_object import Json
from schemac.text.syntax.model import model_errors

_BY_KEY = {attribute.key: attribute for attribute in OF_VALUES}


def optional(tree: Json, *, is_required: bool) -> Json:
    """Return a type that may be null unless it is required; what is always null may be."""
    if tree["kind"] == Option.__name__ or (is_required and tree["kind"] != Null.__name__):
        return tree
    return {"kind": Option.__name__, "inner": tree}


def member(name: str, tree: Json, extra: Json | None = None) -> Json:
    """Return a column, or a member of a struct, with the attributes of its type and further ones."""
    bare, type_attributes = split_extra(tree)
    return with_attributes({"name": name, "type": bare}, {**type_attributes, **(extra or {})})


def struct(members: list[Json]) -> Json:
    """Return a struct of members."""
    return {"kind": Struct.__name__, "fields": members}


def list_of(item: Json) -> Json:
    """Return a list of items."""
    return {"kind": List.__name__, "itemType": item}


def map_of(key: Json, value: Json) -> Json:
    """Return a map of keys to values."""
    return {"kind": Map.__name__, "keyType": key, "valueType": value}


def with_attributes(tree: Json, extra: Json) -> Json:
    """Return a type, field or schema with further attributes; as it is where there are none."""
    return {**tree, "extra": {**tree.get("extra", {}), **extra}} if extra else tree


MOST_DIGITS = 76
"""Of a decimal."""


def decimal_type(precision: int, scale: int = 0) -> ArrowType:
    """Return a decimal of 128 bits for up to 38 digits, else one of 256 bits."""
    return pa.decimal128(precision, scale) if precision <= 38 else pa.decimal256(precision, scale)


def kind_of(type_: ArrowType) -> Json:
    """Return the type that an Arrow type is lifted to, with attributes; it has to have a kind. Only null is an Option."""
    column = pa.field("c", type_, nullable=pa.types.is_null(type_))
    (field,) = from_arrow(pa.schema([column]), "<type>", Report())["fields"]
    return with_attributes(field["type"], field.get("extra", {}))


def any_json() -> Json:
    """Return the type of any value of JSON, as the type that Arrow has for it is lifted."""
    return kind_of(pa.json_())


def split_extra(tree: Json) -> tuple[Json, Json]:
    """Return a type without the attributes of its values, also of those in an Option, and these attributes."""
    bare, extra = {key: value for key, value in tree.items() if key != "extra"}, tree.get("extra", {})
    if tree["kind"] == Option.__name__:
        bare["inner"], inner_extra = split_extra(tree["inner"])
        extra = {**inner_extra, **extra}
    return bare, extra


def typed(tree: Json) -> model.LogicalType | None:
    """Return the type of a tree without its Option; None for one that no kind takes."""
    try:
        logical_type: model.LogicalType = model.LogicalType.model_validate(tree)
    except ValidationError:
        return None
    return logical_type.inner_type() or logical_type


def fitting(tree: Json, constraints: Mapping[str, Any]) -> tuple[Json, dict[str, str]]:
    """Return the constraints that a type can have, by their keys, and of the others why it cannot."""
    accepted: Json = {}
    lost: dict[str, str] = {}
    inner = tree["inner"] if tree["kind"] == Option.__name__ else tree
    for key, value in constraints.items():
        reason = _refusal(inner, {**accepted, key: value}, key)
        if reason is None:
            accepted[key] = value
        else:
            lost[key] = reason
    return accepted, lost


class Constraints:
    """Collects the constraints of a source while columns are read, to add them to the schema once that exists."""

    def __init__(self, notes: ImportNotes) -> None:
        self._notes = notes
        self._constraints: list[tuple[model.FieldPath, Json, str]] = []
        self._rows: list[tuple[str, Any, str]] = []

    def add(self, path: model.FieldPath, constraints: Json, source_text: str = "") -> None:
        """Enter constraints of the values at a path; `source_text` is how the source writes it."""
        if constraints:
            self._constraints.append((path, constraints, source_text))

    def add_unique(self, fields: Sequence[str], source_text: str) -> None:
        """Enter fields, by their paths, that are unique together."""
        self._rows.append((UNIQUE.key, list(fields), source_text))

    def add_reference(self, fields: Sequence[str], dataset: str, to: Sequence[str], source_text: str) -> None:
        """Enter fields whose values occur in a row of another dataset."""
        renamed = {"to": list(to)} if list(to) != list(fields) else {}
        reference = {"fields": list(fields), "dataset": dataset, **renamed}
        self._rows.append((REFERENCES.key, reference, source_text))

    def add_check(self, condition: str, source_text: str) -> None:
        """Enter a condition of every row."""
        self._rows.append((CHECK.key, condition, source_text))

    def put(self, tree: Json) -> list[str]:
        """Add to a schema in the standard's long form what it can have; return what is lost of its rows, as notes."""
        for path, constraints, source_text in self._constraints:
            place = tree
            for step in path:
                inner = place.get("type", place)
                inner = inner["inner"] if inner.get("kind") == Option.__name__ else inner
                if isinstance(step, model.Part):
                    place = inner[model.PART_KEYS[step]]
                else:
                    place = next(field for field in inner["fields"] if field["name"] == step)
            accepted, lost = fitting(place.get("type", place), constraints)
            for key, reason in lost.items():
                what = source_text or f"{_name(key)}: {constraints[key]}"
                self._notes.add(path, f"not kept: {what} ({reason})")
            if accepted:
                place["extra"] = {**place.get("extra", {}), **accepted}
        losses: list[str] = []
        for key, value, source_text in self._rows:
            refusal = _row_refusal(tree, key, value)
            extra = tree.get("extra", {})
            if refusal is not None:
                losses.append(f"not kept: {source_text} ({refusal})")
            elif value not in extra.get(key, ()):
                tree["extra"] = {**extra, key: [*extra.get(key, ()), value]}
        return losses


def without_missing(schema: Json) -> tuple[Json, list[str]]:
    """Return a schema without keys and constraints of its rows that name a column which is not there, and these as notes."""
    all_extra, present = dict(schema.get("extra", {})), {field["name"] for field in schema["fields"]}
    naming = [attribute.key for attribute in ATTRIBUTES.values() if attribute.names_columns]
    broken = [key for key in naming if not present.issuperset(all_extra.get(key, ()))]
    losses = [f"not kept: {_name(key)} {', '.join(all_extra[key])}" for key in broken]
    extra = {key: value for key, value in all_extra.items() if key not in broken}
    for key in (UNIQUE.key, REFERENCES.key, CHECK.key):
        values = [value for value in extra.get(key, ()) if _row_refusal(schema, key, value) is None]
        losses += [f"not kept: {_name(key)} {value}" for value in extra.get(key, ()) if value not in values]
        extra = {name: one for name, one in {**extra, key: values}.items() if name != key or values}
    return ({**schema, "extra": extra} if "extra" in schema else schema), losses


def _name(key: str) -> str:
    """Return a key without its domain."""
    return key.rpartition("/")[2]


def _row_refusal(tree: Json, key: str, value: Any) -> str | None:
    """Return why a schema cannot have a constraint of its rows."""
    extra = {key: [value]}
    try:
        schema = model.Schema.model_validate({"fields": tree["fields"]})
    except ValidationError as error:
        return str(error.errors()[0]["msg"])
    report = Report()
    check_row_constraints(extra, model.columns(schema), Findings(report, Origins("")))
    first = next(iter(report.diagnostics), None)
    return None if first is None else first.message.rpartition("cannot be used: ")[2]


def enumerated(values: list[Any]) -> Json:
    """Return the attribute of the only values that a source names; those that exist twice count once."""
    distinct: list[Any] = []
    for value in values:
        if not any(type(one) is type(value) and one == value for one in distinct):
            distinct.append(value)
    return {ENUM.key: distinct} if distinct else {}


def _refusal(tree: Json, extra: Json, key: str) -> str | None:
    """Return why a type cannot have constraints, the last of which is new."""
    try:
        _BY_KEY[key].typed(extra[key])
        schema = model.Schema.model_validate({"fields": [{"name": "it", "type": tree}]})
    except ValidationError as error:
        return str(error.errors()[0]["msg"] or f"{_name(key)} has no such values")
    (field,) = model.columns(schema)
    if field.type.family not in (_BY_KEY[key].fits or ()):
        return f"it is not for values of {field.type.type_text()}"
    field.extra = {**field.extra, **extra}
    report = Report()
    check_constraints(field, Findings(report, Origins("")))
    first = next(iter(report.diagnostics), None)
    return None if first is None else first.message.removeprefix("it: ")


def mark_key(tree: Json, names: Sequence[str]) -> bool:
    """Mark the columns of a key in a schema in the standard's long form; where one of them cannot be in a key, none is marked."""
    by_name = {field["name"]: field for field in tree["fields"]}
    fields = [by_name[name] for name in names if name in by_name]
    kinds = [field["type"]["kind"] for field in fields]
    are_fit = [kind != Option.__name__ and BY_NAME[kind].family not in NESTED for kind in kinds]
    if len(fields) < len(names) or not all(are_fit):
        return False
    for attribute in of_role(Role.KEY_PART):
        for position, field in enumerate(fields, start=1):
            field["extra"] = {**field.get("extra", {}), attribute.key: {"position": position}}
    return True


def with_whole_key(tree: Json, key: Sequence[model.FieldPath], note: Note) -> Json:
    """Return a schema whose fields are marked as this primary key; where one of its parts is gone with its column, without the marks, which is noted.

    What is left of a key identifies no rows.
    """
    if {field["name"] for field in tree["fields"]}.issuperset(path[0] for path in key):
        return tree
    note((), f"not kept: PRIMARY KEY ({', '.join(map(model.dotted, key))})")
    marks = {attribute.key for attribute in of_role(Role.KEY_PART)}
    return {**tree, "fields": without_attributes(tree["fields"], marks)}


def from_tree(tree: Json, name: str, file: str, report: Report) -> LogicalDataset | None:
    """Return the checked dataset of a schema in the standard's long form, as importers give it."""
    try:
        schema = model.Schema.model_validate(tree)
    except ValidationError as error:
        # Types that Arrow has and no kind admits, such as a decimal with a scale of a thousand.
        for problem in model_errors(error, model.Schema, tree):
            column = tree["fields"][problem.path[1]]["name"]
            path = model.quoted(column)
            help = f"leave the column out with `--skip '{column}'`"
            report.add(UNSUPPORTED_ARROW_TYPE, f"{path}: {problem.message}", file=file, path=path, help=help)
        return None
    dataset = LogicalDataset(name, schema, model.columns(schema), Origins(file))
    checked = Report()
    check(dataset, checked)
    names = {model.quoted(field.name): field.name for field in schema.fields}
    report.extend(_with_way_out(diagnostic, names) for diagnostic in checked.diagnostics)
    return None if checked.has_errors or report.has_errors else dataset


def _with_way_out(diagnostic: Diagnostic, names: dict[str, str]) -> Diagnostic:
    """Add to an error about a column of a source how to leave the column out."""
    column = next((n for title, n in names.items() if f"{diagnostic.path}.".startswith(f"{title}.")), None)
    if column is None or diagnostic.severity is not Severity.ERROR:
        return diagnostic
    skip = f"leave the column out with `--skip '{column}'`"
    return replace(diagnostic, help=f"{diagnostic.help}; or {skip}" if diagnostic.help else skip)


def from_arrow_schema(schema: ArrowSchema, file: str, report: Report, note: Note) -> Json:
    """Return the values of `fields` and `extra`; constraints that do not suit them are noted."""
    tree = from_arrow(schema, file, report, note)
    for field in tree["fields"]:
        _keep_fitting(field, (field["name"],), note)
    checked, losses = without_missing(with_whole_key(tree, key_paths(schema), note))
    for text in losses:
        note((), text)
    return checked if checked.get("extra") or "extra" not in tree else {"fields": checked["fields"]}


def _keep_fitting(place: Json, path: model.FieldPath, note: Note) -> None:
    """Leave out constraints that the type of a place cannot have, here and below."""
    type_ = place.get("type", place)
    constraints = {key: value for key, value in place.get("extra", {}).items() if key in _BY_KEY}
    if constraints:
        _, lost = fitting({key: value for key, value in type_.items() if key != "extra"}, constraints)
        for key, reason in lost.items():
            note(path, f"not kept: {_name(key)}: {constraints[key]} ({reason})")
            del place["extra"][key]
        if not place["extra"]:
            del place["extra"]
    inner = type_["inner"] if type_["kind"] == Option.__name__ else type_
    if BY_NAME[inner["kind"]].family is Family.STRUCT:
        for field in inner["fields"]:
            _keep_fitting(field, (*path, field["name"]), note)
    for part, key in model.PART_KEYS.items():
        if key in inner:
            _keep_fitting(inner[key], (*path, part), note)
