"""The pages of `schemac explain`: those of the core, and those that engines bring.

Layer: registry.
"""

from typing import TYPE_CHECKING

from schemac.registry.codes import Bringer, builtin_codes, builtin_providers, codes_of
from schemac.registry.engine import EngineError, reason_of
from schemac.registry.installed import engines
from schemac.source.catalogue import CATALOGUE
from schemac.source.code import Code
from schemac.source.pages import FOLDER, Page, read_page

if TYPE_CHECKING:
    from pathlib import Path  # for start-up time: `explain` opens no files through it


def page(code: Code) -> Page:
    """Return the page of a code; where an engine of another distribution brought none, its title and the name of the missing file. Raises EngineError."""
    if CATALOGUE.get(code.id) is code:
        return read_page(code)
    bringing = builtin_providers() if builtin_codes().get(code.id) is code else engines()
    bringer = next(bringer for bringer in bringing if code in codes_of(bringer))
    name = f"{code.id}.md"
    missing = f"There is no page for this code: {bringer.pages or '`pages`'} of the engine {bringer.name} has no {name}."
    text = _text(bringer, name)
    return Page(text or f"# {code.id} {code.slug}\n\n{bringer.title}: {code.title}.\n\n{missing}\n")


def page_file(code: Code) -> "Path | None":
    """Return the file of a page, for programs that open files; None if it is none."""
    from importlib.util import find_spec  # for start-up time, as above
    from pathlib import Path

    if CATALOGUE.get(code.id) is code:
        return Path(FOLDER) / f"{code.id}.md"
    bringer = next(one for one in (*builtin_providers(), *engines()) if code in codes_of(one))
    spec = find_spec(bringer.pages) if bringer.pages else None
    folders = spec.submodule_search_locations if spec is not None else None
    paths = [path for folder in folders or () if (path := Path(folder) / f"{code.id}.md").is_file()]
    return paths[0] if paths else None


def loss_pages() -> dict[str, str]:
    """Return what each target loses, by its name, where somebody wrote it down. Raises EngineError."""
    pages_by_engine = {engine.name: _text(engine, f"losses/{engine.name}.md") for engine in engines()}
    return {name: text for name, text in sorted(pages_by_engine.items()) if text}


def _text(bringer: Bringer, name: str) -> str:
    """Return a page that an engine or a room brought; empty if it has none."""
    if not bringer.pages:
        return ""
    from pkgutil import get_data  # for start-up time: the pages of the core need none of it

    try:
        content = get_data(bringer.pages, name)
        return content.decode() if content is not None else ""
    except FileNotFoundError:
        return ""
    except (ImportError, OSError, UnicodeError) as error:
        raise EngineError(
            f"`pages` of the engine {bringer.name} ({bringer.pages}) cannot be read: {reason_of(error)}"
        ) from error
