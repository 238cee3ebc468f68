"""Constraints: whether their values fit the fields, and whether all of them can be kept at once.

Layer: language.
Shape: a constraint that is found wrong is taken out of its field, so that later stages read sound ones only.
Errors: SC319, SC324 to SC327.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

from schemac.language.attributes import constraints as attributes
from schemac.language.attributes.attribute import Family, Role
from schemac.language.attributes.registry import has_role
from schemac.language.constraints.constraint import EXACT, Constraint, UnfitValueError, shown, step_of
from schemac.language.constraints.expressions import MOST_DIGITS
from schemac.language.constraints.field_constraints import BY_KEY, Bound, Enum, Pattern, Size
from schemac.language.constraints.parsing import PAGE, ExpressionError, read_condition
from schemac.language.constraints.rows import named_fields
from schemac.language.logical.dataset import Findings
from schemac.language.logical.model import SchemaField
from schemac.language.physical import pa
from schemac.text.source import catalogue as codes
from schemac.text.source.phrases import Help, closest, fields_text, with_article

_OTHER_FORM = {
    Role.JSON: "JSON is stored in a different form than it is written in",
    Role.BLOB: "a blob is stored outside its column",
    Role.BRAIN_FLOATS: "its items are stored with fewer digits",
}


def check_constraints(field: SchemaField, findings: Findings) -> None:
    """Check the constraints of one field."""
    constraints: dict[str, Constraint] = {}
    places = [field, *([field.parent] if field.parent is not None else [])]
    other_forms = [why for role, why in _OTHER_FORM.items() for at in places if has_role(at.extra, role)]
    if getattr(field.type, "precision", 0) > MOST_DIGITS:
        other_forms.append(f"a pipeline has no numbers of more than {MOST_DIGITS} digits to compare it with")
    for key, kind in BY_KEY.items():
        if key in field.extra and other_forms:
            message = f"`{key}` cannot apply to {field.path_text}: {other_forms[0]}"
            findings.at_extra(field, key, codes.MISPLACED_ATTRIBUTE, message, on_key=True, help=Help.remove())
        elif key in field.extra:
            constraint = _read_constraint(field, key, kind, findings)
            if constraint is not None:
                constraints[key] = constraint
    _check_together(field, list(constraints.values()), findings)
    field.extra = {
        key: value for key, value in field.extra.items() if key not in BY_KEY or key in constraints
    }


def _read_constraint(
    field: SchemaField, key: str, kind: type[Constraint], findings: Findings
) -> Constraint | None:
    """Return the constraint of a field's attribute; None after reporting why its value is not valid."""
    authored = field.extra[key]
    if _is_rounded(field, key, authored, findings):
        return None
    try:
        return kind.read(field.type, authored)
    except UnfitValueError as error:
        steps = () if error.at is None else (error.at,)
        message = f"{field.path_text}: {error.message}"
        findings.at_extra(field, key, error.code, message, *steps, help=error.help)
    return None


def _is_rounded(field: SchemaField, key: str, authored: Any, findings: Findings) -> bool:
    """Whether a number of a decimal, or one in a list, is not what it was read as; the first one is reported."""
    if field.type.family is not Family.DECIMAL:
        return False
    values = enumerate(authored) if isinstance(authored, list) else [(None, authored)]
    for step, value in values:
        steps = () if step is None else (step,)
        for path in field.extra_places(key) if isinstance(value, float) else ():
            origins = findings.origins
            location = origins.location((*path, *steps)) if origins.has(path) else None
            text = location.source.excerpt(location.span) if location is not None else ""
            with suppress(ArithmeticError):
                if text and Decimal(text) != Decimal(repr(value)):
                    written = f"'{text}'" if steps else f"`{key}: '{text}'`"
                    help = Help.quote(help=f"write it in quotes: {written}")
                    message = f"`{key}` has more digits than a number in YAML keeps"
                    findings.at_extra(field, key, codes.UNFIT_CONSTRAINT, message, *steps, help=help)
                    return True
    return False


def _check_together(field: SchemaField, constraints: Sequence[Constraint], findings: Findings) -> None:
    """Check that a value can keep all of them."""
    for low, high in product(constraints, repeat=2):
        if isinstance(low, Bound) and isinstance(high, Bound) and low.is_lower and not high.is_lower:
            is_contradiction = _are_disjoint(low, high)
        elif isinstance(low, Size) and isinstance(high, Size) and low.is_lower and not high.is_lower:
            is_contradiction = low.limit > high.limit
        else:
            continue
        if is_contradiction:
            message = f"{field.path_text} has to be {low.text} and {high.text}: no value is both"
            help = f"raise `{high.attribute.key}`, or lower `{low.attribute.key}`"
            findings.at_extra(field, low.attribute.key, codes.CONTRADICTING_CONSTRAINTS, message, help=help)
    for enum in (one for one in constraints if isinstance(one, Enum)):
        others = [one for one in constraints if one is not enum]
        for i, value in enumerate(enum.values):
            other = next((one for one in others if _forbids(one, value)), None)
            if other is not None:
                message = (
                    f"{shown(enum.type, value)} is in the list, but {field.path_text} has to be {other.text}"
                )
                help = f"remove the value, or change `{other.attribute.key}`"
                key, code = enum.attribute.key, codes.CONTRADICTING_CONSTRAINTS
                findings.at_extra(field, key, code, message, i, help=help)


def _are_disjoint(low: Bound, high: Bound) -> bool:
    """Return whether no value of the type lies between a lower and an upper bound."""
    step: Any = step_of(low.type)
    first: Any = low.limit
    last: Any = high.limit
    if step is None:
        return bool(first > last) or (first == last and (low.is_exclusive or high.is_exclusive))
    first = EXACT.add(Decimal(first), step if low.is_exclusive else Decimal())
    last = EXACT.subtract(Decimal(last), step if high.is_exclusive else Decimal())
    return bool(first > last)


def _forbids(constraint: Constraint, value: Any) -> bool:
    """Return whether a value breaks a constraint; False for constraints of which no single value decides."""
    if isinstance(constraint, Bound):
        return not constraint.allows(value)
    if isinstance(constraint, Size | Pattern):
        return bool(constraint.violations(pa.array([value]))[0].as_py())
    divisor = getattr(constraint, "divisor", None)
    return divisor is not None and (Fraction(value) / Fraction(divisor)).denominator != 1


def check_row_constraints(
    extra: Mapping[str, Any], columns: Sequence[SchemaField], findings: Findings
) -> None:
    """Check the constraints of rows among the attributes of a schema."""
    known = named_fields(columns)

    def check_paths(key: str, paths: Sequence[str], *steps: str | int) -> None:
        for i, path in enumerate(paths):
            if path not in known:
                _unknown_field(key, path, known, findings, *steps, i)
                continue
            if known[path].children or known[path].type.family is Family.STRUCT:
                message = f"{path} is {with_article(known[path].type.kind)}; name fields with plain values"
                below = [f"{path}.{one.segment}" for one in known[path].children if one.is_member]
                help = "lists and maps have no single value in a row, nor has a struct without members"
                help = f"such as {', '.join(below[:8])}" if below else help
            elif path in paths[:i]:
                message, help = f"{path} is listed twice", Help.remove(help="keep one of the two")
            else:
                continue
            findings.at_schema(codes.UNFIT_CONSTRAINT, message, "extra", key, *steps, i, help=help)

    for i, paths in enumerate(attributes.UNIQUE.read(extra) or ()):
        check_paths(attributes.UNIQUE.key, paths, i)
    for i, one in enumerate(attributes.REFERENCES.read(extra) or ()):
        check_paths(attributes.REFERENCES.key, one.fields, i, "fields")
    for i, text in enumerate(attributes.CHECK.read(extra) or ()):
        try:
            read_condition(text, known)
        except ExpressionError as error:
            key, help = attributes.CHECK.key, error.help or PAGE
            message = f"the condition `{text}` cannot be used: {error.message}"
            findings.at_schema(error.code, message, "extra", key, i, help=help)


def _unknown_field(
    key: str, path: str, known: Mapping[str, SchemaField], findings: Findings, *steps: str | int
) -> None:
    """Report that a constraint of rows names a field that is not there, or that has no single value in a row."""
    plain = [name for name, field in known.items() if not field.children]
    near = closest(path, plain)
    above = known.get(path.partition(".")[0])
    inside = [one for one in plain if one.startswith(f"{path.rpartition('.')[0]}.")]
    help: str = fields_text(inside or plain)
    if above is not None and above.type.family in (Family.LIST, Family.MAP):
        help = f"the items of {above.path_text} have no single value in a row; name fields that have one"
    elif near:
        help = Help.did_you_mean(near, path, mark="'")
    findings.at_schema(codes.UNKNOWN_COLUMN, f"there is no field '{path}'", "extra", key, *steps, help=help)
