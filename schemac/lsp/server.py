"""`schemac lsp`: the requests that are answered, and how.

Layer: lsp.
Shape: a request that fails is told in the editor's log and answered with nothing; the server goes on. Requests wait for the check
of what was typed before them, except for completion, which is needed while nothing is whole.
"""

import os
import sys
from collections.abc import Awaitable, Callable
from json import JSONDecodeError
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast
from urllib.parse import unquote

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument, Workspace

from schemac.lsp.answers import Answers
from schemac.lsp.findings import EXPLAIN, page_link
from schemac.lsp.session import Session
from schemac.lsp.texts import EditedText, Frames
from schemac.registry.codes import codes, page
from schemac.text.source.json_object import Json
from schemac.version import __version__

P = TypeVar("P")
_SWITCH = 0.001
"""Seconds after which a thread lets another one go on; by itself Python takes five times as long."""
_TRIGGERS = [":", " ", "-", "{", "[", ",", "/", "."]
_WATCHED = ("**/*.{yaml,yml,lock}", "**/schemac.toml", "**/pyproject.toml", "**/*.json")


class EditedWorkspace(Workspace):
    """The open texts, with the lines of the protocol."""

    def update_text_document(
        self,
        text_doc: types.VersionedTextDocumentIdentifier,
        change: types.TextDocumentContentChangeEvent,
    ) -> None:
        """Apply an edit; one of a text that is not open is ignored, because the rest of that text is unknown."""
        if unquote(text_doc.uri) in self._text_documents:
            super().update_text_document(text_doc, change)

    def _create_text_document(
        self,
        doc_uri: str,
        source: str | None = None,
        version: int | None = None,
        language_id: str | None = None,
    ) -> TextDocument:
        return EditedText(
            doc_uri,
            source=source,
            version=version,
            language_id=language_id,
            sync_kind=self._sync_kind,
            position_codec=self._position_codec,
        )


class Protocol(LanguageServerProtocol):
    """The protocol, with an answer to each request whose parameters are not those of its method."""

    def structure_message(self, data: Json) -> Any:
        """Return a message as a value. Raises JsonRpcException if it is invalid."""
        try:
            return super().structure_message(data)
        except JsonRpcException:
            # Whoever asked would wait for ever.
            if isinstance(data.get("id"), int | str) and isinstance(data.get("method"), str):
                reason = f"the parameters of {data['method']} are not valid"
                self._send_response(data["id"], error=JsonRpcInvalidParams(reason).to_response_error())
            raise


class Server(LanguageServer):
    """A server that reports which message it cannot read."""

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Show an error in the editor."""
        if isinstance(error, JSONDecodeError):
            error = ValueError(f"a message cannot be read: {error.doc[:200]}")
        super().report_server_error(error, source)


def make_server(*, has_custom_rules: bool = True) -> LanguageServer:
    """Return a server that knows all requests and has not been started; as `Project.has_custom_rules`."""
    server = Server("schemac", __version__, protocol_cls=Protocol)
    session = Session(server)
    session.projects.has_custom_rules = has_custom_rules
    _add_texts(server, session)
    answers = Answers(session)

    def answer(method: str, function: Callable[[P], Awaitable[Any]], options: Any = None) -> None:
        async def answered(params: P) -> Any:
            try:
                return await function(params)
            except Exception as error:
                if answers.is_user_error(error):
                    raise
                session.log(error)
                return None

        server.feature(method, options)(answered)

    answer(types.TEXT_DOCUMENT_COMPLETION, answers.completion, types.CompletionOptions(_TRIGGERS))
    answer(types.TEXT_DOCUMENT_HOVER, answers.hover)
    answer(types.TEXT_DOCUMENT_DEFINITION, answers.definition)
    answer(types.TEXT_DOCUMENT_REFERENCES, answers.references)
    answer(types.TEXT_DOCUMENT_PREPARE_RENAME, answers.prepare_rename)
    answer(types.TEXT_DOCUMENT_RENAME, answers.rename, types.RenameOptions(prepare_provider=True))
    kinds = types.CodeActionOptions([types.CodeActionKind.QuickFix])
    answer(types.TEXT_DOCUMENT_CODE_ACTION, answers.code_actions, kinds)
    answer(types.TEXT_DOCUMENT_INLAY_HINT, answers.inlay_hints)
    answer(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, answers.document_symbols)
    answer(types.WORKSPACE_SYMBOL, answers.workspace_symbols)
    answer(types.TEXT_DOCUMENT_FORMATTING, answers.formatting)

    @server.command(EXPLAIN)
    def explain(code: str) -> str:
        """Open the page of a code in the editor, and return its text."""
        entry = codes().get(code)
        if entry is None:
            return ""
        link = page_link(code)
        window = server.client_capabilities.window
        if link is not None and window is not None and window.show_document is not None:
            server.window_show_document(types.ShowDocumentParams(link, take_focus=True))
        return page(entry).text

    return server


def start(*, has_custom_rules: bool = True) -> None:
    """Serve an editor on standard input and output, until it ends the session."""
    sys.setswitchinterval(_SWITCH)
    # pygls closes what it writes to, and standard output is flushed at the end of every command.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as stdout:
        make_server(has_custom_rules=has_custom_rules).start_io(
            cast(BinaryIO, Frames(sys.stdin.buffer)), stdout
        )


def _add_texts(server: LanguageServer, session: Session) -> None:
    """Add the handlers of notifications about texts and files."""

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        workspace = server.protocol.workspace
        folders = list(params.workspace_folders or [])
        server.protocol._workspace = EditedWorkspace(
            workspace.root_uri, types.TextDocumentSyncKind.Incremental, folders, workspace.position_encoding
        )
        paths = [to_fs_path(folder.uri) for folder in folders] or [workspace.root_path]
        session.projects.workspace = [Path(os.path.abspath(path)) for path in paths if path]
        options = params.initialization_options
        if isinstance(options, dict) and options.get("projectRules") is False:
            session.projects.has_custom_rules = False

    @server.feature(types.INITIALIZED)
    def initialized(_: types.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        watched = workspace.did_change_watched_files if workspace is not None else None
        if watched is None or not watched.dynamic_registration:
            return
        options = types.DidChangeWatchedFilesRegistrationOptions(
            [types.FileSystemWatcher(glob) for glob in _WATCHED]
        )
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        server.client_register_capability(
            types.RegistrationParams([types.Registration("schemac-files", method, options)])
        )

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        session.open(document.uri, document.version, document.text)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        text = server.workspace.get_text_document(uri).source
        session.edit(uri, params.text_document.version, text)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        session.close(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(_: types.DidSaveTextDocumentParams) -> None:
        session.changed_elsewhere()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_files(_: types.DidChangeWatchedFilesParams) -> None:
        session.changed_elsewhere()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def did_change_configuration(_: types.DidChangeConfigurationParams) -> None:
        session.changed_elsewhere()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def did_change_folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        gone = {to_fs_path(folder.uri) for folder in params.event.removed}
        remaining = [path for path in session.projects.workspace if str(path) not in gone]
        added = [Path(path) for folder in params.event.added if (path := to_fs_path(folder.uri))]
        session.projects.workspace = [*remaining, *added]
        session.changed_elsewhere()

    @server.feature(types.SHUTDOWN)
    def shutdown(_: None) -> None:
        session.end()
