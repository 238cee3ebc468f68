"""What Lance refuses, accepts and then cannot read, or does not keep.

Layer: engines.
Errors: SC501 to SC507; losses SC511.
Source: data written and read with pylance 14.0.2, for every type at every position in all four storage versions
(`tests/conformance/test_lance_tables.py`). Lance looks at most of these only when data comes, so nobody else
tells the author before.
"""

from typing import Any, NamedTuple

from schemac.arrow.metadata import EXTENSION_METADATA
from schemac.artifacts.targets import Emission
from schemac.engines.lance import (
    LANCE_NAME,
    LANCE_NAME_RISK,
    LANCE_NULL_VECTOR,
    LANCE_READ_RISK,
    LANCE_STORAGE_VERSION,
    LANCE_STRUCTURE,
    LANCE_TYPE,
    LANCE_UNSTABLE_VERSION,
)
from schemac.engines.lance import attributes as lance
from schemac.engines.lance.fields import (
    NAME_KEY,
    is_fixed_width,
    is_map_or_vector,
    is_variable,
    is_view,
    stored_word,
)
from schemac.language.attributes.arrow import BUFFER_ENCODING, DECIMAL_ENCODING, DICTIONARY_ENCODING
from schemac.language.attributes.attribute import Family
from schemac.language.attributes.registry import are_telling
from schemac.language.logical.model import SchemaField
from schemac.language.physical import LoweredField, pa
from schemac.text.source.diagnostics import Code
from schemac.text.source.phrases import Help
from schemac.versions.identity.compilation import Compilation

MAX_DEPTH = 32
"""Levels of nesting that Lance's way in, Arrow's C interface, takes with room to spare."""
RESERVED_NAMES = frozenset(
    {"_rowid", "_rowaddr", "_rowoffset", "_row_created_at_version", "_row_last_updated_at_version"}
)
RISKY_NAMES = frozenset({"_distance", "_score"})


_BRAIN_FLOAT = lance.BRAIN_FLOAT.encode()
_OF_BRAIN_FLOATS = frozenset({NAME_KEY, EXTENSION_METADATA.encode()})
"""Metadata of an item that the logical type of its vector tells."""


class _Nesting(NamedTuple):
    """What is around a field."""

    depth: int = 1
    is_repeated: bool = False
    """Inside a list of variable length or a map."""
    may_be_absent: bool = False
    """Something around it, up to the nearest of those, may be null."""
    is_in_vector: bool = False
    """Inside a fixed-size list of structs."""


_TOP = _Nesting()


class LanceLimits:
    """Checks a schema for the storage version that it asks for, or for that of a table, and reports what Lance cannot hold."""

    def __init__(self, compilation: Compilation, emission: Emission, *, of_table: str | None = None) -> None:
        self.fields = compilation.lowered.fields
        self.of_table = of_table
        self.version = of_table or lance.storage_version(compilation.dataset.schema.extra)
        self.emission = emission
        self.findings = emission.findings
        self.is_ok = True

    def is_supported(self) -> bool:
        """Whether Lance can hold the schema; what it does not keep is entered as a loss."""
        self.unstable_version()
        for top in self.fields:
            self.column_name(top.field)
            self.field(top, _TOP)
        return self.is_ok

    def refuse(self, field: SchemaField, code: Code, message: str, *steps: str, help: str = "") -> None:
        """Report an error at a type."""
        self.is_ok = False
        self.findings.at_type(field, code, message, *steps, help=help)

    def refuse_name(self, field: SchemaField, message: str, help: str) -> None:
        """Report an error at a name."""
        self.is_ok = False
        self.findings.at_name(field, LANCE_NAME, message, help=help)

    def needs(self, version: str, field: SchemaField, what: str, instead: str = "") -> None:
        """Refuse, unless the schema specifies that version or a newer one; `instead` does without the version."""
        if self.version >= version:
            return
        is_unstable = version in lance.UNSTABLE_STORAGE_VERSIONS
        if self.of_table is not None:
            which = f"{', which is unstable;' if is_unstable else ', but'} the data files of the table have version"
            help = f"copy the table into one with version {version}, or remove this; the storage version of a table cannot change"
        else:
            which = f"{', which is unstable' if is_unstable else ''}, but the schema specifies"
            key, value = lance.STORAGE_VERSION.key, f'"{version}"'
            help = Help.add_to_schema(f"write `{key}: {value}` under the schema's `extra:`", (), (key, value))
        message = f"{what} needs Lance's storage version {version}{which} {self.version}"
        self.refuse(field, LANCE_STORAGE_VERSION, message, help=instead if is_unstable else help)

    def unstable_version(self) -> None:
        """Report a storage version that other releases of Lance may not read."""
        if self.of_table is None and self.version in lance.UNSTABLE_STORAGE_VERSIONS:
            message = f"Lance's storage version {self.version} is unstable: another release of Lance may not read the table"
            default, key = lance.DEFAULT_STORAGE_VERSION, lance.STORAGE_VERSION.key
            help = Help.rewrite(f'write "{default}" for tables that are kept', default)
            self.findings.at_schema(LANCE_UNSTABLE_VERSION, message, "extra", key, help=help)

    def column_name(self, field: SchemaField) -> None:
        """Check the name of a column; names of members may be any."""
        name = str(field.segment)
        if "." in name:
            plain = name.replace(".", "_")
            help = Help.rewrite(f"rename it to '{plain}'", plain)
            self.refuse_name(field, f"Lance does not allow a dot in the column name '{name}'", help)
        elif "`" in name:
            message = (
                f"Lance writes the column '{name}' but cannot read it, because its name contains a backtick"
            )
            self.refuse_name(field, message, "rename it")
        elif name in RESERVED_NAMES:
            self.refuse_name(field, f"Lance reserves the name '{name}'", "rename it")
        elif name in RISKY_NAMES:
            message = f"Lance's searches return a column '{name}' of their own"
            self.findings.at_name(field, LANCE_NAME_RISK, message, help="rename it")

    def field(self, field: LoweredField, nesting: _Nesting) -> None:
        """Check a field and all below it."""
        schema_field: SchemaField = field.field
        if nesting.depth > MAX_DEPTH:
            message = f"{schema_field.path_text} is nested more than {MAX_DEPTH} levels deep"
            self.refuse(schema_field, LANCE_STRUCTURE, message, help="flatten the schema")
            return
        type_: Any = field.arrow.type
        self.type(field, type_, nesting)
        if schema_field.extra and are_telling(schema_field.extra):
            self.attributes(field, type_, nesting)
        if field.children:
            below = self.below(schema_field, type_, nesting)
            for child in field.children:
                self.field(child, below)

    def below(self, field: SchemaField, type_: Any, nesting: _Nesting) -> _Nesting:
        """Return the context of a field's children."""
        depth = nesting.depth + (2 if pa.types.is_map(type_) else 1)
        is_vector = pa.types.is_fixed_size_list(type_)
        if pa.types.is_struct(type_) or is_vector:
            may_be_absent = nesting.may_be_absent or field.is_nullable
            return _Nesting(depth, nesting.is_repeated, may_be_absent, nesting.is_in_vector or is_vector)
        return _Nesting(depth, is_repeated=True, is_in_vector=nesting.is_in_vector)

    def type(self, field: LoweredField, type_: Any, nesting: _Nesting) -> None:
        """Check the type of a field and all that follows from it."""
        schema_field, is_ = field.field, pa.types
        if is_view(type_):
            self.emission.lose(schema_field, f"{type_}", stored_word(type_))
            if nesting.depth > 1:
                self.needs("2.1", schema_field, f"a {type_} below the top")
        elif is_.is_struct(type_):
            self.struct(schema_field, type_)
        elif is_.is_fixed_size_list(type_):
            self.vector(field, type_, nesting)
        elif is_.is_list(type_) or is_.is_large_list(type_):
            self.inside_vector(schema_field, nesting)
        elif is_.is_map(type_):
            self.map(schema_field, type_, nesting)
        elif is_.is_dictionary(type_):
            self.dictionary(schema_field, type_)
        elif not (is_fixed_width(type_) or is_variable(type_) or isinstance(type_, pa.BaseExtensionType)):
            help: str = "give the field another kind"
            if schema_field.type.family is Family.DECIMAL:
                text = "remove the decimal hint: 128 bits are enough"
                help = Help.remove_attribute(text, DECIMAL_ENCODING.key)
            elif str(type_).partition("<")[0].endswith("_view"):
                help = Help.remove_attribute("remove the `View` hint", BUFFER_ENCODING.key)
            self.refuse(schema_field, LANCE_TYPE, f"Lance has no {type_}", help=help)

    def struct(self, field: SchemaField, type_: Any) -> None:
        """Check the members of a struct."""
        if field.type.family is not Family.STRUCT:
            return
        # Version 2.0 keeps a struct without members that is never null; later ones return columns next to it wrong, or not at all.
        may_be_absent = any(above.is_nullable or is_map_or_vector(above) for above in field.chain)
        if type_.num_fields == 0 and (self.version != "2.0" or may_be_absent):
            message = f"{field.path_text} has no members, and Lance cannot read such a struct"
            self.refuse(field, LANCE_STRUCTURE, message, "fields", help="give it a member, or leave it out")
        if field.is_nullable:
            self.needs("2.1", field, f"a struct that may be null ({field.path_text})")

    def vector(self, field: LoweredField, type_: Any, nesting: _Nesting) -> None:
        """Check a fixed-size list and its items."""
        schema_field, is_, item = field.field, pa.types, type_.value_type
        item_metadata = type_.value_field.metadata or {}
        is_marked = item_metadata.get(NAME_KEY, _BRAIN_FLOAT) != _BRAIN_FLOAT
        is_plain = is_fixed_width(item) and not is_marked
        is_vector = is_.is_fixed_size_list(item) and not is_.is_struct(item.value_type) and not is_marked
        is_of_structs = not field.children or field.children[0].field.type.family is Family.STRUCT
        if is_.is_struct(item) and is_of_structs:
            self.vector_of_structs(field, nesting)
        elif not is_plain and not is_vector:
            what = "an extension type" if is_marked else item
            message = f"Lance has no fixed-size list of {what}"
            help = Help.remove_property("remove `fixedLength`, or make the items numbers", "fixedLength")
            self.refuse(schema_field, LANCE_TYPE, message, "itemType", help=help)
        else:
            if not type_.value_field.nullable:
                self.null_vector(schema_field)
                self.emission.lose(schema_field, "items that may not be null", "items that may be null")
            if type_.value_field.name != "item":
                self.emission.lose(schema_field, f"the name {type_.value_field.name} of the items", "item")
            if not _OF_BRAIN_FLOATS.issuperset(item_metadata):
                becomes = "nothing: items of a fixed-size list have no metadata"
                self.emission.lose(schema_field, "attributes of the items", becomes)

    def null_vector(self, field: SchemaField) -> None:
        """Report a nullable vector of required items: pyarrow has nulls below a null vector, which Lance's writer reads as values since version 2.1."""
        if field.is_nullable and self.version >= "2.1":
            message = f"{field.path_text} may be null, but its items may not: if pyarrow builds a null row, as `pa.array` and `from_pylist` do, Lance refuses to write it"
            item = field.type.item_type.type_text()  # type: ignore[attr-defined]
            reason = "; Lance keeps items of vectors as optional anyway"
            help = Help.retype("itemType", f"{{kind: Option, inner: {item}}}", reason=reason)
            self.findings.at_type(field, LANCE_NULL_VECTOR, message, "itemType", help=help)

    def vector_of_structs(self, field: LoweredField, nesting: _Nesting) -> None:
        """Check a fixed-size list of structs."""
        schema_field = field.field
        what = f"a fixed-size list of structs ({schema_field.path_text})"
        if not nesting.is_repeated:
            self.needs("2.2", schema_field, what)
            if not nesting.is_in_vector and self.is_miscounted(field):
                message = f"Lance can read {what} only alone; reading it together with other columns fails"
                text = "remove `fixedLength`, or read it with `columns=[…]`"
                help: str = Help.remove_property(text, "fixedLength")
                self.findings.at_type(schema_field, LANCE_READ_RISK, message, help=help)
        elif self.version < "2.3":
            instead = Help.remove_property("remove `fixedLength`", "fixedLength")
            self.needs("2.3", schema_field, f"{what} inside a list or map", instead)
        elif (nesting.may_be_absent or schema_field.is_nullable) and _count_leaves(field) > 1:
            message = f"Lance cannot read {what} that may be null inside a list or map"
            help = "make it required, or remove `fixedLength`"
            self.refuse(schema_field, LANCE_STRUCTURE, message, help=help)

    def is_miscounted(self, vector: LoweredField) -> bool:
        """Whether Lance counts the items of a vector of structs as rows of the table, and then misses some.

        Since version 2.3 values in lists and maps, and nulls, are counted right.
        """
        if self.version < "2.3":
            return self.version == "2.2"
        leaves = [child for item in vector.children for child in self.unrepeated_leaves(item)]
        return not all(pa.types.is_null(leaf.arrow.type) for leaf in leaves)

    def unrepeated_leaves(self, field: LoweredField) -> list[LoweredField]:
        """Return the leaves below a field that no list or map repeats."""
        type_, is_ = field.arrow.type, pa.types
        if is_.is_list(type_) or is_.is_large_list(type_) or is_.is_map(type_):
            return []
        if not field.children:
            return [field]
        return [leaf for child in field.children for leaf in self.unrepeated_leaves(child)]

    def inside_vector(self, field: SchemaField, nesting: _Nesting) -> None:
        """Check a field inside a fixed-size list of structs."""
        if nesting.is_in_vector:
            what = f"a {field.type.kind} inside a fixed-size list of structs ({field.path_text})"
            self.needs("2.3", field, what, "remove `fixedLength` from the list around it")

    def map(self, field: SchemaField, type_: Any, nesting: _Nesting) -> None:
        """Check a map."""
        if type_.keys_sorted:
            help = Help.remove(what="`keysSorted`", is_safe=False)
            self.refuse(field, LANCE_TYPE, "Lance has no map with sorted keys", "keysSorted", help=help)
        if nesting.is_in_vector:
            self.inside_vector(field, nesting)
        else:
            self.needs("2.2", field, f"a map ({field.path_text})")

    def dictionary(self, field: SchemaField, type_: Any) -> None:
        """Check a dictionary."""
        value, is_ = type_.value_type, pa.types
        has_parameters = is_.is_temporal(value) or is_.is_decimal(value) or is_.is_fixed_size_binary(value)
        if is_view(value) or has_parameters or not (is_fixed_width(value) or is_variable(value)):
            text = "remove the dictionary hint: Lance finds repeated values by itself"
            help = Help.remove_attribute(text, DICTIONARY_ENCODING.key)
            self.refuse(field, LANCE_TYPE, f"Lance has no dictionary of {value}", help=help)
        elif type_.ordered:
            self.emission.lose(field, "an ordered dictionary", "a dictionary without order")

    def attributes(self, field: LoweredField, type_: Any, nesting: _Nesting) -> None:
        """Check the attributes of a field."""
        schema_field: SchemaField = field.field
        encoding = lance.ENCODING.read(schema_field.extra)
        if encoding is not None and encoding.structural_encoding == "sparse":
            name = "structuralEncoding"
            instead = Help.remove_attribute(f"remove `{name}`", lance.ENCODING.key, name)
            self.needs("2.3", schema_field, "sparse structural encoding", instead)
        if encoding is not None and encoding.packed and pa.types.is_struct(type_):
            for child in field.children:
                self.packed(schema_field, child)
            if not field.children:
                message = f"Lance cannot pack a struct without members ({schema_field.path_text})"
                help = Help.remove_attribute("remove `packed`", lance.ENCODING.key, "packed")
                self.refuse(schema_field, LANCE_TYPE, message, help=help)
        if lance.BLOB.key in schema_field.extra:
            self.blob(schema_field, nesting)

    def blob(self, field: SchemaField, nesting: _Nesting) -> None:
        """Check the place of a blob."""
        for parent in field.ancestors:
            if is_map_or_vector(parent):
                message = f"Lance does not allow a blob inside {parent.type.type_text()}"
                help = "move it into a struct or a list of variable length"
                self.refuse(field, LANCE_TYPE, message, help=help)
                return
        # Version 2.0 writes and reads it, 2.1 writes it only.
        if nesting.is_repeated and self.version == "2.1":
            self.needs("2.2", field, f"a blob inside a list ({field.path_text})")

    def packed(self, holder: SchemaField, member: LoweredField) -> None:
        """Check a member of a struct whose values lie side by side."""
        field, type_, is_ = member.field, member.arrow.type, pa.types
        storage: Any = type_.storage_type if isinstance(type_, pa.BaseExtensionType) else type_
        item, has_nullable_items = storage, False
        while is_.is_fixed_size_list(item):
            has_nullable_items = has_nullable_items or item.value_field.nullable
            item = item.value_type
        is_one_width = is_fixed_width(item) and not (is_.is_null(item) or is_.is_boolean(item))
        is_text = is_variable(storage) and lance.BLOB.key not in field.extra
        text = f"remove `packed` from {holder.path_text}"
        help = Help.remove_attribute(text, lance.ENCODING.key, "packed", is_around=True)
        if field.is_nullable:
            message = f"Lance cannot pack a struct in which {field.path_text} may be null"
            self.refuse(field, LANCE_TYPE, message, help=help)
        elif is_.is_struct(storage) and field.type.family is Family.STRUCT and member.children:
            self.needs("2.3", field, f"a packed struct inside which {field.path_text} is a struct", help)
            for child in member.children:
                self.packed(holder, child)
        elif is_.is_fixed_size_list(storage) and is_one_width:
            if self.version == "2.1" or (self.version == "2.0" and has_nullable_items):
                self.needs("2.2", field, f"a packed struct with a vector ({field.path_text})")
        elif is_text:
            self.needs("2.2", field, f"a packed struct with values of variable length ({field.path_text})")
        elif not is_one_width:
            message = f"Lance cannot pack a struct with the {field.type.kind} {field.path_text}"
            self.refuse(field, LANCE_TYPE, message, help=help)


def _count_leaves(field: LoweredField) -> int:
    return sum(map(_count_leaves, field.children)) if field.children else 1
