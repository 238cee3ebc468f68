"""Pages of datasets as Markdown, and the folder that pages are written to.

Layer: documentation.
Shape: Pages on disk: the folder has a list of the files that were written, so that pages of datasets that are gone are removed, and no
      file of anybody else is. Each file is whole, the old or the new one.
Errors: SC542 write-failed, SC543 foreign-folder, SC545 in-the-way.
Source: GitHub Flavored Markdown; every sign that it would obey is escaped, HTML too.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from schemac.documentation.model import DatasetPage, FieldPage, PageRow, Site
from schemac.project.writing import SUFFIX, NewFile
from schemac.text.source.catalogue import FOREIGN_FOLDER, IN_THE_WAY, WRITE_FAILED
from schemac.text.source.diagnostics import Report
from schemac.text.source.phrases import printable
from schemac.text.source.text import reason_of

_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|~!&])|(https?|ftp|www)(?=[:.])|@")
_LINE_START = re.compile(r"^(\s*)([-+=]|\d+[.)])", re.MULTILINE)


def markdown_pages(site: Site) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the bytes of each file: `index.md` and one of each dataset."""
    rows = []
    for one in site.datasets:
        link = f"[{_escape(one.name)}]({quote(one.file)}.md)"
        rows.append((link, _cell(one.description), _cell(one.ownership.owner or ""), str(one.field_count)))
    table = _table(("dataset", "description", "owner", "fields"), rows)
    yield "index.md", f"# {_escape(site.title)}\n\n{table}".encode()
    for one in site.datasets:
        yield f"{one.file}.md", "\n".join(_dataset_blocks(one, site)).encode("utf-8", "backslashreplace")


def _dataset_blocks(one: DatasetPage, site: Site) -> Iterator[str]:
    """Yield the blocks of a dataset's Markdown page, from the heading to the changes of each version."""
    yield f"# {_escape(one.name)}\n"
    if one.description:
        yield f"{_paragraph(one.description)}\n"
    facts = {
        "Manifest": _code(one.manifest),
        "Owner": _escape(one.ownership.owner or ""),
        "Tags": _escape(", ".join(one.ownership.tags)),
        "Classification": _escape(one.ownership.classification or ""),
        "Primary key": ", ".join(map(_code, one.key)),
        "Version": _escape(one.versions[-1]) if one.versions else "",
    }
    yield "\n".join(f"- {name}: {value}" for name, value in facts.items() if value) + "\n"
    yield "## Fields\n"
    rows = [_field_row(field) for field in one.all_fields]
    yield _table(("field", "type", "description", "more"), rows)
    if one.constraints or one.attributes or one.losses:
        yield "## The schema as a whole\n"
        notes = [*_property_texts((*one.constraints, *one.attributes)), *_loss_texts(one.losses)]
        yield "\n".join(f"- {note}" for note in notes) + "\n"
    related = site.relations_with(one.name)
    if related:
        yield "## References\n"
        names = [(one.source, ", ".join(one.fields), one.target, ", ".join(one.to)) for one in related]
        yield _table(("dataset", "fields", "refers to", "fields"), [tuple(map(_cell, row)) for row in names])
    if one.revisions:
        yield "## Changelog\n"
    for revision in reversed(one.revisions):
        version = f"Version {revision.new}" if revision.new.isdigit() else revision.new
        yield f"### {_escape(version)}\n"
        changes = [f"- {_escape(str(change))}".replace("\n", " ") for change in revision.changes]
        yield "\n".join(changes) or "No changes."
        yield ""


def _field_row(field: FieldPage) -> tuple[str, ...]:
    """Return the cells of a field: path, type, description, and all else with line breaks of HTML."""
    more = [f"primary key {field.key_position}"] if field.key_position else []
    owner, tags, classification, deprecation = field.ownership
    if deprecation is not None:
        until = f" until {deprecation.remove_after}" if deprecation.remove_after else ""
        more.append(f"deprecated{until}")
    more += [_escape(word) for word in (classification, owner, *tags) if word]
    more += _property_texts(field.constraints)
    more += [f"{_escape(one.name)} {_code(one.text)}" for one in field.types]
    more += _loss_texts(field.losses)
    details = "<br>".join(one.replace("\n", " ") for one in more)
    return (_code(field.path), _code(field.type_text), _cell(field.description), details)


def _property_texts(properties: Iterable[PageRow]) -> list[str]:
    """Return each property as its key and value in code."""
    return [f"{_code(one.name)} {_code(one.text)}" for one in properties]


def _loss_texts(losses: Iterable[PageRow]) -> list[str]:
    """Return each loss behind its engine."""
    return [f"{_escape(loss.name)}: {_escape(loss.text)}" for loss in losses]


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table; its cells have to be escaped already."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(text: str) -> str:
    """Return a text escaped for a cell, with its line ends as `<br>`."""
    return "<br>".join(_escape(text).splitlines())


def _paragraph(text: str) -> str:
    """Return a text escaped for Markdown in which no line starts a list or underlines a heading."""
    return _LINE_START.sub(r"\1\\\2", _escape(text))


def _escape(text: str) -> str:
    """Return a text escaped for Markdown."""
    return _SIGNS.sub(_escape_sign, printable(text, keep="\n"))


def _escape_sign(sign: re.Match[str]) -> str:
    """Return a matched sign so that Markdown shows it: as an entity, or with a backslash before it."""
    if sign[2]:
        # Behind a comment that shows nothing, it is no address that Markdown would make a link of.
        return f"{sign[2]}<!-- -->"
    return {"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "&#64;"}.get(sign[0], f"\\{sign[0]}")


def _code(text: str) -> str:
    """Return a text in a fixed font, on one line, also in a cell of a table."""
    escaped = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"<code>{_SIGNS.sub(_html_entity, escaped)}</code>" if text else ""


def _html_entity(sign: re.Match[str]) -> str:
    """Return a sign as HTML has it, or a word whose first letter is; the ampersands of others stay."""
    return sign[0] if sign[0] == "&" else f"&#{ord(sign[0][0])};{sign[0][1:]}"


LIST = ".schemac-docs.json"


def write_pages(folder: Path, name: str, pages: Iterable[tuple[str, bytes]], report: Report) -> int:
    """Write all pages and remove obsolete ones; return how many are new or changed.

    Nothing is written into a folder that holds other files than those of an earlier time.
    """
    try:
        before = _earlier_files(folder)
        if before is None:
            message = f"{name} holds files that are not pages of schemac"
            help = "name a new or an empty folder with `-o`"
            report.add(FOREIGN_FOLDER, message, file=name, help=help)
            return 0
        contents = dict(pages)
        occupied = [path for path in contents if path not in before and os.path.lexists(folder / path)]
        for path in occupied:
            place = f"{name}/{path}"
            report.add(IN_THE_WAY, f"{place} is in the place of a page", file=place, help="move it away")
        if occupied:
            return 0
        folder.mkdir(parents=True, exist_ok=True)
        # Until all is done, the list has the files of both times.
        _write_if_changed(folder / LIST, _list_of_pages({*before, *contents}))
        changed = sum(_write_if_changed(folder / path, content) for path, content in contents.items())
        for path in before - contents.keys():
            (folder / path).unlink(missing_ok=True)
        _write_if_changed(folder / LIST, _list_of_pages(contents))
    except OSError as error:
        report.add(WRITE_FAILED, f"cannot write to {name}: {reason_of(error)}", file=name)
        return 0
    return changed


def _earlier_files(folder: Path) -> frozenset[str] | None:
    """Return the files that were written before; None if the folder holds something else alone."""
    if not folder.exists():
        return frozenset()
    try:
        listed_paths = json.loads((folder / LIST).read_bytes())["files"]
    except FileNotFoundError:
        # A first time that did not come to its end may have left the beginning of the list.
        is_new = all(path.name == LIST + SUFFIX for path in folder.iterdir())
        return frozenset() if is_new else None
    except (ValueError, TypeError, KeyError):
        return None
    is_list = isinstance(listed_paths, list) and all(
        isinstance(path, str) and _is_inside(path) for path in listed_paths
    )
    return frozenset(listed_paths) if is_list else None


def _is_inside(path: str) -> bool:
    """Whether a path of the list of pages, with `/`, stays inside of its folder."""
    parts = PurePosixPath(path).parts
    return bool(parts) and not PurePosixPath(path).is_absolute() and ".." not in parts and "\\" not in path


def _list_of_pages(paths: Iterable[str]) -> bytes:
    """Return the bytes of the list of pages, sorted."""
    return (json.dumps({"files": sorted(paths)}, indent=1) + "\n").encode()


def _write_if_changed(path: Path, content: bytes) -> bool:
    """Write a file if it differs; return whether it did."""
    try:
        if path.read_bytes() == content:
            return False
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    NewFile(path, content, is_synced=False).put()
    return True
