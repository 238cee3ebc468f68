"""What Lance refuses, accepts and then cannot read, or does not keep.

Layer: engines.
Errors: SC501 to SC507; losses SC511.
Source: data written and read with pylance 14.0.2, for every type at every position in all four storage versions
(`tests/conformance/test_lance_tables.py`). Lance looks at most of these only when data comes, so nobody else
tells the author before.
"""

from itertools import takewhile
from typing import Any

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
    is_vector,
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
            self.field(top, 1)
        return self.is_ok

    def refuse(self, field: SchemaField, code: Code, message: str, *steps: str, help: str = "") -> None:
        """Report an error at a type."""
        self.is_ok = False
        self.findings.at_type(field, code, message, *steps, help=help)

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
        name, code, help = str(field.segment), LANCE_NAME, "rename it"
        if "." in name:
            message, plain = f"Lance does not allow a dot in the column name '{name}'", name.replace(".", "_")
            help = Help.rewrite(f"rename it to '{plain}'", plain)
        elif "`" in name:
            message = (
                f"Lance writes the column '{name}' but cannot read it, because its name contains a backtick"
            )
        elif name in RESERVED_NAMES:
            message = f"Lance reserves the name '{name}'"
        elif name in RISKY_NAMES:
            message, code = f"Lance's searches return a column '{name}' of their own", LANCE_NAME_RISK
        else:
            return
        self.is_ok = self.is_ok and code is not LANCE_NAME
        self.findings.at_name(field, code, message, help=help)

    def field(self, field: LoweredField, depth: int) -> None:
        """Check a field and all below it."""
        schema_field: SchemaField = field.field
        if depth > MAX_DEPTH:
            message = f"{schema_field.path_text} is nested more than {MAX_DEPTH} levels deep"
            self.refuse(schema_field, LANCE_STRUCTURE, message, help="flatten the schema")
            return
        type_: Any = field.arrow.type
        self.type(field, type_)
        if schema_field.extra and are_telling(schema_field.extra):
            self.attributes(field, type_)
        for child in field.children:
            self.field(child, depth + (2 if pa.types.is_map(type_) else 1))

    def type(self, field: LoweredField, type_: Any) -> None:
        """Check the type of a field and all that follows from it."""
        schema_field, is_ = field.field, pa.types
        if is_view(type_):
            self.emission.lose(schema_field, f"{type_}", stored_word(type_))
            if schema_field.parent is not None:
                self.needs("2.1", schema_field, f"a {type_} below the top")
        elif is_.is_struct(type_):
            self.struct(schema_field, type_)
        elif is_.is_fixed_size_list(type_):
            self.vector(field, type_)
        elif is_.is_list(type_) or is_.is_large_list(type_):
            self.inside_vector(schema_field)
        elif is_.is_map(type_):
            self.map(schema_field, type_)
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

    def vector(self, field: LoweredField, type_: Any) -> None:
        """Check a fixed-size list and its items."""
        schema_field, is_, item = field.field, pa.types, type_.value_type
        item_metadata = type_.value_field.metadata or {}
        is_marked = item_metadata.get(NAME_KEY, _BRAIN_FLOAT) != _BRAIN_FLOAT
        is_plain = is_fixed_width(item) and not is_marked
        is_vector = is_.is_fixed_size_list(item) and not is_.is_struct(item.value_type) and not is_marked
        is_of_structs = not field.children or field.children[0].field.type.family is Family.STRUCT
        if is_.is_struct(item) and is_of_structs:
            self.vector_of_structs(field)
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

    def vector_of_structs(self, field: LoweredField) -> None:
        """Check a fixed-size list of structs."""
        schema_field: SchemaField = field.field
        what = f"a fixed-size list of structs ({schema_field.path_text})"
        if not any(map(_is_repeating, schema_field.ancestors)):
            self.needs("2.2", schema_field, what)
            # Lance counts the items as rows of the table, and then misses some; since version 2.3 values in lists and maps, and
            # nulls, are counted right.
            is_miscounted = self.version == "2.2" or (
                self.version >= "2.3" and any(map(_is_counted, field.children))
            )
            if is_miscounted and not any(map(is_vector, schema_field.ancestors)):
                message = f"Lance can read {what} only alone; reading it together with other columns fails"
                text = "remove `fixedLength`, or read it with `columns=[…]`"
                help = Help.remove_property(text, "fixedLength")
                self.findings.at_type(schema_field, LANCE_READ_RISK, message, help=help)
        elif self.version < "2.3":
            instead = Help.remove_property("remove `fixedLength`", "fixedLength")
            self.needs("2.3", schema_field, f"{what} inside a list or map", instead)
        elif _may_be_absent(schema_field) and sum(not one.children for one in field.preorder()) > 1:
            message = f"Lance cannot read {what} that may be null inside a list or map"
            help = "make it required, or remove `fixedLength`"
            self.refuse(schema_field, LANCE_STRUCTURE, message, help=help)

    def inside_vector(self, field: SchemaField) -> bool:
        """Check a list or map inside a fixed-size list of structs; whether it is in one."""
        is_inside = any(map(is_vector, field.ancestors))
        if is_inside:
            what = f"a {field.type.kind} inside a fixed-size list of structs ({field.path_text})"
            self.needs("2.3", field, what, "remove `fixedLength` from the list around it")
        return is_inside

    def map(self, field: SchemaField, type_: Any) -> None:
        """Check a map."""
        if type_.keys_sorted:
            help = Help.remove(what="`keysSorted`", is_safe=False)
            self.refuse(field, LANCE_TYPE, "Lance has no map with sorted keys", "keysSorted", help=help)
        if not self.inside_vector(field):
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

    def attributes(self, field: LoweredField, type_: Any) -> None:
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
            self.blob(schema_field)

    def blob(self, field: SchemaField) -> None:
        """Check the place of a blob."""
        for parent in field.ancestors:
            if is_map_or_vector(parent):
                message = f"Lance does not allow a blob inside {parent.type.type_text()}"
                help = "move it into a struct or a list of variable length"
                self.refuse(field, LANCE_TYPE, message, help=help)
                return
        # Version 2.0 writes and reads it, 2.1 writes it only.
        if self.version == "2.1" and any(map(_is_repeating, field.ancestors)):
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


def _is_repeating(field: SchemaField) -> bool:
    """Whether a field with parts is a list of variable length or a map."""
    return not (field.type.family is Family.STRUCT or is_vector(field))


def _may_be_absent(field: SchemaField) -> bool:
    """Whether a field may be null, or something around it, up to the nearest list of variable length or map."""
    around = takewhile(lambda above: not _is_repeating(above), field.ancestors)
    return any(one.is_nullable for one in (field, *around))


def _is_counted(field: LoweredField) -> bool:
    """Whether a field is, or has below it, one with values other than null that no list or map repeats."""
    type_, is_ = field.arrow.type, pa.types
    if is_.is_list(type_) or is_.is_large_list(type_) or is_.is_map(type_):
        return False
    return any(map(_is_counted, field.children)) if field.children else not is_.is_null(type_)
