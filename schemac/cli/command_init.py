"""`schemac init`: a small project that works as it is.

Layer: cli.
Shape: `templates/<name>/` has the files of each template, `templates/shared/` those that any of them may have.
"""

import argparse
import os
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from schemac.artifacts.folder import make_folder
from schemac.cli.command_schema import files_of_project
from schemac.cli.terminal import ExitCode, notify, put, wrapped
from schemac.project.discovery import has_lock, walk
from schemac.project.writing import replace_file
from schemac.text.source.text import reason_of

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "folder",
        nargs="?",
        default=".",
        metavar="FOLDER",
        help="folder of the new project (default: the current folder)",
    )
    parser.add_argument(
        "--template",
        choices=tuple(TEMPLATES),
        help="template of the project (default: pipeline; with --ci and locked manifests: none)",
    )
    parser.add_argument(
        "--ci",
        choices=tuple(CI),
        help=f"also write a file that checks the schemas in CI: {', '.join(f'{file} ({name})' for name, file in CI.items())}",
    )
    parser.add_argument("--list-templates", action="store_true", help="list the templates, and write nothing")


def run(options: argparse.Namespace) -> int:
    """Write the files; none at all if one of them already exists."""
    if options.list_templates:
        put("\n".join(wrapped(f"{name:<10} ", what) for name, what in TEMPLATES.items()))
        return ExitCode.CLEAN
    folder = Path(options.folder)
    if folder.exists() and not folder.is_dir():
        notify(f"schemac: {folder} is a file; name a folder")
        return ExitCode.USAGE
    template = _template(options)
    existing = [name for name in template if os.path.lexists(folder / name)]
    ignored = template.get(_IGNORED, b"").decode().splitlines()[1:]
    if _IGNORED in existing:
        # A repository has one from its first day on.
        existing.remove(_IGNORED)
        del template[_IGNORED]
    if existing:
        notify(f"schemac: {', '.join(existing)} would be overwritten; use an empty folder")
        return ExitCode.USAGE
    written: list[Path] = []
    try:
        for name, content in template.items():
            make_folder(str((folder / name).parent))
            replace_file(folder / name, content)
            written.append(folder / name)
    except BaseException as error:
        for path in written:
            path.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
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


def _template(options: argparse.Namespace) -> dict[str, bytes]:
    """Return the files to write, by path in the project; for one with locked manifests, the file for CI alone."""
    templates = files("schemac.cli").joinpath("templates")
    shared = templates.joinpath("shared")
    ci = {CI[options.ci]: shared.joinpath(f"{options.ci}.yml").read_bytes()} if options.ci else {}
    folder = Path(options.folder)
    if ci and options.template is None and any(map(has_lock, walk(folder, folder / "build"))):
        return ci
    contents = dict(_files(templates.joinpath(options.template or "pipeline"), ""))
    # Under another name in here, for git and packagers would obey a `.gitignore`.
    return files_of_project(contents | {_IGNORED: shared.joinpath("gitignore").read_bytes()} | ci)


def _files(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a template by their paths below it, with `/`, and their bytes."""
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        if entry.is_dir():
            yield from _files(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", entry.read_bytes()
