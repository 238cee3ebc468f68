"""The keys by which lance-spark finds in a column what Spark's types cannot say.

Layer: arrow.
Shape: keys of StructField metadata, and by each of them the table property that says the same of a top-level column.
Source: `SchemaConverter` and `LanceArrowUtils` of github.com/lance-format/lance-spark.
"""

VECTOR_SIZE = "arrow.fixed-size-list.size"
BYTE_WIDTH = "arrow.fixed-size-binary.byte-width"
FLOAT16 = "arrow.float16"
DATE_MILLISECOND = "arrow.date-millisecond"
LARGE_STRING = "arrow:large-var-char"
LARGE_BINARY = "arrow:large-var-binary"
LARGE_LIST = "arrow.large_list"
CHILD_NAME = "_lance.list.child.name"
CHILD_KEYS = {"List": ("_lance.element",), "Map": ("_lance.key", "_lance.value")}
COMMENT = "comment"
FILE_FORMAT_VERSION = "file_format_version"
"""Table property with the version of the data files; without it the connector takes an older one."""

TYPE_MARKS = frozenset(
    {
        *(VECTOR_SIZE, BYTE_WIDTH, FLOAT16, DATE_MILLISECOND, LARGE_STRING, LARGE_BINARY, LARGE_LIST),
        *(CHILD_NAME, *CHILD_KEYS["List"], *CHILD_KEYS["Map"]),
    }
)
"""Those that only repeat what the Arrow type says, once there is a table."""
VECTOR_ELEMENTS = ("float", "double")
"""Items that a vector made by a table property may have."""
ENCODINGS = ("compression", "compression-level", "structural-encoding", "rle-threshold", "bss")
"""Encodings that have a table property."""
