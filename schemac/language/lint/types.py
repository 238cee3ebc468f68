"""Rules about types that do not suit what a name promises.

Layer: language.
"""

from schemac.language.attributes.attribute import NUMBERS, Family, Role
from schemac.language.attributes.builtin import CLOCK_ZONE, UNIT
from schemac.language.attributes.registry import ATTRIBUTES, has_role, of_role
from schemac.language.kinds.plain import Bool
from schemac.language.kinds.temporal import Date, Timestamp
from schemac.language.lint import codes
from schemac.language.lint.rule import Reporter, Subject, Words, field_rule, has_word, rule
from schemac.language.lint.words import COUNTS, DATE_WORDS, FLAGS, LARGE, MEDIA, MONEY, TIME_WORDS, UNITS
from schemac.language.logical.model import Part, SchemaField
from schemac.text.source.phrases import Help
from schemac.text.syntax.events import written

TYPES = "types"
_MOST_VECTOR_BITS = 32
_COMPRESSING = tuple(
    a for a in ATTRIBUTES.values() if "compression" in getattr(a.value_type, "model_fields", {})
)
"""Attributes that say how a column is compressed."""


@field_rule(codes.UNIT_IN_NAME, category=TYPES)
def unit_in_name(field: SchemaField, words: Words, report: Reporter) -> None:
    """As an attribute the unit is compared when the schema changes."""
    is_number = field.type.family in NUMBERS or field.type.family is Family.DECIMAL
    if is_number and len(words) > 1 and words[-1] in UNITS and UNIT.key not in field.extra:
        help = Help.add_attribute(UNIT.key, written(UNITS[words[-1]]))
        report.name(field, f"{field.path_text} has its unit only in its name", help=help)


@field_rule(codes.FLOAT_MONEY, category=TYPES)
def float_money(field: SchemaField, words: Words, report: Reporter) -> None:
    """Floats round: 0.1 + 0.2 is not 0.3."""
    if field.type.family is Family.FLOAT and has_word(field, MONEY):
        help = "write a Decimal, such as `{kind: Decimal, precision: 12, scale: 2}`"
        message = f"{field.path_text} looks like an amount of money, and a {field.type.kind} rounds"
        report.type(field, message, help=help)


@field_rule(codes.TEXT_DATE, category=TYPES)
def text_date(field: SchemaField, words: Words, report: Reporter) -> None:
    """Texts are not compared, sorted and checked as dates are."""
    if field.type.family is not Family.TEXT or not words:
        return
    is_time = has_word(field, TIME_WORDS) or (words[-1] == "at" and len(words) > 1)
    if is_time or words[-1] in DATE_WORDS or words[0] == "date":
        kind = (Timestamp if is_time else Date).__name__
        message = f"{field.path_text} looks like a {kind}, but is a text"
        report.type(field, message, help=Help.write_type(kind, key="type", is_safe=False))


@field_rule(codes.CLOCK_WITHOUT_ZONE, category=TYPES)
def clock_without_zone(field: SchemaField, words: Words, report: Reporter) -> None:
    """A timestamp without a zone is a point in time only for who knows the clock."""
    is_reading = field.type.family is Family.TIMESTAMP and getattr(field.type, "timezone", "") is None
    if is_reading and CLOCK_ZONE.key not in field.extra:
        help = f"write `{CLOCK_ZONE.key}` with the zone of the clock, or leave `timezone: null` out"
        message = f"{field.path_text} has no zone, and no zone of its clock"
        report.type(field, message, "timezone", help=help)


@field_rule(codes.ZONE_OTHER_THAN_UTC, category=TYPES, with_parts=True)
def zone_other_than_utc(field: SchemaField, words: Words, report: Reporter) -> None:
    """Instants are the same in every zone; UTC is the one that all systems show alike."""
    zone = getattr(field.type, "timezone", None)
    if field.type.family is Family.TIMESTAMP and zone not in (None, "UTC"):
        message = f"{field.path_text} is in the zone {zone}"
        help = Help.remove(help="leave `timezone` out for UTC", is_safe=False)
        report.type(field, message, "timezone", help=help)


@field_rule(codes.VECTOR_WITHOUT_LENGTH, category=TYPES, with_parts=True)
def vector_without_length(field: SchemaField, words: Words, report: Reporter) -> None:
    """Engines store vectors of one length in one piece, and index only these."""
    if field.type.family is not Family.LIST or getattr(field.type, "fixed_length", None) is not None:
        return
    item = field.children[0].type
    is_short = getattr(item, "bits", 64) <= _MOST_VECTOR_BITS
    named = field if field.is_member else field.column
    is_vector = has_word(named, frozenset({"embedding", "embeddings", "vector"}))
    if item.family is Family.FLOAT and is_short and is_vector:
        help = "write `fixedLength:` with the number of its items"
        report.type(field, f"{field.path_text} is a vector of any length", help=help)


@rule(codes.WIDE_DECIMAL, category=TYPES)
def wide_decimal(subject: Subject, report: Reporter) -> None:
    """Spark, Paimon and Iceberg have 38 digits."""
    most = subject.settings.max_precision
    for field in subject.all_fields:
        precision = getattr(field.type, "precision", 0)
        if precision > most:
            report.type(field, f"{field.path_text} has {precision} digits; {most} are allowed", "precision")


@field_rule(codes.TEXT_NUMBER, category=TYPES)
def text_number(field: SchemaField, words: Words, report: Reporter) -> None:
    """Texts sort 10 before 9."""
    if field.type.family is Family.TEXT and words and words[-1] in COUNTS:
        message = f"{field.path_text} looks like a number, but is a text"
        report.type(field, message, help="write a kind for numbers, such as `Int64`")


@field_rule(codes.TEXT_FLAG, category=TYPES)
def text_flag(field: SchemaField, words: Words, report: Reporter) -> None:
    """`Y`, `1` and `true` are three spellings of one value."""
    is_other = field.type.family in (Family.TEXT, Family.INTEGER)
    if is_other and len(words) > 1 and words[0] in FLAGS:
        message = f"{field.path_text} looks like a boolean"
        report.type(field, message, help=Help.write_type(Bool.__name__, key="type", is_safe=False))


@field_rule(codes.NULLABLE_ITEMS, category=TYPES, with_parts=True)
def nullable_items(field: SchemaField, words: Words, report: Reporter) -> None:
    """An item that is not there can be left out. Vectors in Lance have optional items anyway."""
    is_variable = field.parent is not None and getattr(field.parent.type, "fixed_length", None) is None
    if field.segment is Part.ITEM and field.is_nullable and is_variable:
        report.type(field, f"the items of {field.parent.path_text if field.parent else ''} may be null")


@field_rule(codes.ODD_MAP_KEY, category=TYPES, with_parts=True)
def odd_map_key(field: SchemaField, words: Words, report: Reporter) -> None:
    """JSON has only texts as keys, and floats and structs are found by luck alone."""
    if field.segment is Part.KEY and field.type.family not in (Family.TEXT, Family.INTEGER):
        report.type(field, f"{field.path_text} is a key of the type {field.type.type_text()}")


@field_rule(codes.EMPTY_STRUCT, category=TYPES, with_parts=True)
def empty_struct(field: SchemaField, words: Words, report: Reporter) -> None:
    """It holds nothing, and Lance, Paimon and Parquet cannot keep it."""
    if field.type.family is Family.STRUCT and not field.children:
        report.type(field, f"{field.path_text} has no members")


@field_rule(codes.SINGLE_MEMBER_STRUCT, category=TYPES, with_parts=True)
def single_member_struct(field: SchemaField, words: Words, report: Reporter) -> None:
    """A level that could be left out."""
    if field.type.family is Family.STRUCT and len(field.children) == 1:
        report.type(field, f"{field.path_text} has only the member '{field.children[0].segment}'")


@field_rule(codes.ALWAYS_NULL, category=TYPES)
def always_null(field: SchemaField, words: Words, report: Reporter) -> None:
    """A placeholder that engines keep as a column of its own, or not at all."""
    if field.type.family is Family.NULL:
        report.type(field, f"{field.path_text} is always null", help="leave it out until it has a type")


@field_rule(codes.UNCOMPRESSED_TEXT, category=TYPES)
def uncompressed_text(field: SchemaField, words: Words, report: Reporter) -> None:
    """Lance compresses a column generally only if it is asked to."""
    is_asked = any(attribute.key in field.extra for attribute in _COMPRESSING)
    if field.type.family is Family.TEXT and has_word(field, LARGE) and not is_asked:
        help = Help.add_attribute(_COMPRESSING[0].key, "{compression: zstd}")
        report.type(field, f"{field.path_text} looks like large texts", help=help)


@field_rule(codes.BINARY_WITHOUT_BLOB, category=TYPES)
def binary_without_blob(field: SchemaField, words: Words, report: Reporter) -> None:
    """A blob is stored outside its column, so that scans of the others do not read it."""
    is_bytes = field.type.family is Family.BYTES and getattr(field.type, "fixed_length", None) is None
    if is_bytes and has_word(field, MEDIA) and not has_role(field.extra, Role.BLOB):
        help = Help.add_attribute(of_role(Role.BLOB)[0].key, "{}")
        report.type(field, f"{field.path_text} looks like media, and is read with every row", help=help)
