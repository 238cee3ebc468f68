"""The events of a YAML text.

Floor: 1 (syntax).
Source: ruamel.yaml. Its C parser is an order of magnitude faster than its pure one; both give the same events.
"""

from collections.abc import Callable, Iterator
from typing import Any

from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.reader import ReaderError

try:
    from ruamel.yaml.cyaml import CParser
except ImportError:  # no compiled extension on this platform
    CParser = None

__all__ = ["MarkedYAMLError", "ReaderError", "YAMLError", "event_source", "events"]


def event_source(text: str) -> Callable[[], Any]:
    """A function that gives the next event each time it is called."""
    return CParser(text).get_event if CParser is not None else pure_event_source(text)


def pure_event_source(text: str) -> Callable[[], Any]:
    """The same from the parser that is written in Python."""
    # Imported here for start-up time: nobody with the C extension needs the pure parser.
    from ruamel.yaml import YAML

    iterator = YAML(typ="safe", pure=True).parse(text)
    return lambda: next(iterator)


def events(text: str) -> Iterator[Any]:
    """All events of a text, to its end."""
    get_event = event_source(text)
    while (event := get_event()) is not None:
        yield event
        if type(event).__name__ == "StreamEndEvent":
            return
