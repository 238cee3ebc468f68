"""All diagnostic codes and their pages: those of the core, of engines and of the pipeline.

Layer: registry.
Shape: a code of an engine of another distribution is a word in capitals and a number, such as `SQLITE501`; `SC` is
reserved for schemac.
"""

import os
import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from schemac.registry.engine import Engine, EngineError, builtin_engines, engines, load_as, reason_of
from schemac.text.source.catalogue import CATALOGUE, Code
from schemac.text.source.pages import FOLDER, read_page

if TYPE_CHECKING:
    from pathlib import Path


class Room(NamedTuple):
    """A package of the compiler with codes of its own."""

    name: str
    title: str
    """As people write it."""
    codes: str
    """Where its tuple of `Code` is, as `module:NAME`."""
    pages: str
    """The package with `<code>.md` for each of them."""


Bringer: TypeAlias = Engine | Room
"""What brings codes."""
_ROOMS = (
    Room("pipeline", "Pipelines", "schemac.pipeline.codes:CODES", "schemac.pipeline.pages"),
    Room("lint", "Rules", "schemac.language.lint.codes:CODES", "schemac.language.lint.pages"),
)
_ID = re.compile(r"(?!SC\d)[A-Z][A-Z_]*[0-9]+")


@cache
def codes() -> dict[str, Code]:
    """Return all codes by number, those of other distributions last. Raises EngineError."""
    codes_by_id = dict(builtin_codes())
    slugs = {code.slug for code in codes_by_id.values()}
    for engine in engines()[len(builtin_engines()) :]:
        for code in codes_of(engine):
            if not _ID.fullmatch(code.id):
                raise EngineError(
                    f"`codes` of the engine {engine.name} ({engine.codes}) has '{code.id}';"
                    f" write a code like {engine.name.upper()}501"
                )
            if code.id in codes_by_id or code.slug in slugs:
                message = f"the engine {engine.name} has a code {code.id} {code.slug}, which is already used"
                raise EngineError(message)
            codes_by_id[code.id] = code
            slugs.add(code.slug)
    return codes_by_id


@cache
def builtin_codes() -> dict[str, Code]:
    """Return the codes that come with the compiler, sorted by number; no other distribution is asked."""
    all_codes = [
        *CATALOGUE.values(),
        *(code for bringer in builtin_providers() for code in codes_of(bringer)),
    ]
    return {code.id: code for code in sorted(all_codes, key=lambda code: code.id)}


def builtin_code(id: str) -> Code | None:
    """Return a code that comes with the compiler by its number, None if there is none; for one of the core, no engine is loaded."""
    return CATALOGUE.get(id) or builtin_codes().get(id)


def builtin_providers() -> tuple[Bringer, ...]:
    """Return the engines and rooms that come with the compiler, which bring codes."""
    return (*builtin_engines(), *_ROOMS)


def codes_of(bringer: Bringer) -> tuple[Code, ...]:
    """Return the codes that an engine or a room brings. Raises EngineError."""
    if not bringer.codes:
        return ()
    what = f"`codes` of the engine {bringer.name}"
    loaded_codes = load_as(bringer.codes, tuple, what)
    if not all(isinstance(code, Code) for code in loaded_codes):
        raise EngineError(f"{what} ({bringer.codes}) has an item that is not a Code")
    return loaded_codes


def page(code: Code) -> str:
    """Return the page of a code; where an engine of another distribution brought none, its title and the name of the missing file. Raises EngineError."""
    if CATALOGUE.get(code.id) is code:
        return read_page(code.id)
    bringer = _bringer_of(code)
    name = f"{code.id}.md"
    missing = f"There is no page for this code: {bringer.pages or '`pages`'} of the engine {bringer.name} has no {name}."
    text = _text(bringer, name)
    return text or f"# {code.id} {code.slug}\n\n{bringer.title}: {code.title}.\n\n{missing}\n"


def page_file(code: Code) -> "Path | None":
    """Return the file of a page, for programs that open files; None if there is none. Raises EngineError."""
    from pathlib import Path  # for start-up time: `explain` needs none of it

    if CATALOGUE.get(code.id) is code:
        return Path(FOLDER) / f"{code.id}.md"
    path = _page_path(_bringer_of(code), f"{code.id}.md")
    return Path(path) if path is not None else None


def _bringer_of(code: Code) -> Bringer:
    """Return the engine or room that brings a code; for one that comes with the compiler, no other distribution is asked. Raises EngineError."""
    bringing = builtin_providers() if builtin_codes().get(code.id) is code else engines()
    return next(bringer for bringer in bringing if code in codes_of(bringer))


def loss_pages() -> dict[str, str]:
    """Return the page about losses of each target that has one, by target name. Raises EngineError."""
    pages_by_engine = {engine.name: _text(engine, f"losses/{engine.name}.md") for engine in engines()}
    return {name: text for name, text in sorted(pages_by_engine.items()) if text}


def _text(bringer: Bringer, name: str) -> str:
    """Return a page that an engine or a room brought; empty if it has none. Raises EngineError."""
    path = _page_path(bringer, name)
    if path is None:
        return ""
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except (OSError, UnicodeError) as error:
        raise EngineError(_unreadable(bringer, error)) from error


def _page_path(bringer: Bringer, name: str) -> str | None:
    """Return the file of a page in the package of pages, which needs no `__init__.py`; None if it has none. Raises EngineError."""
    if not bringer.pages:
        return None
    from importlib.util import find_spec  # for start-up time: the pages of the core need none of it

    try:
        spec = find_spec(bringer.pages)
    except ImportError as error:
        raise EngineError(_unreadable(bringer, error)) from error
    if spec is None:
        raise EngineError(_unreadable(bringer, ModuleNotFoundError(f"No module named {bringer.pages!r}")))
    paths = [os.path.join(folder, name) for folder in spec.submodule_search_locations or ()]
    return next((path for path in paths if os.path.isfile(path)), None)


def _unreadable(bringer: Bringer, error: Exception) -> str:
    """Return the message for a package of pages that cannot be imported or read."""
    return f"`pages` of the engine {bringer.name} ({bringer.pages}) cannot be read: {reason_of(error)}"
