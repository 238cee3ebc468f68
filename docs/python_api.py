"""The page of the Python API; the site generator fills in signatures and docstrings."""

import inspect

import schemac
from docs.markdown import heading


def pages() -> dict[str, str]:
    """All pages by path."""
    names = [name for name in dir(schemac) if not name.startswith("_")]
    assert schemac.__doc__ is not None
    directives = [_directive(name) for name in names]
    return {"python.md": heading("Python API", _block("automodule:: schemac"), *directives)}


def _directive(name: str) -> str:
    if inspect.isclass(getattr(schemac, name)):
        return _block(f"autoclass:: schemac.{name}\n   :members:\n   :inherited-members:")
    return _block(f"autofunction:: schemac.{name}")


def _block(directive: str) -> str:
    return f"```{{eval-rst}}\n.. {directive}\n```"
