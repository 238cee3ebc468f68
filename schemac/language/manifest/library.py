"""What one text imports.

Layer: language.
Shape: paths are relative to the folder of the text that a run began with, with `/`; those of an import begin at the file
that has it. Each file is read and parsed once in a run, however many texts import it.
Errors: SC232 duplicate-group, SC233 reuse-cycle, SC234 unreadable-import, and what is wrong with the files themselves.
"""

import posixpath
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from schemac.language.manifest.groups import Definition, GroupFile, Import, report_clash
from schemac.text.source.catalogue import REUSE_CYCLE, UNREADABLE_IMPORT, UNUSED_GROUP
from schemac.text.source.diagnostics import Diagnostic, Report, labels_at
from schemac.text.source.files import Contents, Files, OutsideError
from schemac.text.source.phrases import Help
from schemac.text.source.text import MAX_BYTES, decode_text, reason_of
from schemac.text.syntax.document import Document, parse


@dataclass
class Library:
    """The imported files of a run, by `Files.key`."""

    contents: Contents = field(default_factory=Contents)
    read: dict[str, tuple[GroupFile | None, Report]] = field(default_factory=dict)

    def file(self, files: Files, path: str) -> tuple[GroupFile | None, Report]:
        """Return the groups of a file, None if it is no text that can be read, and what is wrong with it; it is parsed once."""
        key = files.key(path)
        if key not in self.read:
            content, file, report = self.contents.of(files, path), None, Report()
            if not isinstance(content, OSError):
                source = decode_text(content[: MAX_BYTES + 1], files.name(path), report)
                file = GroupFile(parse(source, report)) if source is not None else None
            report.extend(file.report.diagnostics if file is not None else ())
            self.read[key] = file, report
        return self.read[key]


@dataclass
class Reuse:
    """What one text takes from elsewhere; without files it has no imports."""

    files: Files | None = None
    library: Library = field(default_factory=Library)
    imports: dict[str, str] = field(default_factory=dict)
    """Digests of all files that were read, or were to be read, by path."""
    used: set[tuple[str, str]] = field(default_factory=set)
    """Groups by the path of their file and their name; the path is empty for the text itself."""
    unused: dict[str, Diagnostic] = field(default_factory=dict)
    """What there is to say of each group of the text if nothing uses it."""
    scopes: "dict[str, GroupScope]" = field(default_factory=dict)
    """Those of the imported files, by `Files.key`."""


class GroupScope:
    """The groups that a file knows: its own, and those of the files that it imports."""

    def __init__(
        self, file: GroupFile, path: str, reuse: Reuse, report: Report, above: Mapping[str, Import] = {}
    ) -> None:
        """Read the imports of a file; what is wrong with them is in the report.

        `above` are the imports that lead to it from the text, by `Files.key` of the files that have them.
        """
        self.file = file
        self.path = path
        """Of the file; empty for the text that a run began with."""
        self._reuse = reuse
        self._above = above
        self.known: dict[str, tuple[Definition, Import | None, GroupScope]] = {
            name: (definition, None, self) for name, definition in file.groups.items()
        }
        """Its own groups, then the others with the imports that they come from."""
        self._read: list[tuple[Import, GroupScope]] = []
        opened = [self._open_import(import_, report) for import_ in file.imports]
        self.is_whole = all(opened)
        """Whether all imports could be read."""

    def find(self, name: str) -> "tuple[Definition, GroupScope] | None":
        """Return a group, and the scope that it is in."""
        definition, _, scope = self.known.get(name, (None, None, self))
        return (definition, scope) if definition is not None else None

    def is_sound(self, name: str) -> bool:
        """Whether a group of this name has no mistakes; True for an unknown name."""
        files = (self.file, *(scope.file for _, scope in self._read))
        return not any(name in file.unsound for file in files)

    def unused_imports(self, used: Collection[str]) -> list[Import]:
        """Return the imports that have none of the groups of these names; a file with mistakes may be meant to have them."""
        needed = {id(import_) for name, (_, import_, _) in self.known.items() if name in used}
        return [
            import_
            for import_, scope in self._read
            if id(import_) not in needed and scope.is_whole and not scope.file.report.has_errors
        ]

    def _open_import(self, import_: Import, report: Report) -> bool:
        """Read an imported file, and return whether all of it could be; one that imports itself, or cannot be read, is reported."""
        path = self._path_of(import_, report)
        if path is None:
            return False
        files = self._reuse.files
        assert files is not None
        library = self._reuse.library
        (file, read_report), content = library.file(files, path), library.contents.of(files, path)
        self._reuse.imports[path] = library.contents.digest(files, path)
        report.extend(read_report.diagnostics)
        if isinstance(content, OSError):
            help = content.help if isinstance(content, OutsideError) else ""
            help = help or "write the path of the file, from the folder of the one that imports it"
            message = f"cannot read {files.name(path)}: {reason_of(content)}"
            import_.document.report(UNREADABLE_IMPORT, message, import_.at, report, help)
        if file is None:
            return False
        way = {**self._above, files.key(self.path): import_}
        if (key := files.key(path)) in way:
            # The last import of the circle is reported, and the others of it are shown.
            circle = list(way.values())[list(way).index(key) :]
            locations = [import_.document.location(import_.at) for import_ in circle]
            through = ", ".join(location.source.name for location in locations[1:])
            message = f"{files.name(path)} imports itself" + (f" through {through}" if through else "")
            labels = [one for location in locations[:-1] for one in labels_at(location, "imported here")]
            help = "remove this import, or move the groups that both files need into a third one"
            report.add(REUSE_CYCLE, message, location=locations[-1], labels=tuple(labels), help=help)
            return False
        # Its groups come after the imports of it; two of a name are reported.
        scope = self._reuse.scopes.get(key)
        if scope is None:
            scope = self._reuse.scopes[key] = GroupScope(file, path, self._reuse, report, way)
        self._read.append((import_, scope))
        for name, definition in file.groups.items():
            first, of_first, _ = self.known.setdefault(name, (definition, import_, scope))
            if of_first is None:
                report_clash(first, definition, report)
            elif first is not definition:
                report_clash(definition, first, report, import_.document.location(import_.at))
        return scope.is_whole

    def _path_of(self, import_: Import, report: Report) -> str | None:
        """Return the path of an import from the folder of the text that a run began with."""
        is_elsewhere = posixpath.isabs(import_.path) or "://" in import_.path or "\\" in import_.path
        if self._reuse.files is None:
            message = f"{import_.path} cannot be imported: this text is not a file, so it has no folder to import from"
            help = "compile it as a file"
        elif is_elsewhere or import_.path[1:2] == ":":
            message = f"{import_.path} is not a relative path"
            help = "write the path from the folder of this file, with `/`, such as ../groups/audit.yaml"
        else:
            return posixpath.normpath(posixpath.join(posixpath.dirname(self.path), import_.path))
        import_.document.report(UNREADABLE_IMPORT, message, import_.at, report, help)
        return None


def scope_of(documents: Sequence[Document], reuse: Reuse, report: Report) -> GroupScope | None:
    """Return what the documents of a text know of groups; None if they name none.

    Mistakes in groups and imports are in the report, findings about unused groups in `reuse`.
    """
    if not documents or not any(word in documents[0].source.content for word in _SIGNS):
        return None
    file = GroupFile(documents)
    report.extend(file.report.diagnostics)
    scope = GroupScope(file, "", reuse, report)
    reuse.used |= {(match[1].path, name) for name in file.used if (match := scope.find(name)) is not None}
    for import_ in scope.unused_imports(file.used):
        message, help = f"no group of {import_.path} is used here", Help.remove(what="the import")
        import_.document.report(UNUSED_GROUP, message, import_.at, report, help)
    for name, definition in file.groups.items():
        local_report = Report()
        message = f"nothing uses the group '{name}'"
        help = Help.remove(
            help=f"write `- use: {name}` in a list of fields, or remove the group", is_safe=False
        )
        definition.document.report(UNUSED_GROUP, message, definition.path, local_report, help, on_key=True)
        reuse.unused |= {name: local_report.diagnostics[0]}
    return scope


def imports_of(content: bytes, files: Files, library: Library) -> dict[str, str]:
    """Return the digests of all that a text imports, by path; of a text that cannot be read, nothing."""
    if b"imports" not in content and b"\\" not in content:
        return {}
    report, reuse = Report(), Reuse(files, library)
    source = decode_text(content, files.name(""), report)
    if source is not None:
        scope_of(parse(source, report), reuse, report)
    return reuse.imports


_SIGNS = ("use", "groups", "imports", "\\")
"""One of these is in every text that has groups or uses them: the keys, or an escape that a key may be spelled with."""
