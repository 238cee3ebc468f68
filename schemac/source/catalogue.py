"""The diagnostic codes of the core; engines and the pipeline have theirs in a `codes.py`, and `registry.codes` finds all.

Layer: source.
Shape: numbers go by layer: SC1xx text and YAML, SC2xx the manifest's grammar, SC3xx the meaning of one
schema, SC4xx identity and evolution, SC5xx targets, SC6xx configuration and the pipeline, SC8xx rules of `lint`. A number is never
used twice; a retired code stays here, marked. What each means at length, with a wrong and a right example, is
in `pages/<code>.md`.
"""

from schemac.source.code import Code, Severity

_ERROR, _WARNING, _NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE

UNREADABLE_FILE = Code("SC101", "unreadable-file", _ERROR, "a file cannot be read")
NOT_TEXT = Code("SC102", "not-text", _ERROR, "a manifest contains bytes that are not text")
WRONG_ENCODING = Code("SC103", "wrong-encoding", _ERROR, "a manifest is not UTF-8")
FILE_TOO_LARGE = Code("SC104", "file-too-large", _ERROR, "a manifest is too large")
EMPTY_DOCUMENT = Code("SC105", "empty-document", _ERROR, "a manifest is empty")
INVALID_YAML = Code("SC106", "invalid-yaml", _ERROR, "a text is not valid YAML")
TAB_INDENTATION = Code("SC107", "tab-indentation", _ERROR, "a line is indented with a tab")
DUPLICATE_KEY = Code("SC108", "duplicate-key", _ERROR, "a mapping has the same key twice")
UNKNOWN_TAG = Code("SC109", "unknown-tag", _ERROR, "a value has a tag outside YAML's core schema")
ALIAS_BOMB = Code("SC110", "alias-bomb", _ERROR, "aliases expand to an unreasonable size")
TOO_DEEP = Code("SC111", "too-deep", _ERROR, "a manifest is nested too deeply")
INVALID_KEY = Code("SC112", "invalid-key", _ERROR, "a mapping key is not a string")
UNDEFINED_ALIAS = Code("SC113", "undefined-alias", _ERROR, "an alias has no anchor before it")

UNKNOWN_KIND = Code("SC201", "unknown-kind", _ERROR, "a type names a kind that does not exist")
UNKNOWN_KEY = Code("SC202", "unknown-key", _ERROR, "a mapping has a key that does not belong there")
MISSING_PROPERTY = Code("SC203", "missing-property", _ERROR, "a required property is missing")
WRONG_TYPE = Code("SC204", "wrong-type", _ERROR, "a value has the wrong type")
OUT_OF_RANGE = Code("SC205", "out-of-range", _ERROR, "a number is outside its range")
UNKNOWN_VALUE = Code("SC206", "unknown-value", _ERROR, "a value is not one of those allowed")
UNKNOWN_DOCUMENT = Code("SC207", "unknown-document", _ERROR, "a document is in none of the accepted forms")
UNKNOWN_EVENT = Code("SC208", "unknown-event", _ERROR, "an event kind that is not in the standard")
NO_SCHEMA = Code("SC209", "no-schema", _WARNING, "a file without a schema")
UNQUOTED_NAME = Code("SC210", "unquoted-name", _ERROR, "a name that YAML reads as something else")
UNQUOTED_NULL = Code("SC211", "unquoted-null", _ERROR, "the kind Null without quotes")
PLURAL_UNIT = Code("SC212", "plural-unit", _WARNING, "a time unit in the plural")
LOOSE_SPELLING = Code("SC213", "loose-spelling", _ERROR, "a spelling that is not in the standard")
FRIENDLY_FORM = Code("SC214", "friendly-form", _ERROR, "a form that is not in the standard")
UNSUPPORTED_VERSION = Code("SC215", "unsupported-version", _ERROR, "a document of an unknown version")
DUPLICATE_DATASET = Code("SC216", "duplicate-dataset", _ERROR, "two datasets have the same name")
INVALID_DATASET_NAME = Code(
    "SC217", "invalid-dataset-name", _ERROR, "a dataset name that cannot name a folder"
)
SECOND_DESCRIPTION = Code("SC218", "second-description", _ERROR, "a field has two descriptions")
FLOW_SKIPPED = Code("SC219", "flow-without-schema", _NOTE, "a Flow resource, which has no schema")
UNKNOWN_GROUP = Code("SC231", "unknown-group", _ERROR, "a group of fields that does not exist")
DUPLICATE_GROUP = Code("SC232", "duplicate-group", _ERROR, "two groups of fields have the same name")
REUSE_CYCLE = Code("SC233", "reuse-cycle", _ERROR, "a group or a file that contains itself")
UNREADABLE_IMPORT = Code("SC234", "unreadable-import", _ERROR, "an imported file that cannot be read")
UNUSED_GROUP = Code("SC235", "unused-group", _WARNING, "a group, parameter or import that nothing uses")
INVALID_ARGUMENT = Code("SC236", "invalid-argument", _ERROR, "an argument that does not suit its group")
INVALID_OVERLAY = Code("SC237", "invalid-overlay", _ERROR, "an overlay that changes more than it may")

DUPLICATE_FIELD_NAME = Code("SC301", "duplicate-field-name", _ERROR, "two fields of one struct share a name")
EMPTY_FIELD_NAME = Code("SC302", "empty-field-name", _ERROR, "a field without a name")
CASE_COLLISION = Code("SC303", "case-collision", _WARNING, "field names that differ only in case")
NESTED_OPTION = Code("SC304", "nested-option", _ERROR, "an Option directly in an Option")
OPTIONAL_MAP_KEY = Code("SC305", "optional-map-key", _ERROR, "a map key that may be null")
BARE_NULL = Code("SC306", "bare-null", _ERROR, "a Null that is not inside an Option")
DECIMAL_WIDTH = Code("SC307", "decimal-width", _ERROR, "a decimal with more digits than its encoding holds")
SCALE_ABOVE_PRECISION = Code(
    "SC308", "scale-above-precision", _WARNING, "a decimal scale above its precision"
)
INVALID_ATTRIBUTE_KEY = Code("SC309", "invalid-attribute-key", _ERROR, "a malformed attribute key")
UNKNOWN_ATTRIBUTE = Code("SC310", "unknown-attribute", _ERROR, "an unknown attribute of a known domain")
MISPLACED_ATTRIBUTE = Code(
    "SC311", "misplaced-attribute", _ERROR, "an attribute in a place where it cannot apply"
)
INVALID_ATTRIBUTE = Code("SC312", "invalid-attribute", _ERROR, "an attribute with an invalid value")
CONFLICTING_HINTS = Code("SC313", "conflicting-hints", _ERROR, "two hints that contradict each other")
UNSUPPORTED_HINT = Code("SC314", "unsupported-hint", _ERROR, "a hint that no engine supports")
VOCABULARY_VIOLATION = Code(
    "SC315", "vocabulary-violation", _ERROR, "a value that its vocabulary does not allow"
)
UNKNOWN_TIMEZONE = Code("SC316", "unknown-timezone", _WARNING, "a time zone that is not in the zone database")
INVALID_PRIMARY_KEY = Code("SC317", "invalid-primary-key", _ERROR, "an invalid primary key")
DUPLICATE_KEY_POSITION = Code(
    "SC318", "duplicate-key-position", _ERROR, "two fields with the same position in a key"
)
UNKNOWN_COLUMN = Code("SC319", "unknown-column", _ERROR, "an attribute names a column that does not exist")
USELESS_HINT = Code("SC320", "useless-hint", _WARNING, "a hint without effect")
LIKELY_TYPO = Code(
    "SC321", "likely-typo", _WARNING, "an attribute domain that looks like a misspelled known one"
)
CONTROL_CHARACTER = Code("SC322", "control-character", _ERROR, "a field name with a control character")
ODD_SYSTEM_COLUMN = Code(
    "SC323", "odd-system-column", _WARNING, "a system column that differs from the standard"
)
UNKNOWN_SUCCESSOR = Code(
    "SC341", "unknown-successor", _ERROR, "a deprecated field whose successor does not exist"
)

UNKNOWN_REFERRED = Code("SC342", "unknown-referred", _WARNING, "a reference to a dataset that does not exist")
UNFIT_REFERENCE = Code(
    "SC343", "unfit-reference", _ERROR, "a reference to a field that does not exist, or has a different type"
)
REFERENCE_TO_NO_KEY = Code(
    "SC344", "reference-to-no-key", _WARNING, "a reference to fields that are not a key"
)

# Rows of programs, and samples.
UNFIT_ROWS = Code("SC350", "unfit-rows", _ERROR, "rows that do not fit the schema")
NO_ROWS = Code("SC351", "no-rows", _ERROR, "a Python object without rows, where rows are needed")

UNSAMPLABLE = Code("SC352", "unsamplable", _ERROR, "a dataset for which no sample can be made")
SAMPLE_OUTPUT = Code("SC353", "sample-output", _ERROR, "an output that a sample cannot be written to")
UNHELD_RECORDS = Code(
    "SC354", "unheld-records", _NOTE, "wrong records that the form of the output cannot hold"
)

UNFIT_CONSTRAINT = Code(
    "SC324", "unfit-constraint", _ERROR, "a value of a constraint that does not fit its field"
)
CONTRADICTING_CONSTRAINTS = Code(
    "SC325", "contradicting-constraints", _ERROR, "constraints that no value can satisfy together"
)
UNPORTABLE_PATTERN = Code(
    "SC326", "unportable-pattern", _ERROR, "a pattern that engines read differently, or not at all"
)
INVALID_CHECK = Code("SC327", "invalid-check", _ERROR, "a condition that cannot be used")

UNLOCKED_CHANGE = Code("SC401", "unlocked-change", _WARNING, "a schema that differs from its lock")
DAMAGED_LOCK = Code("SC402", "damaged-lock", _ERROR, "a lock file that was edited by hand or damaged")
UNMERGED_LOCK = Code("SC403", "unmerged-lock", _ERROR, "a lock file with merge conflict markers")
UNKNOWN_OLD_NAME = Code("SC404", "unknown-old-name", _WARNING, "a former name that no field had")
POSSIBLE_RENAME = Code("SC405", "possible-rename", _WARNING, "a dropped field that may have been renamed")
LOCK_CONTENTION = Code("SC406", "lock-contention", _ERROR, "a lock that another process is writing")
UNKNOWN_REFERENCE = Code(
    "SC408", "unknown-reference", _ERROR, "a version to compare with that does not exist"
)
REFUSED_EDIT = Code("SC409", "refused-edit", _ERROR, "an edit that cannot be made automatically")
REFUSED_CHANGE = Code("SC411", "refused-change", _ERROR, "a change that an engine does not allow")
BREAKS_OLD_READERS = Code(
    "SC412", "breaks-old-readers", _ERROR, "a change that breaks readers with the old schema"
)
DEPENDS_ON_DATA = Code("SC413", "depends-on-data", _WARNING, "a change that stored values may prevent")
NEEDS_REWRITE = Code("SC414", "needs-rewrite", _WARNING, "a change that needs stored data to be rewritten")
POSSIBLE_ORIGIN = Code(
    "SC415", "possible-origin", _ERROR, "a dataset that seems new but may be a renamed one"
)
UNKNOWN_PAST = Code("SC416", "unknown-past", _ERROR, "an earlier version that cannot be read here")
REFUSED_RESTORE = Code("SC417", "refused-restore", _ERROR, "an id that cannot be given back to a field")
RETURNED_NAME = Code("SC418", "returned-name", _NOTE, "a new field with the name of a dropped one")
LOST_LOCK = Code("SC419", "lost-lock", _ERROR, "a manifest that was separated from its lock")
AMBIGUOUS_OLD_NAME = Code(
    "SC420", "ambiguous-old-name", _ERROR, "a former name that may refer to several fields"
)
LATE_RENAME = Code("SC429", "late-rename", _ERROR, "a former name that a field lost in an earlier version")
EARLY_REMOVAL = Code("SC431", "early-removal", _ERROR, "a deprecated field that is removed before its day")
LOST_CLASSIFICATION = Code(
    "SC432", "lost-classification", _ERROR, "a field that lost its classification without being declassified"
)
DECLASSIFIED = Code(
    "SC433", "declassified", _WARNING, "a field that was given a less sensitive classification"
)
UNUSABLE_TABLE = Code("SC421", "unusable-table", _ERROR, "a table that cannot be used as this dataset's")
FAILED_CHECK = Code("SC422", "failed-check", _ERROR, "stored values that prevent a change")
TABLE_CHANGED = Code(
    "SC423", "table-changed", _ERROR, "a table that others write to while it is being changed"
)
TABLE_DRIFT = Code("SC424", "table-drift", _ERROR, "a table that differs from its compiled schema")
BROKEN_CONSTRAINT = Code("SC425", "broken-constraint", _ERROR, "stored rows that break a constraint")
UNUSABLE_REFERENCE = Code("SC426", "unusable-reference", _ERROR, "a referenced table that cannot be read")
UNCHECKED_REFERENCE = Code("SC427", "unchecked-reference", _NOTE, "a reference that was not checked")
UNCHECKED_ROWS = Code("SC428", "unchecked-rows", _ERROR, "a table whose rows cannot be checked")
POINTLESS_ROUNDING = Code(
    "SC430", "pointless-rounding", _ERROR, "rounding allowed for a field whose values are not rounded"
)
MERGE_CHOICE = Code("SC407", "merge-choice", _WARNING, "a field that two branches changed differently")

UNSUPPORTED_ARROW_TYPE = Code(
    "SC551", "unsupported-arrow-type", _ERROR, "an Arrow type without a matching kind"
)
UNREADABLE_SOURCE = Code("SC552", "unreadable-source", _ERROR, "a source that cannot be imported")
UNFIT_METADATA = Code(
    "SC555", "unfit-metadata", _WARNING, "metadata of Arrow that its field or schema cannot have"
)
FOREIGN_SCHEMA = Code("SC553", "foreign-schema", _ERROR, "a schema in a format that cannot be imported")

STALE_ARTIFACT = Code(
    "SC541", "stale-artifact", _ERROR, "an artifact that differs from what the manifest compiles to"
)
WRITE_FAILED = Code("SC542", "write-failed", _ERROR, "an artifact that cannot be written")
FOREIGN_FOLDER = Code("SC543", "foreign-folder", _ERROR, "an output folder that holds other files")
DAMAGED_PROVENANCE = Code(
    "SC544", "damaged-provenance", _ERROR, "a list of artifacts that was edited by hand or damaged"
)
IN_THE_WAY = Code("SC545", "in-the-way", _ERROR, "a file or folder in the place of an artifact")

INVALID_CONFIGURATION = Code("SC601", "invalid-configuration", _ERROR, "a configuration that cannot be read")
NOTHING_TO_COMPILE = Code("SC602", "nothing-to-compile", _ERROR, "a command without manifests to work on")
TRACKED_CACHE = Code("SC603", "tracked-cache", _ERROR, "a cache that is in the repository")
MISSING_EXTRA = Code("SC607", "missing-extra", _ERROR, "a part of schemac that is not installed")
PIPELINE_FILE = Code("SC611", "pipeline-file", _ERROR, "a pipeline file that cannot be read")
PIPELINE_DRIFT = Code("SC613", "pipeline-drift", _ERROR, "a written table that differs from its artifact")
SOURCE_OPTION = Code("SC614", "source-option", _ERROR, "a source option that is not supported")
# The fields of a pipeline file.
RESERVED_NAME = Code(
    "SC620", "reserved-name", _ERROR, "a field with a name that the pipeline keeps for itself"
)
UNSUPPORTED_TYPE = Code("SC621", "unsupported-type", _ERROR, "a type that a pipeline cannot write")
UNKNOWN_FIELD = Code("SC622", "unknown-field", _ERROR, "a mapping of a field that the schema does not have")
MISPLACED_FORMAT = Code(
    "SC623", "misplaced-format", _ERROR, "a `format` or `epoch` that does not suit its field"
)
MISPLACED_ZONE = Code("SC624", "misplaced-zone", _ERROR, "a `zone` on a field that is not a timestamp")
INVALID_PATTERN = Code("SC625", "invalid-pattern", _ERROR, "a date or time pattern that cannot be used")
INVALID_RECORD_PATH = Code(
    "SC626", "invalid-record-path", _ERROR, "a path into the record that cannot be read"
)
CONFLICTING_ORIGIN = Code(
    "SC627", "conflicting-origin", _ERROR, "a field that is read from two places of a pipeline file"
)
INVALID_EXPRESSION = Code("SC628", "invalid-expression", _ERROR, "an expression that cannot be used")
INVALID_CONSTANT = Code("SC629", "invalid-constant", _ERROR, "a constant that does not fit its field")
# The source.
MISSING_PATH = Code("SC630", "missing-path", _ERROR, "a source without a path")
INPUT_NOT_FOUND = Code("SC631", "input-not-found", _ERROR, "a source that does not exist")
PACKED_INPUT = Code(
    "SC633", "packed-input", _ERROR, "a file that is compressed in a way that is not supported"
)
UNKNOWN_ENCODING = Code("SC634", "unknown-encoding", _ERROR, "a text encoding that does not exist")
UNKNOWN_BYTE_ORDER = Code(
    "SC635", "unknown-byte-order", _ERROR, "a UTF-16 or UTF-32 file without a byte order mark"
)
UNREADABLE_INPUT = Code("SC636", "unreadable-input", _ERROR, "a source that cannot be read in its format")
EMPTY_INPUT = Code("SC637", "empty-input", _ERROR, "a CSV source without a header and without rows")
UNREADABLE_HEADER = Code("SC638", "unreadable-header", _ERROR, "a CSV header that cannot be read")
DUPLICATE_COLUMN = Code(
    "SC639", "duplicate-column", _ERROR, "two columns with the same name in a CSV header or a frame"
)
AMBIGUOUS_COLUMN = Code(
    "SC640", "ambiguous-column", _ERROR, "a column that is in the files and in the names of their folders"
)
UNKNOWN_SOURCE_COLUMN = Code(
    "SC641", "unknown-source-column", _ERROR, "a column that the source does not have"
)
UNEXPECTED_COLUMN = Code("SC642", "unexpected-column", _ERROR, "a column of the source that no field takes")
SOURCE_TYPE_MISMATCH = Code(
    "SC643", "source-type-mismatch", _ERROR, "a column of the source that cannot become its field"
)
CHANGED_INPUT = Code("SC644", "changed-input", _ERROR, "a file that changed while it was read")
NO_LIST = Code("SC645", "no-list", _ERROR, "a list to explode where the source has none")
NO_FILE = Code("SC646", "no-file", _ERROR, "the file of a record, for a source without files")
CHANGED_FILE = Code(
    "SC647", "changed-file", _ERROR, "a file of an incremental source that has changed since it was read"
)
LOST_HISTORY = Code(
    "SC648", "lost-history", _ERROR, "a table that no longer says which files were read into it"
)
MISPLACED_MODE = Code(
    "SC649", "misplaced-mode", _ERROR, "an incremental source or a stream where that is not possible"
)
# The table and the quarantine.
SAME_PATH = Code("SC650", "same-path", _ERROR, "a target and a quarantine at the same path")
TABLE_EXISTS = Code("SC651", "table-exists", _ERROR, "a table that already exists")
UNREADABLE_TABLE = Code("SC652", "unreadable-table", _ERROR, "a table that cannot be opened")
SCHEMA_MISMATCH = Code(
    "SC653", "schema-mismatch", _ERROR, "a table with a different schema than the rows to append"
)
NOT_A_TABLE = Code("SC654", "not-a-table", _ERROR, "a target that is not a table")
NOT_A_QUARANTINE = Code("SC655", "not-a-quarantine", _ERROR, "a quarantine path where another table is")
UNWRITABLE_TARGET = Code("SC656", "unwritable-target", _ERROR, "a path that cannot be written to")
TOO_MANY_QUARANTINED = Code(
    "SC657", "too-many-quarantined", _ERROR, "more bad records than the pipeline allows"
)
EMPTIED_TABLE = Code("SC658", "emptied-table", _ERROR, "a run that would leave a table without rows")
CONCURRENT_RUN = Code("SC659", "concurrent-run", _ERROR, "a table that another run changed in the meantime")
ABANDONED_RUN = Code("SC660", "abandoned-run", _ERROR, "a run that another run considered dead")
SINK_OPTION = Code(
    "SC661", "sink-option", _ERROR, "an option of the format that is missing or cannot be read"
)
MISSING_COLUMN = Code("SC662", "missing-column", _ERROR, "a frame without a column of the schema")
NULL_IN_REQUIRED_FIELD = Code(
    "SC663", "null-in-required-field", _ERROR, "a frame with a null in a required field"
)
KEY_EXISTS = Code("SC664", "key-exists", _ERROR, "rows to append with keys that the table already has")
MERGE_SETTING = Code(
    "SC665", "merge-setting", _ERROR, "a setting of `upsert` or `keys` that does not suit the schema"
)
REPLAY = Code("SC666", "replay", _ERROR, "a quarantine that cannot be replayed")
BACKFILL_SETTING = Code(
    "SC667", "backfill-setting", _ERROR, "a setting that a backfill does not have, or needs"
)
PYTHON_FUNCTION = Code("SC668", "python-function", _ERROR, "a function of a backfill that cannot be used")
JOIN = Code("SC669", "join", _ERROR, "a join of a backfill that does not give each row one value")
UNFIT_VALUES = Code("SC688", "unfit-values", _ERROR, "values of a backfill that do not fit their column")
# Machines and object stores.
NOT_SHARED = Code("SC684", "path-not-shared", _ERROR, "a path that the executors cannot see")
STORAGE_SETTING = Code("SC685", "storage-setting", _ERROR, "a variable of `storage` that is not set")
INVALID_RUN = Code("SC690", "invalid-run", _ERROR, "a run whose id or interval is not valid")
STREAMING_FRAME = Code("SC692", "streaming-frame", _ERROR, "a stream where a frame with an end is needed")
UNKNOWN_RULE = Code("SC693", "unknown-rule", _ERROR, "a setting for a rule that does not exist")
CANNOT_WARN = Code("SC694", "cannot-warn", _ERROR, "a rule that cannot only warn")
RULE_WARNING = Code(
    "SC695", "rule-warning", _WARNING, "records that were written and break a rule that warns"
)

REFERENCE = Code(
    "SC697", "reference", _ERROR, "a reference to a dataset whose table is not named, or cannot be compared"
)
CONNECTOR = Code(
    "SC698", "connector", _ERROR, "a table that a connector does not write according to its schema"
)
ABSENT_LIST = Code("SC699", "absent-list", _ERROR, "a list to explode that no record of the source has")
ABSENT_PATH = Code("SC689", "absent-path", _WARNING, "a path that no record of the source has")

CATALOGUE: dict[str, Code] = {code.id: code for code in list(globals().values()) if isinstance(code, Code)}
"""The codes of the core by number, in the order of this file."""
