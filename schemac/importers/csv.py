"""CSV: what a sample of the rows looks like.

Floor: 7 (importers).
Units: the sample is the first 16 MiB.
Source: pyarrow.csv's inference. A column with an empty cell in the sample is optional.
"""

from pathlib import Path

from schemac.importers.importer import Imported, Importer, refuse
from schemac.importers.samples import described
from schemac.physical.arrow import pa
from schemac.source.report import Report

_SAMPLE = 16 * 1024 * 1024


def read(path: Path, report: Report) -> Imported | None:
    """The inferred schema."""
    # Imported here for start-up time: this part of pyarrow is not loaded with it.
    from pyarrow import csv

    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    try:
        reader = csv.open_csv(
            str(path),
            csv.ReadOptions(block_size=_SAMPLE),
            csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            csv.ConvertOptions(strings_can_be_null=True, null_values=[""]),
        )
        sample = pa.Table.from_batches([reader.read_next_batch()])
    except (pa.ArrowException, StopIteration) as error:
        refuse(path, f"it is no CSV: {(str(error) or 'no rows').splitlines()[0].lower()}", report)
        return None
    return described(sample, path, report)


IMPORTER = Importer("csv", "CSV, inferred from a sample", read)
