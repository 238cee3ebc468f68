"""The formatter, where this installation has one.

Layer: lsp.
"""

from importlib import import_module
from typing import Any

_FORMATTER = "schemac.formatting.format"
"""The module with `formatted(text, name)`, which returns a text that it leaves alone as it is."""


def can_format() -> bool:
    """Whether there is a formatter."""
    try:
        import_module(_FORMATTER)
    except ImportError:
        return False
    return True


def formatted(text: str, name: str) -> str:
    """Return a manifest as the formatter writes it."""
    formatter: Any = import_module(_FORMATTER)
    return str(formatter.formatted(text, name))
