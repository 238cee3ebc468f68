"""`schemac schema`: JSON Schemas for editors without the language server.

Layer: cli.
"""

import argparse
from pathlib import Path

from schemac.cli.exit_code import ExitCode
from schemac.cli.json_schemas import SCHEMAS, STRICT, schema_text
from schemac.cli.terminal import notify, put
from schemac.project.writing import replace_file
from schemac.source.text import reason_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "name",
        choices=tuple(SCHEMAS),
        metavar="NAME",
        help=f"what the schema describes: {', '.join(SCHEMAS)}",
    )
    parser.add_argument(
        "--strict", action="store_true", help="only what is in the ODF standard (for `manifest`)"
    )
    parser.add_argument("--out", metavar="FILE", help="write the schema to a file")


def run(options: argparse.Namespace) -> int:
    """Print a schema, with the attributes of all engines that are installed."""
    schemas = STRICT if options.strict else SCHEMAS
    if options.name not in schemas:
        notify(f"schemac: the standard has no {options.name}; leave `--strict` out")
        return ExitCode.USAGE
    text = schema_text(schemas[options.name]())
    if options.out is None:
        put(text.removesuffix("\n"))
        return ExitCode.CLEAN
    try:
        replace_file(Path(options.out), text.encode())
    except OSError as error:
        notify(f"schemac: cannot write {options.out}: {reason_of(error)}")
        return ExitCode.FINDINGS
    return ExitCode.CLEAN
