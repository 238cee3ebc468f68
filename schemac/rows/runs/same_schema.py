"""Refuses rows whose schema is not that of the table that they are for.

Layer: rows.
Shape: asked before a run starts, and again by the sink, in a process that knows nothing of pipelines.
Errors: SC653 schema-mismatch.
"""

from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.tables import Sink, StorageOptions, TableForm
from schemac.source.catalogue import SCHEMA_MISMATCH


def check_same_schema(sink: Sink, path: str, form: TableForm, storage_options: StorageOptions) -> None:
    """Refuse rows that a table cannot take as they are. Raises PipelineError."""
    differences = sink.differences(path, form, storage_options, ids=False)
    if differences:
        raise PipelineError(
            SCHEMA_MISMATCH,
            f"the table `{path}` has a different schema: {'; '.join(differences[:5])}",
            "`schemac plan` shows how to change the table to the schema; `mode: overwrite` replaces it",
            place=("target", "path"),
        )
