"""The codes of rules, and of comments that ignore findings.

Layer: lint.
Shape: SC80x comments and settings, SC81x and SC82x names, SC83x descriptions, SC84x to SC860 types and structure, SC861 on keys, SC87x constraints,
SC88x owners, SC89x data about people.
"""

from schemac.source.code import Code, Severity

_WARNING = Severity.WARNING

UNUSED_IGNORE = Code(
    "SC801", "unused-ignore", _WARNING, "a comment that ignores a finding that does not occur"
)
INVALID_IGNORE = Code(
    "SC802", "invalid-ignore", _WARNING, "a comment that names something that cannot be ignored"
)
UNUSED_VOCABULARY = Code("SC803", "unused-vocabulary", _WARNING, "a vocabulary that no manifest uses")
FIELD_NAME_CASE = Code("SC811", "field-name-case", _WARNING, "a field name that is not in snake_case")
DATASET_NAME_CASE = Code("SC812", "dataset-name-case", _WARNING, "a dataset name that is not in snake_case")
LONG_NAME = Code("SC813", "long-name", _WARNING, "a field name that is very long")
SHORT_NAME = Code("SC814", "short-name", _WARNING, "a field name of one character")
RESERVED_WORD = Code("SC815", "reserved-word", _WARNING, "a field name that is a reserved word of SQL")
FLAG_WITHOUT_VERB = Code("SC816", "flag-without-verb", _WARNING, "a Bool whose name is not a statement")
NEGATED_FLAG = Code("SC817", "negated-flag", _WARNING, "a Bool whose name is negated")
SINGULAR_LIST = Code("SC818", "singular-list", _WARNING, "a list with a name for one thing")
PLURAL_VALUE = Code("SC819", "plural-value", _WARNING, "a single value with a name for several things")
ABBREVIATED_NAME = Code("SC820", "abbreviated-name", _WARNING, "a field name with an abbreviation")
ID_BEFORE_NAME = Code("SC821", "id-before-name", _WARNING, "an id whose name does not end with `id`")
NEAR_DUPLICATE_NAME = Code(
    "SC822", "near-duplicate-name", _WARNING, "two field names that differ only in separators"
)
REPEATED_PREFIX = Code(
    "SC823", "repeated-prefix", _WARNING, "a field name that repeats the name of its struct"
)
TYPE_IN_NAME = Code("SC824", "type-in-name", _WARNING, "a field name that contains its type")
GENERIC_NAME = Code("SC825", "generic-name", _WARNING, "a field name that could mean anything")
NAME_NEEDS_QUOTES = Code("SC826", "name-needs-quotes", _WARNING, "a field name that needs quotes in SQL")
NUMBERED_FIELDS = Code("SC827", "numbered-fields", _WARNING, "fields that differ only by a number")
MISSING_DATASET_DESCRIPTION = Code(
    "SC831", "missing-dataset-description", _WARNING, "a dataset without a description"
)
MISSING_FIELD_DESCRIPTION = Code(
    "SC832", "missing-field-description", _WARNING, "a field without a description"
)
MISSING_GROUP_DESCRIPTION = Code(
    "SC833", "missing-group-description", _WARNING, "a group without a description"
)
REPEATING_DESCRIPTION = Code(
    "SC834", "repeating-description", _WARNING, "a description that only repeats the name"
)
PLACEHOLDER_DESCRIPTION = Code(
    "SC835", "placeholder-description", _WARNING, "a description that is a placeholder"
)
DUPLICATE_DESCRIPTION = Code(
    "SC836", "duplicate-description", _WARNING, "two fields with the same description"
)
UNIT_IN_NAME = Code("SC841", "unit-in-name", _WARNING, "a number with its unit only in its name")
FLOAT_MONEY = Code("SC842", "float-money", _WARNING, "an amount of money as a float")
TEXT_DATE = Code("SC843", "text-date", _WARNING, "a date or a time as a text")
CLOCK_WITHOUT_ZONE = Code(
    "SC844", "clock-without-zone", _WARNING, "a timestamp without a zone and without a clock zone"
)
ZONE_OTHER_THAN_UTC = Code("SC845", "zone-other-than-utc", _WARNING, "timestamps in a zone other than UTC")
VECTOR_WITHOUT_LENGTH = Code("SC846", "vector-without-length", _WARNING, "a vector of variable length")
WIDE_DECIMAL = Code("SC847", "wide-decimal", _WARNING, "a decimal with more digits than most engines support")
TEXT_NUMBER = Code("SC848", "text-number", _WARNING, "a number as a text")
TEXT_FLAG = Code("SC849", "text-flag", _WARNING, "a boolean as a text or a number")
NULLABLE_ITEMS = Code("SC850", "nullable-items", _WARNING, "a list whose items may be null")
ODD_MAP_KEY = Code("SC851", "odd-map-key", _WARNING, "a map whose keys are neither texts nor integers")
EMPTY_STRUCT = Code("SC852", "empty-struct", _WARNING, "a struct without members")
SINGLE_MEMBER_STRUCT = Code("SC853", "single-member-struct", _WARNING, "a struct with one member")
DEEP_NESTING = Code("SC854", "deep-nesting", _WARNING, "types that nest deeply")
MANY_FIELDS = Code("SC855", "many-fields", _WARNING, "a dataset with very many fields")
ALWAYS_NULL = Code("SC856", "always-null", _WARNING, "a field that is always null")
UNCOMPRESSED_TEXT = Code("SC857", "uncompressed-text", _WARNING, "large texts without compression")
BINARY_WITHOUT_BLOB = Code("SC858", "binary-without-blob", _WARNING, "media that are not stored as blobs")
ALL_NULLABLE = Code("SC859", "all-nullable", _WARNING, "a dataset in which every column may be null")
NO_FIELDS = Code("SC860", "no-fields", _WARNING, "a dataset without fields")
MISSING_KEY = Code("SC861", "missing-key", _WARNING, "a dataset without a key")
NULLABLE_KEY = Code("SC862", "nullable-key", _WARNING, "a key with a field that may be null")
FLOAT_KEY = Code("SC863", "float-key", _WARNING, "a key with a float")
LATE_KEY = Code("SC864", "late-key", _WARNING, "a key that is not at the front")
WIDE_KEY = Code("SC865", "wide-key", _WARNING, "a key of many fields")
UNLINKED_ID = Code("SC866", "unlinked-id", _WARNING, "an id that does not say what it identifies")
PARTIAL_REFERENCE = Code(
    "SC867", "partial-reference", _WARNING, "a reference of which only a part may be null"
)
SINGLE_VALUE_ENUM = Code("SC871", "single-value-enum", _WARNING, "an enumeration of one value")
EQUAL_BOUNDS = Code("SC872", "equal-bounds", _WARNING, "bounds that leave one value")
REDUNDANT_CONSTRAINT = Code(
    "SC873", "redundant-constraint", _WARNING, "a constraint that every value satisfies"
)
UNANCHORED_PATTERN = Code(
    "SC874", "unanchored-pattern", _WARNING, "a pattern that a part of a text may match"
)
OPEN_STATE = Code("SC875", "open-state", _WARNING, "a status without a list of its values")
LONG_ENUM = Code("SC876", "long-enum", _WARNING, "an enumeration of very many values")
MISSING_OWNER = Code("SC881", "missing-owner", _WARNING, "a dataset without an owner")
DEPRECATED_WITHOUT_SUCCESSOR = Code(
    "SC882", "deprecated-without-successor", _WARNING, "a deprecated field without a successor"
)
DEPRECATED_WITHOUT_DAY = Code(
    "SC883", "deprecated-without-day", _WARNING, "a deprecated field without a removal date"
)
UNCLASSIFIED_PERSONAL_DATA = Code(
    "SC891", "unclassified-personal-data", _WARNING, "personal data without a classification"
)
STORED_SECRET = Code("SC892", "stored-secret", _WARNING, "a secret in a table")

CODES = (
    UNUSED_IGNORE,
    INVALID_IGNORE,
    UNUSED_VOCABULARY,
    FIELD_NAME_CASE,
    DATASET_NAME_CASE,
    LONG_NAME,
    SHORT_NAME,
    RESERVED_WORD,
    FLAG_WITHOUT_VERB,
    NEGATED_FLAG,
    SINGULAR_LIST,
    PLURAL_VALUE,
    ABBREVIATED_NAME,
    ID_BEFORE_NAME,
    NEAR_DUPLICATE_NAME,
    REPEATED_PREFIX,
    TYPE_IN_NAME,
    GENERIC_NAME,
    NAME_NEEDS_QUOTES,
    NUMBERED_FIELDS,
    MISSING_DATASET_DESCRIPTION,
    MISSING_FIELD_DESCRIPTION,
    MISSING_GROUP_DESCRIPTION,
    REPEATING_DESCRIPTION,
    PLACEHOLDER_DESCRIPTION,
    DUPLICATE_DESCRIPTION,
    UNIT_IN_NAME,
    FLOAT_MONEY,
    TEXT_DATE,
    CLOCK_WITHOUT_ZONE,
    ZONE_OTHER_THAN_UTC,
    VECTOR_WITHOUT_LENGTH,
    WIDE_DECIMAL,
    TEXT_NUMBER,
    TEXT_FLAG,
    NULLABLE_ITEMS,
    ODD_MAP_KEY,
    EMPTY_STRUCT,
    SINGLE_MEMBER_STRUCT,
    DEEP_NESTING,
    MANY_FIELDS,
    ALWAYS_NULL,
    UNCOMPRESSED_TEXT,
    BINARY_WITHOUT_BLOB,
    ALL_NULLABLE,
    NO_FIELDS,
    MISSING_KEY,
    NULLABLE_KEY,
    FLOAT_KEY,
    LATE_KEY,
    WIDE_KEY,
    UNLINKED_ID,
    PARTIAL_REFERENCE,
    SINGLE_VALUE_ENUM,
    EQUAL_BOUNDS,
    REDUNDANT_CONSTRAINT,
    UNANCHORED_PATTERN,
    OPEN_STATE,
    LONG_ENUM,
    MISSING_OWNER,
    DEPRECATED_WITHOUT_SUCCESSOR,
    DEPRECATED_WITHOUT_DAY,
    UNCLASSIFIED_PERSONAL_DATA,
    STORED_SECRET,
)
