"""Templates of HTML: every text that is not a template's own is escaped, and what a reader cannot see is written as an escape.

Layer: text.
"""

from typing import Any

import jinja2

from schemac.text.source.phrases import printable


def environment_of(package: str, *, keep: str) -> jinja2.Environment:
    """Return what fills in the templates of a package's folder `templates`; `keep` are the control characters that stay."""

    def without_hidden_signs(value: Any) -> Any:
        return printable(value, keep=keep) if type(value) is str else value

    return jinja2.Environment(
        loader=jinja2.PackageLoader(package), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, finalize=without_hidden_signs,
    )  # fmt: skip
