"""Python: the schemas of Spark and Arrow, and the names of the columns, as a module.

Layer: engines.
Shape: `python/<dataset>_schema.py`, one file that is alone, so that it can be a part of a package or go along with
`spark-submit --py-files`. `STRUCT_TYPE` and `ARROW_SCHEMA` are made when they are first asked for: who needs one of them does
not need the library of the other.
Errors: none; what Spark refuses has no StructType, which is a loss. Losses SC588.
Source: the artifacts of Spark and Arrow, as their own targets write them.
"""

import base64
from importlib.resources import files
from string import Template
from textwrap import wrap

from schemac.artifacts.targets import Artifact, ArtifactTarget, Emission, run_target
from schemac.engines.python import PYTHON_LOSS
from schemac.engines.python_source import NOTICE, docstring, identifiers, literal, module_name
from schemac.language.attributes import builtin
from schemac.versions.identity.compilation import Compilation

_WIDTH = 96
_MODULE = Template(files(__package__).joinpath("module.py.template").read_text(encoding="utf-8"))


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """Return the module with the schemas and column names of a dataset."""
    dataset = compilation.dataset
    spark = _file_of_target("spark", "spark/schema.json", compilation, emission)
    arrow = _file_of_target("arrow", "arrow/schema.arrow", compilation, emission)
    description = builtin.DESCRIPTION.read(dataset.schema.extra)
    details = f"\n\n{description.strip()}" if description else ""
    names = [str(field.segment) for field in dataset.columns]
    identifiers_by_name = identifiers(names)
    constants: list[str] = []
    for field, name in zip(dataset.columns, names, strict=True):
        constants.append(f"{identifiers_by_name[name]}: Final = {literal(name)}")
        if builtin.DESCRIPTION.key in field.extra:
            constants.append(docstring(str(field.extra[builtin.DESCRIPTION.key]), "    "))
    listed = "".join(f"Columns.{identifiers_by_name[name]}, " for name in names).rstrip()
    module = _MODULE.substitute(
        head=docstring(f"The schema of {dataset.name}.{details}\n\n{NOTICE}"),
        name=literal(dataset.name),
        constants=_lines(constants),
        columns=_lines(wrap(listed, _WIDTH, break_long_words=False)),
        spark=_lines([literal(line) for line in spark.decode().splitlines()] or ['""']),
        arrow=_lines([f'"{line}"' for line in wrap(base64.b64encode(arrow).decode(), _WIDTH)] or ['""']),
    )
    return [Artifact(f"python/{module_name(dataset.name, 'schema')}.py", module.encode())]


def _lines(texts: list[str]) -> str:
    """Return one indented line for each text, with a line break at the end."""
    return "".join(f"    {text}\n" for text in texts)


def _file_of_target(engine: str, file: str, compilation: Compilation, emission: Emission) -> bytes:
    """Return a file of another target, and enter what it loses; empty after entering that this target refuses the schema."""
    run = run_target(engine, compilation)
    errors = run.report.errors
    if errors:
        emission.lose(None, file, f"nothing: {errors[0].message}")
        return b""
    entered = {(field, loss.lost, loss.becomes) for loss, field in emission.entries}
    for loss, field in run.emission.entries:
        # The two libraries may lose the same.
        if loss.artifact in ("", file) and (field, loss.lost, loss.becomes) not in entered:
            emission.lose(field, loss.lost, loss.becomes)
    return next(artifact.content for artifact in run.artifacts if artifact.path == file)


TARGET = ArtifactTarget("python", PYTHON_LOSS, emit)
