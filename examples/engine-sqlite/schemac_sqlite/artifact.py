"""SQLite: the CREATE TABLE of a strict table.

Shape: `sqlite/create_table.sql`, one statement. Lists, maps and structs are JSON in a TEXT.
Errors: SQLITE501 sqlite-name, SQLITE502 sqlite-key; losses SQLITE511.
Source: sqlite.org, "CREATE TABLE" and "STRICT Tables"; names differ in more than the case of ASCII letters.
"""

from collections.abc import Iterator

from schemac.artifacts.targets import Artifact, ArtifactTarget, Emission
from schemac.language.logical.dataset import LogicalDataset, Other
from schemac.language.logical.model import SchemaField
from schemac.versions.identity.compilation import Compilation
from schemac_sqlite.attributes import DEFAULT, PRIMARY_KEY
from schemac_sqlite.codes import SQLITE_KEY, SQLITE_LOSS, SQLITE_NAME
from schemac_sqlite.types import type_of


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """Write the statement."""
    dataset = compilation.dataset
    _check_names(dataset, emission)
    lines = [*(_column(field, emission) for field in dataset.columns), *_key(dataset, emission)]
    body = ",\n  ".join(lines)
    text = f"CREATE TABLE {quoted(dataset.name)} (\n  {body}\n) STRICT;\n"
    return [Artifact("sqlite/create_table.sql", text.encode())]


def quoted(name: str) -> str:
    """Return a name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: str | float) -> str:
    """Return a value as SQL has it."""
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def _check_names(dataset: LogicalDataset, emission: Emission) -> None:
    taken: dict[str, SchemaField] = {}
    for field in dataset.columns:
        folded = "".join(c.lower() if c.isascii() else c for c in str(field.segment))
        if folded in taken:
            message = f"{field.path_text} and {taken[folded].path_text} are one column for SQLite, which ignores case"
            other = Other(taken[folded], "the other one")
            emission.findings.at_name(field, SQLITE_NAME, message, help="rename one of them", other=other)
        taken.setdefault(folded, field)


def _column(field: SchemaField, emission: Emission) -> str:
    type_ = type_of(field)
    if not type_.is_lossless:
        emission.lose(field, field.type.type_text(), type_.name)
    words = [quoted(str(field.segment)), type_.name]
    if not field.is_nullable:
        words.append("NOT NULL")
    default = DEFAULT.read(field.extra)
    if default is not None:
        words += ["DEFAULT", literal(default)]
    return " ".join(words)


def _key(dataset: LogicalDataset, emission: Emission) -> Iterator[str]:
    names = PRIMARY_KEY.read(dataset.schema.extra)
    if names is None:
        return
    known = {str(field.segment) for field in dataset.columns}
    for name in names:
        if name not in known:
            message = f"there is no column '{name}' for the primary key"
            emission.findings.at_schema(
                SQLITE_KEY,
                message,
                *("extra", PRIMARY_KEY.key),
                help=f"the columns are {', '.join(sorted(known))}",
            )
    yield f"PRIMARY KEY ({', '.join(map(quoted, names))})"


def types(compilation: Compilation, emission: Emission) -> dict[SchemaField, str]:
    """Return SQLite's types of the columns."""
    return {
        field: type_of(field).name + ("" if field.is_nullable else " NOT NULL")
        for field in compilation.dataset.columns
    }


TARGET = ArtifactTarget("sqlite", SQLITE_LOSS, emit, types=types)
