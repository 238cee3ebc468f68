"""What may be done to the options of a table with data.

Layer: engines.
Source: `CoreOptions.IMMUTABLE_OPTIONS` and `SchemaManager` of github.com/apache/paimon.
"""

from collections.abc import Mapping

IMMUTABLE = frozenset(
    {
        "type",
        "bucket-key",
        "bucket-function.type",
        "data-file.path-directory",
        "merge-engine",
        "sequence.snapshot-ordering",
        "aggregation.remove-record-on-delete",
        "partial-update.remove-record-on-delete",
        "partial-update.remove-record-on-sequence-group",
        "rowkind.field",
        "primary-key",
        "primary-key.nullable",
        "partition",
        "dynamic-bucket.initial-buckets",
        "force-lookup",
        "row-tracking.enabled",
        "data-evolution.enabled",
        "index-file-in-data-file-dir",
        "blob-field",
        "blob-descriptor-field",
        "blob-view-field",
        "pk-clustering-override",
    }
)
"""Fixed from the first snapshot on."""
NULL_TO_NOT_NULL = "alter-column-null-to-not-null.disabled"
EXPLICIT_CASTS = "disable-explicit-type-casting"
BEFORE_PARTITION = "add-column-before-partition"
_OF_FILES = (
    "file.",
    "parquet.",
    "orc.",
    "avro.",
    "vector.file.",
    "file-index.",
    "target-file-size",
    "changelog-file.",
    "manifest.",
    "metadata.stats-",
)
_ONE_WAY = frozenset({"ignore-delete", "ignore-update-before"})


def is_true(options: Mapping[str, str], key: str, default: bool = False) -> bool:
    """Whether an option says `true`."""
    return options.get(key, str(default)).strip().lower() == "true"


def is_about_files(key: str) -> bool:
    """Whether an option says how files are written."""
    return key.startswith(_OF_FILES)


def option_error(key: str, old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """Why Paimon refuses to change an option of a table with data; empty if it does not."""
    if key in IMMUTABLE:
        return f"the option `{key}` cannot change once the table has data"
    if key == "bucket":
        if key not in new:
            return "the option for a number of buckets cannot be removed"
        if "-1" in (old.get(key, "-1").strip(), new[key].strip()):
            return "a table with a number of buckets cannot become one without, nor the reverse"
    if key in _ONE_WAY and is_true(old, key) and not is_true(new, key):
        return f"the option `{key}` cannot be removed"
    if key == "deletion-vectors.enabled" and not is_true(old, "deletion-vectors.modifiable"):
        return f"the option `{key}` can change only if `deletion-vectors.modifiable` allows it"
    return ""


def after_renames(options: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """Return the options as Paimon has them after columns got other names: it lets those that name columns follow."""

    def renamed(text: str) -> str:
        return ",".join([names.get(name, name) for name in text.split(",")])

    updated: dict[str, str] = {}
    for key, value in options.items():
        if key.startswith("fields."):
            columns, dot, rest = key.removeprefix("fields.").partition(".")
            key = f"fields.{renamed(columns)}{dot}{rest}"
            value = renamed(value) if rest in ("sequence-group", "nested-key") else value
        elif key in ("bucket-key", "sequence.field"):
            value = renamed(value)
        updated[key] = value
    return updated
