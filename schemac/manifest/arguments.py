"""What a use gives to the parameters of a group.

Layer: manifest.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from schemac.manifest.groups import Definition
from schemac.source.help import Help
from schemac.source.suggest import closest
from schemac.syntax.document import Origin, TreePath


class Argument(NamedTuple):
    """A value for a parameter, and where it is written."""

    value: Any
    origin: Origin
    size: int = 1
    """How many values it has inside."""


class Mistake(NamedTuple):
    """What is wrong with the arguments of a use."""

    at: TreePath
    """From the use."""
    message: str
    help: str


def arguments_of(definition: Definition, values: Mapping[str, Argument]) -> dict[str, Argument]:
    """Return the argument of each parameter; those without a value are left out."""
    arguments: dict[str, Argument] = {}
    for name, parameter in definition.group.parameters.items():
        if name in values:
            arguments[name] = values[name]
        elif not parameter.is_required:
            path = (*definition.path, "parameters", name, "default")
            arguments[name] = Argument(parameter.default, Origin(definition.document, path))
    return arguments


def mistakes_of(definition: Definition, values: Mapping[str, Argument]) -> Iterator[Mistake]:
    """Yield what is missing, and what is too much."""
    parameters = definition.group.parameters
    for name in values:
        if name in parameters:
            continue
        near = closest(name, [free for free in parameters if free not in values])
        help = Help.did_you_mean(near, name) if near else f"its parameters are {', '.join(parameters)}"
        message = f"the group '{definition.name}' has no parameter `{name}`"
        yield Mistake(
            ("with", name), message, help if parameters else Help.remove(": the group has no parameters")
        )
        if near:
            return
    missing = [n for n, parameter in parameters.items() if n not in values and parameter.is_required]
    if missing:
        names = " and ".join(f"`{name}`" for name in missing)
        entries = ", ".join(f"{name}: …" for name in missing)
        message = f"the group '{definition.name}' needs {names}"
        help = f"add `{entries}` to `with:`" if values else f"write `with: {{{entries}}}` below it"
        yield Mistake(("use",), message, help)
