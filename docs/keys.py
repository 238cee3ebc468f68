"""The keys of pipelines and settings, as tables on the pages of the guide about them: `python -m docs.keys` writes them there."""

import re
from typing import Any

from docs.guide import FOLDER
from docs.language import accepted
from docs.markdown import section, table
from schemac.cli.project_commands import schema_of

PAGES = tuple(FOLDER / "reference" / name for name in ("pipeline.md", "settings.md"))
_GENERATED = re.compile(r"(?s)(<!-- generated: (\w+) -->\n).*?(<!-- end -->)")
"""The part of a page with the keys of a file, by the name of its JSON Schema."""


def with_keys(text: str) -> str:
    """Return the text of a page with tables for what its markers name."""
    return _GENERATED.sub(lambda found: f"{found[1]}\n{_tables(schema_of(found[2]))}\n\n{found[3]}", text)


def _tables(schema: dict[str, Any]) -> str:
    """Describe the keys of a file, and of the mappings in it, by its JSON Schema."""
    definitions = schema["$defs"]
    mappings = {"": schema, **{name: body for name, body in definitions.items() if "properties" in body}}
    return "\n\n".join(
        section(f"Keys of {name.strip('_')}" if name else "All keys", _table(body, definitions))
        for name, body in mappings.items()
    )


def _table(body: dict[str, Any], definitions: dict[str, Any]) -> str:
    rows = []
    for key, value in body["properties"].items():
        named = definitions.get(value.get("$ref", "").rpartition("/")[2], {})
        meaning = value.get("description") or named.get("description", "").partition("\n")[0]
        rows.append((f"`{key}`", accepted(_with_choices(value, definitions)), _default(value), meaning))
    return table(("key", "value", "default", "meaning"), rows)


def _with_choices(body: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Return what a key accepts with the words of an enumeration instead of its name."""
    if "anyOf" in body:
        return {**body, "anyOf": [_with_choices(choice, definitions) for choice in body["anyOf"]]}
    named: dict[str, Any] = definitions.get(body.get("$ref", "").rpartition("/")[2], {})
    return named if "enum" in named else body


def _default(body: dict[str, Any]) -> str:
    default = body.get("default")
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    return f"`{default}`" if isinstance(default, str | int) and default != "" else ""


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(with_keys(page.read_text(encoding="utf-8")), encoding="utf-8")
