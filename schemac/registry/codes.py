"""All diagnostic codes: those of the core, and those that engines bring.

Layer: registry.
Shape: a code of an engine of another distribution is a word in capitals and a number, such as `AVRO501`; `SC` is for the core
and for the engines that come with it.
"""

import re
from functools import cache

from schemac.registry.engine import Engine, EngineError, load_as
from schemac.registry.installed import engines, own_engines
from schemac.source.catalogue import CATALOGUE
from schemac.source.diagnostic import Code

_ID = re.compile(r"(?!SC\d)[A-Z][A-Z_]*[0-9]+")


@cache
def codes() -> dict[str, Code]:
    """Return all codes by number, those of other distributions last. Raises EngineError."""
    found = dict(own_codes())
    slugs = {code.slug for code in found.values()}
    for engine in engines()[len(own_engines()) :]:
        for code in codes_of(engine):
            if not _ID.fullmatch(code.id):
                raise EngineError(
                    f"`codes` of the engine {engine.name} ({engine.codes}) has '{code.id}';"
                    f" write a code like {engine.name.upper()}501"
                )
            if code.id in found or code.slug in slugs:
                raise EngineError(
                    f"the engine {engine.name} has a code {code.id} {code.slug}, which is taken"
                )
            found[code.id] = code
            slugs.add(code.slug)
    return found


@cache
def own_codes() -> dict[str, Code]:
    """Return the codes that come with the compiler, sorted by number; no other distribution is asked."""
    found = [*CATALOGUE.values(), *(code for engine in own_engines() for code in codes_of(engine))]
    return {code.id: code for code in sorted(found, key=lambda code: code.id)}


def codes_of(engine: Engine) -> tuple[Code, ...]:
    """Return the codes that an engine brings. Raises EngineError."""
    if not engine.codes:
        return ()
    what = f"`codes` of the engine {engine.name}"
    found = load_as(engine.codes, tuple, what)
    if not all(isinstance(code, Code) for code in found):
        raise EngineError(f"{what} ({engine.codes}) has an item that is no Code")
    return found
