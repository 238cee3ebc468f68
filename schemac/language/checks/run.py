"""The checks of a dataset, in their order, with those of attributes that engines and vocabularies bring.

Layer: language.
Shape: the schema describes one object: the attributes of its domain at one place, by name without the domain.
Errors: SC315 vocabulary-violation.
Source: JSON Schema 2020-12, through the jsonschema library.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from schemac.language.attributes.constraints import OF_ROWS, are_constrained
from schemac.language.attributes.registry import are_telling, domain_of
from schemac.language.checks.attributes import check_field_attributes, check_hints, check_schema_attributes
from schemac.language.checks.fields import (
    check_named_columns,
    check_names,
    check_object_link,
    check_positions,
    check_primary_key,
    check_successors,
    check_system_columns,
    check_type,
)
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.findings import Findings
from schemac.language.logical.model import SchemaField, preorder
from schemac.registry.engine import Capability
from schemac.registry.installed import blamed, engines
from schemac.text.source.catalogue import VOCABULARY_VIOLATION
from schemac.text.source.help import Help
from schemac.text.source.report import Report

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator


class DomainValidator(NamedTuple):
    """A domain and the validator of its attributes."""

    domain: str
    validator: "Validator"


def check_vocabularies(
    extra: Mapping[str, Any],
    fields: Sequence[SchemaField],
    vocabularies: Sequence[DomainValidator],
    findings: Findings,
) -> None:
    """Report attributes of the schema and of its fields that break the vocabulary of their domain."""
    for vocabulary in vocabularies:
        _check_vocabulary(vocabulary, extra, None, findings)
        for field in fields:
            if field.extra:
                _check_vocabulary(vocabulary, field.extra, field, findings)


def _check_vocabulary(
    vocabulary: DomainValidator, extra: Mapping[str, Any], field: SchemaField | None, findings: Findings
) -> None:
    """Report attributes of a vocabulary that break its JSON schema; `field` is None for those of the schema itself."""
    domain = vocabulary.domain
    values = {key.partition("/")[2]: value for key, value in extra.items() if domain_of(key) == domain}
    if not values:
        return
    for error in _vocabulary_errors(vocabulary, values):
        schema: Any = error.schema if isinstance(error.schema, dict) else {}
        known, instance = schema.get("properties") or {}, cast("Any", error.instance)
        is_unexpected = error.validator == "additionalProperties" and schema
        unexpected = [name for name in instance if name not in known] if is_unexpected else []
        for name in unexpected or ("",):
            steps = [*error.absolute_path, *([name] if name else [])]
            # What is missing as a whole is shown at the attributes that are there.
            first = str(steps[0]) if steps else next(iter(values))
            key, rest = f"{domain}/{first}", steps[1:]
            message = (
                f"the vocabulary of {domain} has no `{name}`"
                if name
                else f"`{key}`: {_without_capital(error)}"
            )
            help = Help.nearest(name, known) if name else ""
            if field is None:
                add = partial(findings.at_schema, VOCABULARY_VIOLATION, message, "extra", key)
            else:
                add = partial(findings.at_extra, field, key, VOCABULARY_VIOLATION, message)
            add(*rest, help=help, on_key=bool(name))


def _vocabulary_errors(vocabulary: DomainValidator, values: Mapping[str, Any]) -> list["ValidationError"]:
    """Return the errors of validation by path, or one on the vocabulary itself if that refers in a circle or to nothing."""
    # Imported here for start-up time: jsonschema takes longer to load than a file to check.
    from jsonschema.exceptions import ValidationError
    from referencing.exceptions import Unresolvable

    try:
        validation_errors = list(vocabulary.validator.iter_errors(values))
    except RecursionError:
        return [ValidationError("the vocabulary refers to itself endlessly")]
    except Unresolvable as error:
        return [ValidationError(f"the vocabulary refers to {error.ref}, which is not in it")]
    return sorted(validation_errors, key=lambda error: list(map(str, error.absolute_path)))


def _without_capital(error: "ValidationError") -> str:
    """Return the message of an error without a capital at its beginning."""
    return error.message[0].lower() + error.message[1:] if error.message[:1].isupper() else error.message


class AttributeChecks(NamedTuple):
    """Checks of an engine's attributes that apply to every schema, whatever it is built for."""

    field: Callable[[SchemaField, Findings], None]
    """Checks one field that has attributes of closed domains; those that are not sound by themselves have been taken out of it."""


CHECKS = Capability("checks", AttributeChecks)


def run_engine_checks(field: SchemaField, findings: Findings) -> None:
    """Run the checks of all engines on one field. Raises EngineError."""
    for name, checks in _engines_with_checks():
        with blamed(name):
            checks.field(field, findings)


@cache
def _engines_with_checks() -> tuple[tuple[str, AttributeChecks], ...]:
    """Return the engines that have checks, by name, with these."""
    return tuple([(engine.name, CHECKS.of(engine)) for engine in engines() if CHECKS.is_of(engine)])


def check(dataset: LogicalDataset, report: Report, vocabularies: Sequence[DomainValidator] = ()) -> None:
    """Run all checks of one schema that do not depend on an engine."""
    findings = Findings(report, dataset.origins)
    sound = check_schema_attributes(dataset.schema.extra, findings) if dataset.schema.extra else {}
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
        if unread and any(child.type_at in unread for child in field.children):
            if field.children[0].is_member:
                check_names(field.children, findings)
            continue
        check_type(field, findings)
        if field.children and field.children[0].is_member:
            check_names(field.children, findings)
        if field.extra and are_telling(field.extra):
            telling.append(field)
            check_hints(field, findings)
            run_engine_checks(field, findings)
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
    if vocabularies:
        check_vocabularies(sound, fields, vocabularies, findings)
