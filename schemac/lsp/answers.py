"""The answers to an editor's requests.

Layer: lsp.
"""

from collections.abc import Awaitable, Callable
from functools import wraps
from itertools import chain, islice
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidRequest

from schemac.language.formatting.format import formatted
from schemac.lsp.completion import complete
from schemac.lsp.grammar import GrammarContext
from schemac.lsp.locations import FileRange, TextScope
from schemac.lsp.navigation import Navigator
from schemac.lsp.presentation import (
    MAX_SYMBOLS,
    document_symbols,
    field_text,
    inlay_hints,
    word_text,
    workspace_symbols,
)
from schemac.lsp.projects import CheckedProject
from schemac.lsp.renaming import RefusedRenameError, renamable, rename_edits
from schemac.lsp.session import Opened, Session
from schemac.lsp.texts import actions, line_edits, uri_of
from schemac.project.discovery import SUFFIXES
from schemac.project.project_texts import FieldTarget, name_in
from schemac.text.syntax.document import documents_in

P = TypeVar("P")
R = TypeVar("R")


def _of_text(
    function: Callable[["Answers", Opened, CheckedProject, P], R],
) -> Callable[["Answers", P], Awaitable[R | None]]:
    """Have a function called in the worker with the open text of a request and its project as it is now; None if it is not open."""

    @wraps(function)
    async def answer(self: "Answers", params: Any) -> R | None:
        opened = self._opened(params.text_document)
        if opened is None:
            return None
        checked = await self._session.current(opened)
        return await self._session.work(function, self, opened, checked, params)

    return answer


class Answers:
    """Answers by what the session knows. A text that is not open, or is not YAML, has no answers."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def completion(self, params: types.CompletionParams) -> types.CompletionList | None:
        """Return what can be written; the last check tells the names of the project."""
        opened = self._opened(params.text_document)
        if opened is None:
            return None
        session = self._session
        lines = opened.lines
        place = lines.place(params.position)
        scope = TextScope(opened.state.checked, opened.path, lines.lines, place[0])
        has_snippets = session.can("text_document.completion.completion_item.snippet_support")
        return types.CompletionList(False, complete(lines, place, scope, snippets=has_snippets))

    @_of_text
    def hover(self, opened: Opened, checked: CheckedProject, params: types.HoverParams) -> types.Hover | None:
        """Return what is known of the thing at the cursor."""
        context, navigator = self._context_at(opened, checked, params.position)
        parts = [word_text(context)]
        if not context.is_in_comment:
            target = navigator.target(opened.path, context)
            dataset_fields = [target.dataset_field] if isinstance(target, FieldTarget) else []
            dataset_fields = dataset_fields or navigator.fields_at(opened.path, context)
            # The hover of a key or kind shows its field too.
            is_about_field = context.cursor.key in ("", "name", "type")
            if dataset_fields and (not parts[0] or is_about_field):
                others = len(target.all) - 1 if isinstance(target, FieldTarget) else len(dataset_fields) - 1
                parts.append(field_text(dataset_fields[0], checked, others))
        text = "\n\n---\n\n".join(filter(None, parts))
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None

    @_of_text
    def definition(
        self, opened: Opened, checked: CheckedProject, params: types.DefinitionParams
    ) -> list[types.Location]:
        """Return where a name is defined; on a field's own name, its lines in the lock, or where its group has it."""
        context, navigator = self._context_at(opened, checked, params.position)
        target = navigator.target(opened.path, context)
        sites = navigator.definitions(target) if target is not None else []
        is_here = any(site.has(opened.path, context.cursor.place) for site in sites)
        if is_here and isinstance(target, FieldTarget):
            sites = [*sites, *navigator.lock_lines(target.dataset_field)]
        return self._locations(sites)

    @_of_text
    def references(
        self, opened: Opened, checked: CheckedProject, params: types.ReferenceParams
    ) -> list[types.Location]:
        """Return all places that name something."""
        context, navigator = self._context_at(opened, checked, params.position)
        target = navigator.target(opened.path, context)
        if target is None:
            return []
        defined = navigator.definitions(target)
        sites = [site for site in navigator.references(target) if site not in defined]
        return self._locations([*defined, *sites] if params.context.include_declaration else sites)

    def _locations(self, sites: list[FileRange]) -> list[types.Location]:
        """Return sites as the protocol has them: URIs, with columns in the encoding of the editor."""
        return [
            types.Location(uri_of(site.path), self._session.lines_at(site.path).range(site.region))
            for site in sites
        ]

    @_of_text
    def prepare_rename(
        self, opened: Opened, checked: CheckedProject, params: types.PrepareRenameParams
    ) -> types.PrepareRenamePlaceholder | None:
        """Return the name at the cursor; None if nothing can be renamed."""
        one = renamable(opened.path, *self._context_at(opened, checked, params.position))
        if one is None:
            return None
        return types.PrepareRenamePlaceholder(opened.lines.range(one.region), one.name)

    @_of_text
    def rename(
        self, opened: Opened, checked: CheckedProject, params: types.RenameParams
    ) -> types.WorkspaceEdit | None:
        """Return the edits of all files that have a name; those of a field are what `schemac rename` would write."""
        one = renamable(opened.path, *self._context_at(opened, checked, params.position))
        if one is None:
            return None
        try:
            edits = rename_edits(one, params.new_name, self._session.lines_at)
        except RefusedRenameError as error:
            raise JsonRpcInvalidRequest(str(error)) from error
        versions = {text.path: text.version for text in tuple(self._session.opened.values())}
        return edits.workspace_edit(
            versions,
            is_versioned=self._session.can("workspace.workspace_edit.document_changes"),
            has_annotations=self._session.can("workspace.workspace_edit.change_annotation_support"),
        )

    async def code_actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """Return what can be done about the findings in a range."""
        # Settings are no YAML, and have fixes all the same.
        opened = self._session.opened.get(params.text_document.uri)
        if opened is None:
            return []
        path_of = (await self._session.current(opened)).path
        inside = [
            (diagnostic, one)
            for diagnostic, one in opened.displayed
            if one.range.start <= params.range.end and params.range.start <= one.range.end
        ]
        return actions(inside, lambda name: self._session.lines_at(path_of(name)), path_of)

    @_of_text
    def inlay_hints(
        self, opened: Opened, checked: CheckedProject, params: types.InlayHintParams
    ) -> list[types.InlayHint]:
        """Return ids and Arrow types of the fields in a range."""
        file = checked.file(opened.path)
        if file is None:
            return []
        first, last = params.range.start.line, params.range.end.line
        return inlay_hints(file, checked, opened.lines, first, last)

    @_of_text
    def document_symbols(
        self, opened: Opened, checked: CheckedProject, _: types.DocumentSymbolParams
    ) -> list[types.DocumentSymbol]:
        """Return datasets, fields and groups of a text."""
        file = checked.file(opened.path)
        if file is None:
            return []
        return document_symbols(file, documents_in(file.content, file.file.name), opened.lines)

    async def workspace_symbols(self, params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        """Return datasets and fields of all projects by their names."""
        session = self._session
        checked = [state.checked for state in session.states.values()]
        symbols = [
            islice(workspace_symbols(one, params.query, session.lines_at), MAX_SYMBOLS) for one in checked
        ]
        return await session.work(list, chain.from_iterable(symbols))

    async def formatting(self, params: types.DocumentFormattingParams) -> list[types.TextEdit]:
        """Return the edits of the formatter."""
        opened = self._opened(params.text_document)
        if opened is None:
            return []
        lines, name = opened.lines, name_in(opened.state.folder.folder, opened.path)
        return line_edits(lines, await self._session.work(formatted, lines.text, name))

    def _opened(self, document: types.TextDocumentIdentifier) -> Opened | None:
        """Return an open text of YAML; None if the text is not open, or is a lock or another file."""
        opened = self._session.opened.get(document.uri)
        return opened if opened is not None and opened.path.endswith(SUFFIXES) else None

    def _context_at(
        self, opened: Opened, checked: CheckedProject, position: types.Position
    ) -> tuple[GrammarContext, Navigator]:
        """Return what is around a position of an open text, and a navigator from there through the checked project."""
        lines = opened.lines
        return GrammarContext(lines.lines, lines.place(position)), Navigator(checked)
