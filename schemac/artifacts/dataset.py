"""A checked dataset in Python, and the capabilities of engines that write its rows and read stored ones.

Layer: artifacts. `schemac.engines.api` adds the methods of single engines.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from schemac.arrow.to_arrow import ArrowOptions
from schemac.artifacts.targets import Emission, Loss, TargetRun, run_target
from schemac.language.attributes.arrow import ArrowDefaults
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import Schema
from schemac.registry.engine import Capability
from schemac.text.source.diagnostics import Diagnostic
from schemac.versions.identity.compilation import Compilation, Locked

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class CheckedDataset:
    """A checked dataset, ready to be converted for an engine."""

    _logical: LogicalDataset
    _locked: Locked | None = dataclasses.field(default=None, compare=False, repr=False)
    """The ids of the lock next to its manifest; None without a lock."""
    warnings: tuple[Diagnostic, ...] = dataclasses.field(default=(), compare=False, repr=False)
    """Warnings and notes about the dataset, and about the text as a whole."""
    _arrow_options: ArrowOptions = dataclasses.field(default=ArrowOptions(), repr=False)
    """Encodings and metadata as set by its project."""
    _versions: "Mapping[str, str]" = dataclasses.field(default_factory=dict, repr=False)
    """Versions of engines that the losses are for, if its project sets them."""

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
        """The dataset with its lowered form, made once for all targets."""
        return Compilation.of(self._logical, self._arrow_options, self._versions, self._locked)

    def to_arrow(self, *, metadata: bool | None = None, defaults: ArrowDefaults | None = None) -> "pa.Schema":
        """Return the pyarrow schema; `metadata=False` leaves attributes out, `defaults` encode fields without a hint.

        Defaults are those of the dataset's project. If the schema is locked, its metadata has the version (`schemac.version`), so that `schemac apply` recognizes
        a table that was created from it; `metadata=False` leaves that out too.
        """
        if metadata is None and defaults is None:
            return self._compilation.lowered.to_arrow()
        has_metadata = self._arrow_options.with_metadata if metadata is None else metadata
        options = ArrowOptions(defaults or self._arrow_options.defaults, has_metadata)
        locked = self._locked if has_metadata else None
        return Compilation.of(self._logical, options, identities=locked).lowered.to_arrow()

    def artifacts(self, target: str) -> dict[str, bytes]:
        """Return the files that `schemac build` writes for a target, by path: `{"lance/schema.binpb": b"…", …}`.

        Raises SchemaError if the target cannot represent the schema, KeyError if there is no such target.
        """
        return {artifact.path: artifact.content for artifact in self._run(target).artifacts}

    def losses(self, target: str) -> tuple[Loss, ...]:
        """Return the losses: what a target cannot express of this dataset."""
        return self._emit(target).losses

    def _emit(self, name: str) -> Emission:
        """Return the emission of a target, with its losses; raises its errors."""
        return self._run(name).emission

    def _run(self, name: str) -> TargetRun:
        """Return the run of a target; raises its errors."""
        run = run_target(name, self._compilation)
        run.report.raise_errors()
        return run


@dataclass(frozen=True, slots=True)
class RowWriter:
    """Makes tables of an engine out of record batches."""

    write: "Callable[[str, CheckedDataset, pa.RecordBatchReader], None]"
    """Makes a table at a path where nothing is; the schema of the rows is that of the dataset, but for what may be null.
    It raises OSError; nothing is left then."""


ROW_WRITER: Capability[RowWriter] = Capability("row_writer", RowWriter)


@dataclass(frozen=True, slots=True)
class StoredRows:
    """Rows of a table or of files, in an order that stays."""

    schema: "pa.Schema"
    """The columns of the rows."""
    batches: "Callable[[Sequence[str]], Iterator[pa.RecordBatch]]"
    """Yields some columns of all rows, in their order. It raises ValueError and OSError."""
    expression: Callable[[Sequence[int]], str]
    """Returns Python that gives the rows with these numbers, from 0, as a table of Arrow."""


@dataclass(frozen=True, slots=True)
class RowReader:
    """Opens what an engine, or a library for its tables, has stored."""

    is_of: Callable[[str], bool]
    """Returns whether it opens a path."""
    open: Callable[[str], StoredRows]
    """Opens rows. It raises ValueError and OSError, and ModuleNotFoundError if the library is not installed."""


ROW_READER: Capability[RowReader] = Capability("row_reader", RowReader)
