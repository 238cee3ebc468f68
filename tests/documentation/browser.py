"""A real browser without a window, spoken to over two pipes in the DevTools protocol."""

import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAM = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")
REASON = "no Chromium is here to look at pages with"


class Browser:
    """One page of a browser."""

    def __init__(self, commands: Any, answers: Any) -> None:
        self._commands = commands
        self._answers = answers
        self._ids = itertools.count(1)
        self._session = ""
        self.requests: list[str] = []
        """All that any page asked for."""
        self.errors: list[str] = []
        """What the console says is wrong."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **given: Any) -> Any:
        """Return the result of a method; in the meantime events are noted."""
        number = next(self._ids)
        message = {"id": number, "method": method, "params": given}
        if self._session:
            message["sessionId"] = self._session
        self._commands.write(json.dumps(message).encode() + b"\0")
        self._commands.flush()
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, page: str) -> None:
        """Load a page, and wait until its scripts have run."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=page)
        self.ask(
            "new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', done))"
        )

    def ask(self, script: str) -> Any:
        """Return the value of an expression, or of what it promises."""
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def _next(self) -> Any:
        parts = bytearray()
        while (sign := self._answers.read(1)) != b"\0":
            assert sign, "the browser left"
            parts += sign
        message = json.loads(parts)
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        if message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
            self.errors.append(json.dumps(message["params"]))
        return message


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """Start a browser whose own files lie in a folder."""
    assert PROGRAM is not None
    read_commands, write_commands = os.pipe()
    read_answers, write_answers = os.pipe()
    words = [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    words += ["--remote-debugging-pipe", f"--user-data-dir={folder}", "--no-first-run", "about:blank"]
    # The browser reads from 3 and writes to 4.
    script = f'exec "$@" 3<&{read_commands} 4>&{write_answers}'
    run = subprocess.Popen(
        ["bash", "-c", script, "_", *words],
        pass_fds=(read_commands, write_answers),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(read_commands)
    os.close(write_answers)
    try:
        with open(write_commands, "wb") as commands, open(read_answers, "rb") as answers:
            yield Browser(commands, answers)
    finally:
        run.terminate()
        run.wait()
