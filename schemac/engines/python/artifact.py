"""Python: the schemas of Spark and Arrow, and the names of the columns, as a module.

Layer: engines.
Shape: `python/<dataset>_schema.py`, one file that is alone, so that it can be a part of a package or go along with
`spark-submit --py-files`. `STRUCT_TYPE` and `ARROW_SCHEMA` are made when they are first asked for: who needs one of them does
not need the library of the other.
Errors: none; what Spark refuses has no StructType, which is a loss. Losses SC588.
Source: the artifacts of Spark and Arrow, as their own targets write them.
"""

import base64
from collections.abc import Iterator, Sequence
from textwrap import wrap

from schemac.artifacts.targets import Artifact, Emission, Target, run_target
from schemac.engines.python import PYTHON_LOSS
from schemac.engines.python_source import NOTICE, docstring, identifiers, literal, module_name
from schemac.language.attributes import builtin
from schemac.language.logical.dataset import LogicalDataset
from schemac.text.source.diagnostic import Severity
from schemac.versions.identity.compilation import Compilation

_SPARK = ("spark", "spark/schema.json")
_ARROW = ("arrow", "arrow/schema.arrow")
_WIDTH = 96


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """Return the module."""
    dataset = compilation.dataset
    lines = [
        *_head(dataset),
        *_columns(dataset),
        *_lazy(_made(*_SPARK, compilation, emission), _made(*_ARROW, compilation, emission)),
    ]
    path = f"python/{module_name(dataset.name, 'schema')}.py"
    return [Artifact(path, "".join(f"{line}\n" for line in lines).encode())]


def _made(engine: str, file: str, compilation: Compilation, emission: Emission) -> bytes | None:
    """Return a file of another target, and enter what it loses; None after entering that this target refuses the schema."""
    run = run_target(engine, compilation)
    artifacts = {artifact.path: artifact.content for artifact in run.artifacts}
    errors = [d for d in run.report.diagnostics if d.severity is Severity.ERROR]
    if errors:
        emission.lose(None, file, f"nothing: {errors[0].message}")
        return None
    entered = {(field, loss.lost, loss.becomes) for loss, field in emission.entries}
    for loss, field in run.emission.entries:
        # The two libraries may lose the same.
        if loss.artifact in ("", file) and (field, loss.lost, loss.becomes) not in entered:
            emission.lose(field, loss.lost, loss.becomes)
    return artifacts[file]


def _head(dataset: LogicalDataset) -> Iterator[str]:
    description = builtin.DESCRIPTION.read(dataset.schema.extra)
    details = f"\n\n{description.strip()}" if description else ""
    yield docstring(f"The schema of {dataset.name}.{details}\n\n{NOTICE}")
    yield ""
    yield "import base64"
    yield "import json"
    yield "from typing import TYPE_CHECKING, Any, Final"
    yield ""
    yield "if TYPE_CHECKING:"
    yield "    import pyarrow as pa"
    yield "    from pyspark.sql.types import StructType"
    yield ""
    yield "    ARROW_SCHEMA: pa.Schema"
    yield "    STRUCT_TYPE: StructType"
    yield ""
    yield f"NAME: Final = {literal(dataset.name)}"
    yield '"""Name of the dataset."""'
    yield ""
    yield ""


def _columns(dataset: LogicalDataset) -> Iterator[str]:
    names = [str(field.segment) for field in dataset.columns]
    constants = identifiers(names)
    yield "class Columns:"
    yield '    """Names of the columns."""'
    yield ""
    for field, name in zip(dataset.columns, names, strict=True):
        yield f"    {constants[name]}: Final = {literal(name)}"
        if builtin.DESCRIPTION.key in field.extra:
            yield f"    {docstring(str(field.extra[builtin.DESCRIPTION.key]), '    ')}"
    yield ""
    yield ""
    listed = ", ".join(f"Columns.{constants[name]}" for name in names)
    yield "COLUMNS: Final[tuple[str, ...]] = ("
    yield from (
        f"    {line}" for line in wrap(f"{listed}," if listed else "", _WIDTH, break_long_words=False)
    )
    yield ")"
    yield '"""Names of the columns, in their order."""'
    yield ""


def _lazy(spark: bytes | None, arrow: bytes | None) -> Iterator[str]:
    yield "_STRUCT_TYPE = ("
    yield from _chunks(literal(line) for line in (spark or b"").decode().splitlines())
    yield ")"
    yield "_ARROW_SCHEMA = ("
    yield from _chunks(f'"{line}"' for line in wrap(base64.b64encode(arrow or b"").decode(), _WIDTH))
    yield ")"
    yield from _FUNCTION


def _chunks(texts: Iterator[str]) -> Sequence[str]:
    return [f"    {text}" for text in texts] or ['    ""']


_FUNCTION = [
    "",
    "",
    "def __getattr__(name: str) -> Any:",
    '    """Make a schema when it is first asked for."""',
    "    found: Any",
    '    if name == "STRUCT_TYPE" and _STRUCT_TYPE:',
    "        from pyspark.sql.types import StructType",
    "",
    "        found = StructType.fromJson(json.loads(_STRUCT_TYPE))",
    '    elif name == "ARROW_SCHEMA" and _ARROW_SCHEMA:',
    "        import pyarrow as pa",
    "",
    "        found = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(_ARROW_SCHEMA)))",
    "    else:",
    '        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")',
    "    globals()[name] = found",
    "    return found",
]


TARGET = Target("python", PYTHON_LOSS, emit)
