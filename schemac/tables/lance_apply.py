"""Carries a plan out on a Lance table.

Floor: 11 (tables).
Shape: every check before the first change; then one commit a step. Whatever is done already is seen in the table itself,
by the ids of its fields, so a run that died goes on where it stopped. Old versions of the table are not touched.
Errors: SC421, SC422 failed-check, SC423 table-changed.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from schemac.source.catalogue import TABLE_CHANGED, UNUSABLE_TABLE
from schemac.source.report import Report
from schemac.tables.checks import report_misfits
from schemac.tables.lance_plan import Plan, paths
from schemac.tables.lance_table import INDICES_KEY, in_preorder, lance_errors
from schemac.tables.recipe import Recipe
from schemac.tables.steps import MARK, Add, BuildIndex, Cast, Check, DropIndex, Rewrite, SetSchema, Step
from schemac.targets._generated.lance import file_pb2 as pb

Rewriter = Callable[[str, int, Recipe, "Progress"], tuple[list[Any], Any]]
"""Writes a column anew: path, version and recipe into the metadata of all fragments and the schema with the column."""

Progress = Callable[[str, int, int], None]
"""Told what is under way, how much of it is done, and how much there is."""


class _StoppedError(Exception):
    """The reason is in the report."""


def apply_plan(plan: Plan, report: Report, progress: Progress, rewrite: Rewriter | None = None) -> bool:
    """Carry out all steps; false after saying why not."""
    work = _Work(plan, report, progress, rewrite or rewrite_here)
    try:
        with lance_errors():
            work.check()
            for step in plan.steps:
                work.carry_out(step)
    except _StoppedError:
        return False
    except (OSError, ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0].partition(", /")[0]
        is_conflict = "onflict" in type(error).__name__ or "conflict" in reason.lower()
        report.add(
            TABLE_CHANGED if is_conflict else UNUSABLE_TABLE,
            f"{plan.table.name} was changed by somebody else meanwhile"
            if is_conflict
            else f"Lance stopped: {reason}",
            file=plan.table.name,
            help="run the command again: what is done stays done",
        )
        return False
    return True


class _Work:
    def __init__(self, plan: Plan, report: Report, progress: Progress, rewrite: Rewriter) -> None:
        self.plan = plan
        self.report = report
        self.progress = progress
        self.rewrite = rewrite
        self.dataset: Any = plan.table.dataset
        self.by_id = {field.id: field for field in plan.target.fields}

    def check(self) -> None:
        """All checks, each over the whole table, before anything is changed."""
        checks = [step for step in self.plan.steps if isinstance(step, Check)]
        for number, step in enumerate(checks):
            self.progress(f"checking {step.title}", number, len(checks))
            report_misfits(
                step, self.plan.sides, self.dataset, self.plan.table.name, self.plan.rounded, self.report
            )
        if self.report.has_errors:
            raise _StoppedError

    def carry_out(self, step: Step) -> None:
        """One step."""
        if isinstance(step, Check):
            return
        self.progress(f"{step.verb} {step.title}", 0, 1)
        match step:
            case DropIndex():
                self.drop_index(step)
            case Add():
                self.add(step)
            case Cast():
                self.cast(step)
            case Rewrite():
                self.write_anew(step)
            case SetSchema():
                self.set_schema()
            case BuildIndex():
                self.build_index(step)
        self.progress(f"{step.verb} {step.title}", 1, 1)

    def drop_index(self, step: DropIndex) -> None:
        """Remember an index in the table's configuration, then drop it."""
        assert step.index is not None
        if step.is_rebuilt:
            waiting = json.loads(self.dataset.config().get(INDICES_KEY) or "[]")
            waiting = [entry for entry in waiting if entry["name"] != step.index.name]
            self.dataset.update_config({INDICES_KEY: json.dumps([*waiting, asdict(step.index)])})
        self.dataset.drop_index(step.index.name)
        self.reopen()

    def add(self, step: Add) -> None:
        """Fields of nulls, under names that nothing else has."""
        fields = self.fields()
        for id in step.ids:
            field = pb.Field()
            field.CopyFrom(self.by_id[id])
            _unmark_key(field)
            if field.parent_id not in step.ids:
                field.name = f"{MARK}{id}"
                field.nullable = True
            fields.append(field)
        self.merge([fragment.metadata for fragment in self.dataset.get_fragments()], fields)

    def cast(self, step: Cast) -> None:
        """Lance's own cast."""
        assert step.slot is not None
        self.reserve(step.ids[0])
        lowered = next(
            f for top in self.plan.sides.new.lowered.fields for f in top.preorder() if f.slot is step.slot
        )
        path = paths(in_preorder(self.fields()))[step.old_ids[0]]
        type_: Any = lowered.arrow.type
        is_json = getattr(type_, "extension_name", "") == "arrow.json"
        if hasattr(type_, "storage_type") and not is_json:
            type_ = type_.storage_type
        self.dataset.alter_columns({"path": path, "data_type": type_})
        self.reopen()
        self.expect(step.ids[0], path)

    def write_anew(self, step: Rewrite) -> None:
        """A column beside the old one."""
        assert step.slot is not None
        recipe = Recipe.of(self.plan.sides, step.slot, step.column, self.plan.rounded)
        if not self.dataset.get_fragments():
            self.add(Add(step.title, slots=(step.slot,), ids=step.ids))
            return
        self.reserve(step.ids[0])
        fragments, schema = self.rewrite(self.plan.table.name, self.dataset.version, recipe, self.progress)
        import lance

        self.commit(lance.LanceOperation.Merge(fragments, schema))
        self.expect(step.ids[0], step.title)

    def set_schema(self) -> None:
        """Names, order, nullability, metadata and keys as compiled; what is not in the schema goes."""
        import lance

        self.commit(
            lance.LanceOperation.Project(lance_schema(self.plan.target.fields, self.plan.target.metadata))
        )

    def build_index(self, step: BuildIndex) -> None:
        """The index again, and out of the list of those that wait."""
        index = step.index
        assert index is not None
        if index.type.upper().startswith("IVF"):
            parameters = {key: value for key, value in index.parameters.items() if value is not None}
            self.dataset.create_index(
                index.path, index_type=index.type, name=index.name, replace=True, **parameters
            )
        else:
            type_ = _SCALAR_TYPES.get(index.type, index.type.upper())
            self.dataset.create_scalar_index(
                index.path, type_, name=index.name, replace=True, **index.parameters
            )
        self.reopen()
        waiting = json.loads(self.dataset.config().get(INDICES_KEY) or "[]")
        rest = [entry for entry in waiting if entry["name"] != index.name]
        if rest:
            self.dataset.update_config({INDICES_KEY: json.dumps(rest)})
        elif waiting:
            self.dataset.delete_config_keys([INDICES_KEY])
        self.reopen()

    def reserve(self, id: int) -> None:
        """Let Lance's next id be this one: a column that nothing is ever written to takes the ids before it."""
        highest = max(
            [field.id for field in self.fields()]
            + [id for f in self.dataset.get_fragments() for file in f.metadata.files for id in file.fields]
        )
        if highest >= id:
            self.report.add(
                UNUSABLE_TABLE,
                f"{self.plan.table.name} has used the id {id} already, which the lock gives to a new field",
                file=self.plan.table.name,
                help="start from the table as it is: schemac import",
            )
            raise _StoppedError
        if highest == id - 1:
            return
        filler = pb.Field(
            name=f"{MARK}before_{id}",
            id=id - 1,
            parent_id=-1,
            logical_type="int8",
            nullable=True,
            encoding=pb.Field.PLAIN,
        )
        fragments = [fragment.metadata for fragment in self.dataset.get_fragments()]
        self.merge(fragments, [*self.fields(), filler])

    def expect(self, id: int, path: str) -> None:
        """That Lance gave the id that was meant."""
        if id not in {field.id for field in self.fields()}:
            raise RuntimeError(f"the new column {path} did not get the id {id}")

    def fields(self) -> list[pb.Field]:
        """All fields as they are now."""
        return [pb.Field.FromString(bytes(m)) for m in self.dataset.lance_schema.__reduce__()[1][1:]]

    def merge(self, fragments: list[Any], fields: Sequence[pb.Field]) -> None:
        """Commit columns without data."""
        import lance

        metadata = json.loads(self.dataset.lance_schema.__reduce__()[1][0])
        schema = lance_schema(in_preorder(fields), {key: bytes(value) for key, value in metadata.items()})
        self.commit(lance.LanceOperation.Merge(fragments, schema))

    def commit(self, operation: Any) -> None:
        """One version more, if nobody else made one."""
        import lance

        lance.LanceDataset.commit(self.plan.table.name, operation, read_version=self.dataset.version)
        self.reopen()

    def reopen(self) -> None:
        """The table's newest version."""
        import lance

        self.dataset = lance.dataset(self.plan.table.name)


def rewrite_here(path: str, version: int, recipe: Recipe, progress: Progress) -> tuple[list[Any], Any]:
    """A column written anew by this process, fragment by fragment."""
    import lance

    fragments = lance.dataset(path, version=version).get_fragments()
    made: list[Any] = []
    schema: Any = None
    for number, fragment in enumerate(fragments):
        progress(f"writing {recipe.name}", number, len(fragments))
        metadata, schema = fragment.merge_columns(recipe.make, columns=recipe.sources)
        made.append(metadata)
    return made, schema


def lance_schema(fields: Sequence[pb.Field], metadata: Any) -> Any:
    """Lance's own schema of these messages."""
    from lance.schema import LanceSchema

    entries = json.dumps({key: list(bytes(metadata[key])) for key in metadata})
    return LanceSchema._from_protos(entries, *[field.SerializeToString() for field in fields])


_SCALAR_TYPES = {
    "LabelList": "LABEL_LIST",
    "NGram": "NGRAM",
    "ZoneMap": "ZONEMAP",
    "BloomFilter": "BLOOMFILTER",
}


def _unmark_key(field: pb.Field) -> None:
    for key in [key for key in field.metadata if key.startswith("lance-schema:unenforced")]:
        del field.metadata[key]
    field.ClearField("unenforced_primary_key")
    field.ClearField("unenforced_primary_key_position")
    field.ClearField("unenforced_clustering_key_position")
