"""The formatter, where this installation has one.

Layer: lsp.
"""

from importlib import import_module
from importlib.util import find_spec

_FORMATTER = "schemac.formatting"


def can_format() -> bool:
    """Whether there is a formatter."""
    return find_spec(_FORMATTER) is not None


def formatted(text: str, name: str) -> str | None:
    """Return a manifest as the formatter writes it; None for a text that it leaves alone, such as one that is not YAML."""
    found: str | None = import_module(_FORMATTER).formatted(text, name)
    return found
