"""The page of the Python API; the site generator fills in signatures and docstrings."""

from types import ModuleType

import schemac
import schemac.pipeline
from docs.markdown import heading


def pages() -> dict[str, str]:
    """All pages by path."""
    assert schemac.__doc__ is not None
    return {
        "python.md": heading("Python API", _block("automodule:: schemac"), *_directives(schemac)),
        "pipeline.md": heading("Pipelines in Python", PIPELINE, *_directives(schemac.pipeline)),
    }


PIPELINE = (
    "`schemac.pipeline` runs pipelines and conforms any DataFrame of Spark to a dataset. It needs the extras `lance` and"
    " `spark`; importing it loads neither before one of its names is used."
)
FOREIGN = "BaseException, BaseModel, tuple, str"
"""Classes of Python and pydantic, whose methods are no part of this API."""


def _directives(module: ModuleType) -> list[str]:
    return [_directive(module, name) for name in dir(module) if not name.startswith("_")]


def _directive(module: ModuleType, name: str) -> str:
    # By its spelling: what a name stands for may need packages that the site is built without.
    if name[0].isupper():
        return _block(f"autoclass:: {module.__name__}.{name}\n   :members:\n   :inherited-members: {FOREIGN}")
    return _block(f"autofunction:: {module.__name__}.{name}")


def _block(directive: str) -> str:
    return f"```{{eval-rst}}\n.. {directive}\n```"
