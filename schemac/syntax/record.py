"""Records: the mappings of a manifest as values of classes, read by the annotations of those classes.

Layer: syntax.
Shape: frozen values, closed and exact; a key is the name of its property in camelCase. What an annotation may be, and how
a value is read by it, is in `schemac.syntax.reading`.
Every command loads the models of a manifest, and a large schema has a hundred thousand values of them; a general library
for models takes several times as long for both.
"""

from abc import ABCMeta
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform, get_origin

from schemac.syntax.reading import MISSING, Read, Reading, bare, reader_of


class Property:
    """One property of a record: how it is written, and what may stand there."""

    __slots__ = ("alias", "annotation", "default", "name", "read", "written_annotation")

    def __init__(self, name: str, annotation: Any, default: Any, alias: str | None) -> None:
        self.name = name
        self.alias = alias or camel(name)
        self.written_annotation = annotation
        self.annotation = bare(annotation)
        """The annotation without its bounds."""
        self.default = default
        self.read: Read = self._first
        """Reads a value."""

    def _first(self, value: Any, reading: Reading) -> Any:
        """Make the reader when it is first needed: an annotation may be a class that is not whole before."""
        self.read = reader_of(self.written_annotation)
        return self.read(value, reading)

    def is_required(self) -> bool:
        """Whether a record needs it."""
        return self.default is MISSING

    def get_default(self) -> Any:
        """Return what stands for an absent one; MISSING where nothing does."""
        return dict(self.default) if self.default.__class__ is dict else self.default


def camel(name: str) -> str:
    """Return a property's name as manifests write it: `item_type` is `itemType`."""
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


@dataclass_transform(kw_only_default=True, frozen_default=True)
class RecordType(ABCMeta):
    """Turns the annotations of a class into properties."""

    model_fields: dict[str, Property]

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:
        """Make a class with a slot for each property that its bases do not have."""
        inherited = [base.model_fields for base in reversed(bases) if isinstance(base, RecordType)]
        fields = {key: found for of_base in inherited for key, found in of_base.items()}
        aliases = namespace.pop("aliases", {})
        slots: list[str] = []
        for key, annotation in _annotations(namespace).items():
            if annotation is ClassVar or get_origin(annotation) is ClassVar:
                continue
            if key not in fields:
                slots.append(key)
            fields[key] = Property(key, annotation, namespace.pop(key, MISSING), aliases.get(key))
        namespace["__slots__"] = (*namespace.get("__slots__", ()), *slots)
        cls: Any = super().__new__(mcls, name, bases, namespace, **options)
        cls.model_fields = fields
        cls._plan = tuple(
            (found.alias, key, getattr(cls, key).__set__, found.default, found)
            for key, found in fields.items()
        )
        cls._is_checked = "check_together" in {name for base in cls.__mro__[:-2] for name in vars(base)}
        cls.check_class()
        return cls


def _annotations(namespace: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the annotations of a class that is being made; Python 3.14 has a function that returns them."""
    annotate = namespace.get("__annotate_func__")
    found: Mapping[str, Any] = annotate(1) if annotate is not None else namespace.get("__annotations__", {})
    return found


class Record(metaclass=RecordType):
    """A mapping with known keys."""

    __slots__ = ("_given",)

    model_fields: ClassVar[dict[str, Property]]
    """Properties by their names in Python, those of base classes first."""
    _given: ClassVar[Any]
    _plan: ClassVar[tuple[tuple[str, str, Callable[[Any, Any], None], Any, Property], ...]]
    """Of each property: its key, its name, what puts a value into its slot, its default."""
    _is_checked: ClassVar[bool]
    """Whether a class of its own says what no single property tells."""
    if not TYPE_CHECKING:  # the properties are the arguments

        def __init__(self, **values: Any) -> None:
            reading = Reading(takes_names=True)
            self._fill(values, reading)
            reading.finish(type(self).__name__)

    @classmethod
    def check_class(cls) -> None:
        """Refuse a class that says too little. Raises TypeError."""

    def check_together(self) -> None:
        """Check what no single property tells. Raises ValueError."""

    @classmethod
    def model_validate(cls, value: Any, *, by_name: bool = True) -> Self:
        """Return the record that a mapping holds; `by_name` takes names of Python for keys too. Raises InvalidValueError."""
        reading = Reading(takes_names=by_name)
        found = cls.read(value, reading)
        reading.finish(cls.__name__)
        return found  # type: ignore[no-any-return]

    @classmethod
    def model_construct(cls, **values: Any) -> Self:
        """Return a record of values that are known to be sound."""
        self = cls.__new__(cls)
        for _, name, put, _, found in cls._plan:
            put(self, values[name] if name in values else found.get_default())
        _put_given(self, tuple(values))
        return self

    @property
    def model_fields_set(self) -> tuple[str, ...]:
        """The names of those properties that were given."""
        given: tuple[str, ...] = self._given
        return given

    @classmethod
    def read(cls, value: Any, reading: Reading) -> Any:
        """Read a value as this record; what is wrong with it is in the reading."""
        if value.__class__ is dict:
            self = cls.__new__(cls)
            self._fill(value, reading)
            return self
        if isinstance(value, cls):
            return value
        if isinstance(value, Mapping):
            return cls.read(dict(value), reading)
        return reading.add("model_type", value)

    def _fill(self, value: dict[str, Any], reading: Reading) -> None:
        """Take the properties from a mapping. This runs for every node of a manifest."""
        mistakes, takes_names = reading.mistakes, reading.takes_names
        before = len(mistakes)
        given: list[str] = []
        for key, name, put, default, found in self._plan:
            if key not in value:
                if not takes_names or name not in value:
                    if default is MISSING:
                        reading.add("missing", value, key)
                    else:
                        put(self, {} if default.__class__ is dict else default)
                    continue
                key = name
            count = len(mistakes)
            put(self, found.read(value[key], reading))
            if len(mistakes) > count:
                reading.lead(count, key)
            given.append(name)
        if len(given) < len(value):
            self._take_others(value, given, reading)
        _put_given(self, tuple(given))
        if self._is_checked and len(mistakes) == before:
            try:
                self.check_together()
            except ValueError as error:
                reading.add("value_error", value, error=error)

    def _take_others(self, value: dict[str, Any], given: Collection[str], reading: Reading) -> None:
        """Refuse the keys that are of no property."""
        for key in _others(value, self.model_fields, given, reading):
            reading.add("extra_forbidden", value[key], key)

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """Return the same with other values, which are known to be sound."""
        return self.model_construct(**{**dict(self), **update})

    def model_dump(
        self,
        *,
        by_alias: bool = False,
        exclude: Collection[str] = (),
        exclude_unset: bool = False,
        mode: str = "python",
    ) -> dict[str, Any]:
        """Return the values by name, or by key, of records inside too; in the mode `json`, tuples are lists."""
        return {
            found.alias if by_alias else name: dumped(
                getattr(self, name), by_alias=by_alias, exclude_unset=exclude_unset, mode=mode
            )
            for name, found in type(self).model_fields.items()
            if name not in exclude and not (exclude_unset and name not in self.model_fields_set)
        }

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for name in type(self).model_fields:
            yield name, getattr(self, name)

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Record) and type(self) is type(other) and list(self) == list(other)
        )

    def __hash__(self) -> int:
        return hash((type(self), *(value for _, value in self)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self)})"

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), dict(self), self.model_fields_set)


_put_given: Callable[[Record, tuple[str, ...]], None] = vars(Record)["_given"].__set__


class OpenRecord(Record):
    """A mapping beside whose known keys others may stand."""

    __slots__ = ("others",)

    def _take_others(self, value: dict[str, Any], given: Collection[str], reading: Reading) -> None:
        """Keep the keys that are of no property."""
        others = {key: value[key] for key in _others(value, self.model_fields, given, reading)}
        object.__setattr__(self, "others", others)

    @classmethod
    def model_construct(cls, **values: Any) -> Self:
        """Return a record of values that are known to be sound."""
        self = super().model_construct(**values)
        others = {key: value for key, value in values.items() if key not in cls.model_fields}
        object.__setattr__(self, "others", others)
        return self

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """Return the values, those of other keys last."""
        return {**super().model_dump(**options), **getattr(self, "others", {})}

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        yield from super().__iter__()
        yield from getattr(self, "others", {}).items()


def _others(
    value: Mapping[str, Any], fields: Mapping[str, Property], given: Collection[str], reading: Reading
) -> list[str]:
    """Return the keys of a mapping that are not those of given properties."""
    known = {fields[name].alias for name in given}
    if reading.takes_names:
        # Where a property has both its key and its name, the key counts and the name is too much.
        known |= {name for name in given if fields[name].alias not in value}
    return [key for key in value if key not in known]


def _restored(cls: type[Record], values: dict[str, Any], given: tuple[str, ...]) -> Record:
    """Return a record that was pickled or is copied."""
    self = cls.model_construct(**values)
    _put_given(self, given)
    return self


def dumped(value: Any, **options: Any) -> Any:
    """Return a value with mappings in the place of records; the options are those of `Record.model_dump`."""
    if isinstance(value, Record):
        return value.model_dump(**options)
    if isinstance(value, dict):
        return {key: dumped(item, **options) for key, item in value.items()}
    if isinstance(value, list | tuple):
        items = [dumped(item, **options) for item in value]
        return tuple(items) if isinstance(value, tuple) and options["mode"] == "python" else items
    return value
