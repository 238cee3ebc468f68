"""A scripted editor: the client of pygls, and the server as a process of its own."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient
from pygls.uris import from_fs_path, to_fs_path

CAPABILITIES = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        completion=types.CompletionClientCapabilities(
            completion_item=types.ClientCompletionItemOptions(snippet_support=True)
        )
    ),
    workspace=types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(
            document_changes=True, change_annotation_support=types.ChangeAnnotationsSupportOptions()
        )
    ),
    window=types.WindowClientCapabilities(show_document=types.ShowDocumentClientCapabilities(True)),
)
_PATIENCE = 20
"""Seconds after which the server counts as hung."""


class Editor:
    """One open editor."""

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.diagnostics: dict[str, types.PublishDiagnosticsParams] = {}
        self.logged: list[str] = []
        self.shown: list[str] = []
        self._news = asyncio.Event()

        def published(params: types.PublishDiagnosticsParams) -> None:
            self.diagnostics[params.uri] = params
            self._news.set()

        def logged(params: types.LogMessageParams) -> None:
            self.logged.append(params.message)

        def told(params: types.ShowMessageParams) -> None:
            self.logged.append(params.message)

        def show(params: types.ShowDocumentParams) -> types.ShowDocumentResult:
            self.shown.append(params.uri)
            return types.ShowDocumentResult(True)

        client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(published)
        client.feature(types.WINDOW_LOG_MESSAGE)(logged)
        client.feature(types.WINDOW_SHOW_MESSAGE)(told)
        client.feature(types.WINDOW_SHOW_DOCUMENT)(show)

    def open(self, path: Path | str, text: str | None = None) -> str:
        uri = path if isinstance(path, str) else uri_of(path)
        if text is None:
            assert isinstance(path, Path)
            text = path.read_bytes().decode()
        self.texts[uri], self.versions[uri] = text, 1
        item = types.TextDocumentItem(uri, "yaml", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def put(self, uri: str, start: int, end: int, text: str) -> None:
        """Replace a part of a text, by code points."""
        before = self.texts[uri]
        range_ = types.Range(position(before, start), position(before, end))
        self.texts[uri] = before[:start] + text + before[end:]
        self.versions[uri] += 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.versions[uri], uri),
                [types.TextDocumentContentChangePartial(range_, text)],
            )
        )

    def replace(self, uri: str, old: str, new: str) -> None:
        start = self.texts[uri].index(old)
        self.put(uri, start, start + len(old), new)

    def close(self, uri: str) -> None:
        self.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
        )

    def at(self, uri: str, word: str, behind: int = 0, *, nth: int = 0) -> dict[str, Any]:
        """The arguments of a request about a word."""
        start = -1
        for _ in range(nth + 1):
            start = self.texts[uri].index(word, start + 1)
        return {
            "text_document": types.TextDocumentIdentifier(uri),
            "position": position(self.texts[uri], start + behind),
        }

    async def found(self, uri: str, version: int | None = None) -> list[types.Diagnostic]:
        """The findings about the present version of a text."""
        wanted = self.versions.get(uri) if version is None else version
        end = time.monotonic() + _PATIENCE
        while (held := self.diagnostics.get(uri)) is None or (
            held.version is not None and wanted is not None and held.version < wanted
        ):
            await self._more(end)
        return list(held.diagnostics)

    async def until(self, uri: str, codes: list[str]) -> list[types.Diagnostic]:
        """Wait for findings with these codes about a text."""
        end = time.monotonic() + _PATIENCE
        while True:
            held = self.diagnostics.get(uri)
            if held is not None and [d.code for d in held.diagnostics] == codes:
                return list(held.diagnostics)
            try:
                await self._more(end)
            except TimeoutError:
                raise AssertionError(
                    f"{held and [(d.code, d.message) for d in held.diagnostics]} is not {codes}"
                ) from None

    async def _more(self, end: float) -> None:
        self._news.clear()
        await asyncio.wait_for(self._news.wait(), max(0.01, end - time.monotonic()))

    async def labels(self, uri: str, word: str, behind: int = 0, *, nth: int = 0) -> list[str]:
        """What is offered at a place."""
        params = types.CompletionParams(**self.at(uri, word, behind, nth=nth))
        found = await self.client.text_document_completion_async(params)
        assert isinstance(found, types.CompletionList)
        return [item.label for item in found.items]

    async def hover(self, uri: str, word: str, behind: int = 1, *, nth: int = 0) -> str:
        params = types.HoverParams(**self.at(uri, word, behind, nth=nth))
        found = await self.client.text_document_hover_async(params)
        if found is None:
            return ""
        assert isinstance(found.contents, types.MarkupContent)
        return str(found.contents.value)


def uri_of(path: Path) -> str:
    return str(from_fs_path(str(path)))


def path_of(uri: str) -> Path:
    found = to_fs_path(uri)
    assert found is not None
    return Path(found)


def position(text: str, offset: int) -> types.Position:
    """A position in UTF-16 units."""
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    line = before.rsplit("\n", 1)[-1]
    return types.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)


@asynccontextmanager
async def editor(
    folder: Path,
    capabilities: types.ClientCapabilities = CAPABILITIES,
    program: tuple[str, ...] = ("-m", "schemac", "lsp"),
    options: dict[str, Any] | None = None,
) -> AsyncIterator[Editor]:
    """Start a server for a folder, and end it; a server that ends otherwise is an error."""
    client = LanguageClient("tests", "1")
    await client.start_io(sys.executable, *program, cwd=str(folder))
    try:
        found = Editor(client)
        uri = uri_of(folder)
        await client.initialize_async(
            types.InitializeParams(
                capabilities=capabilities,
                root_uri=uri,
                workspace_folders=[types.WorkspaceFolder(uri, folder.name)],
                initialization_options=options,
            )
        )
        client.initialized(types.InitializedParams())
        try:
            yield found
        except BaseException:
            if client._server is not None:
                client._server.kill()
            raise
        await asyncio.wait_for(client.shutdown_async(None), _PATIENCE)
        client.exit(None)
    finally:
        process = client._server
        if process is not None and process.returncode is None:
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), 5)
            if process.returncode is None:
                process.kill()
        await client.stop()  # type: ignore[no-untyped-call]  # of pygls


def applied(text: str, edits: "list[Any]") -> str:
    """A text after edits of the protocol, in UTF-16 units."""
    lines = text.split("\n")

    def offset(at: types.Position) -> int:
        if at.line >= len(lines):
            return len(text)
        before = sum(len(line) + 1 for line in lines[: at.line])
        units = lines[at.line].encode("utf-16-le")[: 2 * at.character]
        return before + len(units.decode("utf-16-le"))

    spans = sorted(((offset(e.range.start), offset(e.range.end), e.new_text) for e in edits), reverse=True)
    for start, end, new in spans:
        text = text[:start] + new + text[end:]
    return text
