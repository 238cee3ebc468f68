"""The process that drives a run, and whether it is still alive.

Layer: rows.
Shape: a label of the process, which any process of the same machine can ask about, and which says nothing to others: the
       machine (a digest of its name, its start and the namespace of process numbers), the number, and the tick of its start.
Source: proc(5). A number of a process is given again; together with the tick at which the process started it is not.
"""

import hashlib
import os
import socket
from pathlib import Path

BOOT, NAMESPACE = "/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"
GONE_STATES = ("Z", "X")


def this_process() -> str:
    """Return the label of this process."""
    number = os.getpid()
    try:
        _, tick = _state(number) or ("", "")
    except OSError:
        tick = ""
    return f"{_machine() or 'unknown'}-{number}-{tick}"


def is_gone(label: str) -> bool | None:
    """Whether a process has ended; None if this one cannot know: it runs elsewhere, or the system does not tell."""
    machine, _, rest = label.partition("-")
    number, _, tick = rest.partition("-")
    if machine != _machine() or not number.isdigit() or not tick:
        return None
    try:
        state = _state(int(number))
    except OSError:
        return None
    return state is None or state[1] != tick or state[0] in GONE_STATES


def is_here(label: str | None) -> bool:
    """Whether a process runs, or ran, on this machine; one that is not known is taken to."""
    return label is None or label.partition("-")[0] == (_machine() or "unknown")


def _machine() -> str | None:
    try:
        boot = f"{Path(BOOT).read_text().strip()} {os.readlink(NAMESPACE)}"
    except OSError:
        return None
    return hashlib.sha256(f"{socket.gethostname()} {boot}".encode()).hexdigest()[:16]


def _state(number: int) -> tuple[str, str] | None:
    """State and start of a process; its name, which may hold anything, ends at the last bracket.

    None if there is none of this number. Raises OSError where the system does not tell, as where too many files are open.
    """
    try:
        fields = Path(f"/proc/{number}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return fields[0], fields[19]
