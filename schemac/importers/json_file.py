"""The JSON of a file that holds a schema.

Layer: importers.
Errors: SC552 unreadable-source.
"""

import json
import re
from pathlib import Path
from typing import Any

from schemac.importers.importer import refuse
from schemac.source.catalogue import UNREADABLE_SOURCE
from schemac.source.report import Report
from schemac.source.span import Region

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def json_document(content: bytes) -> Any:
    """Return the value of a text. Raises ValueError or RecursionError where it is not valid JSON."""
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
