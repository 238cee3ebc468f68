"""Finds and reads the settings of a project: `[tool.schemac]` in pyproject.toml, or schemac.toml.

Layer: project.
Shape: the nearest of the two files upwards from the working folder, not past the root of a repository. `project.settings`
checks the values; a configuration without findings is not checked again while it stays the same.
Errors: SC601 invalid-configuration.
"""

import dataclasses
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from schemac.project.cache.store import FOLDER, NO_CACHE, Cache
from schemac.project.discovery import Exclusion, ManifestFile, find_manifests, is_within
from schemac.project.settings_file import Configuration, SettingsFile
from schemac.text.source.catalogue import INVALID_CONFIGURATION
from schemac.text.source.diagnostics import Region, Report
from schemac.text.source.json_object import Json
from schemac.text.source.text import read_file, reason_of

if TYPE_CHECKING:
    # For start-up time: what is found in the cache needs none of them.
    from jsonschema.protocols import Validator

    from schemac.language.lint.run import Selection


_MOST_BYTES = 4 * 1024 * 1024
"""Largest configuration that is read."""
_DEEP = re.compile(rb"(?:\.[ \t]*[A-Za-z0-9_\-\"']+[ \t]*){200}")
"""A key of so many parts that Python's reader of TOML would take hours for it."""


@dataclass(frozen=True)
class Project:
    """A folder with its configuration; without a file, the working folder with the defaults."""

    folder: Path
    configuration: Configuration = dataclasses.field(default_factory=Configuration)
    vocabulary_contents: Mapping[str, bytes] = dataclasses.field(default_factory=dict, repr=False)
    """JSON Schemas by attribute domain, all of them sound."""
    cache: Cache = dataclasses.field(default=NO_CACHE, compare=False, repr=False)
    file: SettingsFile | None = dataclasses.field(default=None, compare=False, repr=False)
    """Where its settings stand."""
    has_custom_rules: bool = True
    """Whether the lint rules in files of the project may run; they are programs, which a user may not trust."""

    @cached_property
    def vocabularies(self) -> "dict[str, Validator]":
        """The vocabularies that its attributes are checked against, by domain."""
        if not self.vocabulary_contents:
            return {}
        from schemac.project.settings import vocabulary  # for start-up time: few projects have any

        return {domain: vocabulary(content) for domain, content in self.vocabulary_contents.items()}

    @cached_property
    def selection(self) -> "Selection":
        """The rules that it enables; files with rules of its own are run to load them. Raises EngineError."""
        from schemac.language.lint.run import Selection

        return Selection(replace(self.configuration.lint, rules=self.rule_files), self.folder)

    @cached_property
    def known_rules(self) -> "Selection":
        """The rules that it enables, without those in its own files: no file of the project is run."""
        from schemac.language.lint.run import Selection  # for start-up time, as above

        return Selection(replace(self.configuration.lint, rules=()), self.folder)

    @property
    def rule_files(self) -> tuple[str, ...]:
        """The files with lint rules of its own; empty if these may not run."""
        return self.configuration.lint.rules if self.has_custom_rules else ()

    @cached_property
    def rule_contents(self) -> tuple[bytes, ...]:
        """The contents of the files with lint rules of its own; empty if one of them cannot be read."""
        try:
            return tuple(read_file(self.folder / file) for file in self.rule_files)
        except OSError:
            return ()

    def path_for_rules(self, manifest: str | Path, name: str) -> str:
        """Return the path by which the settings may give a manifest other rules, relative to the folder; `name` if they give none."""
        return os.path.relpath(manifest, self.folder) if self.configuration.lint.per_path else name

    def report_rules(self, report: Report) -> None:
        """Report unknown rules in its settings that can be checked only by running the project's own rule files."""
        if self.file is None or not self.rule_files:
            return
        key = self.cache.keys("rules", self.configuration.lint).key(self.rule_contents)
        if self.cache.get(key, bool):
            return
        from schemac.project.settings import report_rules  # for start-up time, as above

        local_report = Report()
        report_rules(self.file, lambda: self.selection, local_report)
        report.extend(local_report.diagnostics)
        if not local_report.has_errors:
            self.cache.put(key, True)

    def manifests(self, report: Report) -> list[ManifestFile]:
        """Return the manifests that its settings name."""
        return self.manifests_at(self.configuration.manifests or (".",), self.folder, report)

    def manifests_at(self, paths: Sequence[str], base: Path, report: Report) -> list[ManifestFile]:
        """Return the manifests at paths from a folder, without artifacts and what the settings exclude."""
        out = self.folder / self.configuration.out
        return find_manifests(paths, base, out, report, self.exclusion)

    @cached_property
    def exclusion(self) -> Exclusion:
        """The patterns of paths that discovery leaves out."""
        exclude, more = self.configuration.exclude, self.configuration.extend_exclude
        if exclude is None:
            return Exclusion(self.folder, more)
        return Exclusion(self.folder, (*exclude, *more), frozenset())


def find_project(
    start: Path,
    report: Report,
    explicit: Path | None = None,
    open_cache: Callable[[Path], Cache] = lambda _: NO_CACHE,
    edited: Mapping[str, bytes] = MappingProxyType({}),
    base: Path | None = None,
) -> Project:
    """Return the project of a folder; what is wrong with its configuration is in the report.

    `edited` are texts that count in place of files, by absolute path; findings speak of files from the folder `base`, by
    default from the working folder.

    `open_cache` opens the cache in its folder, if it is a project: if it has a configuration, a repository, or a cache already.
    """
    for path in [explicit] if explicit else _candidates(start):
        here = Path(base or Path.cwd()).resolve()
        folder = Path(os.path.realpath(path)).parent  # a link to itself stays, and cannot be read
        is_near = folder == here or folder in here.parents or here in folder.parents
        name = Path(os.path.relpath(folder / path.name, here)) if is_near else path
        file = SettingsFile(path, name.as_posix(), edited.get(os.path.abspath(path)))
        table = settings_table(file, report)
        if table is not None:
            return _checked_project(file, table, report, open_cache(path.parent))
        if report.has_errors:
            break
    root = _marked_folder(start) if not report.has_errors else None
    return Project(start, cache=open_cache(root) if root is not None else NO_CACHE)


def find_root(start: Path, opened: Sequence[Path] = ()) -> Path | None:
    """Return the folder of the project that a folder belongs to; None if there is no sign of a project.

    It has a configuration, is the innermost of the `opened` folders, or has a repository or a cache.
    """
    for path in _candidates(start):
        report = Report()
        if settings_table(SettingsFile(path, path.name), report) is not None or report.has_errors:
            return path.parent
    around = [folder for folder in opened if folder == start or folder in start.parents]
    return max(around, key=lambda folder: len(folder.parts)) if around else _marked_folder(start)


def repository_of(folder: Path) -> Path | None:
    """Return the folder of the repository that a folder is in; None if it is in none."""
    return next((one for one in (folder, *folder.parents) if os.path.exists(one / ".git")), None)


SETTINGS_FILES = ("schemac.toml", "pyproject.toml")
"""Where settings stand; the first that has some counts."""


def _candidates(start: Path) -> list[Path]:
    """Return the paths of settings in a folder and above it up to the repository's top, the nearest first."""
    candidates: list[Path] = []
    for folder in (start, *start.parents):
        # Also what cannot be read: without its settings a build would give other schemas.
        candidates += [path for name in SETTINGS_FILES if os.path.lexists(path := folder / name)]
        if os.path.exists(folder / ".git"):
            break
    return candidates


def _marked_folder(start: Path) -> Path | None:
    """Return the folder of a project without configuration; None if there is no sign of one."""
    folders = (start, *start.parents)
    return next((one for one in folders if os.path.exists(one / ".git") or os.path.isdir(one / FOLDER)), None)


def settings_table(file: SettingsFile, report: Report) -> Json | None:
    """Return the table of settings in a file; None if there is none."""
    path, content = file.path, file.content
    # Imported here for start-up time: most folders have no such file.
    import tomllib

    try:
        if content is None:
            content = read_file(path, _MOST_BYTES)
        is_readable = len(content) <= _MOST_BYTES and not _DEEP.search(content)
        document = tomllib.loads(content.decode("utf-8")) if is_readable else None
    except (OSError, UnicodeDecodeError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else f"it is not UTF-8: {error.reason}"
        report.add(INVALID_CONFIGURATION, f"cannot read {path.name}: {reason}", file=file.name)
        return None
    except RecursionError:
        document = None
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"at line (\d+), column (\d+)", str(error))
        line, column = (int(at[1]), int(at[2])) if at else (0, 0)
        message = f"{path.name} is not TOML: {re.sub(r' [(]at .*', '', str(error)).lower()}"
        report.add(INVALID_CONFIGURATION, message, file=file.name, at=Region.within(line, column, column + 1))
        return None
    if document is None:
        message = f"{path.name} is nested too deeply or too large for a configuration"
        help = "the page `Settings` of the guide lists all of them"
        report.add(INVALID_CONFIGURATION, message, file=file.name, help=help)
        return None
    if path.name != "pyproject.toml":
        return document
    tool = document.get("tool")
    table = tool.get("schemac") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def _checked_project(file: SettingsFile, table: Json, report: Report, cache: Cache) -> Project:
    """Return a project with checked settings and vocabularies, as cached if possible; without settings if these are invalid."""
    path = file.path
    # The files that the settings name as JSON Schemas, valid or not.
    contents: dict[str, bytes | OSError] = {}
    vocabularies = table.get("vocabularies")
    for domain, name in vocabularies.items() if isinstance(vocabularies, dict) else ():
        if isinstance(name, str):
            try:
                contents[domain] = read_file(path.parent / name)
            except OSError as error:
                contents[domain] = error
    key = _key(path, table, contents, cache)
    configuration = cache.get(key, Configuration) if key is not None else None
    if configuration is None:
        from schemac.language.lint.run import Selection  # for start-up time, as below
        from schemac.project import settings

        configuration = settings.checked_settings(file, table, report)
        if configuration is None:
            return Project(path.parent)
        settings.report_vocabularies(file, configuration.vocabularies, contents, report)
        if "lint" in table:
            settings.report_rule_files(file, configuration, report)
            # Of files of the project nobody knows which rules they have before they are run.
            if not configuration.lint.rules:
                settings.report_rules(file, partial(Selection, configuration.lint, path.parent), report)
        if key is not None and not report.has_errors:
            cache.put(key, configuration)
    if report.has_errors:
        # Whoever goes on, as an editor does, runs nothing of it.
        configuration = replace(configuration, lint=replace(configuration.lint, rules=()))
    sound = {domain: content for domain, content in contents.items() if isinstance(content, bytes)}
    return Project(path.parent, configuration, {} if report.has_errors else sound, cache, file)


def _key(path: Path, table: Json, contents: Mapping[str, bytes | OSError], cache: Cache) -> bytes | None:
    """Return the key of a configuration that was checked; None if a part of it cannot be read."""
    if any(isinstance(content, OSError) for content in contents.values()):
        return None
    lint = table.get("lint")
    files = lint.get("rules") if isinstance(lint, dict) else None
    paths = [
        os.path.realpath(path.parent / file)
        for file in (files if isinstance(files, list) else ())
        if isinstance(file, str)
    ]
    # Whether a rule file is inside the project, and whether it exists.
    rules = [f"{is_within(file, path.parent)} {os.path.isfile(file)}" for file in paths]
    try:
        return cache.keys("configuration", path.name).key(table, rules, contents)
    except (TypeError, RecursionError):
        # TOML has dates and times, and no setting is one.
        return None
