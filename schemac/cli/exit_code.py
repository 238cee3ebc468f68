"""The exit codes of a command.

Layer: cli.
"""

from enum import IntEnum


class ExitCode(IntEnum):
    """0 clean, 1 findings, 2 usage or configuration, 3 internal error, 4 stale artifacts."""

    CLEAN = 0
    FINDINGS = 1
    USAGE = 2
    INTERNAL = 3
    STALE = 4
