"""All diagnostic codes and their pages: the compiler's own, and those that engines of other distributions bring.

Layer: registry.
Shape: a code of an engine is a word in capitals and a number, such as `AVRO501`; `SC` is the compiler's.
"""

import re
from functools import cache

from schemac.registry.engine import Engine, EngineError, load_as, reason_of
from schemac.registry.installed import engines
from schemac.source.catalogue import CATALOGUE
from schemac.source.diagnostic import Code

_ID = re.compile(r"(?!SC\d)[A-Z][A-Z_]*[0-9]+")


@cache
def codes() -> dict[str, Code]:
    """Return all codes by number, the compiler's own first. Raises EngineError."""
    found = dict(CATALOGUE)
    slugs = {code.slug for code in found.values()}
    for engine in engines():
        for code in _of(engine):
            if code.id in found or code.slug in slugs:
                raise EngineError(
                    f"the engine {engine.name} has a code {code.id} {code.slug}, which is taken"
                )
            found[code.id] = code
            slugs.add(code.slug)
    return found


def page(code: Code) -> str:
    """Return the page of a code; where an engine brought none, its title. Raises EngineError."""
    from schemac.source import pages  # for start-up time, as below

    if CATALOGUE.get(code.id) is code:
        return pages.read_page(code).text
    engine = next(engine for engine in engines() if code in _of(engine))
    return _text(engine, f"{code.id}.md") or f"# {code.id} {code.slug}\n\n{engine.title}: {code.title}.\n"


def loss_pages() -> dict[str, str]:
    """Return what each target loses, by its name, where somebody wrote it down. Raises EngineError."""
    from schemac.source import pages  # for start-up time, as below

    brought = {engine.name: _text(engine, f"losses/{engine.name}.md") for engine in engines() if engine.pages}
    return {**pages.loss_pages(), **{name: text for name, text in brought.items() if text}}


def _of(engine: Engine) -> tuple[Code, ...]:
    if not engine.codes:
        return ()
    what = f"`codes` of the engine {engine.name}"
    found = load_as(engine.codes, tuple, what)
    for code in found:
        if not isinstance(code, Code):
            raise EngineError(f"{what} ({engine.codes}) has an item that is no Code")
        if not _ID.fullmatch(code.id):
            raise EngineError(
                f"{what} ({engine.codes}) has '{code.id}'; write a code like {engine.name.upper()}501"
            )
    return found


def _text(engine: Engine, name: str) -> str:
    """Return a page that an engine brought; empty where it has none."""
    if not engine.pages:
        return ""
    # Imported here for start-up time: only `explain` reads pages.
    from importlib.resources import files

    try:
        file = files(engine.pages).joinpath(name)
        return file.read_text(encoding="utf-8") if file.is_file() else ""
    except (ImportError, OSError, UnicodeError) as error:
        raise EngineError(
            f"`pages` of the engine {engine.name} ({engine.pages}) cannot be read: {reason_of(error)}"
        ) from error
