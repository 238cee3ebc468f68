"""Settings of Sphinx for `make docs`."""

import sys
from pathlib import Path
from typing import Any

from sphinx.ext.autodoc.mock import _MockObject

sys.path.insert(0, str(Path(__file__).parents[1]))

from schemac.version import __version__

project = "schemac"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 3  # links lead to headings, as they do on a code host
html_theme = "furo"
html_title = f"schemac {__version__}"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_static_path = ["theme"]
html_css_files = ["print.css"]
default_role = "literal"  # docstrings put code in single backticks, as Markdown does
# Of the pipeline, whose docstrings need none of them. `DataFrame | None` is evaluated where a function is made.
autodoc_mock_imports = ["lance", "py4j", "pyspark"]
_MockObject.__or__ = _MockObject.__ror__ = lambda self, other: Any
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
suppress_warnings = ["misc.highlighting_failure"]  # the wrong examples are wrong


_ACCESSIBLE = {
    'role="heading"><span class="caption-text">': 'role="heading" aria-level="2"><span class="caption-text">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="All pages">',
    '<aside class="toc-drawer': '<aside aria-label="On this page" class="toc-drawer',
    "<pre>": '<pre tabindex="0">',  # what scrolls sideways can be scrolled with the keyboard
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
}
"""What axe asks of the theme's pages."""


def setup(app: Any) -> None:
    """Make the theme's pages accessible when they have been written."""
    app.connect("build-finished", _make_accessible)


def _make_accessible(app: Any, error: Exception | None) -> None:
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for written, accessible in _ACCESSIBLE.items():
            text = text.replace(written, accessible)
        page.write_text(text, encoding="utf-8")
