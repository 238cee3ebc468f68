"""Puts a mutant in the place of a module that is loaded.

Functions keep their identity, for other modules have imported them by name: they get the code of the mutant. Values are
replaced in the module alone.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType

from schemac.versions.evolution.judge import Judge
from tests.mutation.mutants import Mutant

_VALUES = (frozenset, dict, Judge)


@contextmanager
def swapped(module: ModuleType, mutant: Mutant) -> Iterator[None]:
    """Within the block, a module does what the mutant does."""
    assert module.__file__ is not None
    names = {**vars(module)}
    exec(compile(mutant.tree, module.__file__, "exec"), names)
    functions = _functions(module)
    code: dict[str, CodeType] = {name: function.__code__ for name, function in functions.items()}
    values = {
        name: value for name, value in vars(module).items() if isinstance(value, _VALUES) and name[:2] != "__"
    }
    try:
        for name, function in functions.items():
            function.__code__ = names[name].__code__
        vars(module).update({name: names[name] for name in values})
        yield
    finally:
        for name, function in functions.items():
            function.__code__ = code[name]
        vars(module).update(values)


def _functions(module: ModuleType) -> dict[str, FunctionType]:
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__
    }
