"""The files next to a manifest, for its imports; and what came of them.

Layer: project.
"""

import dataclasses
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from schemac.project.configuration import Project, find_project, repository_of
from schemac.project.discovery import is_within
from schemac.text.source.diagnostics import Diagnostic, Report, SourceText
from schemac.text.source.files import Contents, Files, OutsideError
from schemac.text.source.text import MAX_BYTES, decode_text, read_file

if TYPE_CHECKING:
    # For start-up time: most manifests import nothing.
    from schemac.language.manifest.library import Reuse

_WAY_OUT = 'move it into the project, or name its folder in the settings: `importFolders = ["../shared"]`'


def file_at(text: str, path: str) -> str:
    """Return the path of a file that a text names by its path from there, both with `/`; that of the text for an empty one."""
    return os.path.normpath(os.path.join(os.path.dirname(text), path)) if path else text


@dataclass(frozen=True)
class FolderFiles:
    """The files around a manifest on disk."""

    manifest: Path
    display_name: str
    """How the manifest is spoken of."""
    edited: Mapping[str, bytes] = dataclasses.field(default_factory=dict)
    """What is taken in place of some of them, by key."""
    project: Project | None = None
    """The project of the manifest, where it is known already."""

    def read(self, path: str) -> bytes:
        """Return the content of a file. Raises OSError, for a file outside the project and its repository too.

        A manifest may be the text of a stranger, as in a pull request: it must not show what else is on this machine.
        """
        place = self.place(path)
        real = os.path.realpath(place)
        if not any(is_within(real, folder) for folder in self._folders()):
            raise OutsideError("the project", _WAY_OUT)
        content = self.edited.get(self.key(path))
        return read_file(place, MAX_BYTES) if content is None else content

    def _folders(self) -> Iterator[str | Path]:
        """Yield the folders that imported files may be in."""
        here = Path(os.path.abspath(self.manifest)).parent
        repository = repository_of(here)
        if repository is not None:
            yield repository
        project = self.project if self.project is not None else find_project(here, Report())
        is_around = project.file is not None or is_within(here, project.folder)
        yield project.folder if is_around else here
        if self.project is None and project.file is None and is_within(here, Path.cwd()):
            yield Path.cwd()
        yield from (project.folder / folder for folder in project.configuration.import_folders)

    def place(self, path: str) -> Path:
        """Return the path on disk of a file that the manifest names; that of the manifest for the path ``."""
        return Path(file_at(os.fspath(self.manifest), path))

    def name(self, path: str) -> str:
        """Return how a file is spoken of; the manifest for the path ``."""
        return file_at(self.display_name, path)

    def key(self, path: str) -> str:
        """Return the absolute path of a file; that of the manifest for the path ``."""
        return os.path.abspath(self.place(path))


class ManifestImports(NamedTuple):
    """What one manifest took from elsewhere."""

    files: tuple[tuple[str, str], ...] = ()
    """Digests of the imported files, by path from the manifest's folder."""
    used: tuple[tuple[str, str], ...] = ()
    """Groups that it uses, by path of their file and name; the path is empty for its own."""
    defined_groups: tuple[tuple[str, Diagnostic], ...] = ()
    """Its own groups, each with what there is to say if nothing uses it."""

    @classmethod
    def of(cls, reuse: "Reuse") -> "ManifestImports":
        """Return the imports that a compilation used, in an order that does not depend on it."""
        return cls(
            tuple(sorted(reuse.imports.items())), tuple(sorted(reuse.used)), tuple(reuse.unused.items())
        )

    def texts(self, contents: Contents, files: Files) -> Iterator[SourceText]:
        """Yield the imported files, as far as they are texts."""
        for path, _ in self.files:
            content = contents.of(files, path)
            text = None if isinstance(content, OSError) else decode_text(content, files.name(path), Report())
            if text is not None:
                yield text

    def is_current(self, contents: Contents, files: Files) -> bool:
        """Whether all imported files are as they were."""
        return all(contents.digest(files, path) == digest for path, digest in self.files)


NOTHING = ManifestImports()
