"""The checks of a dataset: of its fields, of the keys that identify a row, and those that engines and vocabularies bring.

Layer: language.
Shape: the schema of a vocabulary describes one object: the attributes of its domain at one place, by name without the domain.
Errors: SC301 duplicate-field-name, SC302 empty-field-name, SC303 case-collision, SC304 nested-option, SC322 control-character, SC323
      odd-system-column, SC341 unknown-successor, and those of each kind; SC317 to SC319; SC315 vocabulary-violation.
Source: in Arrow's C data interface, through which Lance reads, a name ends at the first NUL. The standard's system columns are those of
      RFC-016's sample and of the reference implementation's check of a new schema. `offset` and the like are ordinary words, so a
      schema that has only one of them and no SetVocab that names it is not reported.
      Lance's table format, "Unenforced Primary Key": no field of the key, and nothing above it, may be nullable, nested in a list or
      map, or have members. Keys that an attribute of the schema lists are of columns.
      Vocabularies: JSON Schema 2020-12, through the jsonschema library.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from schemac.language.attributes import builtin
from schemac.language.attributes.attribute import Family, Role
from schemac.language.attributes.builtin import DEPRECATED
from schemac.language.attributes.constraints import OF_ROWS, are_constrained
from schemac.language.attributes.registry import ATTRIBUTES, are_telling, domain_of, of_role
from schemac.language.checks.attributes import check_field_attributes, check_hints, sound_attributes
from schemac.language.logical.dataset import Findings, LogicalDataset, Other
from schemac.language.logical.model import SchemaField, preorder
from schemac.language.logical.names import VARIANTS, SystemColumns
from schemac.registry.engine import Capability, Trait, blamed, engines, with_trait
from schemac.text.source import catalogue as codes
from schemac.text.source.diagnostics import Report
from schemac.text.source.phrases import Help, listed, with_article
from schemac.text.syntax.events import written

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator


def _check_vocabulary(
    domain: str,
    validator: "Validator",
    extra: Mapping[str, Any],
    field: SchemaField | None,
    findings: Findings,
) -> None:
    """Report attributes of a domain that break the JSON schema of its vocabulary; `field` is None for those of the schema itself."""
    values = {key.partition("/")[2]: value for key, value in extra.items() if domain_of(key) == domain}
    if not values:
        return
    for error in _vocabulary_errors(validator, values):
        schema: Any = error.schema if isinstance(error.schema, dict) else {}
        known, instance = schema.get("properties") or {}, cast("Any", error.instance)
        is_unexpected = error.validator == "additionalProperties" and schema
        unexpected = [name for name in instance if name not in known] if is_unexpected else []
        for name in unexpected or ("",):
            steps = [*error.absolute_path, *([name] if name else [])]
            # What is missing as a whole is shown at the attributes that are there.
            first = str(steps[0]) if steps else next(iter(values))
            key, rest = f"{domain}/{first}", steps[1:]
            text = error.message[:1].lower() + error.message[1:]
            message = f"the vocabulary of {domain} has no `{name}`" if name else f"`{key}`: {text}"
            help = Help.nearest(name, known) if name else ""
            findings.at_extra(
                field, key, codes.VOCABULARY_VIOLATION, message, *rest, help=help, on_key=bool(name)
            )


def _vocabulary_errors(validator: "Validator", values: Mapping[str, Any]) -> list["ValidationError"]:
    """Return the errors of validation by path, or one on the vocabulary itself if that refers in a circle or to nothing."""
    # Imported here for start-up time: jsonschema takes longer to load than a file to check.
    from jsonschema.exceptions import ValidationError
    from referencing.exceptions import Unresolvable

    try:
        validation_errors = list(validator.iter_errors(values))
    except RecursionError:
        return [ValidationError("the vocabulary refers to itself endlessly")]
    except Unresolvable as error:
        return [ValidationError(f"the vocabulary refers to {error.ref}, which is not in it")]
    return sorted(validation_errors, key=lambda error: list(map(str, error.absolute_path)))


class AttributeChecks(NamedTuple):
    """Checks of an engine's attributes that apply to every schema, whatever it is built for."""

    field: Callable[[SchemaField, Findings], None]
    """Checks one field that has attributes of closed domains; those that are not sound by themselves have been taken out of it."""


CHECKS = Capability("checks", AttributeChecks)


@cache
def _engines_with_checks() -> tuple[tuple[str, AttributeChecks], ...]:
    """Return the engines that have checks, by name, with these."""
    return tuple([(engine.name, CHECKS.of(engine)) for engine in engines() if CHECKS.is_of(engine)])


def check(dataset: LogicalDataset, report: Report, vocabularies: Mapping[str, "Validator"] = {}) -> None:
    """Run all checks of one schema, whatever it is built for; `vocabularies` by their domains. Raises EngineError."""
    findings = Findings(report, dataset.origins)
    sound = sound_attributes(dataset.schema.extra, None, findings)
    if dataset.is_whole:
        check_named_columns(sound, dataset.columns, findings)
    check_names(dataset.columns, findings)
    fields = preorder(dataset.columns)
    telling: list[SchemaField] = []
    unread = dataset.unread
    for field in fields:
        if unread and field.type_at in unread:
            check_field_attributes(field, findings, is_placed=False)
            continue
        if field.extra:
            check_field_attributes(field, findings)
        if field.children and field.children[0].is_member:
            check_names(field.children, findings)
        if unread and any(child.type_at in unread for child in field.children):
            continue
        check_type(field, findings)
        if field.extra and are_telling(field.extra):
            telling.append(field)
            check_hints(field, findings)
            for name, checks in _engines_with_checks():
                with blamed(name):
                    checks.field(field, findings)
            check_primary_key(field, findings)
            check_object_link(field, findings)
            if are_constrained(field.extra):
                # Imported here for start-up time, as below: most manifests have no constraints.
                from schemac.language.checks.constraints import check_constraints

                check_constraints(field, findings)
    if dataset.is_whole and not unread and any(attribute.key in sound for attribute in OF_ROWS):
        from schemac.language.checks.constraints import check_row_constraints

        check_row_constraints(sound, dataset.columns, findings)
    check_positions(telling, findings)
    if dataset.is_whole:
        check_successors(fields, telling, findings)
    readable = tuple([column for column in dataset.columns if column.type_at not in unread]) if unread else ()
    check_system_columns(replace(dataset, columns=readable) if unread else dataset, findings)
    for domain, validator in vocabularies.items():
        _check_vocabulary(domain, validator, sound, None, findings)
        for field in fields:
            _check_vocabulary(domain, validator, field.extra, field, findings)


# Line ends and tabs come from headers of spreadsheets; all engines hold them.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def check_names(siblings: Sequence[SchemaField], findings: Findings) -> None:
    """Members of one struct, or the columns, have distinct names that are not blank."""
    by_name: dict[str, SchemaField] = {}
    by_folded: dict[str, SchemaField] = {}
    help = "rename one of the two"
    for field in siblings:
        name = str(field.segment)
        if not name.strip():
            findings.at_name(field, codes.EMPTY_FIELD_NAME, "a field has no name", help="give it a name")
            continue
        if not name.isprintable() and (control := _CONTROL.search(name)):
            message = f"a name may not contain the control character U+{ord(control[0]):04X}"
            findings.at_name(field, codes.CONTROL_CHARACTER, message, help=Help.remove_character(control[0]))
        first = by_name.setdefault(name, field)
        if first is not field:
            message, other = f"the name '{name}' is used twice", Other(first, "first used here")
            findings.at_name(field, codes.DUPLICATE_FIELD_NAME, message, other=other, help=help)
            continue
        duplicate = by_folded.setdefault(name.casefold(), field)
        if duplicate is not field:
            ignoring = listed([*with_trait(Trait.IGNORES_CASE), "SQL"])
            message = f"'{name}' and '{duplicate.segment}' differ only in case, which {ignoring} ignore"
            other = Other(duplicate, "the other one")
            findings.at_name(field, codes.CASE_COLLISION, message, other=other, help=help)


def check_type(field: SchemaField, findings: Findings) -> None:
    """One Option at most, and the kind's own rules."""
    if len(field.options) > 1:
        message = f"{field.path_text} is an Option inside an Option"
        help = Help.unwrap("keep the outer Option only", is_safe=True)
        findings.at_option(field, 1, codes.NESTED_OPTION, message, help=help)
    field.type.check(field, findings)


def check_successors(fields: Sequence[SchemaField], sound: Sequence[SchemaField], findings: Findings) -> None:
    """Check that what takes the place of a deprecated field is another field, and is not deprecated itself."""
    deprecated = {
        field.path_text: (field, value.successor)
        for field in sound
        if (value := DEPRECATED.read(field.extra)) is not None
    }
    names = [field.path_text for field in fields if field.is_member] if deprecated else []
    for path, (field, successor) in deprecated.items():
        if successor is None:
            continue
        if successor not in names:
            others = [name for name in names if name != path]
            help = Help.nearest(successor, others, "write the path of a field, such as stops.item.name")
            message = f"there is no field '{successor}' to take the place of {path}"
        elif successor == path:
            message, help = f"{path} cannot be its own successor", "name the field that takes its place"
        elif successor in deprecated:
            message = f"{successor}, the successor of {path}, is deprecated itself"
            help = "name the field that readers are to use in the end"
        else:
            continue
        findings.at_extra(field, DEPRECATED.key, codes.UNKNOWN_SUCCESSOR, message, "successor", help=help)


_OFFSETS, _OPERATIONS = zip(*VARIANTS.values(), strict=True)


def check_system_columns(dataset: LogicalDataset, findings: Findings) -> None:
    """They have one of the accepted types, may not be null, are complete and come first."""
    (names, explicit), columns = dataset.naming, dataset.columns
    # Of several columns with one name the first one counts.
    present = {str(field.segment): field for field in reversed(columns) if field.segment in names}
    names_present = [name for name in names[:3] if name in present]
    if len(names_present) < 2 and not explicit.intersection(names_present):
        if names.event_time in explicit and names.event_time in present:
            _check_type(names.event_time, present[names.event_time], names, findings)
        return
    for name, field in present.items():
        _check_type(name, field, names, findings)
        if field.is_nullable:
            message = f"the system column {name} may not be null"
            unwrapped = Help.unwrap(f"write `type: {field.type.kind}` without Option", is_safe=False)
            findings.at_option(field, 0, codes.ODD_SYSTEM_COLUMN, message, help=unwrapped)
    if dataset.is_whole:
        first = names_present[0]
        missing = [name for name in names if name not in present]
        if missing:
            are = "system columns are" if len(missing) > 1 else "a system column is"
            message = f"{are} missing, although {first} is there: {', '.join(missing)}"
            help = "add them, or insert them with `--system-columns rfc`"
            findings.at_name(present[first], codes.ODD_SYSTEM_COLUMN, message, help=help)
        late = next((name for i, name in enumerate(names_present) if columns.index(present[name]) != i), None)
        if late is not None:
            message = f"the system column {late} is column number {columns.index(present[late]) + 1}"
            help = f"the system columns come first, in this order: {', '.join(names)}"
            findings.at_name(present[late], codes.ODD_SYSTEM_COLUMN, message, help=help)


def _check_type(name: str, field: SchemaField, names: SystemColumns, findings: Findings) -> None:
    """Report a system column whose type neither the standard nor its reference implementation has."""
    type_ = field.type
    if name == names.system_time:
        is_accepted = type_.type_text() == "Timestamp(Millisecond, UTC)"
        right, rule = "Timestamp", "in the standard it is a Timestamp in UTC with the unit Millisecond"
    elif name == names.event_time:
        is_accepted = type_.family in (Family.TIMESTAMP, Family.DATE)
        right, rule = "Timestamp", "in the standard it is a Timestamp or a Date"
    else:
        accepted = _OFFSETS if name == names.offset else _OPERATIONS
        is_accepted = type_.kind in accepted
        right = accepted[0]
        rule = f"in the standard it is {right}, in the reference implementation {accepted[1]}"
    if not is_accepted:
        message = f"the system column {name} is {type_.type_text()}; {rule}"
        help = Help.write_type(right, key="type", is_safe=False)
        findings.at_type(field, codes.ODD_SYSTEM_COLUMN, message, help=help)


_NAMING_COLUMNS = tuple(attribute for attribute in ATTRIBUTES.values() if attribute.names_columns)
_NAMING_IN_TEXTS = tuple(
    attribute
    for attribute in ATTRIBUTES.values()
    if attribute.renamed is not None and attribute not in OF_ROWS
)
"""Attributes of which only parts of the value name columns. Constraints of rows are parsed where they are checked."""


def check_primary_key(field: SchemaField, findings: Findings) -> None:
    """Check that a field which is marked as part of the primary key can be one."""
    is_vector = field.type.family is Family.LIST and getattr(field.type, "fixed_length", None) is not None
    for attribute in of_role(Role.KEY_PART):
        if attribute.key not in field.extra:
            continue
        report = partial(findings.at_extra, field, attribute.key, codes.INVALID_PRIMARY_KEY)
        for levels, above in enumerate((field, *field.ancestors)):
            if above.type.family in (Family.LIST, Family.MAP) and above is not field:
                message = f"{field.path_text} is inside the {above.type.kind} {above.path_text}"
                report(message, on_key=True)
                break
            if above.is_nullable:
                text = f"make {above.path_text} required: write its type without Option"
                message = f"a primary key may not be null, but {above.path_text} may"
                report(message, on_key=True, help=Help.make_required(text, levels=levels))
                break
        else:
            if field.children and not is_vector:
                message = f"{field.path_text} is {with_article(field.type.kind)}; the fields of a primary key have plain types"
                report(message, on_key=True, help="mark its members instead")


def check_positions(fields: Sequence[SchemaField], findings: Findings) -> None:
    """No two fields of a key are at the same position."""
    for attribute in (*of_role(Role.KEY_PART), *of_role(Role.CLUSTERING_PART)):
        by_position: dict[int, SchemaField] = {}
        for field in fields:
            value = attribute.read(field.extra) if attribute.key in field.extra else None
            if value is None or value.position is None:
                continue
            first = by_position.setdefault(value.position, field)
            if first is not field:
                message = f"position {value.position} of the key is already used by {first.path_text}"
                help = Help.write(str(max(by_position) + 1), key="position", is_safe=False)
                code = codes.DUPLICATE_KEY_POSITION
                findings.at_extra(field, attribute.key, code, message, "position", help=help)


def check_named_columns(extra: Mapping[str, Any], columns: Sequence[SchemaField], findings: Findings) -> None:
    """Columns that attributes of the schema name do exist."""
    names = [str(field.segment) for field in columns]
    for attribute in _NAMING_COLUMNS:
        for i, name in enumerate(attribute.read(extra) or ()):
            if name not in names:
                help = Help.nearest(name, names, mark="'")
                message = f"there is no column '{name}'"
                findings.at_schema(codes.UNKNOWN_COLUMN, message, "extra", attribute.key, i, help=help)
    for column in columns:
        old, new = column.extra.get(builtin.RENAMED_FROM.key), str(column.segment)
        if not isinstance(old, str) or old in names:
            continue
        for attribute in _NAMING_IN_TEXTS:
            for renaming in attribute.renamings(extra, old, new):
                message = f"the column '{old}' is now called '{new}'"
                help = Help.write(written(renaming.text))
                steps = ("extra", attribute.key, *renaming.steps)
                findings.at_schema(codes.UNKNOWN_COLUMN, message, *steps, help=help, on_key=renaming.is_key)


def check_object_link(field: SchemaField, findings: Findings) -> None:
    """Did, Multihash and ObjectLink are texts; a link is at the top level only."""
    word = builtin.TYPE.read(field.extra)
    if word is None or word.kind not in builtin.WORDS:
        return
    if field.type.family not in builtin.WORD_FAMILIES:
        kind = with_article(field.type.kind)
        message = f"{with_article(word.kind)} has to be a String, but {field.path_text} is {kind}"
        help = Help.retype("type", "String")
    elif word.kind == "ObjectLink" and field.parent is not None:
        message, help = "an ObjectLink has to be a column", "move the field to the top level"
    else:
        return
    findings.at_extra(field, builtin.TYPE.key, codes.MISPLACED_ATTRIBUTE, message, "kind", help=help)
