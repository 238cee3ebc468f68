"""pyarrow, loaded when it is first needed.

Floor: 1 (physical).
Checking and formatting manifests never touch an Arrow type, and loading pyarrow takes longer than checking a
file does. So every module of the compiler takes `pa` from here; the library is loaded by the first attribute
that is read from it.
"""

import sys
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


def load_without_numpy() -> None:
    """Load pyarrow in a process that will never ask it for numpy.

    Where numpy is installed pyarrow loads it too, which takes longer than pyarrow itself; a compiler makes schemas
    and no arrays. For the command line alone: in a user's own process pyarrow has to find its numpy.
    """
    if "pyarrow" in sys.modules or "numpy" in sys.modules:
        return
    sys.modules["numpy"] = None  # type: ignore[assignment]
    try:
        import pyarrow  # noqa: F401
    finally:
        del sys.modules["numpy"]


__all__ = ["ArrowField", "ArrowSchema", "ArrowType", "load_without_numpy", "pa"]
