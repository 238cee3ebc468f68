"""What importers read, as a checked dataset.

Layer: importers.
"""

from dataclasses import replace

from pydantic import ValidationError

from schemac.checks.run import check
from schemac.logical.dataset import LogicalDataset
from schemac.logical.model import Schema
from schemac.logical.origins import Origins
from schemac.logical.path import quoted
from schemac.logical.schema_fields import columns
from schemac.source.catalogue import UNSUPPORTED_ARROW_TYPE
from schemac.source.diagnostic import Diagnostic, Severity
from schemac.source.json_object import Json
from schemac.source.report import Report
from schemac.syntax.model_errors import model_errors


def from_tree(tree: Json, name: str, file: str, report: Report) -> LogicalDataset | None:
    """Return the checked dataset of a schema in the standard's long form, as importers give it."""
    try:
        schema = Schema.model_validate(tree)
    except ValidationError as error:
        # Types that Arrow has and no kind admits, such as a decimal with a scale of a thousand.
        for complaint in model_errors(error, Schema, tree):
            column = tree["fields"][complaint.path[1]]["name"]
            path = quoted(column)
            help = f"leave the column out with `--skip '{column}'`"
            report.add(
                UNSUPPORTED_ARROW_TYPE, f"{path}: {complaint.message}", file=file, path=path, help=help
            )
        return None
    dataset = LogicalDataset(name, schema, columns(schema), Origins(file))
    checked = Report()
    check(dataset, checked)
    names = {quoted(field.name): field.name for field in schema.fields}
    report.extend(_with_way_out(diagnostic, names) for diagnostic in checked.diagnostics)
    return None if checked.has_errors or report.has_errors else dataset


def _with_way_out(diagnostic: Diagnostic, names: dict[str, str]) -> Diagnostic:
    """Add to an error about a column of a source how to leave the column out."""
    column = next((n for title, n in names.items() if f"{diagnostic.path}.".startswith(f"{title}.")), None)
    if column is None or diagnostic.severity is not Severity.ERROR:
        return diagnostic
    skip = f"leave the column out with `--skip '{column}'`"
    return replace(diagnostic, help=f"{diagnostic.help}; or {skip}" if diagnostic.help else skip)
