"""What somebody sees in a terminal of some width: a program on a pseudo-terminal, and the screen that its output makes."""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

_PART = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|\x1b[()][A-Z0-9]|([\r\n])|([^\x1b\r\n]+)|\x1b")


def seen(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], columns: int = 80
) -> tuple[int, list[str]]:
    """Run a program in a terminal; return its exit code, and the lines that stand there in the end. Needs POSIX."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    given = {**environment, "TERM": "xterm-256color"}
    for name in ("COLUMNS", "LINES", "NO_COLOR"):
        given.pop(name, None)
    run = subprocess.Popen(words, cwd=folder, env=given, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    parts = bytearray()
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            # Linux says so when the other end is closed.
            break
        if not part:
            break
        parts += part
    os.close(ours)
    return run.wait(), screen(parts.decode())


def screen(output: str) -> list[str]:
    """Return the lines of a screen after some output; colours are left out, and lines are as long as they were written."""
    lines, row, column = [""], 0, 0
    for found in _PART.finditer(output):
        argument, command, end, text = found.groups()
        if text:
            before = lines[row].ljust(column)
            lines[row] = before[:column] + text + before[column + len(text) :]
            column += len(text)
        elif end == "\r":
            column = 0
        elif end == "\n":
            row += 1
            lines += [""] if row == len(lines) else []
        elif command == "A":
            row = max(0, row - int(argument or 1))
        elif command == "K":
            lines[row] = "" if argument == "2" else lines[row][:column]
    return [line.rstrip() for line in lines]
