"""`[tool.schemac]` in pyproject.toml, or schemac.toml.

Layer: project.
Shape: the nearest of the two files upwards from the working folder, not past the root of a repository.
Errors: SC601 invalid-configuration.
"""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from schemac.artifacts.emission import default_targets
from schemac.attributes.arrow import ArrowDefaults
from schemac.attributes.own import TargetName
from schemac.attributes.registry import DOMAINS
from schemac.checks.vocabulary import Vocabulary
from schemac.logical.system import Variant
from schemac.registry.installed import version_settings
from schemac.source.catalogue import INVALID_CONFIGURATION
from schemac.source.json_object import Json
from schemac.source.report import Report
from schemac.source.span import WHOLE_FILE, Region
from schemac.source.suggest import shortened
from schemac.source.text import read_file, reason_of
from schemac.syntax.complaints import complaints
from schemac.syntax.reading import Bounds, InvalidValueError, Rule
from schemac.syntax.record import Record, RecordType

_MOST_BYTES = 4 * 1024 * 1024
"""Largest configuration that is read."""
_DEEP = re.compile(rb"(?:\.[ \t]*[A-Za-z0-9_\-\"']+[ \t]*){200}")
"""A key of so many parts that Python's reader of TOML would take hours for it."""


class Encodings(Record):
    """Encodings of slots without a hint."""

    string: Literal["string", "large_string", "string_view"] = "string"
    binary: Literal["binary", "large_binary", "binary_view"] = "binary"
    list: Literal["list", "large_list", "list_view", "large_list_view"] = "list"
    date: Literal["date32", "date64"] = "date32"


class _Settings(Record):
    """What a project settles for all its manifests."""

    manifests: tuple[str, ...] = ()
    """Files and folders to compile when the command line names none; the project's folder by default."""
    out: Annotated[str, Bounds(pattern=r"^[^\x00]+$")] = "build"
    """Folder of the artifacts."""
    targets: Annotated[tuple[TargetName, ...], Bounds(min_length=1)] = default_targets()
    strict: bool = False
    """Accept the standard and nothing else."""
    metadata: bool = True
    """Let attributes travel as Arrow metadata."""
    encodings: Encodings = Encodings.model_construct()
    system_columns: Variant | None = None
    """Insert the standard's system columns, in this variant of their types."""
    vocabularies: dict[str, str] = {}
    """JSON Schema files by attribute domain."""


if TYPE_CHECKING:

    class Configuration(_Settings):
        """What a project settles for all its manifests."""

else:
    # With the version that each engine's warnings, verdicts and plans are to hold for, where they depend on one.
    _settings = version_settings().values()
    Configuration = RecordType(
        "Configuration",
        (_Settings,),
        {
            "__doc__": _Settings.__doc__,
            "__annotations__": {s.key: Annotated[str, Rule(s.checked)] | None for s in _settings},
            **{s.key: None for s in _settings},
        },
    )


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
        named = {
            name: getattr(self.configuration, setting.key) for name, setting in version_settings().items()
        }
        return {name: version for name, version in named.items() if version is not None}

    @property
    def defaults(self) -> ArrowDefaults:
        """Encodings of slots without a hint, as lowering takes them."""
        return ArrowDefaults(**self.configuration.encodings.model_dump())


def find_project(start: Path, report: Report, explicit: Path | None = None) -> Project:
    """Return the project of a folder; what is wrong with its configuration is in the report."""
    for path in [explicit] if explicit else _candidates(start):
        table = _read(path, report)
        if table is not None:
            return _project(path, table, report)
        if report.has_errors:
            break
    return Project(start)


FILES = ("schemac.toml", "pyproject.toml")
"""Where settings stand; the first that has some counts."""


def _candidates(start: Path) -> list[Path]:
    found: list[Path] = []
    for folder in (start, *start.parents):
        # Also what cannot be read: without its settings a build would give other schemas.
        found += [path for name in FILES if os.path.lexists(path := folder / name)]
        if (folder / ".git").exists():
            break
    return found


def _read(path: Path, report: Report) -> Json | None:
    """Return the table of settings in a file; None where the file has none."""
    # Imported here for start-up time: most folders have no such file.
    import tomllib

    try:
        document = _parsed(read_file(path, _MOST_BYTES))
    except (OSError, UnicodeDecodeError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else f"it is not UTF-8: {error.reason}"
        report.add(INVALID_CONFIGURATION, f"cannot read {path.name}: {reason}", file=path.name)
        return None
    except RecursionError:
        message = f"{path.name} is nested too deeply or too large for a configuration"
        report.add(INVALID_CONFIGURATION, message, file=path.name, help="see `[tool.schemac]` in the README")
        return None
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"at line (\d+), column (\d+)", str(error))
        line, column = (int(at[1]), int(at[2])) if at else (0, 0)
        message = f"{path.name} is not TOML: {re.sub(r' [(]at .*', '', str(error)).lower()}"
        report.add(INVALID_CONFIGURATION, message, file=path.name, at=Region.within(line, column, column + 1))
        return None
    if path.name != "pyproject.toml":
        return document
    tool = document.get("tool")
    table = tool.get("schemac") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def _parsed(content: bytes) -> Json:
    """Return the document of a text. Raises RecursionError for one that would take too long to read."""
    import tomllib  # for start-up time, as above

    if len(content) > _MOST_BYTES or _DEEP.search(content):
        raise RecursionError
    return tomllib.loads(content.decode("utf-8"))


def _project(path: Path, table: Json, report: Report) -> Project:
    places = _Places(path)
    try:
        configuration = Configuration.model_validate(table)
    except InvalidValueError as error:
        for found in complaints(error, Configuration, table):
            at = places.of([str(step) for step in found.path])
            report.add(INVALID_CONFIGURATION, found.message, file=path.name, at=at, help=found.help)
        return Project(path.parent)
    vocabularies = [
        _vocabulary(path, domain, file, places, report) for domain, file in configuration.vocabularies.items()
    ]
    return Project(path.parent, configuration, tuple(v for v in vocabularies if v is not None))


def _vocabulary(path: Path, domain: str, file: str, places: "_Places", report: Report) -> Vocabulary | None:
    # Imported here for start-up time: only projects with vocabularies need jsonschema.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError as InvalidSchema
    from jsonschema_specifications import REGISTRY

    at = places.of(["vocabularies", domain])
    if domain in DOMAINS:
        message = f"the domain {domain} is closed, and schemac checks it itself"
        report.add(
            INVALID_CONFIGURATION,
            message,
            file=path.name,
            at=at,
            help="register vocabularies only for your own domains",
        )
        return None
    try:
        schema = json.loads(read_file(path.parent / file))
        Draft202012Validator.check_schema(schema)
    except (OSError, ValueError, RecursionError) as error:
        shown, reason = shortened(file), reason_of(error) if isinstance(error, OSError) else str(error)
        if isinstance(error, RecursionError):
            reason = "it is nested too deeply"
        message = f"the vocabulary {shown} cannot be read: {reason}"
        report.add(INVALID_CONFIGURATION, message, file=path.name, at=at)
        return None
    except InvalidSchema as error:
        message = f"the vocabulary {file} is not a valid JSON Schema: {error.message}"
        report.add(INVALID_CONFIGURATION, message, file=path.name, at=at)
        return None
    # With this registry, nothing is fetched from elsewhere: a build depends on the project alone.
    return Vocabulary(domain, Draft202012Validator(schema, registry=REGISTRY))


class _Places:
    """Where the keys of a file stand; TOML's reader keeps no positions."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def of(self, keys: Sequence[str]) -> Region:
        """Return the line of the innermost key that can be found."""
        return next((self._first[key] for key in reversed(keys) if key in self._first), WHOLE_FILE)

    @cached_property
    def _first(self) -> dict[str, Region]:
        found: dict[str, Region] = {}
        for number, line in enumerate(read_file(self._path).decode("utf-8").splitlines(), start=1):
            head = _HEAD.match(line)
            for key in _KEY.finditer(head[0] if head is not None else ""):
                group = key.lastindex or 0
                found.setdefault(key[group], Region.within(number, key.start(group) + 1, key.end(group) + 1))
        return found


_HEAD = re.compile(r"(?:[^=#\"']|\"[^\"]*\"|'[^']*')*[\]=]")
"""A line as far as its keys go: to the sign of equality, or the end of a table's header."""
_KEY = re.compile(r"\"([^\"]*)\"|'([^']*)'|([A-Za-z0-9_-]+)")
