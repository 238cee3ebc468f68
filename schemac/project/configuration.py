"""`[tool.schemac]` in pyproject.toml, or schemac.toml.

Floor: 12 (project).
Shape: the nearest of the two files upwards from the working folder, not past the root of a repository.
Errors: SC601 invalid-configuration.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field, Strict, ValidationError

from schemac.attributes.arrow import ArrowDefaults
from schemac.attributes.own import TargetName
from schemac.attributes.registry import DOMAINS
from schemac.checks.vocabulary import Vocabulary
from schemac.logical.model import Model
from schemac.logical.system import Variant
from schemac.source.catalogue import INVALID_CONFIGURATION
from schemac.source.report import Report
from schemac.syntax.complaints import complaints
from schemac.targets._spark.versions import Connector


class Encodings(Model):
    """Encodings of slots without a hint."""

    string: Literal["string", "large_string", "string_view"] = "string"
    binary: Literal["binary", "large_binary", "binary_view"] = "binary"
    list: Literal["list", "large_list", "list_view", "large_list_view"] = "list"
    date: Literal["date32", "date64"] = "date32"


class Configuration(Model):
    """What a project settles for all its manifests."""

    manifests: Annotated[tuple[str, ...], Strict(False)] = ()
    """Files and folders to compile when the command line names none; the project's folder by default."""
    out: str = "build"
    """Folder of the artifacts."""
    targets: Annotated[tuple[TargetName, ...], Strict(False), Field(min_length=1)] = get_args(TargetName)
    strict: bool = False
    """Accept the standard and nothing else."""
    metadata: bool = True
    """Let attributes travel as Arrow metadata."""
    encodings: Encodings = Field(default_factory=Encodings.model_construct)
    lance_spark: Annotated[str, AfterValidator(lambda text: Connector.of(text).version)] | None = None
    """The version of lance-spark that warnings, verdicts and plans are to hold for; the newest known by default."""
    system_columns: Variant | None = None
    """Insert the standard's system columns, in this variant of their types."""
    vocabularies: dict[str, str] = {}
    """JSON Schema files by attribute domain."""


@dataclass(frozen=True, slots=True)
class Project:
    """A folder with its configuration; without a file, the working folder with the defaults."""

    folder: Path
    # Constructed, not validated: defaults are sound, and the validator takes time to make.
    configuration: Configuration = field(default_factory=Configuration.model_construct)
    vocabularies: tuple[Vocabulary, ...] = ()

    @property
    def versions(self) -> dict[str, str]:
        """Versions of engines, where the project names one."""
        version = self.configuration.lance_spark
        return {} if version is None else {"spark": version}

    @property
    def defaults(self) -> ArrowDefaults:
        """Encodings of slots without a hint, as lowering takes them."""
        return ArrowDefaults(**self.configuration.encodings.model_dump())


def find_project(start: Path, report: Report, explicit: Path | None = None) -> Project:
    """The project of a folder; what is wrong with its configuration is in the report."""
    for path in [explicit] if explicit else _candidates(start):
        table = _read(path, report)
        if table is not None:
            return _project(path, table, report)
        if report.has_errors:
            break
    return Project(start)


def _candidates(start: Path) -> list[Path]:
    found: list[Path] = []
    for folder in (start, *start.parents):
        found += [path for name in ("schemac.toml", "pyproject.toml") if (path := folder / name).is_file()]
        if (folder / ".git").exists():
            break
    return found


def _read(path: Path, report: Report) -> dict[str, Any] | None:
    """The table of settings in a file; None where the file has none."""
    # Imported here for start-up time: most folders have no such file.
    import tomllib

    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        report.add(INVALID_CONFIGURATION, f"cannot read {path.name}: {error}", file=path.name)
        return None
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"at line (\d+), column (\d+)", str(error))
        line, column = (int(at[1]), int(at[2])) if at else (0, 0)
        message = f"{path.name} is not TOML: {re.sub(r' [(]at .*', '', str(error)).lower()}"
        report.add(INVALID_CONFIGURATION, message, file=path.name, at=(line, column, line, column + 1))
        return None
    if path.name != "pyproject.toml":
        return document
    tool = document.get("tool")
    table = tool.get("schemac") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def _project(path: Path, table: dict[str, Any], report: Report) -> Project:
    try:
        configuration = Configuration.model_validate(table)
    except ValidationError as error:
        for found in complaints(error, Configuration, table):
            at = _place(path, [str(step) for step in found.path])
            report.add(INVALID_CONFIGURATION, found.message, file=path.name, at=at, help=found.help)
        return Project(path.parent)
    vocabularies = [
        _vocabulary(path, domain, file, report) for domain, file in configuration.vocabularies.items()
    ]
    return Project(path.parent, configuration, tuple(v for v in vocabularies if v is not None))


def _vocabulary(path: Path, domain: str, file: str, report: Report) -> Vocabulary | None:
    # Imported here for start-up time: only projects with vocabularies need jsonschema.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError as InvalidSchema

    at = _place(path, ["vocabularies", domain])
    if domain in DOMAINS:
        message = f"the domain {domain} is closed and has its own checks"
        report.add(
            INVALID_CONFIGURATION,
            message,
            file=path.name,
            at=at,
            help="register vocabularies for your own domains",
        )
        return None
    try:
        schema = json.loads((path.parent / file).read_bytes())
        Draft202012Validator.check_schema(schema)
    except (OSError, ValueError) as error:
        report.add(
            INVALID_CONFIGURATION, f"the vocabulary {file} cannot be read: {error}", file=path.name, at=at
        )
        return None
    except InvalidSchema as error:
        message = f"the vocabulary {file} is no JSON Schema: {error.message}"
        report.add(INVALID_CONFIGURATION, message, file=path.name, at=at)
        return None
    return Vocabulary(domain, Draft202012Validator(schema))


def _place(path: Path, keys: list[str]) -> tuple[int, int, int, int]:
    """The line of the innermost key that can be found; TOML's reader keeps no positions."""
    for key in reversed(keys):
        pattern = re.compile(rf"^\s*\[?[^=#\n]*?[\"']?({re.escape(key)})[\"']?\s*[\]=.]")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if match := pattern.match(line):
                return (number, match.start(1) + 1, number, match.end(1) + 1)
    return (0, 0, 0, 0)
