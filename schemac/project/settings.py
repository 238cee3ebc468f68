"""What may stand in `[tool.schemac]` or schemac.toml, and what is wrong with what stands there.

Layer: project.
Shape: `project.configured` has the values; this module is loaded where they have to be checked.
Errors: SC601 invalid-configuration.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from schemac.attributes.own import TargetName
from schemac.attributes.registry import DOMAINS
from schemac.checks.vocabulary import Vocabulary
from schemac.lint.settings import LintSettings
from schemac.logical.system import Variant
from schemac.project.configured import Configuration
from schemac.project.exclusion import is_pattern
from schemac.registry.engine import EngineError
from schemac.registry.installed import version_settings
from schemac.source.catalogue import INVALID_CONFIGURATION
from schemac.source.diagnostic import Edit, Fix
from schemac.source.json_object import Json
from schemac.source.report import Report
from schemac.source.span import WHOLE_FILE, Region
from schemac.source.suggest import shortened
from schemac.source.text import read_file, reason_of
from schemac.syntax.complaints import complaints
from schemac.syntax.reading import Bounds, InvalidValueError, Rule
from schemac.syntax.record import Record, RecordType
from schemac.syntax.remedies import Meant

_DEFAULT = Configuration()


class _Encodings(Record):
    """Encodings of slots without a hint."""

    string: Literal["string", "large_string", "string_view"] = "string"
    """The Arrow type of a String."""
    binary: Literal["binary", "large_binary", "binary_view"] = "binary"
    """The Arrow type of a Binary."""
    list: Literal["list", "large_list", "list_view", "large_list_view"] = "list"
    """The Arrow type of a List."""
    date: Literal["date32", "date64"] = "date32"
    """The Arrow type of a Date."""


class _Lint(Record):
    """Which rules are wanted; each is named by code, by the beginning of codes, by slug or by category."""

    aliases = {
        name: name.replace("_", "-")
        for name in (
            *("extend_select", "per_path", "max_name_length", "max_fields", "max_depth", "max_precision"),
            *("max_key_fields", "max_values"),
        )
    }
    select: tuple[str, ...] = _DEFAULT.lint.select
    """Rules that are wanted; `all`, and `default` for the usual ones."""
    extend_select: tuple[str, ...] = ()
    """Rules that are wanted beside these."""
    ignore: tuple[str, ...] = ()
    """Rules that are not wanted after all."""
    severity: dict[str, Literal["error", "warning", "note"]] = {}
    """How bad the findings of rules are, if not a warning."""
    per_path: dict[str, tuple[str, ...]] = {}
    """Rules that are not wanted in some manifests, by patterns of paths from the project's folder."""
    rules: tuple[str, ...] = ()
    """Python files with rules of the project's own."""
    max_name_length: Annotated[int, Bounds(ge=1)] = _DEFAULT.lint.max_name_length
    """Characters of a name."""
    max_fields: Annotated[int, Bounds(ge=1)] = _DEFAULT.lint.max_fields
    """Fields of a dataset, with those of its structs."""
    max_depth: Annotated[int, Bounds(ge=1)] = _DEFAULT.lint.max_depth
    """Levels of structs, lists and maps, the columns counted."""
    max_precision: Annotated[int, Bounds(ge=1)] = _DEFAULT.lint.max_precision
    """Digits of a decimal."""
    max_key_fields: Annotated[int, Bounds(ge=1)] = _DEFAULT.lint.max_key_fields
    """Fields of a primary key."""
    max_values: Annotated[int, Bounds(ge=1)] = _DEFAULT.lint.max_values
    """Values of an enumeration."""


def _pattern(text: str) -> str:
    """Return a pattern as `.gitignore` has them. Raises ValueError for what is none."""
    if not is_pattern(text):
        raise ValueError(
            f"'{text}' is not a pattern of .gitignore; write one such as `charts/` or `*.tpl.yaml`"
        )
    return text


_Pattern = Annotated[str, Rule(_pattern)]


class _Settings(Record):
    """What a project settles for all its manifests."""

    manifests: tuple[str, ...] = _DEFAULT.manifests
    """Files and folders to compile when the command line names none; the project's folder by default."""
    out: Annotated[str, Bounds(pattern=r"^[^\x00]+$")] = _DEFAULT.out
    """Folder of the artifacts."""
    targets: Annotated[tuple[TargetName, ...], Bounds(min_length=1)] = _DEFAULT.targets
    """The engines to build for."""
    strict: bool = _DEFAULT.strict
    """Accept the standard and nothing else."""
    metadata: bool = _DEFAULT.metadata
    """Let attributes travel as Arrow metadata."""
    encodings: _Encodings = _Encodings.model_construct()
    """Encodings of fields without a hint, at every depth."""
    system_columns: Variant | None = None
    """Insert the standard's system columns, in this variant of their types."""
    exclude: tuple[_Pattern, ...] | None = _DEFAULT.exclude
    """Patterns of what is left out in folders, in place of the usual ones."""
    extend_exclude: tuple[_Pattern, ...] = _DEFAULT.extend_exclude
    """Patterns of what is left out in folders, besides the usual ones."""
    vocabularies: dict[str, str] = {}
    """JSON Schema files by attribute domain."""
    lint: _Lint = _Lint.model_construct()
    """Which rules are wanted."""


if TYPE_CHECKING:

    class Settings(_Settings):
        """What a project settles for all its manifests."""

else:
    # With the version that each engine's warnings, verdicts and plans are to hold for, where they depend on one.
    _versions = version_settings().values()
    Settings = RecordType(
        "Settings",
        (_Settings,),
        {
            "__doc__": _Settings.__doc__,
            "__annotations__": {s.key: Annotated[str, Rule(s.checked)] | None for s in _versions},
            **{s.key: None for s in _versions},
        },
    )


def checked_settings(
    path: Path, table: Json, report: Report, content: bytes | None = None
) -> Configuration | None:
    """Return the values of a table of settings; None after saying what is wrong with it.

    Here and below, `content` is what counts in the place of what the file has.
    """
    try:
        return _values(Settings.model_validate(table))
    except InvalidValueError as error:
        places = _Places(path, content)
        for found in complaints(error, Settings, table):
            at = places.of([str(step) for step in found.path])
            fix = places.fix(at, found.help)
            report.add(INVALID_CONFIGURATION, found.message, file=path.name, at=at, help=found.help, fix=fix)
        return None


def _values(settings: Settings) -> Configuration:
    named = {name: getattr(settings, setting.key) for name, setting in version_settings().items()}
    return Configuration(
        settings.manifests,
        settings.out,
        settings.targets,
        "targets" in settings.model_fields_set,
        settings.strict,
        settings.metadata,
        settings.encodings.model_dump(),
        settings.system_columns,
        settings.vocabularies,
        settings.exclude,
        settings.extend_exclude,
        {name: version for name, version in named.items() if version is not None},
        LintSettings(**settings.lint.model_dump()),
    )


def report_rules(path: Path, project: Configuration, report: Report, content: bytes | None = None) -> None:
    """Say which names of rules in a configuration are of none, and which files of rules cannot be used."""
    from schemac.lint.selection import (
        Selection,  # for start-up time: most projects have no settings for rules
    )

    places = _Places(path, content)
    try:
        selection = Selection(project.lint, path.parent)
    except EngineError as error:
        at = places.of(["lint", "rules"])
        report.add(INVALID_CONFIGURATION, str(error), file=path.name, at=at)
        return
    for keys, word, near in selection.unknown():
        at = places.of(["lint", *keys, word])
        help = Meant.word(near, word) if near else "`schemac explain` lists the codes of all rules"
        report.add(
            INVALID_CONFIGURATION,
            f"there is no rule '{word}'",
            file=path.name,
            at=at,
            help=help,
            fix=places.fix(at, help),
        )


def report_vocabularies(
    path: Path,
    files: Mapping[str, str],
    contents: Mapping[str, bytes | OSError],
    report: Report,
    content: bytes | None = None,
) -> None:
    """Say what is wrong with the vocabularies that a configuration names, by their domains."""
    places = _Places(path, content)
    for domain, file in files.items():
        at = places.of(["vocabularies", domain])
        if domain in DOMAINS:
            report.add(
                INVALID_CONFIGURATION,
                f"the domain {domain} is closed, and schemac checks it itself",
                file=path.name,
                at=at,
                help="register vocabularies only for your own domains",
            )
        elif (wrong := _what_is_wrong(file, contents[domain])) is not None:
            report.add(INVALID_CONFIGURATION, f"the vocabulary {wrong}", file=path.name, at=at)


def _what_is_wrong(file: str, content: bytes | OSError) -> str | None:
    # Imported here for start-up time: only projects with vocabularies need jsonschema.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError as InvalidSchema

    shown = shortened(file)
    if isinstance(content, OSError):
        return f"{shown} cannot be read: {reason_of(content)}"
    try:
        Draft202012Validator.check_schema(json.loads(content))
    except ValueError as error:
        return f"{shown} cannot be read: {error}"
    except RecursionError:
        return f"{shown} cannot be read: it is nested too deeply"
    except InvalidSchema as error:
        return f"{file} is not a valid JSON Schema: {error.message}"
    return None


def vocabulary(domain: str, content: bytes) -> Vocabulary:
    """Return a vocabulary of which `report_vocabularies` has nothing to say."""
    from jsonschema import Draft202012Validator  # for start-up time, as above
    from jsonschema_specifications import REGISTRY

    # With this registry, nothing is fetched from elsewhere: a build depends on the project alone.
    schema: Any = json.loads(content)
    return Vocabulary(domain, Draft202012Validator(schema, registry=REGISTRY))


def place_of_setting(path: Path, keys: Sequence[str], edited: Mapping[str, bytes]) -> Region:
    """Return where a setting stands; `edited` are texts that count in the place of files, by absolute path."""
    return _Places(path, edited.get(os.path.abspath(path))).of(keys)


class _Places:
    """Where the keys of a file stand; TOML's reader keeps no positions."""

    def __init__(self, path: Path, content: bytes | None) -> None:
        self._path, self._content = path, content

    def of(self, keys: Sequence[str]) -> Region:
        """Return the line of the innermost key that can be found."""
        return next((self._first[key] for key in reversed(keys) if key in self._first), WHOLE_FILE)

    def fix(self, at: Region, help: str) -> Fix | None:
        """Return the fix that writes the word that was meant, where the other one stands once in the file, and in this line."""
        name = self._path.name
        if not isinstance(help, Meant) or not at.line or not self._is_here:
            return None
        word = re.compile(rf"(?<![\w.-]){re.escape(help.instead_of)}(?![\w.-])")
        found = [(n, m) for n, line in enumerate(self._lines, start=1) for m in word.finditer(line)]
        if len(found) != 1 or found[0][0] != at.line:
            return None
        (number, match) = found[0]
        region = Region.within(number, match.start() + 1, match.end() + 1)
        return Fix(str(help), (Edit(name, *region, help.text),), help.is_safe)

    @property
    def _is_here(self) -> bool:
        """Whether the name alone leads to the file: findings have no more of it."""
        name = self._path.name
        return os.path.exists(name) and os.path.samefile(name, self._path)

    @cached_property
    def _lines(self) -> list[str]:
        content = read_file(self._path) if self._content is None else self._content
        return content.decode("utf-8").splitlines()

    @cached_property
    def _first(self) -> dict[str, Region]:
        found: dict[str, Region] = {}
        for number, line in enumerate(self._lines, start=1):
            head = _HEAD.match(line)
            for key in _KEY.finditer(head[0] if head is not None else ""):
                group = key.lastindex or 0
                found.setdefault(key[group], Region.within(number, key.start(group) + 1, key.end(group) + 1))
        return found


_HEAD = re.compile(r"(?:[^=#\"']|\"[^\"]*\"|'[^']*')*[\]=]")
"""A line as far as its keys go: to the sign of equality, or the end of a table's header."""
_KEY = re.compile(r"\"([^\"]*)\"|'([^']*)'|([A-Za-z0-9_-]+)")
