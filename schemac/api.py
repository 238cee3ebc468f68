"""The Python surface.

Floor: 10 (api).
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemac.attributes.arrow import ArrowDefaults
from schemac.logical.dataset import LogicalDataset
from schemac.logical.model import Schema
from schemac.lowering.lower import LoweringOptions, lower
from schemac.project.compile import check_source, collector_paused
from schemac.project.configuration import Project
from schemac.source.diagnostic import Diagnostic, SchemaError
from schemac.source.report import Report
from schemac.source.text import SourceText, read_text
from schemac.targets.target import Compilation, Emission, Loss, load_target

if TYPE_CHECKING:
    import pyarrow as pa

    from schemac.targets._generated.lance.file_pb2 import Schema as LanceSchema


@dataclass(frozen=True)
class Dataset:
    """A checked dataset, ready to be turned into what an engine takes."""

    _logical: LogicalDataset

    @property
    def name(self) -> str:
        """Its name."""
        return self._logical.name

    @property
    def schema(self) -> Schema:
        """Its logical schema."""
        return self._logical.schema

    @cached_property
    def _compilation(self) -> Compilation:
        return Compilation(self._logical, lower(self._logical))

    def to_arrow(self, *, metadata: bool = True, defaults: ArrowDefaults | None = None) -> "pa.Schema":
        """The pyarrow schema; `metadata=False` leaves attributes out, `defaults` encode fields without a hint."""
        if metadata and defaults is None:
            return self._compilation.lowered.to_arrow()
        return lower(self._logical, LoweringOptions(defaults or ArrowDefaults(), metadata)).to_arrow()

    def to_lance(self) -> "LanceSchema":
        """The `lance.file.Schema` message that Lance makes of `to_arrow()`. Raises SchemaError where it makes none."""
        self._emit("lance")
        # Imported here for start-up time: protobuf is for those who ask for a message.
        from schemac.targets.lance import to_message

        return to_message(self._compilation.lowered)

    def to_spark(self) -> dict[str, Any]:
        """Spark's StructType in its JSON form. Raises SchemaError where Spark cannot hold the schema."""
        from schemac.targets import spark  # for start-up time, as above

        emission = self._emit("spark")
        return spark.struct_type(spark.to_fields(self._compilation.lowered, emission))

    def to_spark_ddl(self) -> str:
        """The CREATE TABLE statement for a catalog of lance-spark."""
        from schemac.targets import spark  # for start-up time, as above

        emission = self._emit("spark")
        return spark.create_table(self._compilation, spark.to_fields(self._compilation.lowered, emission))

    def losses(self, target: str) -> tuple[Loss, ...]:
        """What a target cannot express of this dataset."""
        return self._emit(target).losses

    def _emit(self, name: str) -> Emission:
        report = Report()
        target = load_target(name)
        emission = Emission(self._logical, name, target.loss_code, report)
        target.emit(self._compilation, emission)
        _raise_errors(report)
        return emission


def compile_text(text: str, *, name: str = "<text>", strict: bool = False) -> list[Dataset]:
    """The datasets of a manifest's text, checked. Raises SchemaError with all findings if there are errors."""
    report = Report()
    source = SourceText(text, name)
    return _compile(source, report, strict)


def compile_file(path: str | Path, *, strict: bool = False) -> list[Dataset]:
    """The datasets of a manifest file, checked. Raises SchemaError with all findings if there are errors."""
    report = Report()
    source = read_text(Path(path), str(path), report)
    _raise_errors(report)
    assert source is not None
    return _compile(source, report, strict)


def check_text(text: str, *, name: str = "<text>", strict: bool = False) -> tuple[Diagnostic, ...]:
    """All findings about a manifest's text."""
    report = Report()
    check_source(SourceText(text, name), Project(Path()), report, strict=strict)
    return report.diagnostics


def _compile(source: SourceText, report: Report, strict: bool) -> list[Dataset]:
    with collector_paused():
        datasets = check_source(source, Project(Path()), report, strict=strict)
    _raise_errors(report)
    return [Dataset(dataset) for dataset in datasets]


def _raise_errors(report: Report) -> None:
    if report.has_errors:
        raise SchemaError(report.diagnostics)
