"""Pages of the commands: their help."""

import contextlib
import io
import os
from unittest.mock import patch

from docs.markdown import code, heading, toctree
from schemac.cli.main import COMMANDS, main


def pages() -> dict[str, str]:
    """All pages by path."""
    return {
        "commands/index.md": heading("Commands", code(_help()), toctree(COMMANDS)),
        **{f"commands/{name}.md": heading(f"schemac {name}", code(_help(name))) for name in COMMANDS},
    }


def _help(*command: str) -> str:
    written = io.StringIO()
    # argparse breaks its lines by the width of the terminal, and colours them on one.
    terminal = patch.dict(os.environ, {"COLUMNS": "100", "NO_COLOR": "1", "SCHEMAC_TRACEBACK": "1"})
    with terminal, contextlib.redirect_stdout(written), contextlib.suppress(SystemExit):
        main([*command, "--help"])
    return written.getvalue()
