"""Looks for what a browser would load from elsewhere: `python -m docs.external FOLDER` fails if there is anything.

Links that a reader may follow are no such thing.
"""

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

_LOADED = frozenset({"src", "srcset", "data", "poster"})
_RELATIONS = frozenset(
    {"stylesheet", "preload", "modulepreload", "icon", "preconnect", "dns-prefetch", "prefetch"}
)
_IN_STYLE = re.compile(r"(?:url\(\s*|@import\s+)[\"']?((?:https?:)?//[^\"')\s]+)")
_IN_SCRIPT = re.compile(r"\b(?:fetch|import|importScripts)\(\s*[\"']((?:https?:)?//[^\"']+)")


def requests(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every file with an address outside the site that it loads."""
    for file in sorted(folder.rglob("*")):
        if file.suffix in (".html", ".css", ".js", ".svg"):
            text = file.read_text(encoding="utf-8")
            for address in _requests_of(text, file.suffix):
                yield file.relative_to(folder), address


def _requests_of(text: str, suffix: str) -> Iterator[str]:
    if suffix in (".html", ".svg"):
        page = _Loads()
        page.feed(text)
        yield from page.found
    if suffix != ".js":
        yield from _IN_STYLE.findall(text)
    if suffix != ".css":
        yield from _IN_SCRIPT.findall(text)


class _Loads(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        loaded = [value for name, value in given.items() if name in _LOADED]
        if tag == "link" and _RELATIONS & set(given.get("rel", "").lower().split()):
            loaded.append(given.get("href", ""))
        if tag in ("use", "image"):
            loaded += [value for name, value in given.items() if name in ("href", "xlink:href")]
        self.found += [address for address in loaded if re.match(r"\s*(?:https?:)?//", address)]


if __name__ == "__main__":
    found = list(requests(Path(sys.argv[1])))
    for file, address in found:
        print(f"{file}: loads {address}")
    sys.exit(bool(found))
