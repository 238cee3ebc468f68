"""The JSON Schemas for editors without the language server: of manifests, pipelines and the configuration.

Layer: cli.
Shape: `schemas/` has them without the engines of other distributions; `schemac schema` and `schemac init` write them with those that
are installed.
"""

import json
from collections.abc import Callable
from pathlib import Path

from schemac.source.json_object import Json

FOLDER = "schemas"
"""Where `init` puts them in a project: to be committed, so that editors find them in a fresh clone, without schemac or a network."""


def _manifest() -> Json:
    from schemac.manifest.json_schema import manifest_schema  # for start-up time: pydantic writes them

    return manifest_schema(strict=False)


def _strict_manifest() -> Json:
    from schemac.manifest.json_schema import manifest_schema  # for start-up time, as above

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
