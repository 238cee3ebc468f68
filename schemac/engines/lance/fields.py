"""The fields of a schema as Lance numbers them, their ids in a lock, Lance's words for their types, and the casts that Lance makes by itself.

Layer: engines.
Shape: pre-order; lists have an item below them, maps an `entries` struct with key and value, but a fixed-size list of plain values is one
      node. A field of the manifest may own several nodes (a map, a blob) or none (the item of a vector); its numbers are the ids of all
      nodes that belong to it, parents first. Casts are between logical types as Lance spells them; Lance counts on when a zone comes or
      goes and never looks at a clock, so of instants only those in UTC are left to it to make readings of.
Source: the table of logical types in rust/lance-core/src/datatypes.rs of github.com/lance-format/lance, and all pairs of 38 types tried
      with `alter_columns`, both with pylance 14.0.2. Lance numbers every node in pre-order, and a column that is cast gets a new id with
      all below it; what it can add and cast was tried at every place.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from schemac.arrow.metadata import EXTENSION_NAME, registered_extension_metadata
from schemac.arrow.to_arrow import to_arrow_fields
from schemac.engines.lance import attributes as lance
from schemac.language.attributes.attribute import Family
from schemac.language.kinds.plain import PlainType
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import SchemaField, is_in_structs, preorder
from schemac.language.physical import ArrowField, ArrowType, LoweredField, LoweredSchema, pa, parts_of
from schemac.versions.evolution.version_pair import SchemaVersion
from schemac.versions.identity.lock import Former, Numbered, Numbering, Numbers

if TYPE_CHECKING:
    from schemac.engines.lance._generated.lance import file_pb2 as pb

NAME_KEY = EXTENSION_NAME.encode()
"""Under which pyarrow has the name of an extension type."""


def is_fixed_width(type_: ArrowType) -> bool:
    """Whether Lance has a type, without parts, whose values all have one width; nulls have none."""
    is_ = pa.types
    is_number = is_.is_integer(type_) or is_.is_floating(type_) or is_.is_boolean(type_)
    is_decimal = is_.is_decimal128(type_) or is_.is_decimal256(type_)
    is_time = is_.is_temporal(type_) and not is_.is_interval(type_)
    is_other = is_.is_fixed_size_binary(type_) or is_.is_null(type_)
    return bool(is_number or is_decimal or is_time or is_other)


def is_view(type_: ArrowType) -> bool:
    """Whether a type is texts or bytes as views."""
    return bool(pa.types.is_string_view(type_) or pa.types.is_binary_view(type_))


def is_variable(type_: ArrowType) -> bool:
    """Whether a type is texts or bytes of any length."""
    is_ = pa.types
    is_text = is_.is_string(type_) or is_.is_large_string(type_)
    return is_text or is_.is_binary(type_) or is_.is_large_binary(type_) or is_view(type_)


def stored_word(type_: ArrowType) -> str:
    """Return Lance's word for texts and bytes, which it does not store as views."""
    return str(type_).removesuffix("_view")


def type_word(type_: Any, *, is_json: bool = False) -> str:
    """Return the logical type of a storage type. Raises ValueError for a type that Lance lacks."""
    is_ = pa.types
    if is_.is_struct(type_):
        return "struct"
    if is_variable(type_):
        return "json" if is_json else stored_word(type_)
    if is_.is_dictionary(type_):
        return f"dict:{type_word(type_.value_type)}:{type_word(type_.index_type)}:false"
    if is_.is_map(type_):
        return "map"
    if is_.is_list(type_) or is_.is_large_list(type_):
        of_structs = ".struct" if is_.is_struct(type_.value_type) else ""
        return f"{'large_' if is_.is_large_list(type_) else ''}list{of_structs}"
    if is_.is_fixed_size_list(type_):
        return f"fixed_size_list:{_item_word(type_.value_field)}:{type_.list_size}"
    if is_.is_timestamp(type_):
        return f"timestamp:{type_.unit}:{type_.tz or '-'}"
    if not is_fixed_width(type_):
        raise ValueError(f"Lance has no type for {type_}")
    if is_.is_decimal(type_):
        return f"decimal:{type_.bit_width}:{type_.precision}:{type_.scale}"
    if is_.is_fixed_size_binary(type_):
        return f"fixed_size_binary:{type_.byte_width}"
    return str(type_).replace("[", ":").removesuffix("]")


def _item_word(item: ArrowField) -> str:
    """Return the item of a fixed-size list, which has no message of its own unless it is a struct."""
    if (item.metadata or {}).get(NAME_KEY) == lance.BRAIN_FLOAT.encode():
        return lance.BRAIN_FLOAT
    type_: Any = item.type
    return type_word(type_.storage_type if isinstance(type_, pa.BaseExtensionType) else type_)


_ENCODINGS = {
    **dict.fromkeys(("null", "struct"), "NONE"),
    **dict.fromkeys(("json", "string", "large_string", "binary", "large_binary"), "VAR_BINARY"),
}
"""The encodings, which are deprecated and still compared, of logical types that are not stored plainly."""
NAME = "lance"


def is_vector(field: SchemaField) -> bool:
    """Whether a field with parts is a fixed-size list."""
    return getattr(field.type, "fixed_length", None) is not None


def is_map_or_vector(field: SchemaField) -> bool:
    """Whether a field with parts is a map or a fixed-size list."""
    return field.type.family is Family.MAP or is_vector(field)


def is_inside_map_or_vector(field: SchemaField) -> bool:
    """Whether a map or a fixed-size list is above."""
    return any(map(is_map_or_vector, field.ancestors))


def lance_ids(numbers: Numbers) -> tuple[int, ...]:
    """Return the ids of all nodes that belong to a field, parents first."""
    return numbers.of(NAME)


class Nodes(NamedTuple):
    """All fields as Lance has them, and which of them belong to each field of a schema."""

    messages: "list[pb.Field]"
    """In pre-order; the id of each is its place in the list."""
    by_field: Mapping[SchemaField, Sequence[int]]
    """The ids of the messages that belong to each field, parents first."""

    def numbers(self, ids: Sequence[int]) -> dict[SchemaField, Numbers]:
        """Return the ids of the fields in a table that has the same nodes in the same order, given its ids."""
        return {
            field: Numbers.make({NAME: tuple([ids[index] for index in indices])})
            for field, indices in self.by_field.items()
        }

    def words(self) -> dict[SchemaField, tuple[str, ...]]:
        """Return the logical types of the nodes that belong to each field, parents first."""
        return {
            field: tuple([self.messages[index].logical_type for index in indices])
            for field, indices in self.by_field.items()
        }


def nodes_of(lowered: LoweredSchema, *, is_tolerant: bool = False) -> Nodes:
    """Return the nodes of a schema. Raises ValueError for a type that Lance has no word for, unless Arrow's own will do."""
    from schemac.engines.lance._generated.lance import file_pb2 as pb  # for start-up time: see `LazyWords`

    nodes: list[pb.Field] = []
    owned: dict[SchemaField, list[int]] = {one.field: [] for one in lowered.preorder()}

    def add(arrow: ArrowField, parent: int, metadata: Mapping[str, str], owner: LoweredField) -> None:
        """Add an Arrow field and all below it; it belongs to `owner`, and so do parts that are no fields of their own."""
        id = len(nodes)
        type_: Any = arrow.type
        if isinstance(type_, pa.BaseExtensionType):
            metadata = {**registered_extension_metadata(type_), **metadata}
            type_ = type_.storage_type
        if metadata.get(EXTENSION_NAME) == "arrow.json":
            metadata = {**metadata, EXTENSION_NAME: lance.JSON_EXTENSION}
        try:
            logical_type = type_word(type_, is_json=metadata.get(EXTENSION_NAME) == lance.JSON_EXTENSION)
        except ValueError:
            if not is_tolerant:
                raise
            logical_type = str(type_)
        is_dictionary = pa.types.is_dictionary(type_)
        node = pb.Field(
            name=arrow.name,
            id=id,
            parent_id=parent,
            logical_type=logical_type,
            nullable=arrow.nullable,
            encoding="DICTIONARY" if is_dictionary else _ENCODINGS.get(logical_type, "PLAIN"),
        )
        if metadata:
            # A numeric position makes a primary key, whatever the flag.
            position = _position(metadata.get(lance.PRIMARY_KEY_POSITION))
            node.extension_name = metadata.get(EXTENSION_NAME, "")
            node.metadata.update(encoded(metadata))
            node.unenforced_primary_key = position is not None or lance.has_key_mark(metadata)
            node.unenforced_primary_key_position = position or 0
            place = _position(metadata.get(lance.CLUSTERING_KEY_POSITION))
            node.unenforced_clustering_key_position = place or 0
        nodes.append(node)
        owned[owner.field].append(id)
        if logical_type == "map":
            nodes.append(pb.Field(name="entries", id=id + 1, parent_id=id, logical_type="struct"))
            owned[owner.field].append(id + 1)
            id += 1
        is_of_structs = pa.types.is_fixed_size_list(type_) and pa.types.is_struct(type_.value_type)
        if logical_type in _PARENTS or is_of_structs:
            parts = parts_of(type_)
            for part, child in zip(parts, owner.children or [owner] * len(parts), strict=True):
                texts = {key.decode(): value.decode() for key, value in (part.metadata or {}).items()}
                add(part, id, texts, child)

    for top in lowered.fields:
        add(top.arrow, -1, top.metadata, top)
    return Nodes(nodes, owned)


def encoded(entries: Mapping[str, str]) -> dict[str, bytes]:
    """Return metadata with its values as UTF-8 bytes."""
    return {key: value.encode() for key, value in entries.items()}


LISTS = frozenset({"list", "list.struct", "large_list", "large_list.struct"})
_PARENTS = LISTS | {"struct", "map"}
"""Logical types with messages below them; so is a fixed-size list of structs."""
_NUMBER = re.compile(r"\+?[0-9]+")


def _position(text: str | None) -> int | None:
    """Return a position as a number below 2**32; None if it is absent or malformed."""
    if text is None or not _NUMBER.fullmatch(text):
        return None
    position = int(text)
    return position if position < 2**32 else None


def numbers_of(
    lowered: LoweredSchema, table_fields: "Sequence[pb.Field]"
) -> dict[SchemaField, Numbers] | None:
    """Return a table's ids by field; None if its fields, which come in pre-order, are others."""
    nodes = nodes_of(lowered, is_tolerant=True)
    # The names of items, keys and values mean nothing.
    members = ((indices[0], field) for field, indices in nodes.by_field.items() if field.is_member)
    if len(nodes.messages) != len(table_fields) or any(
        table_fields[index].name != field.segment for index, field in members
    ):
        return None
    return nodes.numbers([field.id for field in table_fields])


Words = Mapping[SchemaField, tuple[str, ...]]
"""Lance's logical types of the nodes that belong to each field, parents first."""


class LazyWords:
    """The logical types of the fields of a dataset, computed when one is asked for that Arrow is needed for.

    The merge driver starts for every lock anew, and loading pyarrow takes longer than merging one.
    """

    def __init__(self, dataset: LogicalDataset) -> None:
        self.dataset = dataset

    def __getitem__(self, field: SchemaField) -> tuple[str, ...]:
        """Return the words of a field."""
        type_ = field.type
        if field.parent is None and not field.extra and isinstance(type_, PlainType):
            return (type_.arrow_text,)
        return self._all[field]

    @cached_property
    def _all(self) -> Words:
        """Return the words of all fields, computed at the first access."""
        return words_of(self.dataset)


def words_of(dataset: LogicalDataset) -> Words:
    """Return Lance's words for the fields of a dataset."""
    return nodes_of(to_arrow_fields(dataset), is_tolerant=True).words()


def nodes_in(version: SchemaVersion) -> Nodes:
    """Return the nodes of a version; where Lance lacks a type, Arrow's name is in its place."""
    return nodes_of(version.lowered, is_tolerant=True)


def words(version: SchemaVersion) -> Words:
    """Return Lance's words for the fields of a schema."""
    return version.view(nodes_in).words()


_INTEGERS = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_FLOATS = frozenset({"halffloat", "float", "double"})
_TEXTS = frozenset({"string", "large_string"})
_BYTES = frozenset({"binary", "large_binary"})


def is_cast(old: str, new: str) -> bool:
    """Whether `alter_columns` turns a column of one logical type into the other."""
    if any(old in family and new in family for family in (_INTEGERS, _FLOATS, _BYTES)):
        return True
    if old in _TEXTS or _is_dictionary_of_texts(old):
        # Its cast to JSON leaves texts in the place of JSON's own form, which nothing can read.
        return new in _TEXTS or (old in _TEXTS and _is_dictionary_of_texts(new))
    if old == "json":
        return new in _BYTES
    if old in LISTS and new in LISTS:
        return old.endswith(".struct") == new.endswith(".struct")
    if old.startswith("fixed_size_list:") and new.startswith("fixed_size_list:"):
        (old_item, old_size), (new_item, new_size) = _vector(old), _vector(new)
        return old_size == new_size and (old_item == new_item or is_cast(old_item, new_item))
    if new.partition(":")[0] not in _PARAMETRIC.get(old.partition(":")[0], ()):
        return False
    # The numbers stay what they are, but for their unit; into UTC, Lance stops at years far away.
    before, after = (word.split(":", 2)[2] if word.startswith("timestamp:") else "-" for word in (old, new))
    return (before == "-") == (after == "-") or before == "UTC"


def _is_dictionary_of_texts(type_: str) -> bool:
    return type_.startswith(("dict:string:", "dict:large_string:"))


def _vector(type_: str) -> tuple[str, str]:
    """Return the item's logical type and the size of a fixed-size list, both as texts."""
    item, _, size = type_.removeprefix("fixed_size_list:").rpartition(":")
    return item, size


_DATES = ("date32", "date64")
_TIMES = ("time32", "time64")
_PARAMETRIC: dict[str, tuple[str, ...]] = {
    "decimal": ("decimal",),
    "duration": ("duration",),
    "timestamp": ("timestamp", *_DATES, *_TIMES),
    **dict.fromkeys(_DATES, (*_DATES, "timestamp")),
    **dict.fromkeys(_TIMES, _TIMES),
}


def number_fields(dataset: LogicalDataset, former: Former | None, highest: int) -> Numbered:
    """Return the ids of the nodes of all fields, and the highest one after that."""
    nodes = _Nodes(dataset, former or Former(dataset, {}))
    node_ids: dict[SchemaField, tuple[int, ...]] = {}
    fields = preorder(dataset.columns)
    new = {field for field in fields if nodes.is_new(field)}
    renewed = {nodes.root(field) for field in new if field.parent not in new}
    for field in fields:
        # All nodes below a renewed one are new.
        if field in renewed or field.parent in renewed:
            renewed.add(field)
            count = len(nodes.words[field])
            node_ids[field] = tuple(range(highest + 1, highest + 1 + count))
            highest += count
        else:
            node_ids[field] = nodes.olds[field].numbers
    return node_ids, highest


class _Nodes:
    """Says which nodes of a former schema stay, and what has to be written anew for a new one."""

    def __init__(self, dataset: LogicalDataset, former: Former) -> None:
        self.words = LazyWords(dataset)
        self._words_before = LazyWords(former.dataset)
        self._former = former
        self.olds = former.fields
        self._has_same_extra = dataset.schema.extra == former.dataset.schema.extra

    def words_before(self, field: SchemaField) -> tuple[str, ...]:
        """Return the words of what the field was. Nothing is kept of a field that is back: Lance gives no number twice."""
        old = self.olds[field]
        return () if old.is_back else self._words_before[old.field]

    def is_same(self, field: SchemaField) -> bool:
        """Whether a field was there with the same nodes."""
        old = self.olds.get(field)
        if old is None:
            return False
        # A field in an unchanged column is the same, which is known without Lance's form of it.
        before, column = old.field.column, field.column
        is_untouched = (
            self._has_same_extra
            and not old.is_back
            and old.field.path[1:] == field.path[1:]
            and (before.extra, before.type) == (column.extra, column.type)
        )
        return is_untouched or self.words_before(field) == self.words[field]

    def is_new(self, field: SchemaField) -> bool:
        """Whether the nodes of a field cannot stay."""
        return not (self.is_same(field) and self._former.is_in_its_place(field))

    def root(self, field: SchemaField) -> SchemaField:
        """Return what has to be written anew for a new node: itself where Lance can do that, else the whole column.

        It adds nothing inside maps and vectors, and inside lists it makes no more than its own casts.
        """
        families = {above.type.family for above in field.ancestors}
        if is_in_structs(field):
            return field
        if is_inside_map_or_vector(field) or not families <= {Family.STRUCT, Family.LIST}:
            return field.column
        if field not in self.olds:
            return field if field.is_member else field.column
        before, after = self.words_before(field), self.words[field]
        is_castable = len(before) == len(after) == 1 and is_cast(before[0], after[0])
        return field if is_castable else field.column


def _takes(dataset: LogicalDataset, other: Former) -> set[SchemaField]:
    """Return the fields that may keep the numbers of the other branch: those with equal nodes; in lists and maps only if the whole column is equal."""
    nodes = _Nodes(dataset, other)

    def is_as_there(field: SchemaField) -> bool:
        return not nodes.is_new(field) and len(other.fields[field].field.children) == len(field.children)

    whole = {column for column in dataset.columns if all(is_as_there(field) for field in preorder([column]))}
    return {
        field
        for field in other.fields
        if nodes.is_same(field) and (field.column in whole or is_in_structs(field))
    }


NUMBERING = Numbering(number_fields, _takes)
