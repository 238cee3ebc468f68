"""What Paimon refuses when a table is created.

Layer: engines.
Errors: SC561 to SC568; warning SC570.
Source: `Schema`, `RowType`, `TableSchema`, `SchemaValidation` and `FileFormat.validateDataFields` of
github.com/apache/paimon. Python's Paimon looks at almost none of these, so that a table may be made which Java cannot
open; names are those that the newest release reserves.
"""

from collections.abc import Sequence

from schemac.artifacts.targets import Emission
from schemac.engines.paimon import (
    PAIMON_BUCKET,
    PAIMON_DEFAULT,
    PAIMON_DESCRIPTION,
    PAIMON_FORMAT,
    PAIMON_KEY,
    PAIMON_NAME,
    PAIMON_OPTION,
    PAIMON_RELEASE,
    PAIMON_TYPE,
)
from schemac.engines.paimon import attributes as paimon
from schemac.engines.paimon.options import OPTION_OF, TableOptions, default_error
from schemac.engines.paimon.types import DataField, PaimonType, nested_types
from schemac.language.attributes.builtin import DESCRIPTION
from schemac.language.logical.model import Part, SchemaField
from schemac.text.source.diagnostics import Code
from schemac.text.source.phrases import Help, closest
from schemac.text.syntax.events import written

RESERVED_NAMES = frozenset({"_SEQUENCE_NUMBER", "_VALUE_KIND", "_LEVEL", "rowkind", "_ROW_ID"})
RESERVED_PREFIX = "_KEY_"
DIRECTIVES = ("__BLOB", "__VECTOR")
NO_KEY = frozenset({"MAP", "ARRAY", "ROW", "MULTISET", "VECTOR", "VARIANT", "BLOB"})
"""Types that no column of a key may have."""
NO_BUCKET_KEY = frozenset({"MAP", "ARRAY", "ROW", "MULTISET"})
UNAWARE, POSTPONED = -1, -2
"""Numbers of buckets that are none: as many as come, and decided later."""
ROW_TRACKING, DATA_EVOLUTION = "row-tracking.enabled", "data-evolution.enabled"
_EVOLVING_PAIRS = ((ROW_TRACKING, '"true"'), (DATA_EVOLUTION, '"true"'))
_EVOLVING = " and ".join(f"`{key}: {value}`" for key, value in _EVOLVING_PAIRS)
_REMOVE_OR_KEY = "remove it, or add `paimon.apache.org/primaryKeys`"


class PaimonLimits:
    """Checks the schema of one table, and reports what Paimon would refuse."""

    def __init__(
        self,
        columns: Sequence[SchemaField],
        fields: Sequence[DataField],
        table: TableOptions,
        emission: Emission,
    ) -> None:
        self._fields = dict(zip([field.name for field in fields], columns, strict=True))
        self._types = {field.name: field.type for field in fields}
        self._table = table
        self._findings = emission.findings
        self._nested_types = dict(nested_types(columns, [field.type for field in fields]))

    def check(self) -> None:
        """Report everything that Paimon would refuse."""
        for name, field in self._fields.items():
            reserved, help = "", "rename it"
            if name in RESERVED_NAMES:
                reserved = f"the name '{name}'"
            elif name.startswith(RESERVED_PREFIX):
                reserved = f"names that start with {RESERVED_PREFIX}"
                if plain := name.removeprefix(RESERVED_PREFIX):
                    help = Help.rewrite(f"rename it, such as '{plain}'", plain)
            if reserved:
                self._findings.at_name(field, PAIMON_NAME, f"Paimon reserves {reserved}", help=help)
        for field, type_ in self._nested_types.items():
            self._check_type(field, type_)
        self._check_keys()
        self._check_buckets()
        self._check_options()

    def _check_type(self, field: SchemaField, type_: PaimonType) -> None:
        """Report what a type, description or default value of a field cannot be, and what files of the table's format cannot store."""
        text = field.extra.get(DESCRIPTION.key) if field.is_member else None
        if text is not None and text.startswith(DIRECTIVES):
            description = f"the description of {field.path_text}"
            message = f"Paimon reads {description} as a directive to change its type"
            help = "start it with another word, and set the type with `paimon.apache.org/type`"
            self._findings.at_description(field, PAIMON_DESCRIPTION, message, help=help)
        if paimon.DEFAULT_VALUE.key in field.extra:
            self._check_default(field, type_)
        if type_.root == "BLOB":
            self._check_blob(field)
        if type_.root == "VECTOR" and paimon.TYPE.key not in field.extra:
            # Who writes `VECTOR` knows; who writes a list of fixed length may not. Java's 1.4.2 refused the schema file.
            message = f"{field.path_text} becomes a VECTOR, and Paimon before 2.0.0 cannot open a table that has one"
            help = f"write `{paimon.TYPE.key}: ARRAY` for older readers, or `VECTOR` if all readers are new enough"
            self._at_type(field, PAIMON_RELEASE, message, help=help)
        format = self._table.options.get("file.format", "parquet").strip().lower()
        unsupported = _unstorable_type(format, type_, self._table.options)
        if unsupported is not None:
            message = f"{format} files cannot store {unsupported} ({field.path_text})"
            other = "orc" if format == "parquet" else "parquet"
            help = "give it a member, or leave it out"
            if type_.root != "ROW":
                text = f"write `file.format: {other}` under `{paimon.OPTIONS.key}`"
                help = Help.add_to_schema(text, (paimon.OPTIONS.key,), ("file.format", other))
            self._at_type(field, PAIMON_FORMAT, message, help=help)

    def _check_default(self, field: SchemaField, type_: PaimonType) -> None:
        """Report a default value that its type does not accept, or that an item, key or value cannot have."""
        key = paimon.DEFAULT_VALUE.key
        reason = "only columns and members of structs have default values"
        if field.is_member:
            text = str(field.extra[key])
            error = default_error(type_, text)
            if error is None:
                return
            reason = f"'{text}' cannot be the default value of {field.path_text} in Paimon: {error}"
        help = Help.remove_attribute("change or remove it", key)
        self._findings.at_extra(field, key, PAIMON_DEFAULT, reason, help=help)

    def _check_blob(self, field: SchemaField) -> None:
        """Report a BLOB that is nested too deep, lacks data evolution, or is in a table of BLOBs alone."""
        above = [self._nested_types[holder].root for holder in field.ancestors]
        if above not in ([], ["ARRAY"], ["MAP"]) or field.segment is Part.KEY:
            places = "as columns, and as list items and map values of columns"
            message = f"Paimon allows BLOBs only {places}, not as {field.path_text}"
            self._at_type(field, PAIMON_TYPE, message, help="move it to the top level")
            return
        if not (self._table.is_set(ROW_TRACKING) and self._table.is_set(DATA_EVOLUTION)):
            help = Help.add_to_schema(
                f"write {_EVOLVING} under `{paimon.OPTIONS.key}`", (paimon.OPTIONS.key,), *_EVOLVING_PAIRS
            )
            message = f"a BLOB ({field.path_text}) needs a table with row tracking and data evolution"
            self._at_type(field, PAIMON_OPTION, message, help=help)
        if all("BLOB" in (t.root, *(child.root for child in t.children)) for t in self._types.values()):
            message = f"Paimon does not allow a table with only BLOBs ({field.path_text})"
            self._at_type(field, PAIMON_TYPE, message, help="add a column of another type")

    def _at_type(self, field: SchemaField, code: Code, message: str, help: str) -> None:
        """Report a finding about a type, at the attribute that decides it where there is one."""
        if paimon.TYPE.key in field.extra:
            self._findings.at_extra(field, paimon.TYPE.key, code, message, help=help)
        else:
            self._findings.at_type(field, code, message, help=help)

    def _check_keys(self) -> None:
        """Report key columns that are missing, repeated, nullable or of an unsuitable type, and keys that conflict."""
        table = self._table
        for attribute in table.duplicates:
            option = OPTION_OF[attribute]
            message = f"the option `{option}` duplicates `{attribute}`"
            self._at_option(option, PAIMON_KEY, message, help=Help.remove(is_safe=False), on_key=True)
        for key, noun in ((table.primary, "primary key"), (table.partition, "partition keys")):
            seen: set[str] = set()
            for name, location in key:
                message, help = "", "use a column of a plain type"
                if name not in self._types:
                    message, help = f"there is no column '{name}'", self._help_for_unknown_column(name)
                elif name in seen:
                    message, help = f"the column '{name}' is listed twice", Help.remove(what="one")
                    if location[1] == paimon.OPTIONS.key:
                        # The text of an option names all columns.
                        names = dict.fromkeys(one.name for one in key if one.location == location)
                        help = Help.rewrite("remove one", ",".join(names), is_safe=True)
                elif self._types[name].root in NO_KEY:
                    type_text = self._types[name].type_text()
                    message = f"'{name}' is {type_text}, which is not allowed in the {noun}"
                if message:
                    self._findings.at_schema(PAIMON_KEY, message, *location, help=help)
                seen.add(name)
        for column in table.primary:
            field = self._fields.get(column.name)
            if field is not None and field.is_nullable and not table.is_set("primary-key.nullable"):
                message = f"a primary key may not be null, but {field.path_text} may"
                help = Help.unwrap(f"write its type ({field.type.type_text()}) without Option", is_safe=False)
                self._findings.at_option(field, 0, PAIMON_KEY, message, help=help)
        if table.primary and set(table.primary_names) <= set(table.partition_names):
            message = "the primary key has only partition columns, so each partition would hold one row"
            help = "add a column that identifies rows within a partition"
            self._findings.at_schema(PAIMON_KEY, message, *table.primary[0].location[:2], help=help)

    def _check_buckets(self) -> None:
        """Report a number of buckets that is malformed or does not fit the keys of the table."""
        text, has_key = self._table.options.get("bucket", "-1").strip(), "bucket-key" in self._table.options
        message, help = "", ""
        try:
            bucket = int(text)
        except ValueError:
            message = f"the number of buckets has to be a whole number, not '{text}'"
            help = Help.write('"4"', key="bucket", is_safe=False)
            self._at_option("bucket", PAIMON_BUCKET, message, help=help)
            return
        if bucket == UNAWARE:
            if has_key:
                message = "`bucket-key` needs a number of buckets"
                help = Help.add_keys('add `bucket: "4"`, or remove it', ("bucket", '"4"'))
                if self._table.is_set(ROW_TRACKING):
                    # Row tracking has no buckets.
                    help = Help.remove(is_safe=False)
                self._at_option("bucket-key", PAIMON_BUCKET, message, help=help, on_key=True)
            return
        if bucket == POSTPONED:
            if not self._table.primary:
                message = 'only tables with a primary key can have `bucket: "-2"`'
                help = Help.remove(help=_REMOVE_OR_KEY, is_safe=False)
        elif bucket < 1:
            message = f"a table has at least one bucket, not {bucket}"
            more = ', or "-1" for as many as needed'
            help = Help.write('"1"', key="bucket", reason=more, is_safe=False)
        elif not (self._table.primary or has_key or self._table.is_of_first_version):
            message = "a table without a primary key needs a bucket key to assign rows to buckets"
            near = next((n for n, t in self._types.items() if t.root not in NO_BUCKET_KEY), "…")
            pairs = [("bucket-key", written(near))] if near in self._types else []
            help = Help.add_keys(f"add `bucket-key: {near}`, or remove `bucket`", *pairs)
        if message:
            self._at_option("bucket", PAIMON_BUCKET, message, help=help)
        if has_key:
            self._check_bucket_key(self._table.options["bucket-key"])

    def _check_bucket_key(self, text: str) -> None:
        """Report columns of the bucket key that are missing or unsuitable; `text` names them."""
        for name in text.split(","):
            type_ = self._types.get(name)
            if type_ is None:
                self._report_missing_column("bucket-key", name, text, PAIMON_BUCKET)
                continue
            reason, help = "", "use a column that is not a partition key"
            if name in self._table.partition_names:
                reason = f"'{name}' is a partition key, so it has one value per partition and cannot assign rows to buckets"
            elif type_.root in NO_BUCKET_KEY:
                reason = f"'{name}' is {type_.type_text()}, which is not allowed in the bucket key"
                help = "use a column of a plain type"
            elif self._table.primary and name not in self._table.primary_names:
                reason = f"the bucket key '{name}' is not in the primary key"
                help = "use a column of the primary key"
            if reason:
                self._at_option("bucket-key", PAIMON_BUCKET, reason, help=help)

    def _check_options(self) -> None:
        """Report options that conflict with the keys or with each other, or that name unknown columns."""
        table = self._table
        self._check_sequence_field()
        for option in table.options:
            # Such as `fields.<column>,<column>.aggregate-function`.
            names = option.split(".")[1].split(",") if option.startswith("fields.") else ()
            for name in names:
                if name not in self._types and name != "default-aggregate-function":
                    message = f"the option `{option}` refers to '{name}', but there is no such column"
                    help: str = "name a column of the schema"
                    if near := closest(name, self._types):
                        help = Help.did_you_mean_part(near, name, mark="'", is_in_key=True)
                    self._at_option(option, PAIMON_OPTION, message, help=help, on_key=True)
        if table.options.get("changelog-producer", "none").strip().lower() != "none" and not table.primary:
            message = "only tables with a primary key can produce a changelog"
            help = Help.remove(help=_REMOVE_OR_KEY, is_safe=False)
            self._at_option("changelog-producer", PAIMON_OPTION, message, help=help)
        if table.is_set(ROW_TRACKING):
            if table.primary:
                message = "a table with a primary key cannot have row tracking"
                help = Help.remove(help="remove it, or remove the primary key", is_safe=False)
                self._at_option(ROW_TRACKING, PAIMON_OPTION, message, help=help, on_key=True)
            if table.options.get("bucket", "-1").strip() != "-1":
                message = "a table with row tracking cannot have a number of buckets"
                help = Help.remove(is_safe=False)
                self._at_option("bucket", PAIMON_OPTION, message, help=help, on_key=True)
        elif table.is_set(DATA_EVOLUTION):
            help = Help.add_keys(f'add `{ROW_TRACKING}: "true"`', (ROW_TRACKING, '"true"'))
            self._at_option(DATA_EVOLUTION, PAIMON_OPTION, "data evolution needs row tracking", help=help)
        is_evolving = table.is_set(ROW_TRACKING) and table.is_set(DATA_EVOLUTION)
        if "vector.file.format" in table.options and not is_evolving:
            message = "storing vectors in separate files needs row tracking and data evolution"
            help = Help.add_keys(f"add {_EVOLVING}", *_EVOLVING_PAIRS)
            self._at_option("vector.file.format", PAIMON_OPTION, message, help=help, on_key=True)

    def _check_sequence_field(self) -> None:
        """Report columns of `sequence.field` that are missing, and partition columns outside of the primary key."""
        table = self._table
        text = table.options.get("sequence.field")
        if text is None:
            return
        for name in text.split(","):
            if name not in self._types:
                self._report_missing_column("sequence.field", name, text, PAIMON_OPTION)
        outside = [name for name in table.partition_names if name not in table.primary_names]
        if table.primary and outside:
            message = f"`sequence.field` needs all partition columns in the primary key, and '{outside[0]}' is not in it"
            help = f"add '{outside[0]}' to the primary key, or remove `sequence.field`"
            self._at_option("sequence.field", PAIMON_OPTION, message, help=help, on_key=True)

    def _report_missing_column(self, option: str, name: str, text: str, code: Code) -> None:
        """Report a column that an option names and the table does not have; `text` is the option's value."""
        help = self._help_for_unknown_column(name)
        if name.strip() in self._types:
            names = ",".join(part.strip() for part in text.split(","))
            help = Help.rewrite(
                f"write `{option}: {names}`: spaces are part of the name", names, is_safe=True
            )
        self._at_option(option, code, f"there is no column '{name}'", help=help)

    def _help_for_unknown_column(self, name: str) -> str:
        """Return the help for an unknown column: the most similar name, if there is one."""
        return Help.nearest(name, self._types, "name a column of the schema", mark="'")

    def _at_option(self, option: str, code: Code, message: str, *, help: str, on_key: bool = False) -> None:
        """Report a finding at the value of an option of the table, or at its name."""
        self._findings.at_schema(code, message, "extra", paimon.OPTIONS.key, option, help=help, on_key=on_key)


def _unstorable_type(format: str, type_: PaimonType, options: dict[str, str]) -> str | None:
    """Return the word for a type that files of a format cannot hold."""
    root = type_.root
    if format == "parquet":
        return "struct without members" if root == "ROW" and not type_.fields else None
    if format == "avro" and root in ("TIMESTAMP", "TIMESTAMP_LTZ", "TIME"):
        most = 3 if root == "TIME" else 6
        return type_.type_text() if type_.parameters[0] > most else None
    if root == "VECTOR" and "vector.file.format" in options:
        return None
    refused = _REFUSED.get(format, frozenset())
    return type_.type_text() if root in refused else None


_REFUSED = {
    "orc": frozenset({"VARIANT", "VECTOR"}),
    "avro": frozenset({"VARIANT"}),
    "lance": frozenset({"TIMESTAMP_LTZ", "VARIANT", "BLOB", "MULTISET", "MAP"}),
}
