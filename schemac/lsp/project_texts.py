"""All texts of a project that may name something: manifests, what they import, overlays and pipelines.

Layer: lsp.
"""

import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from schemac.lsp.projects import Checked, key_of
from schemac.manifest.documents import is_overlay, is_pipeline
from schemac.manifest.groups import strings_in
from schemac.manifest.library import Reuse, scope_of
from schemac.manifest.library import Scope as GroupScope
from schemac.project.discovery import find_manifests
from schemac.project.imported import FolderFiles
from schemac.source.report import Report
from schemac.source.text import decode_text, read_file
from schemac.syntax.document import Document, TreePath, parse


class ProjectTexts:
    """The texts of a project as they were checked; files that no manifest names are looked for once."""

    def __init__(self, checked: Checked) -> None:
        self.checked = checked
        self._documents: dict[str, list[Document]] = {}

    def with_word(self, word: str) -> Iterator[str]:
        """Yield the absolute paths of all texts that have a word."""
        needle = word.encode()
        for path, content in self._contents.items():
            if needle in content:
                yield path

    def documents(self, path: str) -> list[Document]:
        """Return the documents of a text; none where it is not there, or is not YAML."""
        if path not in self._documents:
            content = self._contents.get(path)
            content = self._read(path) if content is None else content
            source = decode_text(content, self.name(path), Report()) if content is not None else None
            self._documents[path] = parse(source, Report()) if source is not None else []
        return self._documents[path]

    def groups(self, path: str) -> GroupScope | None:
        """Return the groups that a text knows."""
        files = FolderFiles(Path(path), self.name(path), self.checked.buffers)
        return scope_of(self.documents(path), Path(path).stem, Reuse(files), Report())

    def overlays(self, word: str) -> Iterator[tuple[str, Document]]:
        """Yield the overlays that have a word, with their absolute paths."""
        for path in self.with_word(word):
            yield from ((path, one) for one in self.documents(path) if is_overlay(one.value))

    def pipelines(self, word: str) -> Iterator[tuple[str, Document]]:
        """Yield the pipelines that have a word, with their absolute paths."""
        for path in self.with_word(word):
            yield from ((path, one) for one in self.documents(path) if is_pipeline(one.value))

    def name(self, path: str) -> str:
        """Return how a file is spoken of."""
        return Path(os.path.relpath(path, self.checked.project.folder)).as_posix()

    @cached_property
    def _contents(self) -> dict[str, bytes]:
        """By absolute path."""
        checked = self.checked
        contents = {key_of(file.file.path): file.content for file in checked.files}
        imported = {
            FolderFiles(file.file.path, file.file.name).key(path)
            for file in checked.files
            for path, _ in file.imported.files
        }
        for path in (*sorted(imported), *self._others()):
            content = self._read(path) if path not in contents else None
            if content is not None:
                contents[path] = content
        return contents

    def _others(self) -> Iterator[str]:
        """Yield the YAML files of the project that are no manifests, where the settings say where those lie."""
        project = self.checked.project
        if not project.configuration.manifests:
            return
        out = project.folder / project.configuration.out
        for file in find_manifests((".",), project.folder, out, Report(), project.exclusion):
            yield key_of(file.path)

    def _read(self, path: str) -> bytes | None:
        buffer = self.checked.buffers.get(path)
        if buffer is not None:
            return buffer
        try:
            return read_file(path)
        except OSError:
            return None


def uses_in(document: Document, name: str) -> Iterator[TreePath]:
    """Yield where a document uses a group."""
    for path, value in strings_in(document.value):
        if value == name and path[-1:] == ("use",) and "extra" not in path:
            yield path
