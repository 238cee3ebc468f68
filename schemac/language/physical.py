"""One field as an engine stores it, and pyarrow, loaded when it is first needed.

Layer: language. Checking and formatting manifests never touch an Arrow type, and loading pyarrow takes longer than checking a file
does. So every module of the compiler takes `pa` from here; the library is loaded by the first attribute that is read from it.
Shape: a tree, parents before children, in the order of the manifest.
"""

import dataclasses
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import PathFinder
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import pyarrow

    pa = pyarrow
    ArrowField: TypeAlias = pyarrow.Field[Any]
    ArrowType: TypeAlias = pyarrow.DataType
    ArrowSchema: TypeAlias = pyarrow.Schema
else:
    # Names for annotations, which Python evaluates when a function is defined.
    ArrowField = ArrowType = ArrowSchema = Any

    class _LazyArrow:
        """Loads pyarrow when its first attribute is read."""

        def __getattr__(self, name: str) -> Any:
            import pyarrow

            # Later reads find the attribute here and do not come back.
            value = getattr(pyarrow, name)
            setattr(self, name, value)
            return value

    pa = _LazyArrow()


def arrow_type(factory: str, *arguments: Any) -> ArrowType:
    """Return the type that a factory of pyarrow makes, by its name."""
    type_: ArrowType = getattr(pa, factory)(*arguments)
    return type_


def parts_of(type_: ArrowType) -> "list[ArrowField]":
    """Return the members of a struct, the key and the value of a map, or the item of a list; nothing for other types."""
    if pa.types.is_map(type_):
        return [type_.key_field, type_.item_field]
    if pa.types.is_struct(type_):
        return list(type_.fields)
    item = getattr(type_, "value_field", None)
    return [] if item is None else [item]


def with_parts(type_: ArrowType, changed: "Callable[[ArrowField], ArrowField]") -> ArrowType:
    """Return a type of which each part is changed; one without parts stays as it is."""
    parts = [changed(part) for part in parts_of(type_)]
    if pa.types.is_struct(type_):
        return pa.struct(parts)
    if pa.types.is_map(type_):
        return pa.map_(*parts, type_.keys_sorted)
    if pa.types.is_fixed_size_list(type_):
        return pa.list_(*parts, type_.list_size)
    makes = {
        pa.lib.Type_LIST: pa.list_,
        pa.lib.Type_LARGE_LIST: pa.large_list,
        pa.lib.Type_LIST_VIEW: pa.list_view,
        pa.lib.Type_LARGE_LIST_VIEW: pa.large_list_view,
    }
    return makes[type_.id](*parts) if type_.id in makes else type_


@contextmanager
def numpy_left_out() -> Iterator[None]:
    """Load the libraries that are first imported inside without numpy; nothing is done if that is loaded already.

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


NO_METADATA: Mapping[str, str] = MappingProxyType({})


@dataclass(slots=True, eq=False, repr=False)
class LoweredField:
    """An Arrow field, and the logical field that it was lowered from."""

    arrow: ArrowField
    children: "tuple[LoweredField, ...]"
    """One a logical child. A type that unfolds into more than its kind says, as a blob does, has none here."""
    field: Any
    """The logical field, opaque on this floor; targets place their findings by it."""
    metadata: Mapping[str, str] = dataclasses.field(default_factory=lambda: NO_METADATA)
    """That of the Arrow field, as text: pyarrow makes a new dictionary of bytes each time it is asked."""

    @property
    def extension_name(self) -> str | None:
        """The name of the field's extension type, whether pyarrow has registered it or not; None if it has none."""
        type_: Any = self.arrow.type
        if isinstance(type_, pa.BaseExtensionType):
            return str(type_.extension_name)
        return self.metadata.get("ARROW:extension:name")

    def preorder(self) -> "Iterator[LoweredField]":
        """Yield this field and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.preorder()


class LoweredSchema(NamedTuple):
    """All columns of a dataset with the schema's own metadata (Arrow's form: text to text)."""

    fields: tuple[LoweredField, ...]
    metadata: dict[str, str]

    def to_arrow(self) -> ArrowSchema:
        """Return the pyarrow schema of these fields."""
        return pa.schema([f.arrow for f in self.fields], metadata=self.metadata or None)

    def preorder(self) -> Iterator[LoweredField]:
        """Yield every field, parents before children."""
        for top in self.fields:
            yield from top.preorder()
