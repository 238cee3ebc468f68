"""`schemac completion`: a script that lets a shell complete commands, options and files.

Layer: cli.
"""

import argparse
from typing import TYPE_CHECKING

from schemac.cli.terminal import ExitCode, put_page

if TYPE_CHECKING:
    from collections.abc import Iterator

_FILES = ("AGAINST", "FILE", "PATH", "PIPELINE", "SOURCE", "TABLE", "DATASET")
"""What stands for a file in the help of commands."""
_FOLDERS = ("FOLDER",)
SHELLS = ("bash", "zsh", "fish", "tcsh")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    # Imported here for start-up time: no other command needs shtab, nor the arguments of all commands.
    import shtab

    from schemac.cli.command_explain import words
    from schemac.cli.main import whole_parser

    parser = whole_parser()
    for action in _actions(parser):
        names = action.metavar if isinstance(action.metavar, tuple) else (action.metavar,)
        if any(name in _FILES for name in names):
            action.complete = shtab.FILE  # type: ignore[attr-defined]  # where shtab looks
        elif any(name in _FOLDERS for name in names):
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]  # as above
        elif action.metavar == "CODE":
            # Only here: the command itself takes a word in any case, and a rule with its reason.
            action.choices = words()
    put_page(shtab.complete(parser, options.shell))
    return ExitCode.CLEAN


def _actions(parser: argparse.ArgumentParser) -> "Iterator[argparse.Action]":
    """Yield the actions of a parser and of all its subcommands, each subcommand's after the action that selects it."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for one in action.choices.values():
                yield from _actions(one)
