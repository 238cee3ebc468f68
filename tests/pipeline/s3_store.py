"""An S3 API on loopback: moto's server, started by a Python of its own; and a door before it that can answer 503.

Shape: `SCHEMAC_S3_PYTHON` names a Python that has moto with its server; without it, that of `make test-where`.
"""

import http.client
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from pyarrow import fs

from tests.pipeline.cluster import free_port

PYTHON = os.environ.get("SCHEMAC_S3_PYTHON") or str(
    Path(__file__).parents[2] / ".venv-where" / "bin" / "python"
)
HAS_STORE = Path(PYTHON).exists()
REASON = "no moto server is here: `make test-where` installs it"
KEY, SECRET = "AKIAEXAMPLEWHERE", "s3cr3t-that-nobody-may-print"
STARTS_WITHIN_SECONDS = 60.0
SLOW_DOWN = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"


@dataclass
class Store:
    """A store with one bucket."""

    port: int
    bucket: str = "rides"

    @property
    def endpoint(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def file_system(self) -> fs.S3FileSystem:
        """Open the store as a test looks into it."""
        return fs.S3FileSystem(
            access_key=KEY,
            secret_key=SECRET,
            endpoint_override=self.endpoint,
            region="us-east-1",
            allow_bucket_creation=True,
        )

    def section(self, endpoint: str | None = None) -> dict[str, Any]:
        """Write the section `storage` of a pipeline that uses it."""
        told = {
            "endpoint": endpoint or self.endpoint,
            "region": "us-east-1",
            "accessKeyId": "${WHERE_KEY}",
            "secretAccessKey": "${WHERE_SECRET}",
            "pathStyle": True,
        }
        return {f"s3://{self.bucket}": told}

    def empty(self) -> None:
        """Remove all objects."""
        self.file_system().delete_dir_contents(self.bucket, missing_dir_ok=True)

    def put(self, name: str, content: bytes) -> str:
        """Put an object; its address."""
        with self.file_system().open_output_stream(f"{self.bucket}/{name}", compression=None) as file:
            file.write(content)
        return f"s3://{self.bucket}/{name}"

    def names(self, folder: str = "") -> list[str]:
        """List the objects below a folder."""
        chosen = fs.FileSelector(f"{self.bucket}/{folder}".rstrip("/"), recursive=True, allow_not_found=True)
        return sorted(found.path for found in self.file_system().get_file_info(chosen) if found.is_file)


@contextmanager
def store() -> Iterator[Store]:
    """Start a store that is empty."""
    found = Store(free_port())
    command = [PYTHON, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(found.port)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        try:
            _wait_until_it_answers(found.port)
            found.file_system().create_dir(found.bucket)
            yield found
        finally:
            process.terminate()


def _wait_until_it_answers(port: int) -> None:
    end = time.monotonic() + STARTS_WITHIN_SECONDS
    while True:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/moto-api/")
            connection.getresponse().read()
        except OSError:
            assert time.monotonic() < end, "moto's server does not answer"
            time.sleep(0.05)
        else:
            return


@dataclass
class Door:
    """A proxy before a store, which answers `SlowDown` in its place as long as `refuse` says so."""

    port: int
    behind: int
    refuse: Any = None
    """Is asked for each request with method and path."""
    lose: Any = None
    """Is asked likewise: whether the store gets the request, and nobody its answer."""
    refused: int = 0
    seen: list[str] = field(default_factory=list)

    @property
    def endpoint(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def door(behind: Store) -> Iterator[Door]:
    """Open a proxy before a store."""
    found = Door(0, behind.port)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = _body_of(self)
            found.seen.append(f"{self.command} {self.path}")
            if found.refuse is not None and found.refuse(self.command, self.path):
                found.refused += 1
                self.answer(503, {"Content-Type": "application/xml"}, SLOW_DOWN)
                return
            connection = http.client.HTTPConnection("127.0.0.1", found.behind, timeout=60)
            connection.request(self.command, self.path, body, dict(self.headers))
            answer = connection.getresponse()
            content = answer.read()
            if found.lose is not None and found.lose(self.command, self.path):
                self.close_connection = True
                return
            dropped = {"transfer-encoding", "connection", "server", "date"}
            if self.command != "HEAD":
                dropped.add("content-length")
            kept = {name: text for name, text in answer.getheaders() if name.lower() not in dropped}
            self.answer(answer.status, kept, content)

        def answer(self, status: int, headers: dict[str, str], content: bytes) -> None:
            self.send_response(status)
            for name, text in headers.items():
                self.send_header(name, text)
            if "content-length" not in {name.lower() for name in headers}:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    for method in ("GET", "PUT", "POST", "DELETE", "HEAD"):
        setattr(Handler, f"do_{method}", Handler.handle_any)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()


def _body_of(request: BaseHTTPRequestHandler) -> bytes:
    if request.headers.get("Transfer-Encoding", "").lower() == "chunked":
        parts = []
        while size := int(request.rfile.readline().split(b";")[0], 16):
            parts.append(request.rfile.read(size))
            request.rfile.readline()
        request.rfile.readline()
        del request.headers["Transfer-Encoding"]
        return b"".join(parts)
    return request.rfile.read(int(request.headers.get("Content-Length") or 0))
