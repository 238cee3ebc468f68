"""`schemac schema`: the JSON Schemas of manifests, pipelines and settings for editors without the language server.

Layer: cli.
Shape: `schemas/` has them without the engines of other distributions; `schemac schema` and `schemac init` write them
for the installed engines.
"""

import argparse
import json
from pathlib import Path

from schemac.cli.terminal import ExitCode, notify, put
from schemac.project.writing import replace_file
from schemac.text.source.json_object import Json
from schemac.text.source.text import reason_of

FOLDER = "schemas"
"""Where `init` puts them in a project: to be committed, so that editors find them in a fresh clone, without schemac or a network."""


NAMES = ("manifest", "pipeline", "config")
"""What schemas are of."""


def schema_of(name: str, *, strict: bool = False) -> Json:
    """Return a schema by what it is of; with `strict` that of the standard alone, which is of manifests."""
    # Imported here for start-up time: each takes a while to load.
    if name == "manifest":
        from schemac.language.manifest.json_schema import manifest_schema

        return manifest_schema(strict=strict)
    if name == "pipeline":
        from schemac.pipeline.declaration.job import pipeline_schema

        return pipeline_schema()
    from schemac.project.settings import config_schema

    return config_schema()


def schema_text(schema: Json) -> str:
    """Return a JSON Schema as its file has it."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def file_name(name: str, *, strict: bool = False) -> str:
    """Return what the file of a schema is called."""
    return f"{name}.strict.schema.json" if strict else f"{name}.schema.json"


def write_schemas(folder: Path) -> None:
    """Write all of them."""
    for name, strict in (*((name, False) for name in NAMES), ("manifest", True)):
        text = schema_text(schema_of(name, strict=strict))
        (folder / file_name(name, strict=strict)).write_text(text, encoding="utf-8")


def files_of_project(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files of a new project, by path, with the JSON Schemas; each file that one describes names it in its first line."""
    schemas = {f"{FOLDER}/{file_name(name)}": schema_text(schema_of(name)).encode() for name in NAMES}
    described: dict[str, bytes] = {}
    for path, content in files.items():
        # The line by which editors find the schema: that of yaml-language-server, or of Taplo.
        up, line = "../" * path.count("/"), ""
        if path.endswith("schemac.toml"):
            line = f"#:schema {up}{FOLDER}/{file_name('config')}\n"
        elif path.endswith((".yaml", ".yml")):
            keys = {text.partition(b":")[0] for text in content.splitlines()}
            name = "pipeline" if b"target" in keys else "manifest"
            if keys & {b"fields", b"groups", b"target"}:
                line = f"# yaml-language-server: $schema={up}{FOLDER}/{file_name(name)}\n"
        described[path] = line.encode() + content
    return {**described, **schemas}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "name",
        choices=NAMES,
        metavar="NAME",
        help=f"what the schema describes: {', '.join(NAMES)}",
    )
    parser.add_argument(
        "--strict", action="store_true", help="only what is in the ODF standard (for `manifest`)"
    )
    parser.add_argument("--out", metavar="FILE", help="write the schema to a file")


def run(options: argparse.Namespace) -> int:
    """Print a schema, with the attributes of all engines that are installed."""
    if options.strict and options.name != "manifest":
        notify(f"schemac: the standard has no {options.name}; leave `--strict` out")
        return ExitCode.USAGE
    text = schema_text(schema_of(options.name, strict=options.strict))
    if options.out is None:
        put(text.removesuffix("\n"))
        return ExitCode.CLEAN
    try:
        replace_file(Path(options.out), text.encode())
    except OSError as error:
        notify(f"schemac: cannot write {options.out}: {reason_of(error)}")
        return ExitCode.FINDINGS
    return ExitCode.CLEAN
