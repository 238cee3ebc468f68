"""Writes the pages of the site as Markdown: `python -m docs.site FOLDER`."""

import re
import shutil
import sys
from pathlib import Path

from docs import commands, diagnostics, editors, engines, language, lint, python_api
from docs.markdown import heading, toctree

ROOT = Path(__file__).parents[1]
_PAGES_IN_TREE = re.compile(r"schemac/(source|pipeline|lint|engines/\w+)/pages/")
"""Where the README links to pages of the compiler."""
_CODE_PAGE = re.compile(r"\]\((SC\d+\.md)\)")


def pages() -> dict[str, str]:
    """All pages of the site by their path; the text is Markdown as MyST reads it."""
    parts = ("guide", "kinds/index", "attributes/index", "engines/index", "commands/index", "editors")
    more = ("diagnostics/index", "lint", "rules/index", "losses/index", "python", "pipeline", "changelog")
    return {
        "index.md": heading(
            "schemac",
            "A schema compiler for data tables. You write a table's schema once, and schemac compiles it to the exact"
            " schemas that Lance, Arrow, Spark and Paimon use.",
            toctree((*parts, *more)),
        ),
        "guide.md": _guide(),
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        **language.pages(),
        **engines.pages(),
        **commands.pages(),
        **editors.pages(),
        **diagnostics.pages(),
        **lint.pages(),
        **python_api.pages(),
    }


def write(folder: Path) -> None:
    """Write all pages; what was in the folder is removed."""
    shutil.rmtree(folder, ignore_errors=True)
    for path, text in pages().items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _guide() -> str:
    """The README with its links into the tree as links within the site."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").replace("# schemac\n", "# Guide\n", 1)
    return _CODE_PAGE.sub(r"](diagnostics/\1)", _PAGES_IN_TREE.sub("", text))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
