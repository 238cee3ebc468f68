"""The keys by which lance-spark finds in a column what Spark's types cannot say.

Layer: engines.
Shape: keys of StructField metadata, some of which have a table property that says the same of a top-level column. What the
connector leaves of them in the tables that it makes is the engine's `ArrowForm`.
Source: `SchemaConverter` and `LanceArrowUtils` of github.com/lance-format/lance-spark.
"""

from schemac.arrow.metadata import ArrowForm

VECTOR_SIZE = "arrow.fixed-size-list.size"
BYTE_WIDTH = "arrow.fixed-size-binary.byte-width"
FLOAT16 = "arrow.float16"
DATE_MILLISECOND = "arrow.date-millisecond"
LARGE_STRING = "arrow:large-var-char"
LARGE_BINARY = "arrow:large-var-binary"
LARGE_LIST = "arrow.large_list"
CHILD_NAME = "_lance.list.child.name"
ITEM_KEYS = ("_lance.element",)
ENTRY_KEYS = ("_lance.key", "_lance.value")
COMMENT = "comment"
FILE_FORMAT_VERSION = "file_format_version"
"""Table property with the version of the data files; without it the connector takes an older one."""

TYPE_MARKS = frozenset(
    {
        *(VECTOR_SIZE, BYTE_WIDTH, FLOAT16, DATE_MILLISECOND, LARGE_STRING, LARGE_BINARY, LARGE_LIST),
        *(CHILD_NAME, *ITEM_KEYS, *ENTRY_KEYS),
    }
)
"""Those that only repeat what the Arrow type says, once there is a table."""
VECTOR_ELEMENTS = ("float", "double")
"""Items that a vector made by a table property may have."""
ENCODINGS = ("compression", "compression-level", "structural-encoding", "rle-threshold", "bss")
"""Encodings that have a table property."""
ENCODING_PREFIX = "lance-encoding:"
BLOB = f"{ENCODING_PREFIX}blob"
BLOB_EXTENSION = "lance.blob.v2"
PRIMARY_KEY = "lance-schema:unenforced-primary-key"
PRIMARY_KEY_POSITION = f"{PRIMARY_KEY}:position"


class SparkForm(ArrowForm):
    """What lance-spark leaves in the fields of a table."""

    repeated = TYPE_MARKS
    description = COMMENT


FORM = SparkForm()
