"""`schemac schema`: the JSON Schemas of manifests, pipelines and settings for editors without the language server.

Layer: cli.
Shape: `schemas/` has them without the engines of other distributions; `schemac schema` and `schemac init` write them
for the installed engines.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from schemac.cli.terminal import ExitCode, notify, put
from schemac.project.writing import replace_file
from schemac.text.source.json_object import Json
from schemac.text.source.text import reason_of

FOLDER = "schemas"
"""Where `init` puts them in a project: to be committed, so that editors find them in a fresh clone, without schemac or a network."""


def _manifest() -> Json:
    from schemac.language.manifest.json_schema import manifest_schema

    return manifest_schema(strict=False)


def _strict_manifest() -> Json:
    from schemac.language.manifest.json_schema import manifest_schema  # for start-up time, as above

    return manifest_schema(strict=True)


def _pipeline() -> Json:
    from schemac.pipeline.declaration.json_schema import pipeline_schema  # for start-up time, as above

    return pipeline_schema()


def _config() -> Json:
    from schemac.project.settings import config_schema  # for start-up time, as above

    return config_schema()


SCHEMAS: dict[str, Callable[[], Json]] = {"manifest": _manifest, "pipeline": _pipeline, "config": _config}
"""By what they are of."""
STRICT: dict[str, Callable[[], Json]] = {"manifest": _strict_manifest}
"""Those of the standard alone."""


def schema_text(schema: Json) -> str:
    """Return a JSON Schema as its file has it."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def file_name(name: str, *, strict: bool = False) -> str:
    """Return what the file of a schema is called."""
    return f"{name}.strict.schema.json" if strict else f"{name}.schema.json"


def write_schemas(folder: Path) -> None:
    """Write all of them."""
    for schemas, strict in ((SCHEMAS, False), (STRICT, True)):
        for name, make in schemas.items():
            (folder / file_name(name, strict=strict)).write_text(schema_text(make()), encoding="utf-8")


def files_of_project(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files of a new project, by path, with the JSON Schemas; each file that one describes names it in its first line."""
    schemas = {f"{FOLDER}/{file_name(name)}": schema_text(make()).encode() for name, make in SCHEMAS.items()}
    return {**{path: _modeline(path, content) + content for path, content in files.items()}, **schemas}


def _modeline(path: str, content: bytes) -> bytes:
    """Return the line by which editors find the schema of a file: that of yaml-language-server, or of Taplo."""
    up = "../" * path.count("/")
    if path.endswith("schemac.toml"):
        return f"#:schema {up}{FOLDER}/{file_name('config')}\n".encode()
    if not path.endswith((".yaml", ".yml")):
        return b""
    lines = content.splitlines()
    if not any(line.startswith((b"fields:", b"groups:", b"target:")) for line in lines):
        return b""
    name = "pipeline" if any(line.startswith(b"target:") for line in lines) else "manifest"
    return f"# yaml-language-server: $schema={up}{FOLDER}/{file_name(name)}\n".encode()


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
