"""The session of one editor: its open texts, when they are checked, and their findings.

Layer: lsp.
Shape: protocol and quick answers run on the event loop; whole projects are checked on one other thread, one after the other.
A check begins as long after the last edit as the check before it took, so that it is never in the way of whoever types.
"""

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path
from pygls.workspace import PositionCodec

from schemac.lsp.projects import CheckedProject, ProjectFolder, check_companion, is_companion
from schemac.lsp.texts import EditedWorkspace, TextLines, to_lsp_diagnostic, uri_of
from schemac.project.configuration import Project, find_root
from schemac.project.discovery import SUFFIXES, content_of
from schemac.project.project_texts import key_of
from schemac.text.source.diagnostics import Diagnostic

T = TypeVar("T")
Findings = list[tuple[Diagnostic, types.Diagnostic]]
"""Findings, each with the form that the editor shows."""

_WATCHED = ("**/*.{yaml,yml,lock}", "**/schemac.toml", "**/pyproject.toml", "**/*.json")
QUIET = 0.015
"""Seconds after an edit, in which others may follow at once, as those of a pasted text."""


@dataclass
class Opened:
    """A text that the editor holds."""

    uri: str
    path: str
    """Absolute; of a text without a file, one that is not there."""
    version: int
    lines: TextLines
    state: "ProjectState"
    displayed: Findings = field(default_factory=list)
    """What the editor shows of it."""
    findings: tuple[Diagnostic, ...] = ()
    """What the last check found."""

    @property
    def content(self) -> bytes:
        """The text as the compiler reads it."""
        return self.lines.source.encode("utf-8", "surrogatepass")

    @property
    def is_manifest(self) -> bool:
        """Whether it may be a manifest, and is neither a pipeline nor an overlay."""
        return self.path.endswith(SUFFIXES) and not is_companion(self.path, self.content)


@dataclass
class ProjectState:
    """What is known of a project."""

    folder: ProjectFolder
    checked: CheckedProject
    """As it was last; without files before the first check."""
    is_dirty: bool = True
    cost: float = 0.0
    """Seconds that the last check took."""
    timer: asyncio.TimerHandle | None = None
    task: "asyncio.Task[None] | None" = None
    published: set[str] = field(default_factory=set)
    """Files that the editor shows something of."""

    def stop_timer(self) -> None:
        """Forget when the next check was to begin."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


class Session:
    """Everything that lasts as long as the editor's connection."""

    def __init__(self, server: LanguageServer) -> None:
        self.server = server
        self.workspace: list[Path] = []
        """The folders that the editor has opened."""
        self.has_custom_rules = True
        """Whether rules in files of projects are run; not in a workspace that somebody does not trust."""
        self.opened: dict[str, Opened] = {}
        """By URI."""
        self.states: dict[Path, ProjectState] = {}
        """What is known of each project that a file was opened of, by its folder."""
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="check")

    def can(self, capability: str) -> bool:
        """Whether the editor has a capability, by its path in what it has told."""
        return bool(get_capability(self.server.client_capabilities, capability))

    # Texts

    @property
    def codec(self) -> PositionCodec:
        """How the client counts."""
        return self.server.workspace.position_codec

    def initialize(self, params: types.InitializeParams) -> None:
        """Begin: note the folders of the editor, and whether rules of projects are run."""
        workspace = self.server.protocol.workspace
        folders = list(params.workspace_folders or [])
        self.server.protocol._workspace = EditedWorkspace(
            workspace.root_uri, types.TextDocumentSyncKind.Incremental, folders, workspace.position_encoding
        )
        paths = [to_fs_path(folder.uri) for folder in folders] or [workspace.root_path]
        self.workspace = [Path(os.path.abspath(path)) for path in paths if path]
        options = params.initialization_options
        if isinstance(options, dict) and options.get("projectRules") is False:
            self.has_custom_rules = False

    def watch_files(self, _: types.InitializedParams) -> None:
        """Ask the editor to tell of files that others change."""
        if not self.can("workspace.did_change_watched_files.dynamic_registration"):
            return
        watchers = [types.FileSystemWatcher(glob) for glob in _WATCHED]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        registration = types.Registration("schemac-files", method, options)
        self.server.client_register_capability(types.RegistrationParams([registration]))

    def open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Take a text that the editor has opened."""
        uri = params.text_document.uri
        path = to_fs_path(uri)
        if path is not None and uri.startswith("file:"):
            key = key_of(path)
        else:
            # A path at which nothing is.
            name = "".join(c if c.isalnum() else "-" for c in uri)
            key = f"/.schemac-untitled/{name}.yaml"
        lines = TextLines(params.text_document.text, self.codec)
        self.opened[uri] = Opened(uri, key, params.text_document.version, lines, self.state_of(key))
        self.changed(self.opened[uri])

    def edit(self, params: types.DidChangeTextDocumentParams) -> None:
        """Take a text after an edit, if it is open."""
        uri, version = params.text_document.uri, params.text_document.version
        text = self.server.workspace.get_text_document(uri).source
        opened = self.opened.get(uri)
        if opened is not None:
            opened.version, opened.lines = version, TextLines(text, self.codec)
            self.changed(opened)

    def close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Go back to the file."""
        uri = params.text_document.uri
        opened = self.opened.pop(uri, None)
        if opened is None:
            return
        if not os.path.exists(opened.path):
            self._publish(opened.state, opened.path, [], None)
        self.schedule(opened.state, 0)

    def change_folders(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        """Note which folders the editor has opened and closed, and check everything again."""
        gone = {to_fs_path(folder.uri) for folder in params.event.removed}
        remaining = [path for path in self.workspace if str(path) not in gone]
        added = [Path(path) for folder in params.event.added if (path := to_fs_path(folder.uri))]
        self.workspace = [*remaining, *added]
        self.changed_elsewhere(params)

    def lines_at(self, path: str) -> TextLines:
        """Return the text of a file by its absolute path: the editor's, or that on disk; empty if there is none."""
        opened = self.opened_at(path)
        if opened is not None:
            return opened.lines
        return TextLines((content_of(path) or b"").decode("utf-8", "replace"), self.codec)

    def opened_at(self, path: str) -> Opened | None:
        """Return the open text of a file."""
        return next((one for one in self.opened.values() if one.path == path), None)

    # Checks

    def state_of(self, path: str) -> ProjectState:
        """Return what is known of a file's project: that of its configuration, or the folder that the editor has opened, or its repository."""
        parent = Path(path).parent
        root = find_root(parent, self.workspace)
        folder, is_project = root or parent, root is not None
        state = self.states.get(folder)
        if state is None or state.folder.is_project != is_project:
            project = ProjectFolder(folder, is_project=is_project, has_custom_rules=self.has_custom_rules)
            self.states[folder] = ProjectState(project, CheckedProject(Project(folder)))
            if state is not None:
                # What the editor shows already is taken back by the next check.
                state.stop_timer()
                self.states[folder].published = state.published
        return self.states[folder]

    def changed(self, opened: Opened) -> None:
        """Check a text soon after an edit."""
        self.schedule(opened.state, max(QUIET, opened.state.cost))

    def changed_elsewhere(self, _: object) -> None:
        """Check everything again: files were changed by others."""
        for opened in self.opened.values():
            opened.state = self.state_of(opened.path)
        for state in self.states.values():
            self.schedule(state, QUIET)

    def schedule(self, state: ProjectState, delay: float) -> None:
        """Check a project after some time, from now."""
        state.is_dirty = True
        state.stop_timer()
        state.timer = asyncio.get_running_loop().call_later(delay, self._start, state)

    def _start(self, state: ProjectState) -> None:
        """Check a project now in place of its timer, unless a check is running: that one sees the new edits itself."""
        state.stop_timer()
        if state.task is None or state.task.done():
            state.task = asyncio.get_running_loop().create_task(self._check(state))

    async def current(self, opened: Opened) -> CheckedProject:
        """Return the project of a text, checked as it is now."""
        state = opened.state
        while state.is_dirty or (state.task is not None and not state.task.done()):
            self._start(state)
            assert state.task is not None
            await asyncio.shield(state.task)
        return state.checked

    async def work(self, function: Callable[..., T], *arguments: Any) -> T:
        """Run something that takes time outside the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, partial(function, *arguments))

    async def _check(self, state: ProjectState) -> None:
        """Check a project until no edit came meanwhile, and publish the findings of all its texts after each round."""
        while state.is_dirty:
            state.is_dirty = False
            state.stop_timer()
            texts = {uri: one.lines for uri, one in self.opened.items()}
            buffers = {one.path: one.content for one in self.opened.values()}
            started = time.perf_counter()
            try:
                state.checked = await self.work(state.folder.check, buffers)
            except Exception as error:  # noqa: BLE001 — a mistake of ours must not end the session
                self.log(error)
            state.cost = time.perf_counter() - started
            checked = state.checked
            # What was edited in the meantime is shown when it is checked again.
            for path in {*checked.findings, *state.published}:
                if self.opened_at(path) is None:
                    findings = self._to_lsp(state, checked.findings.get(path, ()))
                    self._publish(state, path, findings, None)
            for opened in self.opened.values():
                if opened.state is not state or opened.uri not in texts:
                    continue
                opened.findings = checked.findings.get(opened.path, ())
                # A pipeline or an overlay is told of with what else is found in it.
                if opened.is_manifest and opened.lines is texts[opened.uri]:
                    self._show(opened)
            if not state.is_dirty:
                await self._show_companions(state, texts)

    async def _show_companions(self, state: ProjectState, texts: dict[str, TextLines]) -> None:
        """Check the pipelines and overlays that are open, and have the checked texts, when manifests have been told of."""
        for opened in list(self.opened.values()):
            is_current = opened.lines is texts.get(opened.uri)
            if opened.state is not state or not is_current or opened.is_manifest:
                continue
            if is_companion(opened.path, opened.content):
                try:
                    opened.findings = await self.work(check_companion, opened.path, state.checked)
                except Exception as error:  # noqa: BLE001 — as above
                    self.log(error)
            if self.opened.get(opened.uri) is opened and opened.lines is texts[opened.uri]:
                self._show(opened)

    def _to_lsp(self, state: ProjectState, findings: Sequence[Diagnostic]) -> Findings:
        """Return findings of a checked project with their forms for the editor; each text is read once."""
        path_of = state.checked.path
        lines_of = cache(lambda name: self.lines_at(path_of(name)))
        return [(one, to_lsp_diagnostic(one, lines_of, path_of)) for one in findings]

    def _show(self, opened: Opened) -> None:
        """Show the findings of an open text."""
        opened.displayed = self._to_lsp(opened.state, opened.findings)
        self._publish(opened.state, opened.path, opened.displayed, opened.version)

    def _publish(self, state: ProjectState, path: str, displayed: Findings, version: int | None) -> None:
        """Show findings of a file, open or not; none are sent for a closed file that had none."""
        opened = self.opened_at(path)
        uri = opened.uri if opened is not None else uri_of(path)
        if not displayed and path not in state.published and opened is None:
            return
        (state.published.add if displayed else state.published.discard)(path)
        params = types.PublishDiagnosticsParams(uri, [one for _, one in displayed], version=version)
        self.server.text_document_publish_diagnostics(params)

    def log(self, error: BaseException) -> None:
        """Log a bug of the server with its traceback in the editor."""
        import traceback  # for start-up time: hardly ever needed

        text = "".join(traceback.format_exception(error))
        self.server.window_log_message(types.LogMessageParams(types.MessageType.Error, text))

    def end(self, _: None) -> None:
        """Stop what is under way."""
        for state in self.states.values():
            state.stop_timer()
        self._worker.shutdown(wait=False, cancel_futures=True)
