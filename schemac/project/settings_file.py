"""The values of a project's settings, and the file that they are in with the place of each: Python's reader of TOML keeps none.

Layer: project.
Units: offsets of code points, half-open.
Source: toml.io, version 1.0.0. The text has been read as TOML before; what is not TOML has no places.
"""

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from schemac.language.lint.settings import LintSettings
from schemac.language.logical.names import Variant
from schemac.registry.engine import default_targets
from schemac.text.source.catalogue import INVALID_CONFIGURATION
from schemac.text.source.diagnostics import WHOLE_FILE, Code, Edit, Fix, Report, SourceText, Span
from schemac.text.source.phrases import Help, quoted
from schemac.text.source.text import read_file

_Path = tuple[str, ...]
_TOKEN = re.compile(
    r'(?P<blank>[ \t\r]+|\n|#[^\n]*)|(?P<text>"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\')'
    r"|(?P<mark>[\[\]{},=])|(?P<bare>[^\s\[\]{},=#\"']+)",
    re.DOTALL,
)
_PART = re.compile(r"\"(?:\\.|[^\"\\])*\"|'[^']*'|[^.\s\"']+")


@dataclass(frozen=True)
class Configuration:
    """Settings for all manifests of a project."""

    manifests: tuple[str, ...] = ()
    """Files and folders to compile if the command line names none; by default the project's folder."""
    out: str = "build"
    """Folder of the artifacts."""
    targets: tuple[str, ...] = dataclasses.field(default_factory=default_targets)
    are_targets_named: bool = False
    """Whether the project says which targets it has."""
    strict: bool = False
    """Accept only what is in the standard."""
    metadata: bool = True
    """Write attributes into the Arrow metadata."""
    encodings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Encodings of fields without a hint, if they are not Arrow's defaults."""
    system_columns: Variant | None = None
    """Insert the standard's system columns, in this variant of their types."""
    vocabularies: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """JSON Schema files by attribute domain."""
    exclude: tuple[str, ...] | None = None
    """Patterns of files and folders to skip; None for the default ones."""
    extend_exclude: tuple[str, ...] = ()
    """Further patterns of files and folders to skip."""
    import_folders: tuple[str, ...] = ()
    """Folders outside the project and its repository that manifests may import from."""
    versions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Versions of engines, where the project names one."""
    files: tuple[str, ...] = ()
    """Artifacts that are written only where they are asked for."""
    lint: LintSettings = dataclasses.field(default_factory=LintSettings)
    """Which rules are enabled."""


class Setting(NamedTuple):
    """A key with its value, or an item of a list."""

    key: Span
    """Of an item, the same as its value."""
    value: Span
    is_inline: bool
    """Whether it is between brackets."""


@dataclass(frozen=True)
class SettingsFile:
    """A file of settings as findings speak of it."""

    path: Path
    name: str
    """From the folder that all findings speak from."""
    content: bytes | None = None
    """What counts in place of what the file has."""

    def report(
        self,
        message: str,
        keys: Sequence[str],
        report: Report,
        help: str = "",
        *,
        on_key: bool = False,
        code: Code = INVALID_CONFIGURATION,
    ) -> None:
        """Report a finding about a setting, or about its key; a help that names a fix becomes that fix."""
        fix = self._fix(keys, help, on_key=on_key)
        # At the innermost of the keys that exists.
        around = (self._settings.get(tuple(keys[:n])) for n in range(len(keys), 0, -1))
        setting = next(filter(None, around), None)
        at = self._text.region(setting.key) if setting is not None else WHOLE_FILE
        report.add(code, message, file=self.name, at=at, help=help, fix=fix)

    def _fix(self, keys: Sequence[str], help: str, *, on_key: bool) -> Fix | None:
        """Return the fix for a finding about a setting or its key with this help; None if there is none."""
        setting = self._settings.get(tuple(keys))
        if setting is None or not isinstance(help, Help):
            return None
        span = setting.key if on_key else setting.value
        old = self._text.excerpt(span)
        new: str | None = None
        match help.fix_name, help.arguments:
            case "did_you_mean", {"near": near, "instead_of": instead_of}:
                word = old[1:-1] if old[:1] in ("'", '"') else old
                new = old.replace(word, near) if word == instead_of else None
            case "quote", _:
                new = quoted(old) if not old.startswith(('"', "'", "[", "{")) else None
            case "remove", _:
                # What goes with it: its lines, or the comma behind it.
                content, new = self._text.content, ""
                if setting.is_inline:
                    after = re.compile(r"\s*,\s*").match(content, setting.value.end)
                    before = None if after else re.compile(r"\s*,\s*\Z").search(content[: setting.key.start])
                    start = before.start() if before is not None else setting.key.start
                    span = Span(start, after.end() if after is not None else setting.value.end)
                else:
                    end = content.find("\n", setting.value.end)
                    start = content.rfind("\n", 0, setting.key.start) + 1
                    span = Span(start, len(content) if end < 0 else end + 1)
                old = self._text.excerpt(span)
            case "write", {"key": "", "text": text} if re.fullmatch(r"[+-]?\d+|true|false", text):
                new = text
        if new is None or new == old:
            return None
        edit = Edit(self.name, *self._text.region(span), new)
        return Fix(str(help), (edit,), help.is_safe and "#" not in old)

    @cached_property
    def _text(self) -> SourceText:
        """The text of the file without a byte order mark; raises OSError, or UnicodeDecodeError if it is not UTF-8."""
        content = read_file(self.path) if self.content is None else self.content
        return SourceText(content.decode("utf-8").removeprefix("\ufeff"), self.name)

    @cached_property
    def _settings(self) -> dict[_Path, Setting]:
        """The places of settings by their paths without `tool.schemac`; of one that is there twice, the first."""
        settings: dict[_Path, Setting] = {}
        root = ("tool", "schemac") if self.path.name == "pyproject.toml" else ()
        for path, setting in _Reader(self._text.content).settings():
            if path[: len(root)] == root and len(path) > len(root):
                settings.setdefault(path[len(root) :], setting)
        return settings


class _Reader:
    """Reads the places of a text that is TOML."""

    def __init__(self, content: str) -> None:
        self._content = content
        self._tokens = [m for m in _TOKEN.finditer(content) if m.lastgroup != "blank"]
        self._at = 0

    def settings(self) -> Iterator[tuple[_Path, Setting]]:
        """Yield everything that has a place, by the keys that lead to it; items of lists by their numbers."""
        table: _Path = ()
        while self._at < len(self._tokens):
            if self._tokens[self._at][0] == "[":
                while self._take("["):
                    pass
                table, span = self._key()
                while self._take("]"):
                    pass
                yield table, Setting(span, span, is_inline=False)
            else:
                yield from self._pair(table, is_inline=False)

    def _take(self, mark: str) -> bool:
        """Step over a sign if it comes next; return whether it does."""
        is_here = self._at < len(self._tokens) and self._tokens[self._at][0] == mark
        self._at += is_here
        return is_here

    def _key(self) -> tuple[_Path, Span]:
        """Read a key with dots; the span is that of its last part."""
        start = self._tokens[self._at].start()
        end = start
        while self._at < len(self._tokens) and self._tokens[self._at].lastgroup != "mark":
            end = self._tokens[self._at].end()
            self._at += 1
        parts = list(_PART.finditer(self._content, start, end))
        names = tuple(m[0][1:-1] if m[0][0] in "\"'" else m[0] for m in parts)
        return names, Span(*parts[-1].span()) if parts else Span(start, end)

    def _pair(self, table: _Path, *, is_inline: bool) -> Iterator[tuple[_Path, Setting]]:
        """Yield the setting of `key = value`, before it the tables of a dotted key, and after it what the value contains."""
        names, key = self._key()
        if not self._take("=") or self._at >= len(self._tokens):
            # It is no TOML: the rest has no places.
            self._at = len(self._tokens)
            return
        start = self._tokens[self._at].start()
        inside = list(self._value((*table, *names)))
        value = Span(start, self._tokens[self._at - 1].end())
        for n in range(1, len(names)):
            yield (*table, *names[:n]), Setting(key, value, is_inline)
        yield (*table, *names), Setting(key, value, is_inline)
        yield from inside

    def _value(self, path: _Path) -> Iterator[tuple[_Path, Setting]]:
        """Yield the settings inside of the next value: the items of an array, by number, and the pairs of an inline table."""
        if self._take("["):
            number = 0
            while self._at < len(self._tokens) and not self._take("]"):
                start = self._tokens[self._at].start()
                inside = list(self._value((*path, str(number))))
                span = Span(start, self._tokens[self._at - 1].end())
                yield (*path, str(number)), Setting(span, span, is_inline=True)
                yield from inside
                number += 1
                self._take(",")
        elif self._take("{"):
            while self._at < len(self._tokens) and not self._take("}"):
                yield from self._pair(path, is_inline=True)
                self._take(",")
        else:
            self._at += 1
