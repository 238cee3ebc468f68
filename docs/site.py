"""Writes the pages of the site as Markdown: `python -m docs.site FOLDER`."""

import shutil
import sys
from pathlib import Path

from docs import commands, diagnostics, engines, guide, language, lint, pictures, python_api
from docs.markdown import heading, toctree

ROOT = Path(__file__).parents[1]
_REFERENCE = (
    *("kinds/index", "attributes/index", "engines/index", "commands/index", "diagnostics/index", "lint"),
    *("rules/index", "losses/index", "python", "pipeline", "changelog"),
)


def pages() -> dict[str, str]:
    """All pages of the site by their path; the text is Markdown as MyST reads it."""
    written = guide.guide_pages()
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


if __name__ == "__main__":
    write(Path(sys.argv[1]))
