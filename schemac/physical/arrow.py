"""pyarrow, loaded when it is first needed.

Floor: 1 (physical).
Checking and formatting manifests never touch an Arrow type, and loading pyarrow takes longer than checking a
file does. So every module of the compiler takes `pa` from here; the library is loaded by the first attribute
that is read from it.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
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
    """If pyarrow is loaded in here, it is loaded without numpy.

    Where numpy is installed pyarrow loads it too, which takes longer than pyarrow itself; a compiler makes schemas
    and no arrays. For the command line alone: in a user's own process pyarrow has to find its numpy.
    """
    if "pyarrow" in sys.modules or "numpy" in sys.modules:
        yield
        return
    sys.modules["numpy"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules["numpy"]


__all__ = ["ArrowField", "ArrowSchema", "ArrowType", "numpy_left_out", "pa"]
