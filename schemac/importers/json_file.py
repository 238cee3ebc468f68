"""The JSON of a file that holds a schema.

Layer: importers.
Errors: SC552 unreadable-source.
"""

import json
import re
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from schemac.importers.importer import refuse
from schemac.source.catalogue import UNREADABLE_SOURCE
from schemac.source.report import Report
from schemac.source.span import Region

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


_LARGEST_EXPONENT = 400
"""Beyond the exponents of doubles, and of every decimal that a schema can have."""


class Beyond(str):
    """A number that no type has, as it is written: its exponent is larger than those of all types."""

    __slots__ = ()


def exact_number(text: str) -> Decimal | Beyond:
    """Return a number with a fraction or an exponent, as `json.loads` hands it over."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        return Beyond(text)
    return value if abs(value.adjusted()) <= _LARGEST_EXPONENT else Beyond(text)


def double(text: str) -> float | Beyond:
    """Return a number with a fraction or an exponent as a double; one that is none as it is written."""
    value = float(text)
    return value if abs(value) != float("inf") else Beyond(text)


def json_document(content: bytes) -> Any:
    """Return the value of a text. Raises ValueError or RecursionError if it is not valid JSON."""
    document = json.loads(content)
    if _SURROGATE.search(content):
        # Half a character has a form in JSON, but no text can hold it.
        json.dumps(document, ensure_ascii=False).encode()
    return document


def refuse_json(file: Path, error: Exception, report: Report) -> None:
    """Report why a file is not valid JSON, at the very place if that is known."""
    if isinstance(error, json.JSONDecodeError):
        at = Region.within(error.lineno, error.colno, error.colno + 1)
        message = f"cannot read {file}: it is not valid JSON: {error.msg[0].lower()}{error.msg[1:]}"
        report.add(UNREADABLE_SOURCE, message, file=str(file), at=at)
    else:
        refuse(file, f"it is not valid JSON: {error}", report)
