"""`schemac lsp`: the requests that are answered, and how; and the framing of messages.

Layer: lsp.
Shape: a request that fails is told in the editor's log and answered with nothing; the server goes on. Requests wait for the check
of what was typed before them, except for completion, which is needed while nothing is whole. Messages come from standard input as
bytes. pygls takes every line for a header until one has a known length, and reads no message after a header that it does not
understand. `MessageFrames` returns invalid bytes as a body that cannot be parsed, which pygls reports to the editor, and continues at the
next header with a length.
Source: the base protocol of the Language Server Protocol.
"""

import os
import re
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from json import JSONDecodeError
from typing import Any, BinaryIO, TypeVar, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcInvalidRequest
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from schemac.lsp.answers import Answers
from schemac.lsp.session import Session
from schemac.lsp.texts import EXPLAIN, page_link
from schemac.registry.codes import codes, page
from schemac.text.source.json_object import Json
from schemac.version import __version__

P = TypeVar("P")
_SWITCH = 0.001
"""Seconds after which a thread lets another one go on; by itself Python takes five times as long."""
_TRIGGERS = [":", " ", "-", "{", "[", ",", "/", "."]


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
    session.has_custom_rules = has_custom_rules
    handlers: dict[str, Callable[[Any], None]] = {
        types.INITIALIZE: session.initialize,
        types.INITIALIZED: session.watch_files,
        types.TEXT_DOCUMENT_DID_OPEN: session.open,
        types.TEXT_DOCUMENT_DID_CHANGE: session.edit,
        types.TEXT_DOCUMENT_DID_CLOSE: session.close,
        types.TEXT_DOCUMENT_DID_SAVE: session.changed_elsewhere,
        types.WORKSPACE_DID_CHANGE_WATCHED_FILES: session.changed_elsewhere,
        types.WORKSPACE_DID_CHANGE_CONFIGURATION: session.changed_elsewhere,
        types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: session.change_folders,
        types.SHUTDOWN: session.end,
    }
    for method, handle in handlers.items():
        # pygls notes the name on what it calls, and a method takes no attributes.
        server.feature(method)(partial(handle))

    def answer(method: str, function: Callable[[P], Awaitable[Any]], options: Any = None) -> None:
        async def answered(params: P) -> Any:
            try:
                return await function(params)
            except JsonRpcInvalidRequest:
                # An answer to the person at the editor, and no mistake of the server.
                raise
            except Exception as error:  # noqa: BLE001 — a mistake of ours must not end the session
                session.log(error)
                return None

        server.feature(method, options)(answered)

    answers = Answers(session)
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
        if link is not None and session.can("window.show_document"):
            server.window_show_document(types.ShowDocumentParams(link, take_focus=True))
        return page(entry)

    return server


def start(*, has_custom_rules: bool = True) -> None:
    """Serve an editor on standard input and output, until it ends the session."""
    sys.setswitchinterval(_SWITCH)
    # pygls closes what it writes to, and standard output is flushed at the end of every command.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as stdout:
        frames = cast(BinaryIO, MessageFrames(sys.stdin.buffer))
        make_server(has_custom_rules=has_custom_rules).start_io(frames, stdout)


MOST_BYTES = 1 << 30
"""Largest message that is waited for; an editor that announces more has lost count."""
_MOST_LINE = 1 << 16
"""Largest piece that is read at once where no line ends."""
_LONGEST = 64
"""Bytes of a header with a length."""
_LENGTH = re.compile(rb"Content-Length[ \t]*:[ \t]*(\d{1,12})[ \t]*\r?\n\Z", re.IGNORECASE)
_HEADER = re.compile(rb"[A-Za-z-]+[ \t]*:[^\r\n]*\r?\n\Z")


class MessageFrames:
    """Standard input with sound headers alone, in place of the stream that pygls reads from."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lines: list[bytes] = []
        self._garbage: bytes | None = None
        self._length: int | None = None
        """What a header said that was found behind something else."""
        self._is_lost = False
        """Whether what comes next is the rest of something that was not understood."""

    def readline(self) -> bytes:
        """Return the next line of a header; empty at the end of the input."""
        if not self._lines:
            self._lines = self._next_header()
        return self._lines.pop(0) if self._lines else b""

    def read(self, count: int) -> bytes:
        """Return the body that the last header announced."""
        if self._garbage is not None:
            garbage, self._garbage = self._garbage, None
            return garbage
        return self._stream.read(count)

    def _next_header(self) -> list[bytes]:
        """Return the lines of the next header, as pygls wants to have them; none at the end of the input."""
        length, self._length = self._length, None
        cut = b""
        while line := self._stream.readline(_MOST_LINE):
            # A long line comes in pieces, and a header may stand where one is cut.
            line, cut = cut + line, b"" if line.endswith(b"\n") else line[-_LONGEST:]
            match = _LENGTH.search(line)
            if match is not None and int(match[1]) <= MOST_BYTES:
                if match.start() and not self._is_lost:
                    # It stands behind the rest of something else.
                    self._length = int(match[1])
                    return self._report_garbage(line[: match.start()])
                length, self._is_lost = int(match[1]), False
            elif self._is_lost:
                continue
            elif not line.strip():
                if length:
                    return _header(length)
                self._is_lost = True
                return self._report_garbage(b"a header without Content-Length")
            elif not _HEADER.match(line) or line[:14].lower() == b"content-length":
                self._is_lost = True
                return self._report_garbage(line)
        return []

    def _report_garbage(self, line: bytes) -> list[bytes]:
        """Keep what is not a message as the next body, which pygls reports as unreadable; return the lines of its header."""
        excerpt = line.strip()[:200].decode("ascii", "backslashreplace")
        self._garbage = f"{excerpt} (not a message of the protocol)".encode()
        return _header(len(self._garbage))


def _header(length: int) -> list[bytes]:
    """Return the header of a message with a body of so many bytes, as lines."""
    return [b"Content-Length: %d\r\n" % length, b"\r\n"]
