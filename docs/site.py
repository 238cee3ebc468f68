"""Writes the pages of the site as Markdown: `python -m docs.site FOLDER`."""

import re
import shutil
import sys
from pathlib import Path
from typing import Any

from docs import commands, diagnostics, engines, guide, language, lint, pictures, python_api
from docs.markdown import heading, section, table, toctree
from schemac.cli.command_schema import schema_of

ROOT = Path(__file__).parents[1]
_GENERATED = re.compile(r"^<!-- generated: (\w+) -->$", re.MULTILINE)
"""Where a page of the guide has the keys of a file, by the name of its JSON Schema."""
_REFERENCE = (
    *("kinds/index", "attributes/index", "engines/index", "commands/index", "diagnostics/index", "lint"),
    *("rules/index", "losses/index", "python", "pipeline", "changelog"),
)


def pages() -> dict[str, str]:
    """All pages of the site by their path; the text is Markdown as MyST reads it."""
    written = {path: _with_keys(text) for path, text in guide.guide_pages().items()}
    return {
        "index.md": _first_screen(written),
        **written,
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "]("),
        **language.pages(),
        **engines.pages(),
        **commands.pages(),
        **diagnostics.pages(),
        **lint.pages(),
        **python_api.pages(),
    }


def write(folder: Path) -> None:
    """Write all pages and pictures; what was in the folder is removed."""
    shutil.rmtree(folder, ignore_errors=True)
    for path, text in pages().items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    pictures.write(folder / "pictures")


def _first_screen(written: dict[str, str]) -> str:
    """The page that a reader sees first: three ways in, then the whole guide by its parts."""
    parts = []
    for part, title in guide.PARTS.items():
        entries = [path.removesuffix(".md") for path in written if path.startswith(f"{part}/")]
        if part == "reference":
            entries += _REFERENCE
        parts.append(toctree(entries, caption=title))
    return heading("schemac", (guide.FOLDER / "first_screen.md").read_text(encoding="utf-8"), *parts)


def _with_keys(text: str) -> str:
    return _GENERATED.sub(lambda marker: _keys(schema_of(marker[1])), text)


def _keys(schema: dict[str, Any]) -> str:
    """Describe the keys of a file, and of the mappings in it, by its JSON Schema."""
    mappings = {"": schema, **{name: body for name, body in schema["$defs"].items() if "properties" in body}}
    return "\n\n".join(
        section(f"Keys of {name.strip('_')}" if name else "All keys", _table_of_keys(body))
        for name, body in mappings.items()
    )


def _table_of_keys(body: dict[str, Any]) -> str:
    rows = [
        (f"`{key}`", language.accepted(value), value.get("description", ""))
        for key, value in body["properties"].items()
    ]
    return table(("key", "value", "meaning"), rows)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
