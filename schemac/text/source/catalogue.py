"""Kinds of findings, and the codes of the core.

Layer: text.
Shape: apart from the findings themselves, for `explain` needs no more and starts sooner so.
      Engines have their codes next to their `ENGINE`, the pipeline has its own in a `codes.py`, and `registry.codes` finds all.
      Numbers go by layer: SC1xx text and YAML, SC2xx the manifest's grammar, SC3xx the meaning of one schema, SC4xx identity and
      evolution, SC5xx targets, SC6xx configuration and the pipeline, SC8xx rules of `lint`. A number is never used twice; a retired
      code stays here, marked. What each means at length, with a wrong and a right example, is in `pages/<code>.md`.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """How bad a finding is. Errors stop artifacts; warnings and notes do not."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """Return 0 for the most severe."""
        return list(Severity).index(self)


class Code(NamedTuple):
    """One kind of finding: a number for ever, and a slug that completes "this schema has a …"."""

    id: str
    slug: str
    severity: Severity
    title: str


def error(id: str, slug: str, title: str) -> Code:
    """Return the code of an error."""
    return Code(id, slug, Severity.ERROR, title)


def warning(id: str, slug: str, title: str) -> Code:
    """Return the code of a warning."""
    return Code(id, slug, Severity.WARNING, title)


def note(id: str, slug: str, title: str) -> Code:
    """Return the code of a note."""
    return Code(id, slug, Severity.NOTE, title)


def codes_in(names: Mapping[str, object]) -> tuple[Code, ...]:
    """Return the codes among the names of a module, in the order of its text."""
    return tuple(code for code in list(names.values()) if isinstance(code, Code))


# fmt: off
UNREADABLE_FILE = error("SC101", "unreadable-file", "a file cannot be read")
NOT_TEXT = error("SC102", "not-text", "a manifest contains bytes that are not text")
WRONG_ENCODING = error("SC103", "wrong-encoding", "a manifest is not UTF-8")
FILE_TOO_LARGE = error("SC104", "file-too-large", "a manifest is too large")
EMPTY_DOCUMENT = error("SC105", "empty-document", "a manifest is empty")
INVALID_YAML = error("SC106", "invalid-yaml", "a text is not valid YAML")
TAB_INDENTATION = error("SC107", "tab-indentation", "a line is indented with a tab")
DUPLICATE_KEY = error("SC108", "duplicate-key", "a mapping has the same key twice")
UNKNOWN_TAG = error("SC109", "unknown-tag", "a value has a tag outside YAML's core schema")
ALIAS_BOMB = error("SC110", "alias-bomb", "aliases expand to an unreasonable size")
TOO_DEEP = error("SC111", "too-deep", "a manifest is nested too deeply")
INVALID_KEY = error("SC112", "invalid-key", "a mapping key is not a string")
UNDEFINED_ALIAS = error("SC113", "undefined-alias", "an alias has no anchor before it")

UNKNOWN_KIND = error("SC201", "unknown-kind", "a type names a kind that does not exist")
UNKNOWN_KEY = error("SC202", "unknown-key", "a mapping has a key that does not belong there")
MISSING_PROPERTY = error("SC203", "missing-property", "a required property is missing")
WRONG_TYPE = error("SC204", "wrong-type", "a value has the wrong type")
OUT_OF_RANGE = error("SC205", "out-of-range", "a number is outside its range")
UNKNOWN_VALUE = error("SC206", "unknown-value", "a value is not one of those allowed")
UNKNOWN_DOCUMENT = error("SC207", "unknown-document", "a document in an unknown form")
UNKNOWN_EVENT = error("SC208", "unknown-event", "an event kind that is not in the standard")
NO_SCHEMA = warning("SC209", "no-schema", "a file without a schema")
UNQUOTED_NAME = error("SC210", "unquoted-name", "a name that YAML reads as something else")
UNQUOTED_NULL = error("SC211", "unquoted-null", "the kind Null without quotes")
PLURAL_UNIT = warning("SC212", "plural-unit", "a time unit in the plural")
LENIENT_SPELLING = error("SC213", "loose-spelling", "a spelling that is not in the standard")
FRIENDLY_FORM = error("SC214", "friendly-form", "a form that is not in the standard")
UNSUPPORTED_VERSION = error("SC215", "unsupported-version", "a document of an unknown version")
DUPLICATE_DATASET = error("SC216", "duplicate-dataset", "two datasets have the same name")
INVALID_DATASET_NAME = error("SC217", "invalid-dataset-name", "a dataset name that cannot name a folder")
SECOND_DESCRIPTION = error("SC218", "second-description", "a field has two descriptions")
FLOW_SKIPPED = note("SC219", "flow-without-schema", "a Flow resource, which has no schema")
UNKNOWN_GROUP = error("SC231", "unknown-group", "a group of fields that does not exist")
DUPLICATE_GROUP = error("SC232", "duplicate-group", "two groups of fields have the same name")
REUSE_CYCLE = error("SC233", "reuse-cycle", "a group or a file that contains itself")
UNREADABLE_IMPORT = error("SC234", "unreadable-import", "an imported file that cannot be read")
UNUSED_GROUP = warning("SC235", "unused-group", "a group, parameter or import that nothing uses")
INVALID_ARGUMENT = error("SC236", "invalid-argument", "an argument that does not suit its group")
INVALID_OVERLAY = error("SC237", "invalid-overlay", "an overlay that changes more than it may")

DUPLICATE_FIELD_NAME = error("SC301", "duplicate-field-name", "two fields of one struct share a name")
EMPTY_FIELD_NAME = error("SC302", "empty-field-name", "a field without a name")
CASE_COLLISION = warning("SC303", "case-collision", "field names that differ only in case")
NESTED_OPTION = error("SC304", "nested-option", "an Option directly in an Option")
OPTIONAL_MAP_KEY = error("SC305", "optional-map-key", "a map key that may be null")
BARE_NULL = error("SC306", "bare-null", "a Null that is not inside an Option")
DECIMAL_WIDTH = error("SC307", "decimal-width", "a decimal with more digits than its encoding holds")
SCALE_ABOVE_PRECISION = warning("SC308", "scale-above-precision", "a decimal scale above its precision")
INVALID_ATTRIBUTE_KEY = error("SC309", "invalid-attribute-key", "a malformed attribute key")
UNKNOWN_ATTRIBUTE = error("SC310", "unknown-attribute", "an unknown attribute of a known domain")
MISPLACED_ATTRIBUTE = error("SC311", "misplaced-attribute", "an attribute in a place where it cannot apply")
INVALID_ATTRIBUTE = error("SC312", "invalid-attribute", "an attribute with an invalid value")
CONFLICTING_HINTS = error("SC313", "conflicting-hints", "two hints that contradict each other")
UNSUPPORTED_HINT = error("SC314", "unsupported-hint", "a hint that no engine supports")
VOCABULARY_VIOLATION = error("SC315", "vocabulary-violation", "a value that its vocabulary does not allow")
UNKNOWN_TIMEZONE = warning("SC316", "unknown-timezone", "a time zone that is not in the zone database")
INVALID_PRIMARY_KEY = error("SC317", "invalid-primary-key", "an invalid primary key")
DUPLICATE_KEY_POSITION = error("SC318", "duplicate-key-position", "two fields with the same position in a key")
UNKNOWN_COLUMN = error("SC319", "unknown-column", "an attribute names a column that does not exist")
USELESS_HINT = warning("SC320", "useless-hint", "a hint without effect")
LIKELY_TYPO = warning("SC321", "likely-typo", "an attribute domain that looks like a misspelled known one")
CONTROL_CHARACTER = error("SC322", "control-character", "a field name with a control character")
ODD_SYSTEM_COLUMN = warning("SC323", "odd-system-column", "a system column that differs from the standard")
UNKNOWN_SUCCESSOR = error("SC341", "unknown-successor", "a deprecated field whose successor does not exist")

UNKNOWN_REFERRED = warning("SC342", "unknown-referred", "a reference to a dataset that does not exist")
UNFIT_REFERENCE = error("SC343", "unfit-reference", "a reference to a field that does not exist, or has a different type")
REFERENCE_TO_NO_KEY = warning("SC344", "reference-to-no-key", "a reference to fields that are not a key")

# Rows of programs, and samples.
UNFIT_ROWS = error("SC350", "unfit-rows", "rows that do not fit the schema")
NO_ROWS = error("SC351", "no-rows", "a Python object without rows, where rows are needed")

UNSAMPLABLE = error("SC352", "unsamplable", "a dataset for which no sample can be made")
SAMPLE_OUTPUT = error("SC353", "sample-output", "an output that a sample cannot be written to")
UNHELD_RECORDS = note("SC354", "unheld-records", "wrong records that the form of the output cannot hold")

UNFIT_CONSTRAINT = error("SC324", "unfit-constraint", "a value of a constraint that does not fit its field")
CONTRADICTING_CONSTRAINTS = error("SC325", "contradicting-constraints", "constraints that no value can satisfy together")
UNPORTABLE_PATTERN = error("SC326", "unportable-pattern", "a pattern that engines read differently, or not at all")
INVALID_CHECK = error("SC327", "invalid-check", "a condition that cannot be used")

UNLOCKED_CHANGE = warning("SC401", "unlocked-change", "a schema that differs from its lock")
DAMAGED_LOCK = error("SC402", "damaged-lock", "a lock file that was edited by hand or damaged")
UNMERGED_LOCK = error("SC403", "unmerged-lock", "a lock file with merge conflict markers")
UNKNOWN_OLD_NAME = warning("SC404", "unknown-old-name", "a former name that no field had")
POSSIBLE_RENAME = warning("SC405", "possible-rename", "a dropped field that may have been renamed")
LOCK_CONTENTION = error("SC406", "lock-contention", "a lock that another process is writing")
UNKNOWN_REFERENCE = error("SC408", "unknown-reference", "a version to compare with that does not exist")
REFUSED_EDIT = error("SC409", "refused-edit", "an edit that cannot be made automatically")
REFUSED_CHANGE = error("SC411", "refused-change", "a change that an engine does not allow")
BREAKS_OLD_READERS = error("SC412", "breaks-old-readers", "a change that breaks readers with the old schema")
DEPENDS_ON_DATA = warning("SC413", "depends-on-data", "a change that stored values may prevent")
NEEDS_REWRITE = warning("SC414", "needs-rewrite", "a change that needs stored data to be rewritten")
POSSIBLE_ORIGIN = error("SC415", "possible-origin", "a dataset that seems new but may be a renamed one")
UNKNOWN_PAST = error("SC416", "unknown-past", "an earlier version that cannot be read here")
REFUSED_RESTORE = error("SC417", "refused-restore", "an id that cannot be given back to a field")
RETURNED_NAME = note("SC418", "returned-name", "a new field with the name of a dropped one")
LOST_LOCK = error("SC419", "lost-lock", "a manifest that was separated from its lock")
AMBIGUOUS_OLD_NAME = error("SC420", "ambiguous-old-name", "a former name that may refer to several fields")
LATE_RENAME = error("SC429", "late-rename", "a former name that a field lost in an earlier version")
EARLY_REMOVAL = error("SC431", "early-removal", "a deprecated field that is removed before its day")
LOST_CLASSIFICATION = error("SC432", "lost-classification", "a field that lost its classification without being declassified")
DECLASSIFIED = warning("SC433", "declassified", "a field that was given a less sensitive classification")
UNUSABLE_TABLE = error("SC421", "unusable-table", "a table that cannot be used as this dataset's")
FAILED_CHECK = error("SC422", "failed-check", "stored values that prevent a change")
TABLE_CHANGED = error("SC423", "table-changed", "a table that others write to while it is being changed")
TABLE_DRIFT = error("SC424", "table-drift", "a table that differs from its compiled schema")
BROKEN_CONSTRAINT = error("SC425", "broken-constraint", "stored rows that break a constraint")
UNUSABLE_REFERENCE = error("SC426", "unusable-reference", "a referenced table that cannot be read")
UNCHECKED_REFERENCE = note("SC427", "unchecked-reference", "a reference that was not checked")
UNCHECKED_ROWS = error("SC428", "unchecked-rows", "a table whose rows cannot be checked")
POINTLESS_ROUNDING = error("SC430", "pointless-rounding", "rounding allowed for a field whose values are not rounded")
MERGE_CHOICE = warning("SC407", "merge-choice", "a field that two branches changed differently")

UNSUPPORTED_ARROW_TYPE = error("SC551", "unsupported-arrow-type", "an Arrow type without a matching kind")
UNREADABLE_SOURCE = error("SC552", "unreadable-source", "a source that cannot be imported")
UNFIT_METADATA = warning("SC555", "unfit-metadata", "metadata of Arrow that its field or schema cannot have")
FOREIGN_SCHEMA = error("SC553", "foreign-schema", "a schema in a format that cannot be imported")

STALE_ARTIFACT = error("SC541", "stale-artifact", "an artifact that differs from what the manifest compiles to")
WRITE_FAILED = error("SC542", "write-failed", "an artifact that cannot be written")
FOREIGN_FOLDER = error("SC543", "foreign-folder", "an output folder that holds other files")
DAMAGED_PROVENANCE = error("SC544", "damaged-provenance", "a list of artifacts that was edited by hand or damaged")
IN_THE_WAY = error("SC545", "in-the-way", "a file or folder in the place of an artifact")

INVALID_CONFIGURATION = error("SC601", "invalid-configuration", "a configuration that cannot be read")
NOTHING_TO_COMPILE = error("SC602", "nothing-to-compile", "a command without manifests to work on")
TRACKED_CACHE = error("SC603", "tracked-cache", "a cache that is in the repository")
MISSING_EXTRA = error("SC607", "missing-extra", "a part of schemac that is not installed")
PIPELINE_FILE = error("SC611", "pipeline-file", "a pipeline file that cannot be read")
PIPELINE_DRIFT = error("SC613", "pipeline-drift", "a written table that differs from its artifact")
SOURCE_OPTION = error("SC614", "source-option", "a source option that is not supported")
# The fields of a pipeline file.
RESERVED_NAME = error("SC620", "reserved-name", "a field with a name that the pipeline keeps for itself")
UNSUPPORTED_TYPE = error("SC621", "unsupported-type", "a type that a pipeline cannot write")
UNKNOWN_FIELD = error("SC622", "unknown-field", "a mapping of a field that the schema does not have")
MISPLACED_FORMAT = error("SC623", "misplaced-format", "a `format` or `epoch` that does not suit its field")
MISPLACED_ZONE = error("SC624", "misplaced-zone", "a `zone` on a field that is not a timestamp")
INVALID_PATTERN = error("SC625", "invalid-pattern", "a date or time pattern that cannot be used")
INVALID_RECORD_PATH = error("SC626", "invalid-record-path", "a path into the record that cannot be read")
CONFLICTING_ORIGIN = error("SC627", "conflicting-origin", "a field that is read from two places of a pipeline file")
INVALID_EXPRESSION = error("SC628", "invalid-expression", "an expression that cannot be used")
INVALID_CONSTANT = error("SC629", "invalid-constant", "a constant that does not fit its field")
# The source.
MISSING_PATH = error("SC630", "missing-path", "a source without a path")
INPUT_NOT_FOUND = error("SC631", "input-not-found", "a source that does not exist")
PACKED_INPUT = error("SC633", "packed-input", "a file that is compressed in a way that is not supported")
UNKNOWN_ENCODING = error("SC634", "unknown-encoding", "a text encoding that does not exist")
UNKNOWN_BYTE_ORDER = error("SC635", "unknown-byte-order", "a UTF-16 or UTF-32 file without a byte order mark")
UNREADABLE_INPUT = error("SC636", "unreadable-input", "a source that cannot be read in its format")
EMPTY_INPUT = error("SC637", "empty-input", "a CSV source without a header and without rows")
UNREADABLE_HEADER = error("SC638", "unreadable-header", "a CSV header that cannot be read")
DUPLICATE_COLUMN = error("SC639", "duplicate-column", "two columns with the same name in a CSV header or a frame")
AMBIGUOUS_COLUMN = error("SC640", "ambiguous-column", "a column that is in the files and in the names of their folders")
UNKNOWN_SOURCE_COLUMN = error("SC641", "unknown-source-column", "a column that the source does not have")
UNEXPECTED_COLUMN = error("SC642", "unexpected-column", "a column of the source that no field reads")
SOURCE_TYPE_MISMATCH = error("SC643", "source-type-mismatch", "a column of the source that cannot become its field")
CHANGED_INPUT = error("SC644", "changed-input", "a file that changed while it was read")
NO_LIST = error("SC645", "no-list", "a list to explode where the source has none")
NO_FILE = error("SC646", "no-file", "the file of a record, for a source without files")
CHANGED_FILE = error("SC647", "changed-file", "a file of an incremental source that has changed since it was read")
LOST_HISTORY = error("SC648", "lost-history", "a table that no longer records which files were read into it")
MISPLACED_MODE = error("SC649", "misplaced-mode", "an incremental source or a stream where that is not possible")
# The table and the quarantine.
SAME_PATH = error("SC650", "same-path", "a target and a quarantine at the same path")
TABLE_EXISTS = error("SC651", "table-exists", "a table that already exists")
UNREADABLE_TABLE = error("SC652", "unreadable-table", "a table that cannot be opened")
SCHEMA_MISMATCH = error("SC653", "schema-mismatch", "a table with a different schema than the rows to append")
NOT_A_TABLE = error("SC654", "not-a-table", "a target that is not a table")
NOT_A_QUARANTINE = error("SC655", "not-a-quarantine", "a quarantine path where another table is")
UNWRITABLE_TARGET = error("SC656", "unwritable-target", "a path that cannot be written to")
TOO_MANY_QUARANTINED = error("SC657", "too-many-quarantined", "more bad records than the pipeline allows")
EMPTIED_TABLE = error("SC658", "emptied-table", "a run that would leave a table without rows")
CONCURRENT_RUN = error("SC659", "concurrent-run", "a table that another run changed in the meantime")
ABANDONED_RUN = error("SC660", "abandoned-run", "a run that another run considered dead")
SINK_OPTION = error("SC661", "sink-option", "an option of the format that is missing or cannot be read")
MISSING_COLUMN = error("SC662", "missing-column", "a frame without a column of the schema")
NULL_IN_REQUIRED_FIELD = error("SC663", "null-in-required-field", "a frame with a null in a required field")
KEY_EXISTS = error("SC664", "key-exists", "rows to append with keys that the table already has")
MERGE_SETTING = error("SC665", "merge-setting", "a setting of `upsert` or `keys` that does not suit the schema")
REPLAY = error("SC666", "replay", "a quarantine that cannot be replayed")
BACKFILL_SETTING = error("SC667", "backfill-setting", "a setting that a backfill does not have, or needs")
PYTHON_FUNCTION = error("SC668", "python-function", "a function of a backfill that cannot be used")
JOIN = error("SC669", "join", "a join of a backfill that does not give each row one value")
UNFIT_VALUES = error("SC688", "unfit-values", "values of a backfill that do not fit their column")
# Machines and object stores.
NOT_SHARED = error("SC684", "path-not-shared", "a path that the executors cannot see")
STORAGE_SETTING = error("SC685", "storage-setting", "a variable of `storage` that is not set")
INVALID_RUN = error("SC690", "invalid-run", "a run whose id or interval is not valid")
STREAMING_FRAME = error("SC692", "streaming-frame", "a stream where a frame with an end is needed")
UNKNOWN_RULE = error("SC693", "unknown-rule", "a setting for a rule that does not exist")
CANNOT_WARN = error("SC694", "cannot-warn", "a rule that cannot only warn")
RULE_WARNING = warning("SC695", "rule-warning", "records that were written and break a rule that warns")

REFERENCE = error("SC697", "reference", "a reference to a dataset whose table is not named, or cannot be compared")
CONNECTOR = error(
    "SC698", "connector", "a table that a connector does not write according to its schema"
)
ABSENT_LIST = error("SC699", "absent-list", "a list to explode that no record of the source has")
ABSENT_PATH = warning("SC689", "absent-path", "a path that no record of the source has")

CATALOGUE = {code.id: code for code in codes_in(globals())}
"""The codes of the core by number, in the order of this file."""
