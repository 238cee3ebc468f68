"""A manifest without groups, in the standard's form.

Layer: language.
Shape: one document for each that has a schema or other events, in the order of the text; what is not a schema stays as it is. A schema
with nothing around it is in a DatasetSnapshot, for the standard has no name next to `fields`.
Source: RFC-016.
"""

from collections.abc import Sequence
from typing import Any

from schemac.language.manifest.bind import standard_schemas
from schemac.language.manifest.documents import is_library
from schemac.language.manifest.expansion import replaced
from schemac.language.manifest.library import Reuse
from schemac.language.manifest.write import write_documents
from schemac.text.source.report import Report
from schemac.text.source.text import SourceText
from schemac.text.syntax.document import Document


def expanded_text(documents: Sequence[Document], source: SourceText, reuse: Reuse) -> str:
    """Return the text of a manifest without errors."""
    report = Report()
    values: list[Any] = []
    schemas = standard_schemas(documents, source, reuse, report)
    for document, bodies in zip(documents, schemas, strict=True):
        if document.value is None or is_library(document.value):
            continue
        value: Any = document.value
        for body, schema in bodies:
            if body.path:
                value = replaced(value, body.path, schema)
            else:
                event = {"kind": "SetDataSchema", "schema": schema}
                content = {"name": body.name, "kind": "Root", "metadata": [event]}
                value = {"kind": "DatasetSnapshot", "version": 1, "content": content}
        values.append(value)
    assert not report.has_errors, "a manifest with errors is not expanded"
    return write_documents(values)
