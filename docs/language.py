"""Pages of the kinds and of the attributes."""

from typing import Any

import schemac
from docs.markdown import code, heading, section, table, toctree
from schemac.language.attributes.arrow import NO_HINTS, ArrowDefaults
from schemac.language.attributes.attribute import Attribute
from schemac.language.attributes.registry import ATTRIBUTES, OPEN, domain_of
from schemac.language.kinds.registry import KINDS
from schemac.language.logical.model import LogicalType
from schemac.language.manifest.json_schema_conditions import json_schema

_INHERITED = frozenset({"kind", "extra"})
_BOUNDS = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "exclusiveMaximum": "below",
}
"""Words for the keywords of JSON Schema."""


def pages() -> dict[str, str]:
    """All pages by path."""
    known = [*ATTRIBUTES.values(), *OPEN.values()]
    domains = {
        domain: [a for a in known if domain_of(a.key) == domain]
        for domain in dict.fromkeys(map(domain_of, (*ATTRIBUTES, *OPEN)))
    }
    return {
        "kinds/index.md": heading(
            "Kinds",
            "The kinds of RFC-016. A kind without required properties may be written as just its name.",
            toctree(kind.__name__ for kind in KINDS),
        ),
        **{f"kinds/{kind.__name__}.md": _kind(kind) for kind in KINDS},
        "attributes/index.md": heading(
            "Attributes",
            "Attributes are written under `extra:` of a field or of the schema, as `<domain>/<name>`.",
            toctree(domains),
        ),
        **{f"attributes/{domain}.md": _domain(domain, domains[domain]) for domain in domains},
    }


def _kind(kind: type[LogicalType]) -> str:
    assert kind.__doc__ is not None
    body = _resolved(json_schema(kind))
    number = kind.standard_number
    names = ", ".join(f"`{name}`" for name in kind.foreign_names)
    return heading(
        kind.__name__,
        kind.__doc__,
        section("Example", code(_manifest(kind), "yaml")),
        section("Properties", _properties(body) or "None."),
        section("In Arrow", table(("type", "Arrow type"), _arrow(kind))),
        section(
            "In other systems",
            names and f"Other systems call it {names}; messages suggest this kind for them.",
        ),
        f"Its number in the standard's binary form is {number}."
        if number is not None
        else "It is not in the standard.",
    )


def _manifest(kind: type[LogicalType]) -> str:
    return f"name: example\nfields:\n  - name: value\n    type: {kind.example}"


def _arrow(kind: type[LogicalType]) -> list[tuple[str, str]]:
    """The Arrow type of the example, and of the variants that differ in what decides about values."""
    (dataset,) = schemac.compile_text(_manifest(kind))
    variants = [
        (variant.type_text(), variant.to_arrow((), NO_HINTS, ArrowDefaults())) for variant in kind.variants()
    ]
    rows = {kind.example: dataset.to_arrow().field("value").type, **dict(variants)}
    return [(f"`{title}`", f"`{arrow_type}`") for title, arrow_type in rows.items()]


def accepted(body: dict[str, Any]) -> str:
    """What a property accepts, from its JSON Schema."""
    if "anyOf" in body:
        return " or ".join(accepted(choice) for choice in body["anyOf"])
    if "enum" in body:
        return ", ".join(f"`{value}`" for value in body["enum"])
    if "$ref" in body:
        return f"`{body['$ref'].rpartition('/')[2].strip('_')}`"
    if "oneOf" in body:
        return "a type"
    if body.get("type") == "array":
        return f"a list of {accepted(body['items'])}"
    bounds = [f"{word} {body[key]}" for key, word in _BOUNDS.items() if key in body]
    return ", ".join((str(body.get("type", "any value")), *bounds))


def _default(body: dict[str, Any]) -> str:
    default = body.get("default")
    return "none" if default is None else f"`{default}`"


def _domain(domain: str, attributes: list[Attribute[Any]]) -> str:
    return heading(f"`{domain}`", *(_attribute(attribute) for attribute in attributes))


def _attribute(attribute: Attribute[Any]) -> str:
    places = [
        word
        for word, is_there in (("fields", attribute.on_field), ("the schema", attribute.on_schema))
        if is_there
    ]
    fits = "every kind" if attribute.fits is None else ", ".join(sorted(attribute.fits))
    summary = f"{attribute.summary[0].upper()}{attribute.summary[1:]}."
    kinds = f" Families of kinds: {fits}." if attribute.on_field else ""
    return section(f"`{attribute.key}`", summary, f"On {' and '.join(places)}.{kinds}", _value(attribute))


def _value(attribute: Attribute[Any]) -> str:
    """The values that an attribute accepts; the properties of an object as a table."""
    schema = json_schema(attribute.value_type)
    body = _resolved(schema)
    return _properties(body) if "properties" in body else f"Value: {accepted(body)}."


def _resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """The body of a JSON Schema; pydantic writes that of a recursive model as a definition."""
    body: dict[str, Any] = schema.get("$defs", {}).get(schema.get("$ref", "").rpartition("/")[2], schema)
    return body


def _properties(body: dict[str, Any]) -> str:
    required = body.get("required", ())
    rows = [
        (f"`{name}`", accepted(part), "required" if name in required else _default(part))
        for name, part in body["properties"].items()
        if name not in _INHERITED
    ]
    return table(("property", "value", "default"), rows)
