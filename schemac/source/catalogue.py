"""Every diagnostic code, once.

Layer: source.
Shape: numbers go by floor: SC1xx text and YAML, SC2xx the manifest's grammar, SC3xx the meaning of one
schema, SC4xx identity and evolution, SC5xx targets, SC6xx configuration and the pipeline. A number is never
used twice; a retired code stays here, marked. What each means at length, with a wrong and a right example, is
in `pages/<code>.md`.
"""

from schemac.source.diagnostic import Code, Severity

_ERROR, _WARNING, _NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE

UNREADABLE_FILE = Code("SC101", "unreadable-file", _ERROR, "a file cannot be read")
NOT_TEXT = Code("SC102", "not-text", _ERROR, "a manifest holds bytes that no text has")
WRONG_ENCODING = Code("SC103", "wrong-encoding", _ERROR, "a manifest is not UTF-8")
FILE_TOO_LARGE = Code("SC104", "file-too-large", _ERROR, "a manifest is too large to be one")
EMPTY_DOCUMENT = Code("SC105", "empty-document", _ERROR, "a manifest says nothing")
INVALID_YAML = Code("SC106", "invalid-yaml", _ERROR, "a text is not YAML")
TAB_INDENTATION = Code("SC107", "tab-indentation", _ERROR, "a line is indented with a tab")
DUPLICATE_KEY = Code("SC108", "duplicate-key", _ERROR, "a mapping has the same key twice")
UNKNOWN_TAG = Code("SC109", "unknown-tag", _ERROR, "a value has a tag that YAML's core schema does not know")
ALIAS_BOMB = Code("SC110", "alias-bomb", _ERROR, "aliases unfold to an unreasonable size")
TOO_DEEP = Code("SC111", "too-deep", _ERROR, "a manifest is nested too deeply")
INVALID_KEY = Code("SC112", "invalid-key", _ERROR, "a mapping key is not a string")
UNDEFINED_ALIAS = Code("SC113", "undefined-alias", _ERROR, "an alias has no anchor before it")

UNKNOWN_KIND = Code("SC201", "unknown-kind", _ERROR, "a type names a kind that does not exist")
UNKNOWN_KEY = Code("SC202", "unknown-key", _ERROR, "a mapping has a key that does not belong there")
MISSING_PROPERTY = Code("SC203", "missing-property", _ERROR, "a required property is absent")
WRONG_TYPE = Code("SC204", "wrong-type", _ERROR, "a value is of the wrong sort")
OUT_OF_RANGE = Code("SC205", "out-of-range", _ERROR, "a number is outside its range")
UNKNOWN_VALUE = Code("SC206", "unknown-value", _ERROR, "a value is not one of the known words")
UNKNOWN_DOCUMENT = Code("SC207", "unknown-document", _ERROR, "a document is none of the accepted shapes")
UNKNOWN_EVENT = Code("SC208", "unknown-event", _ERROR, "an event kind that the standard does not know")
NO_SCHEMA = Code("SC209", "no-schema", _WARNING, "a file in which no schema stands")
UNQUOTED_NAME = Code("SC210", "unquoted-name", _ERROR, "a name that YAML reads as something else")
UNQUOTED_NULL = Code("SC211", "unquoted-null", _ERROR, "the kind Null without quotes")
PLURAL_UNIT = Code("SC212", "plural-unit", _WARNING, "a time unit in the plural")
LOOSE_SPELLING = Code("SC213", "loose-spelling", _ERROR, "a spelling that the standard does not have")
FRIENDLY_FORM = Code("SC214", "friendly-form", _ERROR, "a form that is not in the standard")
UNSUPPORTED_VERSION = Code("SC215", "unsupported-version", _ERROR, "a document of an unknown version")
DUPLICATE_DATASET = Code("SC216", "duplicate-dataset", _ERROR, "two datasets have the same name")
INVALID_DATASET_NAME = Code(
    "SC217", "invalid-dataset-name", _ERROR, "a dataset name that cannot name a folder"
)
SECOND_DESCRIPTION = Code("SC218", "second-description", _ERROR, "a field has two descriptions")
FLOW_SKIPPED = Code("SC219", "flow-without-schema", _NOTE, "a Flow among resources that hold schemas")

DUPLICATE_FIELD_NAME = Code("SC301", "duplicate-field-name", _ERROR, "two fields of one struct share a name")
EMPTY_FIELD_NAME = Code("SC302", "empty-field-name", _ERROR, "a field without a name")
CASE_COLLISION = Code("SC303", "case-collision", _WARNING, "field names that differ only in case")
NESTED_OPTION = Code("SC304", "nested-option", _ERROR, "an Option directly in an Option")
OPTIONAL_MAP_KEY = Code("SC305", "optional-map-key", _ERROR, "a map key that may be null")
BARE_NULL = Code("SC306", "bare-null", _ERROR, "a Null that may not be null")
DECIMAL_WIDTH = Code("SC307", "decimal-width", _ERROR, "a decimal wider than its encoding")
SCALE_ABOVE_PRECISION = Code(
    "SC308", "scale-above-precision", _WARNING, "a decimal scale above its precision"
)
INVALID_ATTRIBUTE_KEY = Code("SC309", "invalid-attribute-key", _ERROR, "an attribute key of the wrong form")
UNKNOWN_ATTRIBUTE = Code("SC310", "unknown-attribute", _ERROR, "an unknown attribute of a known domain")
MISPLACED_ATTRIBUTE = Code("SC311", "misplaced-attribute", _ERROR, "an attribute where it cannot apply")
INVALID_ATTRIBUTE = Code("SC312", "invalid-attribute", _ERROR, "an attribute with an impossible value")
CONFLICTING_HINTS = Code("SC313", "conflicting-hints", _ERROR, "two hints that contradict each other")
UNSUPPORTED_HINT = Code("SC314", "unsupported-hint", _ERROR, "a hint that no engine can follow")
VOCABULARY_VIOLATION = Code("SC315", "vocabulary-violation", _ERROR, "a value that its vocabulary refuses")
UNKNOWN_TIMEZONE = Code("SC316", "unknown-timezone", _WARNING, "a time zone that no database lists")
INVALID_PRIMARY_KEY = Code("SC317", "invalid-primary-key", _ERROR, "a primary key that cannot be one")
DUPLICATE_KEY_POSITION = Code(
    "SC318", "duplicate-key-position", _ERROR, "two fields at one position of a key"
)
UNKNOWN_COLUMN = Code("SC319", "unknown-column", _ERROR, "an attribute names a column that does not exist")
USELESS_HINT = Code("SC320", "useless-hint", _WARNING, "a hint without effect")
LIKELY_TYPO = Code("SC321", "likely-typo", _WARNING, "an attribute domain that is almost a known one")
CONTROL_CHARACTER = Code("SC322", "control-character", _ERROR, "a field name with a control character")
ODD_SYSTEM_COLUMN = Code(
    "SC323", "odd-system-column", _WARNING, "a system column that is not as the standard has it"
)

UNLOCKED_CHANGE = Code("SC401", "unlocked-change", _WARNING, "a schema that is not as it was locked")
DAMAGED_LOCK = Code("SC402", "damaged-lock", _ERROR, "a lock file that schemac did not write so")
UNMERGED_LOCK = Code("SC403", "unmerged-lock", _ERROR, "a lock file with the marks of a merge conflict")
UNKNOWN_OLD_NAME = Code("SC404", "unknown-old-name", _WARNING, "an old name that no field had")
POSSIBLE_RENAME = Code("SC405", "possible-rename", _NOTE, "a field that vanished beside one of its shape")
LOCK_CONTENTION = Code("SC406", "lock-contention", _ERROR, "a lock that another process is writing")
UNKNOWN_REFERENCE = Code("SC408", "unknown-reference", _ERROR, "a version to compare with that is not there")
REFUSED_EDIT = Code("SC409", "refused-edit", _ERROR, "a place that an edit cannot change by itself")
REFUSED_CHANGE = Code("SC411", "refused-change", _ERROR, "a change that an engine does not allow")
BREAKS_OLD_READERS = Code(
    "SC412", "breaks-old-readers", _ERROR, "a change that breaks those who read by the old schema"
)
DEPENDS_ON_DATA = Code("SC413", "depends-on-data", _WARNING, "a change that stored values may forbid")
NEEDS_REWRITE = Code("SC414", "needs-rewrite", _WARNING, "a change for which stored data is written anew")
POSSIBLE_ORIGIN = Code(
    "SC415", "possible-origin", _ERROR, "a dataset that seems new, and may be one that was there"
)
UNKNOWN_PAST = Code("SC416", "unknown-past", _ERROR, "something that was, and cannot be read here")
REFUSED_RESTORE = Code("SC417", "refused-restore", _ERROR, "an id that cannot be given back to a field")
RETURNED_NAME = Code("SC418", "returned-name", _NOTE, "a new field with the name of one that was dropped")
LOST_LOCK = Code("SC419", "lost-lock", _ERROR, "a manifest and a lock that have lost each other")
AMBIGUOUS_OLD_NAME = Code("SC420", "ambiguous-old-name", _ERROR, "an old name that may mean several fields")
UNUSABLE_TABLE = Code(
    "SC421", "unusable-table", _ERROR, "a table that cannot be taken as one of this dataset"
)
FAILED_CHECK = Code("SC422", "failed-check", _ERROR, "stored values that forbid a change")
TABLE_CHANGED = Code("SC423", "table-changed", _ERROR, "a table that others write to while it is changed")
TABLE_DRIFT = Code("SC424", "table-drift", _ERROR, "a table that is not as its artifact says")
POINTLESS_ROUNDING = Code(
    "SC430", "pointless-rounding", _ERROR, "leave to round a field whose values are not rounded"
)
MERGE_CHOICE = Code("SC407", "merge-choice", _WARNING, "a field that two branches changed differently")

LANCE_TYPE = Code("SC501", "lance-type", _ERROR, "a type that Lance cannot store")
LANCE_NAME = Code("SC502", "lance-name", _ERROR, "a field name that Lance cannot hold")
LANCE_NAME_RISK = Code("SC503", "lance-name-risk", _WARNING, "a field name that Lance accepts but trips over")
LANCE_STORAGE_VERSION = Code(
    "SC504", "lance-storage-version", _ERROR, "a type that needs a newer storage version"
)
LANCE_STRUCTURE = Code(
    "SC505", "lance-structure", _ERROR, "a structure that Lance accepts and then cannot read"
)
LANCE_READ_RISK = Code("SC506", "lance-read-risk", _WARNING, "a structure that Lance reads only in part")
LANCE_LOSS = Code("SC511", "lance-loss", _NOTE, "something that Lance does not keep")
SPARK_TYPE = Code("SC521", "spark-type", _ERROR, "a type that Spark cannot hold")
SPARK_LOSS = Code("SC522", "spark-loss", _NOTE, "something that Spark does not keep")
SPARK_CONNECTOR = Code("SC523", "spark-connector", _WARNING, "a table that lance-spark cannot read")
SPARK_PROPERTY = Code(
    "SC524", "spark-property", _WARNING, "a table property that says something else than the schema"
)
ARROW_LOSS = Code("SC531", "arrow-loss", _NOTE, "something that the Arrow artifact does not keep")
ODF_LOSS = Code("SC532", "odf-loss", _NOTE, "something that the ODF standard cannot say")
UNSUPPORTED_ARROW_TYPE = Code(
    "SC551", "unsupported-arrow-type", _ERROR, "an Arrow type that no kind stands for"
)
UNREADABLE_SOURCE = Code("SC552", "unreadable-source", _ERROR, "a source that cannot be imported")
FOREIGN_SCHEMA = Code("SC553", "foreign-schema", _ERROR, "a schema in a language that is not imported")
LANCE_NULL_VECTOR = Code(
    "SC554", "lance-null-vector", _NOTE, "a vector that may be null, with items that may not"
)
PAIMON_TYPE = Code("SC561", "paimon-type", _ERROR, "a type that Paimon cannot hold")
PAIMON_NAME = Code("SC562", "paimon-name", _ERROR, "a column name that Paimon keeps for itself")
PAIMON_KEY = Code("SC563", "paimon-key", _ERROR, "a key that no table of Paimon can have")
PAIMON_BUCKET = Code("SC564", "paimon-bucket", _ERROR, "buckets that Paimon refuses")
PAIMON_OPTION = Code("SC565", "paimon-option", _ERROR, "an option that does not go with the table")
PAIMON_DEFAULT = Code("SC566", "paimon-default", _ERROR, "a default value that Paimon cannot read")
PAIMON_FORMAT = Code("SC567", "paimon-format", _ERROR, "a type that the table's file format cannot hold")
PAIMON_DESCRIPTION = Code(
    "SC568", "paimon-description", _ERROR, "a description that Paimon takes for an order"
)
PAIMON_LEFT_OUT = Code("SC569", "paimon-left-out", _WARNING, "a dataset that is built without Paimon")
PAIMON_RELEASE = Code(
    "SC570", "paimon-release", _WARNING, "a type that only newer releases of Paimon can store"
)
PAIMON_LOSS = Code("SC576", "paimon-loss", _NOTE, "something that Paimon does not keep")

ICEBERG_TYPE = Code("SC581", "iceberg-type", _ERROR, "a type that Iceberg cannot hold")
ICEBERG_NAME = Code("SC582", "iceberg-name", _ERROR, "names that Iceberg cannot tell apart")
ICEBERG_KEY = Code("SC583", "iceberg-key", _ERROR, "a field that cannot identify rows in Iceberg")
ICEBERG_DEFAULT = Code("SC584", "iceberg-default", _ERROR, "a default value that Iceberg cannot have")
ICEBERG_LOSS = Code("SC585", "iceberg-loss", _NOTE, "something that Iceberg does not keep")

STALE_ARTIFACT = Code(
    "SC541", "stale-artifact", _ERROR, "an artifact that is not what the manifest compiles to"
)
WRITE_FAILED = Code("SC542", "write-failed", _ERROR, "an artifact that cannot be written")
FOREIGN_FOLDER = Code("SC543", "foreign-folder", _ERROR, "an output folder that is not for artifacts alone")
DAMAGED_PROVENANCE = Code(
    "SC544", "damaged-provenance", _ERROR, "a list of artifacts that schemac did not write so"
)
IN_THE_WAY = Code("SC545", "in-the-way", _ERROR, "something that lies where an artifact belongs")

INVALID_CONFIGURATION = Code("SC601", "invalid-configuration", _ERROR, "a configuration that cannot be read")
NOTHING_TO_COMPILE = Code("SC602", "nothing-to-compile", _ERROR, "a run without manifests")
PIPELINE_FILE = Code("SC611", "pipeline-file", _ERROR, "a pipeline file that cannot be read")
PIPELINE_FAILED = Code("SC612", "pipeline-failed", _ERROR, "a pipeline run that could not finish")
PIPELINE_DRIFT = Code("SC613", "pipeline-drift", _ERROR, "a written table that differs from its artifact")
SOURCE_OPTION = Code("SC614", "source-option", _ERROR, "an option of a source that is not honoured")

CATALOGUE: dict[str, Code] = {code.id: code for code in list(globals().values()) if isinstance(code, Code)}
"""All codes by number, in the order of this file."""
