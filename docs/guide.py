"""The hand-written pages of the guide, in four folders: tutorial, how-to, reference, explanation."""

import re
from pathlib import Path

from docs.markdown import captioned

FOLDER = Path(__file__).parent
PARTS = {"tutorial": "Tutorial", "how-to": "How to", "reference": "Reference", "explanation": "Explanation"}
"""The folders of the guide with their titles: lessons, tasks, facts, reasons. A page belongs to one of them."""

_INTO_TREE = re.compile(
    r"\]\((?:\.\./)+schemac/(?:text/source|pipeline|language/lint|engines/\w+)/pages/(losses/)?"
)
"""Links from the guide to pages that the compiler shows with `schemac explain`, as a code host follows them."""
_COMMENT = re.compile(r"^<!-- .* -->\n", re.MULTILINE)
"""Where `docs.keys` writes tables."""


def guide_pages() -> dict[str, str]:
    """Return the pages of the guide by their path on the site, as MyST reads them."""
    files = [file for part in PARTS for file in sorted((FOLDER / part).glob("*.md"))]
    return {file.relative_to(FOLDER).as_posix(): _on_site(file.read_text(encoding="utf-8")) for file in files}


def _on_site(text: str) -> str:
    text = _COMMENT.sub("", text)
    return captioned(_INTO_TREE.sub(lambda link: f"](../{link[1] or 'diagnostics/'}", text))
