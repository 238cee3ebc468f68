"""The extra of schemac that installs a library.

Layer: source.
Source: the requirements in the package's own metadata.
"""

import re

_OF_EXTRA = re.compile(r"""([\w.-]+).*;.*\bextra == ['"](\w+)['"]""")
_NO_PARTS = ("all", "dev")
"""Extras that bring what others bring."""


def install_help(error: ModuleNotFoundError) -> str:
    """Return the command that installs what could not be imported.

    >>> install_help(ModuleNotFoundError(name="sqlglot.expressions"))
    "install it with: pip install 'schemac[sql]'"
    """
    library = (error.name or "").partition(".")[0]
    extra = _extra_of(library)
    what = library if extra is None else f"'schemac[{extra}]'"
    return f"install it with: pip install {what}"


def _extra_of(library: str) -> str | None:
    """Return the extra that is called as the library is, or has a package that is: `markdown-it-py` has `markdown_it`."""
    from importlib import metadata  # for start-up time: most libraries are there

    pairs = [
        match.groups() for text in metadata.requires("schemac") or () if (match := _OF_EXTRA.match(text))
    ]
    parts = [(package, extra) for package, extra in pairs if extra not in _NO_PARTS]
    name = library.replace("_", "-")
    if name in {extra for _, extra in parts}:
        return name
    return next((extra for package, extra in parts if package in (name, f"{name}-py")), None)
