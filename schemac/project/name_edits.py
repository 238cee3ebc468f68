"""Edits of a manifest where it has a field's name, and of the lines that a field stands on.

Layer: project.
Shape: a block is whole lines, with the comments right above it and those that are indented deeper below it. Only lists that are written
      one field a line can be edited so; of others it is said why not.
Units: offsets of code points, half-open.
Errors: SC406 lock-contention, SC542 write-failed.
"""

import dataclasses
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from schemac.language.attributes.attribute import Extra
from schemac.language.attributes.builtin import DEPRECATED
from schemac.language.attributes.constraints import REFERENCES
from schemac.language.attributes.registry import ATTRIBUTES
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import SchemaField, preorder
from schemac.project.locking import LockFile, save_lock
from schemac.project.manifests import CompiledFile
from schemac.project.writing import NewFile, OldFile
from schemac.text.source.catalogue import REFUSED_EDIT, WRITE_FAILED
from schemac.text.source.json_object import TreePath
from schemac.text.source.phrases import Help
from schemac.text.source.report import Report, Span
from schemac.text.source.text import read_file, reason_of, span_of, with_line_ends
from schemac.text.syntax.document import Location
from schemac.text.syntax.events import scalar, written
from schemac.versions.identity.lock import Lock

_COMMENT = re.compile(r"[ \t]*#")


class NoEditError(Exception):
    """A text in which an edit would change more than it should; the message has the reason."""


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of a text, and the column of the dash that starts the item."""

    start: int
    end: int
    indent: int


def block_of(text: str, item: Span) -> Block:
    """Return the lines of one item of a list."""
    dash = len(text[: item.start].rstrip()) - 1
    start = text.rfind("\n", 0, dash) + 1
    if dash < 0 or text[dash] != "-" or text[start:dash].strip():
        raise NoEditError("the list it is in does not have each field on lines of its own")
    indent = dash - start
    end = _line_end(text, len(text[: item.end].rstrip()))
    while _is_comment(text, end) and _indent(text, end) > indent:
        end = _line_end(text, end)
    while start and _is_comment(text, above := text.rfind("\n", 0, start - 1) + 1):
        if _indent(text, above) != indent:
            break
        start = above
    return Block(start, end, indent)


def moved_text(text: str, block: Block, content: str, last: Block) -> str:
    """Return the text with a block's lines, now `content`, after the last block of another list."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    deeper = last.indent - block.indent
    put = ""
    for line in content.splitlines(keepends=True):
        spaces = len(line) - len(line.lstrip(" "))
        put += " " * max(deeper, 0) + line[min(max(-deeper, 0), spaces) :] if line.strip() else line
    if not put.endswith("\n"):
        put += line_end
    if not text[: last.end].endswith("\n"):
        put = line_end + put.removesuffix(line_end)
    if block.start < last.end <= block.end:
        # The list ends with what is inside the block itself: it stands after all that is left.
        raise NoEditError("it would move into itself")
    if block.start < last.end:
        return text[: block.start] + text[block.end : last.end] + put + text[last.end :]
    return text[: last.end] + put + text[last.end : block.start] + text[block.end :]


def _line_end(text: str, offset: int) -> int:
    """Return the offset behind the line that an offset is in."""
    newline = text.find("\n", offset)
    return len(text) if newline < 0 else newline + 1


def _is_comment(text: str, line_start: int) -> bool:
    """Whether the line that begins at an offset is a comment."""
    return _COMMENT.match(text, line_start) is not None


def _indent(text: str, line_start: int) -> int:
    """Return the number of spaces before the text of a line that starts at an offset."""
    line = text[line_start : _line_end(text, line_start)]
    return len(line) - len(line.lstrip(" "))


Fields = list[list[Any]]
"""All fields of a dataset as plain values, parents first."""
RenamedPaths = Mapping[str, Mapping[str, str]]
"""New paths by old ones, by the names of the datasets that have them."""


@dataclass(frozen=True, slots=True)
class NameEdit:
    """A place of a text, and what shall be there."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Renamed:
    """What a renaming did to one dataset."""

    file: str
    """The file that has the name; of another dataset with the field from the same group, its manifest."""
    path: str
    """Where the field is now."""
    version: int | None
    """The locked version that has the new name; None if there is no lock."""


def edited(text: str, edits: Sequence[NameEdit]) -> str:
    """Return a text after edits, which do not overlap."""
    for edit in sorted(edits, key=lambda e: e.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


def place_of_name(dataset: LogicalDataset, field: SchemaField) -> Location:
    """Return where the name of a field is written, with the uses of groups that lead there."""
    return _place(dataset, (*field.declared_at, "name"))


def _place(dataset: LogicalDataset, path: TreePath, *, on_key: bool = False) -> Location:
    """Return where a value of a manifest is, with `on_key` its key; every value is expected to have a place."""
    place = dataset.origins.location(path, on_key=on_key)
    assert place is not None, "every value of a manifest has a place"
    return place


def edit_of(place: Location, text: str) -> NameEdit:
    """Return the edit that replaces a scalar, with its present quotes."""
    return NameEdit(place.span, scalar(text, place.source.excerpt(place.span)))


def edits_of_column(dataset: LogicalDataset, old: str, new: str) -> Iterator[tuple[Location, NameEdit]]:
    """Yield the edits of every attribute of the schema that names a column."""
    for attribute in ATTRIBUTES.values():
        for renaming in attribute.renamings(dataset.schema.extra, old, new):
            path = ("extra", attribute.key, *renaming.steps)
            place = _place(dataset, path, on_key=renaming.is_key)
            yield place, edit_of(place, renaming.text)


def new_successor(extra: Extra, renamed: Mapping[str, str]) -> str | None:
    """Return the new name of a deprecated field's successor, by renamed old paths; None if it is not renamed."""
    value = extra.get(DEPRECATED.key)
    successor = value.get("successor") if isinstance(value, dict) else None
    return path_after(successor, renamed) if isinstance(successor, str) else None


def path_after(path: str, renamed: Mapping[str, str]) -> str | None:
    """Return a path after renamings, by old path; None if neither it nor an enclosing field is renamed."""
    for old, new in renamed.items():
        if path == old or path.startswith(f"{old}."):
            return new + path[len(old) :]
    return None


def edits_of_references(
    dataset: LogicalDataset, renamed: RenamedPaths
) -> Iterator[tuple[Location, NameEdit]]:
    """Yield the edits of references of a dataset to fields that get other paths. Raises NoEditError.

    A reference without `to` gets one where its fields are not called the same in both datasets any more. What it has in `fields`
    is for `edits_of_column`.
    """
    renamed_here = renamed.get(dataset.name, {})
    for i, reference in enumerate(REFERENCES.read(dataset.schema.extra) or ()):
        at = ("extra", REFERENCES.key, i)
        theirs = renamed.get(reference.dataset, {})
        after = [path_after(name, theirs) or name for name in reference.to or reference.fields]
        if reference.to is not None:
            for j, (path, new) in enumerate(zip(reference.to, after, strict=True)):
                if path != new:
                    place = _place(dataset, (*at, "to", j))
                    yield place, edit_of(place, new)
        elif after != [path_after(name, renamed_here) or name for name in reference.fields]:
            place = _place(dataset, at)
            names = ", ".join(map(written, after))
            fix = place.fix(Help.add_key("to", f"[{names}]"))
            if fix is None:
                line = place.source.region(place.span).line
                raise NoEditError(
                    f"the reference in {place.source.name}, line {line}, needs"
                    f" `to: [{', '.join(after)}]`, and its text is also used for others"
                )
            (edit,) = fix.edits
            text = with_line_ends(edit.text, place.source.content)
            yield place, NameEdit(span_of(place.source, edit), text)


def edits_of_successors(
    dataset: LogicalDataset, renamed: Mapping[str, str]
) -> Iterator[tuple[Location, NameEdit]]:
    """Yield the edits of all deprecated fields whose successors get another path."""
    for field in preorder(dataset.columns):
        successor = new_successor(field.extra, renamed) if field.extra else None
        if successor is None:
            continue
        paths = field.extra_places(DEPRECATED.key)
        path = next((path for path in paths if dataset.origins.has(path)), paths[0])
        place = _place(dataset, (*path, "successor"))
        yield place, edit_of(place, successor)


def refuse_edit(dataset: LogicalDataset, field: SchemaField, message: str, report: Report) -> None:
    """Report that the author has to edit a field by hand."""
    place = place_of_name(dataset, field)
    report.add(
        REFUSED_EDIT,
        message,
        source=place.source,
        span=place.span,
        file=dataset.origins.file,
        path=field.path_text,
        labels=place.labels,
        help=f"edit the manifest yourself, write `schemac.dev/renamedFrom: {scalar(field.path_text)}` under the field's "
        "`extra:`, and run `schemac lock`",
    )


def fields_of(
    dataset: LogicalDataset,
    renamed: Collection[SchemaField] = (),
    new_paths: Mapping[str, str] = MappingProxyType({}),
) -> Fields:
    """Return of each field its path, its type without its parts, whether it may be null, and its attributes, to be compared.

    `new_paths` are those by old ones of the fields that are renamed, which the successors of deprecated fields are to have too.
    """
    return [
        _field(field, new_paths, is_renamed=not {field, *field.ancestors}.isdisjoint(renamed))
        for field in preorder(dataset.columns)
    ]


def _field(field: SchemaField, new_paths: Mapping[str, str], *, is_renamed: bool) -> list[Any]:
    """Return what `fields_of` has of one field."""
    extra = dict(field.extra)
    successor = new_successor(extra, new_paths)
    if successor is not None:
        extra[DEPRECATED.key] = {**extra[DEPRECATED.key], "successor": successor}
    type_data = field.type.model_dump(exclude={"extra", "fields", "item_type", "key_type", "value_type"})
    path = path_after(field.path_text, new_paths) if is_renamed else field.path_text
    return [path, type_data, field.is_nullable, extra]


_MARK = b"\xef\xbb\xbf"
"""Of UTF-8, which some editors put before a text."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A text before and after."""

    path: Path
    name: str
    """How the file is spoken of."""
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Relocked:
    """A lock, and what it is to be."""

    file: LockFile
    lock: Lock


@dataclass(frozen=True, slots=True)
class Rewriting:
    """All that a renaming changes; nothing of it is written yet."""

    renamed: tuple[Renamed, ...]
    """The dataset that was asked for, and the others that have the field from the same group."""
    texts: tuple[Rewritten, ...]
    locks: tuple[Relocked, ...]
    """Those that there are; a manifest without a lock has none."""


@dataclass(frozen=True)
class Surroundings:
    """What counts in place of files on disk: texts that an editor holds."""

    edited: Mapping[str, bytes] = dataclasses.field(default_factory=dict)
    """By absolute path."""
    manifests: Sequence[CompiledFile] | None = None
    """All manifests of the project; without it, they are looked for on disk."""


ON_DISK = Surroundings()


def write(rewriting: Rewriting, report: Report) -> bool:
    """Write locks and manifests; where one of them cannot be written, all are as they were.

    Locks come first, for they may be refused.
    """
    old_files: dict[Path, OldFile] = {}
    replaced: list[Path] = []
    staged: list[NewFile] = []
    name = ""
    try:
        if not _are_current(rewriting.texts, report):
            return False
        # What takes room is written first, but for locks: after that, a full disk is no reason to take anything back.
        for text in rewriting.texts:
            name = text.name
            mark = _MARK if read_file(text.path).startswith(_MARK) else b""
            staged.append(NewFile(text.path, mark + text.after.encode()))
            old_files[text.path] = OldFile(text.path)
        for relocked in rewriting.locks:
            name = relocked.file.name
            old_files[relocked.file.path] = OldFile(relocked.file.path)
        for relocked in rewriting.locks:
            name = relocked.file.name
            if save_lock(relocked.file, relocked.lock, report):
                replaced.append(relocked.file.path)
            if report.has_errors:
                _undo(replaced, old_files, report)
                return False
        for text, new in zip(rewriting.texts, staged, strict=True):
            name = text.name
            new.put()
            replaced.append(text.path)
    except OSError as error:
        _undo(replaced, old_files, report)
        what = name or error.filename or "a manifest"
        report.add(WRITE_FAILED, f"cannot write {what}: {reason_of(error)}", file=name)
        return False
    finally:
        for new in staged:
            new.drop()
        for old in old_files.values():
            old.drop()
    return True


def _are_current(texts: Sequence[Rewritten], report: Report) -> bool:
    """Whether texts are on disk as they were read; report the first one that is not."""
    for text in texts:
        if read_file(text.path).removeprefix(_MARK) != text.before.encode():
            message = f"{text.name} was changed by another program in the meantime; nothing was written"
            report.add(WRITE_FAILED, message, file=text.name)
            return False
    return True


def _undo(paths: Sequence[Path], old_files: Mapping[Path, OldFile], report: Report) -> None:
    """Restore files, as far as the system allows."""
    for path in paths:
        try:
            old_files[path].put()
        except OSError as error:
            message = f"{path.name} has its new content already and cannot be restored: {reason_of(error)}"
            report.add(WRITE_FAILED, message, file=str(path))
