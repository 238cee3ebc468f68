"""What changed, as one page that needs no other file: for a pull request.

Layer: documentation.
"""

from collections.abc import Sequence
from importlib.resources import files

from markupsafe import Markup

from schemac.documentation.html import environment_of_pages
from schemac.project.comparisons import Comparison, rename_findings


def comparison_page(comparisons: Sequence[Comparison], against: str, summary: str) -> bytes:
    """Return the page; `summary` says all changes in a few words."""
    style = files("schemac.documentation").joinpath("assets/style.css").read_text(encoding="utf-8")
    template = environment_of_pages().get_template("comparison.html")
    # The style is our own, and has nothing that ends it.
    text = template.render(
        comparisons=[(one, rename_findings(one)) for one in comparisons],
        title=f"Changes since {against}",
        summary=summary,
        style=Markup(style),  # noqa: S704 — a file of this package
    )
    return text.encode("utf-8", "backslashreplace")
