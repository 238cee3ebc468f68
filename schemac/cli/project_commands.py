"""`schemac init`, `schemac schema` and `schemac clean`: a new project, its JSON Schemas, and its cache.

Layer: cli.
Shape: `templates/<name>/` has the files of each template, `templates/shared/` those that any of them may have. `schemas/` of this
repository has the JSON Schemas without the engines of other distributions; the commands write them for the installed engines.
"""

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from schemac.artifacts.folder import make_folder
from schemac.cli.terminal import ExitCode, notify, put, wrapped
from schemac.project.discovery import has_lock, walk
from schemac.project.writing import replace_file, replace_files
from schemac.text.source.json_object import Json
from schemac.text.source.text import reason_of

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

# init

TEMPLATES = {
    "minimal": "one table, and nothing else",
    "events": "tables of events that share fields, with contracts for those who send them",
    "features": "a table of texts with vectors, for machine learning",
    "pipeline": "one table, with a pipeline that fills it",
}
"""What each template is for; the last one is the default."""
CI = {"github": ".github/workflows/schemas.yml", "gitlab": ".gitlab-ci.yml"}
"""The file that each CI server reads."""
_IGNORED = ".gitignore"


def add_init_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac init`."""
    help = "folder of the new project (default: the current folder)"
    parser.add_argument("folder", nargs="?", default=".", metavar="FOLDER", help=help)
    help = "template of the project (default: pipeline; with --ci and locked manifests: none)"
    parser.add_argument("--template", choices=tuple(TEMPLATES), help=help)
    help = f"also write a file that checks the schemas in CI: {', '.join(f'{file} ({name})' for name, file in CI.items())}"
    parser.add_argument("--ci", choices=tuple(CI), help=help)
    parser.add_argument("--list-templates", action="store_true", help="list the templates, and write nothing")


def run_init(options: argparse.Namespace) -> int:
    """Write the files; none at all if one of them already exists."""
    if options.list_templates:
        put("\n".join(wrapped(f"{name:<10} ", what) for name, what in TEMPLATES.items()))
        return ExitCode.CLEAN
    folder = Path(options.folder)
    if os.path.exists(folder) and not folder.is_dir():
        notify(f"schemac: {folder} is a file; name a folder")
        return ExitCode.USAGE
    template = _template_files(options)
    existing = [name for name in template if os.path.lexists(folder / name)]
    ignored = template.get(_IGNORED, b"").decode().splitlines()[1:]
    if _IGNORED in existing:
        # A repository has one from its first day on.
        existing.remove(_IGNORED)
        del template[_IGNORED]
    if existing:
        notify(f"schemac: {', '.join(existing)} would be overwritten; use an empty folder")
        return ExitCode.USAGE
    try:
        for name in template:
            make_folder(str((folder / name).parent))
        replace_files({folder / name: content for name, content in template.items()})
    except OSError as error:
        notify(f"schemac: cannot write to {folder}: {reason_of(error)}")
        return ExitCode.FINDINGS
    put("\n".join(f"wrote {(folder / name).as_posix()}" for name in template))
    enter = "" if folder == Path() else f"cd {folder.as_posix()} && "
    more = "\n  schemac run pipeline.yaml" if "pipeline.yaml" in template else ""
    lock = "\n  schemac lock          # commit the locks too: CI compares them" if options.ci else ""
    put(f"\nnext:\n  {enter}schemac check{lock}\n  schemac build{more}")
    if ignored and _IGNORED not in template:
        there = (folder / _IGNORED).read_text(encoding="utf-8", errors="replace").splitlines()
        missing = [line for line in ignored if line not in there]
        if missing:
            put(f"  {_IGNORED} was not changed; add this to it: {' '.join(missing)}")
    return ExitCode.CLEAN


def _template_files(options: argparse.Namespace) -> dict[str, bytes]:
    """Return the files to write, by path in the project; for one with locked manifests, the file for CI alone."""
    from importlib.resources import files  # for start-up time: only here

    templates = files("schemac.cli").joinpath("templates")
    shared = templates.joinpath("shared")
    ci = {CI[options.ci]: shared.joinpath(f"{options.ci}.yml").read_bytes()} if options.ci else {}
    folder = Path(options.folder)
    if ci and options.template is None and any(map(has_lock, walk(folder, folder / "build"))):
        return ci
    contents = dict(_files_below(templates.joinpath(options.template or "pipeline"), ""))
    # Under another name in here, for git and packagers would obey a `.gitignore`.
    return files_of_project(contents | {_IGNORED: shared.joinpath("gitignore").read_bytes()} | ci)


def _files_below(folder: "Traversable", prefix: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a template by their paths below it, with `/`, and their bytes."""
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        if entry.is_dir():
            yield from _files_below(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", entry.read_bytes()


# schema

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


def add_schema_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac schema`."""
    help = f"what the schema describes: {', '.join(NAMES)}"
    parser.add_argument("name", choices=NAMES, metavar="NAME", help=help)
    parser.add_argument(
        "--strict", action="store_true", help="only what is in the ODF standard (for `manifest`)"
    )
    parser.add_argument("--out", metavar="FILE", help="write the schema to a file")


def run_schema(options: argparse.Namespace) -> int:
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


# clean


def add_clean_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac clean`."""
    from schemac.cli.arguments import add_text_or_json  # for start-up time: `init` needs none, as below

    parser.add_argument("--config", metavar="FILE", help=argparse.SUPPRESS)
    add_text_or_json(parser)


def run_clean(options: argparse.Namespace) -> int:
    """Remove the cache; artifacts and locks stay as they are."""
    from schemac.cli.output import print_status, show
    from schemac.project.cache.store import NO_CACHE, Cache, remove_cache
    from schemac.project.configuration import find_project
    from schemac.text.source.catalogue import WRITE_FAILED
    from schemac.text.source.diagnostics import Report

    report = Report()
    here = Path.cwd()
    folders = [here]

    def note(folder: Path) -> Cache:
        folders.append(folder)
        return NO_CACHE

    find_project(here, Report(), Path(options.config) if options.config else None, note)
    sizes: list[int | None] = []
    for folder in dict.fromkeys(folder.resolve() for folder in folders):
        try:
            sizes.append(remove_cache(folder))
        except OSError as error:
            message = f"cannot remove the cache: {(error.strerror or str(error)).lower()}"
            report.add(WRITE_FAILED, message, file=f"{folder.name}/.schemac/cache")
    code = show(report.diagnostics, options)
    if not report.has_errors:
        removed = [size for size in sizes if size is not None]
        megabytes = f"removed the cache: {sum(removed) / 1e6:.1f} MB"
        print_status(megabytes if removed else "there is no cache", options)
    return code
