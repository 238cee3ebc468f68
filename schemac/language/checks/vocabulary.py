"""Attributes of a user's own domain against the JSON Schema that is registered for it.

Layer: language.
Shape: the schema describes one object: the attributes of its domain at one place, by name without the domain.
Errors: SC315 vocabulary-violation.
Source: JSON Schema 2020-12, through the jsonschema library.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from schemac.language.attributes.registry import domain_of
from schemac.language.logical.findings import Findings
from schemac.language.logical.schema_fields import SchemaField
from schemac.text.source.catalogue import VOCABULARY_VIOLATION
from schemac.text.source.help import Help
from schemac.text.source.phrases import closest

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator


class Vocabulary(NamedTuple):
    """A domain and the validator of its attributes."""

    domain: str
    validator: "Validator"


def check_vocabularies(
    extra: Mapping[str, Any],
    fields: Sequence[SchemaField],
    vocabularies: Sequence[Vocabulary],
    findings: Findings,
) -> None:
    """Every place that uses a domain with a vocabulary."""
    for vocabulary in vocabularies:
        _check(vocabulary, extra, None, findings)
        for field in fields:
            if field.extra:
                _check(vocabulary, field.extra, field, findings)


def _check(
    vocabulary: Vocabulary, extra: Mapping[str, Any], field: SchemaField | None, findings: Findings
) -> None:
    domain = vocabulary.domain
    values = {key.partition("/")[2]: value for key, value in extra.items() if domain_of(key) == domain}
    if not values:
        return
    for error in _errors(vocabulary, values):
        for name in _unexpected(error) or ("",):
            steps = [*error.absolute_path, *([name] if name else [])]
            # What is missing as a whole is shown at the attributes that are there.
            first = str(steps[0]) if steps else next(iter(values))
            key, rest = f"{domain}/{first}", steps[1:]
            known = (error.schema.get("properties") or {}) if isinstance(error.schema, dict) else {}
            near = closest(name, known) if name else None
            message = f"the vocabulary of {domain} has no `{name}`" if name else f"`{key}`: {_words(error)}"
            help = Help.did_you_mean(near, name) if near else ""
            if field is None:
                findings.at_schema(
                    VOCABULARY_VIOLATION, message, "extra", key, *rest, help=help, on_key=bool(name)
                )
            else:
                findings.at_extra(
                    field, key, VOCABULARY_VIOLATION, message, *rest, help=help, on_key=bool(name)
                )


def _errors(vocabulary: Vocabulary, values: Mapping[str, Any]) -> list["ValidationError"]:
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


def _unexpected(error: "ValidationError") -> list[str]:
    if error.validator != "additionalProperties" or not isinstance(error.schema, dict):
        return []
    instance: Any = error.instance
    return [name for name in instance if name not in (error.schema.get("properties") or {})]


def _words(error: "ValidationError") -> str:
    return error.message[0].lower() + error.message[1:] if error.message[:1].isupper() else error.message
