"""Asks the pypaimon that runs in its own environment."""

import base64
import io
import json
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa

ROOT = Path(__file__).parents[3]
PYTHON = ROOT / ".venv-pypaimon" / "bin" / "python"


class PaimonError(Exception):
    """What pypaimon raised."""


class Paimon:
    """A running pypaimon."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [str(PYTHON), str(Path(__file__).with_name("server.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, do: str, **question: Any) -> dict[str, Any]:
        """An answer. Raises PaimonError."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": do, **question}) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        if "error" in answer:
            raise PaimonError(answer["error"])
        return answer

    def describe(self, warehouse: Path, table: str) -> pa.Schema:
        """The Arrow schema of a table."""
        return unpacked(self.ask("describe", warehouse=str(warehouse), table=table)["arrow"]).schema

    def write(self, warehouse: Path, table: str, rows: pa.Table) -> None:
        """Append or upsert."""
        self.ask("write", warehouse=str(warehouse), table=table, arrow=packed(rows))

    def read(self, warehouse: Path, table: str) -> pa.Table:
        """All rows."""
        return unpacked(self.ask("read", warehouse=str(warehouse), table=table)["arrow"])

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)
        assert self._process.stdout is not None
        self._process.stdout.close()


def packed(table: pa.Table) -> str:
    """A table as base64 text."""
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    return base64.b64encode(stream.getvalue()).decode()


def unpacked(text: str) -> pa.Table:
    """The table of such a text."""
    return pa.ipc.open_stream(base64.b64decode(text)).read_all()
