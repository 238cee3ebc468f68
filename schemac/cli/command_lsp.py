"""`schemac lsp`: the language server, on standard input and output.

Layer: cli.
"""

import argparse
from importlib.util import find_spec

from schemac.cli.output import add_no_project_rules
from schemac.cli.terminal import ExitCode, notify


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "--stdio",
        action="store_true",
        help="accepted for editors that pass it; the server always uses standard input and output",
    )
    add_no_project_rules(parser)


def run(options: argparse.Namespace) -> int:
    """Serve until the editor ends the session."""
    if find_spec("pygls") is None:
        notify("schemac: the language server needs pygls; install it with: pip install 'schemac[lsp]'")
        return ExitCode.USAGE
    from schemac.lsp.server import start  # for start-up time, and pygls is not always there

    start(has_custom_rules=not options.no_project_rules)
    return ExitCode.CLEAN
