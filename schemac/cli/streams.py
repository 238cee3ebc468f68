"""Standard output and error: there, and able to show any text.

Layer: cli.
"""

import codecs
import io
import os
import sys

_PLAIN = {"→": "->", "…": "...", "×": "x", "≤": "<=", "≥": ">=", "–": "-"}
"""Signs of our own that some encodings lack, such as those of pipes on Windows, and what stands for them there."""


def open_streams() -> None:
    """Open what the one that started Python closed, and write plainly what an encoding lacks, or as an escape."""
    codecs.register_error("schemac.plain", _plain)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 — for the whole process
            setattr(sys, name, stream)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="schemac.plain")


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    sign = error.object[error.start]
    replacement = _PLAIN.get(sign) or sign.encode("ascii", "backslashreplace").decode()
    return replacement, error.start + 1
