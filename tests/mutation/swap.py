"""Puts a mutant in the place of a module that is loaded.

Functions and methods keep their identity, for other modules have imported them by name: they get the code of the mutant. Values are
replaced in the module alone. A judge is such a value: what it was made of, closures too, is the mutant's then.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType
from typing import Any

from schemac.versions.evolution.judge import Judge
from tests.mutation.mutants import Mutant

_VALUES = (frozenset, dict, Judge)


@contextmanager
def swapped(module: ModuleType, mutant: Mutant) -> Iterator[None]:
    """Within the block, a module does what the mutant does."""
    assert module.__file__ is not None
    names = {**vars(module)}
    exec(compile(mutant.tree, module.__file__, "exec"), names)
    functions, of_mutant = _functions(module.__name__, vars(module)), _functions(module.__name__, names)
    code: dict[str, CodeType] = {name: function.__code__ for name, function in functions.items()}
    values = {
        name: value for name, value in vars(module).items() if isinstance(value, _VALUES) and name[:2] != "__"
    }
    try:
        for name, function in functions.items():
            function.__code__ = of_mutant[name].__code__
        vars(module).update({name: names[name] for name in values})
        yield
    finally:
        for name, function in functions.items():
            function.__code__ = code[name]
        vars(module).update(values)


def _functions(module: str, names: Mapping[str, Any]) -> dict[str, FunctionType]:
    """Return the functions that a module defines, and the methods of its classes, by their qualified names."""
    defined = [value for value in names.values() if getattr(value, "__module__", None) == module]
    classes = [value for value in defined if isinstance(value, type)]
    methods = [method for class_ in classes for method in vars(class_).values()]
    return {
        function.__qualname__: function
        for function in (*defined, *methods)
        if isinstance(function, FunctionType) and function.__module__ == module
    }
