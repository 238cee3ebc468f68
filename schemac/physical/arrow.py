"""pyarrow, loaded when it is first needed.

Floor: 1 (physical).
Checking and formatting manifests never touch an Arrow type, and loading pyarrow takes longer than checking a
file does. So every module of the compiler takes `pa` from here; the library is loaded by the first attribute
that is read from it.
"""

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

__all__ = ["ArrowField", "ArrowSchema", "ArrowType", "pa"]
