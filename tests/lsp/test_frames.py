"""Headers that are none, and lengths that are wrong: each is answered with an error, and the next message is read."""

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import IO, Any, BinaryIO, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemac.lsp.server import MOST_BYTES, MessageFrames

BODY = b'{"jsonrpc":"2.0","id":7,"method":"shutdown"}'
WRONG = {
    "words": b"Content-Length: many\r\n\r\n" + BODY,
    "negative": b"Content-Length: -5\r\n\r\n" + BODY,
    "none": b"Content-Length:\r\n\r\n" + BODY,
    "no bytes": b"Content-Length: 0\r\n\r\n",
    "another header alone": b"Content-Type: application/vscode-jsonrpc\r\n\r\n" + BODY,
    "larger than any memory": b"Content-Length: %d\r\n\r\n%b" % (10**11, BODY),
    "a number of too many digits": b"Content-Length: %b\r\n\r\n%b" % (b"9" * 400, BODY),
    "a fraction": b"Content-Length: 1.5\r\n\r\n" + BODY,
    "a shell's line": b"echo hello\n",
    "no text": b"\xff\xfe\x00\r\n\r\n",
    "too short": b"Content-Length: 10\r\n\r\n" + BODY,
    "in the wrong place": BODY + b"\r\n\r\n",
}
TAKEN = {
    "small letters": b"content-length: %d\r\n\r\n",
    "no blank": b"Content-Length:%d\r\n\r\n",
    "a header before it": b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
    "a header behind it": b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n",
    "line feeds": b"Content-Length: %d\n\n",
}


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def bodies(stream: bytes | IO[bytes]) -> Iterator[bytes]:
    """What pygls would read: by its own way of reading headers."""
    frames = MessageFrames(io.BytesIO(stream) if isinstance(stream, bytes) else cast(BinaryIO, stream))
    length = 0
    while header := frames.readline():
        if header.startswith(b"Content-Length: ") and header.endswith(b"\r\n") and not length:
            length = int(header[16:])
        if length and header == b"\r\n":
            yield frames.read(length)
            length = 0


@pytest.mark.parametrize("name", WRONG)
def test_read_the_next_message_after_a_wrong_one(name: str) -> None:
    found = list(bodies(WRONG[name] + framed(BODY) + WRONG[name] + framed(BODY)))
    assert found.count(BODY) == 2
    others = [body for body in found if body != BODY]
    assert len(others) >= 2, "each wrong one is told of"
    for body in others:
        with pytest.raises(json.JSONDecodeError):
            json.loads(body)


@pytest.mark.parametrize("name", TAKEN)
def test_take_headers_as_the_protocol_allows_them(name: str) -> None:
    assert list(bodies((TAKEN[name] % len(BODY) + BODY) * 2)) == [BODY, BODY]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(st.binary(max_size=40), st.sampled_from(sorted(WRONG.values()))), max_size=4))
def test_come_back_whatever_comes_between(garbage: list[bytes]) -> None:
    """After garbage that does not announce more than it has, the second message at the latest is read."""
    stream = b"".join(garbage) + framed(BODY) * 3
    assert BODY in list(bodies(stream))[-2:]


def test_wait_for_no_message_of_any_size() -> None:
    (found,) = bodies(b"Content-Length: %d\r\n\r\n" % (MOST_BYTES + 1))
    assert b"not a message of the protocol" in found


INITIALIZE: dict[str, Any] = {"processId": None, "rootUri": None, "capabilities": {}}


@pytest.mark.slow
def test_go_on_over_stdio(tmp_path: Path) -> None:
    """The real process: every wrong header is answered with an error, and requests between them are answered."""

    def request(id: int, method: str, params: Any = None) -> bytes:
        return framed(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode())

    stream = request(0, "initialize", INITIALIZE)
    for n, wrong in enumerate(WRONG.values(), start=1):
        stream += wrong + request(n, "workspace/symbol", {"query": ""})
    waiting = {*range(len(WRONG) + 1)}
    messages: list[dict[str, Any]] = []
    words = [sys.executable, "-m", "schemac", "lsp"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        answers = bodies(server.stdout)
        server.stdin.write(stream)
        server.stdin.flush()
        watchdog = Timer(60, server.kill)
        watchdog.start()
        # An editor ends the session when it has its answers; what is still asked for at the shutdown is given up.
        while waiting and (body := next(answers, None)) is not None:
            messages.append(json.loads(body))
            if "result" in messages[-1]:
                waiting.discard(messages[-1]["id"])
        server.stdin.write(request(99, "shutdown") + framed(b'{"jsonrpc":"2.0","method":"exit"}'))
        server.stdin.close()
        messages += map(json.loads, answers)
        watchdog.cancel()
    assert not waiting
    assert {"jsonrpc": "2.0", "id": 99, "result": None} in messages
    errors = [one for one in messages if one.get("method") == "window/showMessage"]
    assert len(errors) >= len(WRONG)
    assert any("Content-Length: many" in one["params"]["message"] for one in errors)
    assert server.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "rest", [b"", b"Content-Length: 5000\r\n\r\n{", b"Content-Length: 3\r\n", b"garbage"]
)
def test_end_with_the_input(rest: bytes, tmp_path: Path) -> None:
    stream = framed(
        json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE}).encode()
    )
    words = [sys.executable, "-m", "schemac", "lsp"]
    done = subprocess.run(
        words, input=stream + rest, cwd=tmp_path, capture_output=True, timeout=60, check=False
    )
    assert [json.loads(body)["id"] for body in bodies(done.stdout) if b'"id"' in body] == [0]
    assert done.returncode in (0, 1)
    assert b"ValueError: I/O" not in done.stderr
