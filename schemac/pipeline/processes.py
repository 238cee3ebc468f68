"""Which process drives a run, and whether it is still there.

Shape: `Process` is a value that any process of the same machine can ask about, and that says nothing to others.
Source: proc(5). A number of a process is given again; together with the tick at which the process started it is not.
"""

import hashlib
import json
import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path

BOOT, NAMESPACE = "/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"
GONE_STATES = ("Z", "X")


@dataclass(frozen=True)
class Process:
    """A process, told apart from all that ever had its number."""

    host: str
    boot: str
    """The start of the machine, and the namespace in which the number holds; empty where the system tells neither."""
    number: int
    tick: str
    """When it started, in ticks since the machine did."""

    @classmethod
    def current(cls) -> "Process":
        """This process."""
        number = os.getpid()
        return cls(socket.gethostname(), _boot(), number, (_state(number) or ("", ""))[1])

    @classmethod
    def parse(cls, text: str) -> "Process":
        """The process out of `to_json`."""
        return cls(**json.loads(text))

    def to_json(self) -> str:
        """The process as `parse` reads it."""
        return json.dumps(asdict(self))

    @property
    def label(self) -> str:
        """The process as part of a file's name."""
        return f"{_machine(self.host, self.boot)}-{self.number}-{self.tick}"

    def is_gone(self) -> bool | None:
        """Whether it has ended; None where this process cannot know: it runs elsewhere, or the system does not tell."""
        return is_gone(self.label)


def is_gone(label: str) -> bool | None:
    """The same of a process by its label."""
    machine, _, rest = label.partition("-")
    number, _, tick = rest.partition("-")
    if not _boot() or machine != _machine(socket.gethostname(), _boot()):
        return None
    found = _state(int(number)) if number.isdigit() else None
    return found is None or found[1] != tick or found[0] in GONE_STATES


def _machine(host: str, boot: str) -> str:
    return hashlib.sha256(f"{host} {boot}".encode()).hexdigest()[:16]


def _boot() -> str:
    try:
        return f"{Path(BOOT).read_text().strip()} {os.readlink(NAMESPACE)}"
    except OSError:
        return ""


def _state(number: int) -> tuple[str, str] | None:
    """State and start of a process; its name, which may hold anything, ends at the last bracket."""
    try:
        fields = Path(f"/proc/{number}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], fields[19]
