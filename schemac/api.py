"""The Python surface.

Layer: api.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError

from schemac.arrow.lower import LoweringOptions, lower
from schemac.artifacts.emission import Compilation, Emission, Loss, load_target
from schemac.attributes.arrow import ArrowDefaults
from schemac.checks.run import check
from schemac.logical.dataset import LogicalDataset
from schemac.logical.model import Schema
from schemac.logical.origins import Origins
from schemac.logical.path import quoted
from schemac.logical.slots import columns
from schemac.logical.system import Variant
from schemac.project.compile import collector_paused
from schemac.project.configuration import Project, find_project
from schemac.project.discovery import has_lock
from schemac.project.options import Options
from schemac.project.stages import check_source, compile_source, lowering_of
from schemac.source.catalogue import UNREADABLE_SOURCE, UNSUPPORTED_ARROW_TYPE
from schemac.source.diagnostic import Diagnostic, SchemaError, Severity
from schemac.source.report import Report
from schemac.source.text import SourceText, read_text
from schemac.syntax.complaints import complaints

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from schemac.engines.lance._generated.lance.file_pb2 import Schema as LanceSchema
    from schemac.evolution.changes import Change
    from schemac.evolution.version_pair import SchemaVersion
    from schemac.importers.importer import Imported
    from schemac.project.locking import Locked

OdfForm = Literal["schema", "event", "metadata-event", "snapshot", "resource"]
"""The documents of the standard that a schema may stand in."""


@dataclass(frozen=True)
class Dataset:
    """A checked dataset, ready to be turned into what an engine takes."""

    _logical: LogicalDataset
    _locked: "Locked | None" = field(default=None, compare=False, repr=False)
    """What the lock beside its manifest says, if there is one."""
    warnings: tuple[Diagnostic, ...] = field(default=(), compare=False, repr=False)
    """What was found beside errors: warnings and notes about the dataset, and about the text as a whole."""
    _lowering: LoweringOptions = field(default=LoweringOptions(), repr=False)
    """Encodings and metadata as its project settles them."""
    _versions: "Mapping[str, str]" = field(default_factory=dict, repr=False)
    """Versions of engines that the losses are to hold for, where its project names them."""

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
        found = Compilation(self._logical, lower(self._logical, self._lowering))
        if self._locked is not None:
            found = self._locked.compilation(found, self._lowering)
        return replace(found, versions=self._versions)

    def to_arrow(self, *, metadata: bool | None = None, defaults: ArrowDefaults | None = None) -> "pa.Schema":
        """Return the pyarrow schema; `metadata=False` leaves attributes out, `defaults` encode fields without a hint.

        What is not given is as the dataset's project settles it.
        """
        if metadata is None and defaults is None:
            return self._compilation.lowered.to_arrow()
        has_metadata = self._lowering.with_metadata if metadata is None else metadata
        return lower(
            self._logical, LoweringOptions(defaults or self._lowering.defaults, has_metadata)
        ).to_arrow()

    def to_lance(self) -> "LanceSchema":
        """Return the `lance.file.Schema` message that Lance makes of `to_arrow()`. Raises SchemaError where it makes none."""
        self._emit("lance")
        # Imported here for start-up time: protobuf is for those who ask for a message.
        from schemac.engines.lance.artifact import to_message

        return to_message(self._compilation.lowered, self._compilation.numbers)

    def to_spark(self) -> dict[str, Any]:
        """Spark's StructType in its JSON form. Raises SchemaError where Spark cannot hold the schema."""
        from schemac.engines.spark import artifact as spark  # for start-up time, as above

        emission = self._emit("spark")
        return spark.struct_type(spark.to_fields(self._compilation.lowered, emission))

    def to_spark_ddl(self) -> str:
        """Return the statements for a catalog of lance-spark as one text, each with a semicolon at the end of its last line."""
        return "".join(f"{statement};\n" for statement in self.to_spark_statements())

    def to_spark_statements(self) -> tuple[str, ...]:
        """CREATE TABLE, and where there is a primary key the ALTER TABLE that sets it: one `spark.sql` each."""
        from schemac.engines.spark import artifact as spark  # for start-up time, as above
        from schemac.engines.spark.statements import statements

        emission = self._emit("spark")
        return statements(self._compilation, spark.to_fields(self._compilation.lowered, emission))

    def to_paimon(self, *, time_millis: int = 0) -> dict[str, Any]:
        """Paimon's schema file as a dict, keys in its order. Raises SchemaError where Paimon cannot hold the schema."""
        from schemac.engines.paimon import artifact as paimon  # for start-up time, as above

        emission = self._emit("paimon")
        return paimon.table_schema(self._compilation, emission, time_millis).to_dict()

    def to_iceberg(self) -> dict[str, Any]:
        """Iceberg's schema as a dict, which `pyiceberg.schema.Schema.model_validate` takes. Raises SchemaError where Iceberg cannot hold it."""
        from schemac.engines.iceberg import artifact as iceberg  # for start-up time, as above

        return iceberg.schema_of(self._compilation, self._emit("iceberg")).to_json()

    def to_odf(self, form: OdfForm = "event") -> str:
        """Return the schema in the standard's YAML with all defaults: the bare schema, its event, or a whole document."""
        from schemac.engines.odf import artifact as odf  # for start-up time, as above

        return odf.to_text(self._logical, form)

    def to_odf_flatbuffers(self) -> bytes:
        """Return the SetDataSchema event in the standard's binary form."""
        from schemac.engines.odf import artifact as odf  # for start-up time, as above

        return odf.to_binary(self._logical)

    def losses(self, target: str) -> tuple[Loss, ...]:
        """Return what a target cannot express of this dataset."""
        return self._emit(target).losses

    def _emit(self, name: str) -> Emission:
        report = Report()
        target = load_target(name)
        emission = Emission(self._logical, name, target.loss_code, report)
        target.emit(self._compilation, emission)
        _raise_errors(report)
        return emission


def compile_text(
    text: str,
    *,
    name: str = "<text>",
    strict: bool = False,
    system_columns: Variant | None = None,
    project: str | Path | None = None,
) -> list[Dataset]:
    """Return the datasets of a manifest's text, checked; `system_columns` inserts those that are missing.

    A text lies nowhere, so it has the settings of a project only where one is named: by its configuration file, or
    by a folder in it. Raises SchemaError with all findings if there are errors.
    """
    report = Report()
    settings = _project(project, report) if project is not None else Project(Path())
    return _compile(SourceText(text, name), settings, report, strict, system_columns)


def build_text(
    text: str,
    *,
    targets: Sequence[str] | None = None,
    name: str = "<text>",
    strict: bool = False,
    project: str | Path | None = None,
) -> dict[str, bytes]:
    """Return the artifacts of a manifest's text, as `schemac build` would write them: bytes by path below the output folder.

    `targets` are those of the project unless given; `project` is as for `compile_text`. Raises SchemaError with all
    findings if there are errors.
    """
    report = Report()
    settings = _project(project, report) if project is not None else Project(Path())
    configuration = settings.configuration
    options = Options(
        strict or configuration.strict,
        tuple(targets if targets is not None else configuration.targets),
        frozenset(targets or ()),
        settings.versions,
        lowering_of(settings),
        system_columns=configuration.system_columns,
    )
    made = compile_source(SourceText(text, name), settings, options, report)
    _raise_errors(report)
    return {f"{one.dataset.name}/{a.path}": a.content for one in made for a in one.artifacts}


def compile_file(
    path: str | Path,
    *,
    strict: bool = False,
    system_columns: Variant | None = None,
    project: str | Path | None = None,
) -> list[Dataset]:
    """Return the datasets of a manifest file, checked; `system_columns` inserts those that are missing.

    Encodings, vocabularies and the other settings are those of the project that the file lies in, as for `schemac build`,
    or of the one that is named by its configuration file or a folder in it. Where a lock lies beside the file, fields
    are numbered by it. Raises SchemaError with all findings if there are errors.
    """
    report = Report()
    settings = _project(project if project is not None else Path(path).parent, report)
    source = read_text(Path(path), str(path), report)
    _raise_errors(report)
    assert source is not None
    datasets = _compile(source, settings, report, strict, system_columns)
    if not has_lock(Path(path)):
        return datasets
    from schemac.project.locking import locked_datasets  # for start-up time: many manifests have no lock

    logical = [dataset._logical for dataset in datasets]
    locked = locked_datasets(Path(path), str(path), logical, report, is_error=False)
    _raise_errors(report)
    found = _by_dataset(logical, report)
    return [replace(d, _locked=locked[d.name], warnings=w) for d, w in zip(datasets, found, strict=True)]


def _project(given: str | Path, report: Report) -> Project:
    """Return the project of a configuration file, or of a folder."""
    path = Path(given).absolute()
    project = find_project(path, report, None if path.is_dir() else path)
    _raise_errors(report)
    return project


def diff(old: Dataset, new: Dataset) -> "tuple[Change, ...]":
    """Return what changed from one dataset to another; fields are matched by their lock, else by names and `renamedFrom`."""
    from schemac.evolution.diff import diff as changes  # for start-up time, as above

    return changes(_version(old), _version(new))


def _version(dataset: Dataset) -> "SchemaVersion":
    from schemac.evolution.version_pair import (  # for start-up time, as above
        LockedSchemaVersion,
        SchemaVersion,
    )

    locked = dataset._locked
    if locked is None:
        return SchemaVersion(dataset._logical, dataset._logical.origins.file)
    found = locked.found
    label = dataset._logical.origins.file
    return LockedSchemaVersion(dataset._logical, label, locked.dataset, found.ids, found.numbers)


def from_arrow(schema: "pa.Schema", *, name: str = "dataset") -> Dataset:
    """Return the dataset of a pyarrow schema. Raises SchemaError where a type has no kind."""
    # Imported here for start-up time: the way back is for those who go it.
    from schemac.arrow.lift import lift

    report = Report()
    tree = lift(schema, name, report)
    logical = from_tree(tree, name, name, report)
    _raise_errors(report)
    assert logical is not None
    return Dataset(logical, None, report.diagnostics)


def from_spark(struct_type: dict[str, Any], *, name: str = "dataset") -> Dataset:
    """Return the dataset of a StructType in its JSON form. Raises SchemaError where a type has no kind."""
    from schemac.engines.spark.reader import from_struct_type  # for start-up time, as above

    report = Report()
    imported = from_struct_type(struct_type, name, report)
    return _from_imported(imported, name, name, report)


def from_spark_ddl(text: str, *, name: str | None = None) -> Dataset:
    """Return the dataset of a CREATE TABLE, or of a list of columns. Raises SchemaError where it cannot be read."""
    from schemac.engines.spark.reader_ddl import from_ddl  # for start-up time, as above

    report = Report()
    imported = from_ddl(text, name or "<ddl>", report)
    found = imported.name if imported is not None else None
    return _from_imported(imported, name or found or "dataset", name or "<ddl>", report)


def from_odf(source: str | Path | bytes, *, name: str | None = None) -> Dataset:
    """Return the dataset of the standard's event or document: a path, the bytes of a file, or a text of several lines.

    Raises SchemaError where it cannot be read.
    """
    if isinstance(source, Path) or (isinstance(source, str) and "\n" not in source):
        return _from_source(source, "odf", name)
    from schemac.engines.odf import reader as odf  # for start-up time, as above

    report = Report()
    content = source.encode() if isinstance(source, str) else source
    imported = odf.from_bytes(content, Path("<odf>"), report)
    found = imported.name if imported is not None else None
    return _from_imported(imported, name or found or "odf", "<odf>", report)


def from_parquet(path: str | Path, *, name: str | None = None) -> Dataset:
    """Return the dataset of a Parquet file. Raises SchemaError where it cannot be read."""
    return _from_source(path, "parquet", name)


def from_lance(path: str | Path, *, name: str | None = None) -> Dataset:
    """Return the dataset of a Lance table's newest version. Raises SchemaError where it cannot be read."""
    return _from_source(path, "lance", name)


def from_paimon(path: str | Path, *, name: str | None = None) -> Dataset:
    """Return the dataset of a Paimon table's newest schema, or of one schema file. Raises SchemaError where it cannot be read."""
    return _from_source(path, "paimon", name)


def from_iceberg(source: Any, *, name: str | None = None) -> Dataset:
    """Return the dataset of an Iceberg table: its folder, a metadata file, or a table or schema of pyiceberg.

    Raises SchemaError where it cannot be read.
    """
    if isinstance(source, str | Path):
        return _from_source(source, "iceberg", name)
    from schemac.engines.iceberg.reader import read_object  # for start-up time, as above

    report = Report()
    imported = read_object(source, report)
    found = imported.name if imported is not None else None
    return _from_imported(imported, name or found or "table", "<pyiceberg>", report)


def _from_source(path: str | Path, format: str, name: str | None) -> Dataset:
    from schemac.importers.sources import import_source  # for start-up time, as above

    report = Report()
    imported = import_source(Path(path), format, report)
    found = imported.name if imported is not None else None
    return _from_imported(imported, name or found or Path(path).name.partition(".")[0], str(path), report)


def _from_imported(imported: "Imported | None", name: str, file: str, report: Report) -> Dataset:
    if imported is not None and imported.others:
        names = ", ".join(str(one.name) for one in (imported, *imported.others))
        message = (
            f"{file} holds {len(imported.others) + 1} datasets ({names}), but only one can be imported here"
        )
        report.add(
            UNREADABLE_SOURCE, message, file=file, help="split the file, or import it with `schemac import`"
        )
    _raise_errors(report)
    assert imported is not None
    logical = from_tree(imported.schema, name, file, report)
    _raise_errors(report)
    assert logical is not None
    return Dataset(logical, None, report.diagnostics)


def from_tree(tree: dict[str, Any], name: str, file: str, report: Report) -> LogicalDataset | None:
    """Return the checked dataset of a schema in the standard's long form, as importers give it."""
    try:
        schema = Schema.model_validate(tree)
    except ValidationError as error:
        # Types that Arrow has and no kind admits, such as a decimal with a scale of a thousand.
        for found in complaints(error, Schema, tree):
            column = tree["fields"][found.path[1]]["name"]
            path = quoted(column)
            help = f"leave the column out with `--skip '{column}'`"
            report.add(UNSUPPORTED_ARROW_TYPE, f"{path}: {found.message}", file=file, path=path, help=help)
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


def check_text(
    text: str, *, name: str = "<text>", strict: bool = False, project: str | Path | None = None
) -> tuple[Diagnostic, ...]:
    """All findings about a manifest's text; `project` is as for `compile_text`."""
    report = Report()
    settings = _project(project, report) if project is not None else Project(Path())
    configuration = settings.configuration
    check_source(
        SourceText(text, name),
        settings,
        report,
        strict=strict or configuration.strict,
        system_columns=configuration.system_columns,
    )
    return report.diagnostics


def _compile(
    source: SourceText, project: Project, report: Report, strict: bool, system_columns: Variant | None
) -> list[Dataset]:
    configuration = project.configuration
    with collector_paused():
        datasets = check_source(
            source,
            project,
            report,
            strict=strict or configuration.strict,
            system_columns=system_columns or configuration.system_columns,
        )
    _raise_errors(report)
    found = _by_dataset(datasets, report)
    lowering = lowering_of(project)
    return [
        Dataset(dataset, None, w, lowering, project.versions)
        for dataset, w in zip(datasets, found, strict=True)
    ]


def _by_dataset(datasets: list[LogicalDataset], report: Report) -> list[tuple[Diagnostic, ...]]:
    """Return the findings about each dataset, by the lines that its schema stands on; those elsewhere are about all."""
    lines = [_lines(dataset) for dataset in datasets]

    def is_about(diagnostic: Diagnostic, own: range) -> bool:
        is_outside = not any(diagnostic.line in other for other in lines)
        return diagnostic.line in own or is_outside

    return [tuple(d for d in report.diagnostics if is_about(d, own)) for own in lines]


def _lines(dataset: LogicalDataset) -> range:
    source, span = dataset.origins.source, dataset.origins.span(())
    if source is None or span is None:
        return range(0)
    return range(source.position(span.start).line, source.position(max(span.start, span.end - 1)).line + 1)


def _raise_errors(report: Report) -> None:
    if report.has_errors:
        raise SchemaError(report.diagnostics)
