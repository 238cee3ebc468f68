"""pyarrow, loaded when it is first needed.

Layer: language.
Checking and formatting manifests never touch an Arrow type, and loading pyarrow takes longer than checking a
file does. So every module of the compiler takes `pa` from here; the library is loaded by the first attribute
that is read from it.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    ArrowField = pa.Field[Any]
    ArrowType = pa.DataType
    ArrowSchema = pa.Schema
else:
    # Names for annotations, which Python evaluates when a function is defined.
    ArrowField = ArrowType = ArrowSchema = Any

    class _LazyArrow:
        def __getattr__(self, name: str) -> Any:
            import pyarrow

            # Later reads find the attribute here and do not come back.
            value = getattr(pyarrow, name)
            setattr(self, name, value)
            return value

    pa = _LazyArrow()


@contextmanager
def numpy_left_out() -> Iterator[None]:
    """Libraries that are loaded in here are loaded without numpy; if it is already loaded, nothing is done.

    Where numpy is installed pyarrow and flatbuffers load it too, which takes longer than they do themselves; a compiler
    makes schemas and no arrays. For the command line alone: in a user's own process they have to find their numpy.
    """
    if "numpy" in sys.modules:
        yield
        return
    # pyarrow tries to import it, and flatbuffers asks `PathFinder` by name whether it is there, so a finder of our own in
    # `sys.meta_path` or a None in `sys.modules` would be passed by.
    original, find = vars(PathFinder)["find_spec"], PathFinder.find_spec

    def find_spec(name: str, *arguments: Any, **named: Any) -> Any:
        return None if name == "numpy" else find(name, *arguments, **named)

    PathFinder.find_spec = staticmethod(find_spec)  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        PathFinder.find_spec = original  # type: ignore[method-assign]


__all__ = ["ArrowField", "ArrowSchema", "ArrowType", "numpy_left_out", "pa"]
