"""Carries a plan out on a Lance table.

Layer: engines.
Shape: every check before the first change. New columns are written into files that nothing refers to; one commit puts them into the
      table, and Lance refuses it if anybody wrote a row since the version that they were made of. Then what changed is made again, and
      what did not is kept. Whatever is done already is seen in the table itself, by the ids of its fields, so a run that died goes on
      where it stopped. Old versions of the table are not touched.
      `verify` compares a table with what it should be: by id, name, type, nullability, keys and metadata of every field, the metadata
      of the schema, and the version of the data files.
Errors: SC421 unusable-table, SC422 failed-check, SC423 table-changed, SC424 table-drift.
"""

import json
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from schemac.engines.lance import is_table
from schemac.engines.lance.artifact import to_message
from schemac.engines.lance.attributes import STORAGE_VERSION
from schemac.engines.lance.dataset import lance_errors, open_dataset, reason_of
from schemac.engines.lance.fields import lance_ids
from schemac.engines.lance.tables import steps
from schemac.engines.lance.tables.checks import pair_by_ids
from schemac.engines.lance.tables.field_ids import IDS_KEY, note_ids
from schemac.engines.lance.tables.fields import differences, ids_in_files
from schemac.engines.lance.tables.live_table import LanceTable, can_store, open_table
from schemac.engines.lance.tables.new_columns import (
    Converter,
    WriteColumns,
    fragment_files,
    has_no_restored_rows,
    run_in_process,
)
from schemac.engines.lance.tables.plan import LancePlan, field_ids_for, plan
from schemac.engines.lance.tables.row_checks import RunningCheck, report_broken, report_failed, rows_with_ids
from schemac.engines.lance.transactions import is_conflict, lance_schema, make_version, with_data_file
from schemac.language.attributes.builtin import TABLE_RECORD
from schemac.language.constraints.rows import Unique
from schemac.text.source.catalogue import TABLE_CHANGED, TABLE_DRIFT, UNUSABLE_TABLE
from schemac.text.source.diagnostics import Report
from schemac.text.source.phrases import counted
from schemac.versions.evolution.table_versions import VersionedTables
from schemac.versions.evolution.tables import (
    PlannedChange,
    Progress,
    Spread,
    TableChange,
    TableState,
    numbered_lines,
    report_differences,
)
from schemac.versions.evolution.version_pair import LockedSchemaVersion
from schemac.versions.identity.lock import LockedDataset

MOST_STARTS = 20
"""How often a run starts over where others keep writing."""


class _StoppedError(Exception):
    """The plan cannot go on; the reason is in the report."""


def apply_plan(made: LancePlan, report: Report, progress: Progress, spread: Spread | None = None) -> bool:
    """Apply all steps; False after reporting why not."""
    run = _Run(made, report, progress, spread or run_in_process)
    name = made.table.name
    try:
        for _ in range(MOST_STARTS):
            if run.try_all_steps():
                return True
        message = f"{name} gets new rows faster than its new columns can be written"
        help = f"run the command again when there are fewer writes; {run.state}"
        report.add(TABLE_CHANGED, message, file=name, help=help)
    except _StoppedError:
        pass
    except (OSError, ValueError, RuntimeError) as error:
        report.add(UNUSABLE_TABLE, f"Lance stopped: {reason_of(error)}", file=name, help=run.state)
    return False


class _OvertakenError(Exception):
    """The table does not have the columns any more that this run gave it."""


class _Run:
    """The work of one command on a table, whose plan is made again when others have written to the table."""

    def __init__(self, made: LancePlan, report: Report, progress: Progress, spread: Spread) -> None:
        self.plan = made
        self.report = report
        self.progress = progress
        self.spread = spread
        self.checked: set[Hashable] = set()
        """The fragments, by their files, whose rows have passed all checks."""
        self.new_files: dict[tuple[Hashable, str], tuple[Any, str]] = {}
        """Each fragment that a data file was made for, and the file as JSON, by the fragment's files and the title of what is in it."""
        self.commits = 0

    @property
    def dataset(self) -> Any:
        """The version of the table that the plan is for."""
        return self.plan.table.dataset

    def open_swapped(self) -> Any:
        """Return the newest version of the table. Raises _OvertakenError if it does not have the planned columns any more."""
        now = open_dataset(self.plan.table.name)
        expected_ids = {field.id for field in self.plan.target.fields if field.parent_id < 0}
        if {field.id() for field in now.lance_schema.fields()} != expected_ids:
            raise _OvertakenError
        return now

    @property
    def state(self) -> str:
        """What messages say of the table as it is so far."""
        if not self.commits:
            return "nothing was changed"
        return "all values are kept; `schemac plan --table` shows what remains to be done"

    def try_all_steps(self) -> bool:
        """Apply the remaining steps; False if another writer was faster and there is a new plan."""
        try:
            with lance_errors():
                self.check_rows()
                version = self.swap_in() if self.plan.titles(steps.SWAP_IN) else self.dataset.version
                self.set_final_schema(version)
                self.build_indices()
        except (_OvertakenError, OSError, ValueError, RuntimeError) as error:
            if not isinstance(error, _OvertakenError) and not is_conflict(error):
                raise
            self.plan_again()
            return False
        return True

    def plan_again(self) -> None:
        """Plan for the newest version of the table. Raises _StoppedError after reporting why there is no plan."""
        table, old = self.plan.table, self.plan
        assert table.locked is not None
        now = open_table(table.name, table.locked, self.report, table.stated)
        made = plan(now, old.pair.new, self.report, old.rounded, old.references) if now is not None else None
        if made is None:
            raise _StoppedError
        if made.table.fields != table.fields:
            self.checked.clear()
            self.new_files.clear()
        self.plan = made

    def check_rows(self) -> None:
        """Check the rows of all fragments that were not checked yet. Raises _StoppedError after reporting what is in the way."""
        questions = [RunningCheck(check, self.plan) for check in self.plan.of(steps.CheckStep)]
        rules = self.plan.of(steps.RuleCheck)
        fragments = self.dataset.get_fragments() if questions or rules else []
        fresh = [f for f in fragments if fragment_files(f.metadata) not in self.checked]
        for number, question in enumerate(questions):
            self.progress(f"checking {question.check.title}", number, len(questions))
            for batch in rows_with_ids(self.dataset, question.columns, fresh):
                question.add_batch(batch)
            question.report(self.plan.table.name, self.state, self.report)
        if rules:
            is_of_all = any(isinstance(check.rule.subject, Unique) for check in rules)
            with self.step("checking constraints"):
                report_failed(self.plan, rules, fragments if is_of_all else fresh, self.state, self.report)
        if self.report.has_errors:
            raise _StoppedError
        self.checked |= {fragment_files(f.metadata) for f in fresh}

    def swap_in(self) -> int:
        """Write the new columns, and commit them if there was no other commit; return the version that has them."""
        import lance

        fragments = self.write_fragments()
        expected = self.note_remaining_steps()
        metadata = self.plan.table.metadata
        if not self.plan.titles(steps.SET_SCHEMA):
            # Nothing comes after this commit that says which version the table has.
            target = self.plan.target.metadata
            other_entries = {key: value for key, value in metadata.items() if key not in TABLE_RECORD}
            metadata = {**other_entries, **{key: bytes(target[key]) for key in TABLE_RECORD if key in target}}
        schema = lance_schema(self.plan.interim_fields, metadata)
        operation = lance.LanceOperation.Merge(fragments, schema)
        version = self.commit("swap in the new fields", operation, self.dataset.version)
        if version != expected:
            self.note_late_indices(version)
        return version

    def write_fragments(self) -> list[Any]:
        """Write the data files that are not made yet; return the metadata of all fragments with their new files."""
        made = self.plan
        fragments = {fragment.fragment_id: fragment for fragment in self.dataset.get_fragments()}
        roots_of = {id: made.roots(ids_in_files(one.metadata)) for id, one in fragments.items()}
        titles = {roots: ", ".join(root.path_text for root in roots) for roots in roots_of.values()}
        for roots, title in titles.items():
            missing = [
                id for id in fragments if roots_of[id] == roots and not self.new_file(fragments[id], title)
            ]
            if roots and missing:
                converter = Converter.of(made.stages, [[root] for root in roots], made.rounded)
                field_ids = tuple(map(made.ids_with_ancestors, roots))
                task = WriteColumns(made.table.name, self.dataset.version, converter, field_ids)
                for id, file in self.spread(task, missing, f"writing {title}", self.progress).items():
                    key = fragment_files(fragments[id].metadata), title
                    self.new_files[key] = fragments[id], file
        with_files = []
        for id, fragment in fragments.items():
            new_file = self.new_file(fragment, titles[roots_of[id]])
            replaced = frozenset(inner for root in roots_of[id] for inner in made.ids_below(root))
            metadata = fragment.metadata
            with_files.append(with_data_file(metadata, new_file, replaced) if new_file else metadata)
        return with_files

    def new_file(self, fragment: Any, title: str) -> str | None:
        """Return the data file that was made for a fragment; None if there is none with all its rows."""
        then, file = self.new_files.get((fragment_files(fragment.metadata), title), (None, None))
        return file if file is not None and has_no_restored_rows(fragment, then) else None

    def note_remaining_steps(self) -> int:
        """Note in the table's configuration which indices have to be built again, and the ids of its fields between two commits.

        Return the version that the next commit makes if nobody else commits before it.
        """
        newest = open_dataset(self.plan.table.name)
        version = int(newest.version)
        entries: dict[str, str] = {}
        going, waiting = self.indices_to_rebuild(newest), steps.noted_indices(newest)
        if not going.keys() <= waiting.keys():
            entries[steps.INDICES_KEY] = steps.note_indices({**waiting, **going}.values())
        if self.plan.titles(steps.SET_SCHEMA):
            names = {field.id: field.name for field in self.plan.interim_fields}
            entries[IDS_KEY] = note_ids(self.plan.pair.new, names, self.plan.field_ids)
        if not entries:
            return version + 1
        with self.step("record the remaining steps"):
            newest.update_config(entries)
        return version + 2

    def indices_to_rebuild(self, dataset: Any) -> dict[str, steps.TableIndex]:
        """Return the indices of a version that Lance drops with their fields, and whose fields are in the new schema, by name."""
        return {
            index.name: index
            for index in steps.indices_of(dataset, self.plan.table.lock_ids)
            if self.plan.path_in_target(index) and self.plan.is_dropped(index)
        }

    def note_late_indices(self, version: int) -> None:
        """Note the indices that somebody created just before a version, whose commit dropped them."""
        now = open_dataset(self.plan.table.name)
        late = self.indices_to_rebuild(open_dataset(self.plan.table.name, version=version - 1))
        waiting = {**steps.noted_indices(now), **late}
        now.update_config({steps.INDICES_KEY: steps.note_indices(waiting.values())})

    def set_final_schema(self, version: int) -> None:
        """Commit the names, order, nullability, metadata and keys of the new schema, and remove the note of ids."""
        import lance

        if self.plan.titles(steps.SET_SCHEMA):
            schema = lance_schema(self.plan.target.fields, self.plan.target.metadata)
            self.commit("set schema", lance.LanceOperation.Project(schema), version)
        now = open_dataset(self.plan.table.name)
        if IDS_KEY in now.config():
            now.delete_config_keys([IDS_KEY])

    def build_indices(self) -> None:
        """Build all dropped indices again, and remove the note of them."""
        now = self.open_swapped()
        indices = {step.index.name: step.index for step in self.plan.steps if step.index is not None}
        waiting = steps.noted_indices(now)
        for name, index in waiting.items():
            indices.setdefault(name, index)
        standing = {description.name for description in now.describe_indices()}
        for index in indices.values():
            path = self.plan.path_in_target(index)
            if path is not None and index.name not in standing:
                with self.step(f"build index {index.name}"):
                    steps.build_index(self.open_swapped(), index, path)
        if waiting:
            open_dataset(self.plan.table.name).delete_config_keys([steps.INDICES_KEY])

    def commit(self, what: str, operation: Any, read_version: int) -> int:
        """Commit an operation that was made for a version, if there is no later one; return the number of the new version."""
        with self.step(what):
            version = make_version(self.plan.table.name, operation, read_version, {})
            self.commits += 1
        return version

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Report the progress of a step that has no parts: its beginning and its end."""
        self.progress(title, 0, 1)
        yield
        self.progress(title, 1, 1)


def report_drift(table: LanceTable, new: LockedSchemaVersion, report: Report) -> None:
    """Report how a table differs from a schema, by the ids of its fields."""
    field_ids = field_ids_for(table, new)
    target = to_message(new.lowered, field_ids)
    old = table.schema_version
    pairs = [
        zip(lance_ids(field_ids[field]), lance_ids(old.numbers[before]), strict=False)
        for field, before in pair_by_ids(old, new).before.items()
    ]
    same = {target_id: table_id for pair in pairs for target_id, table_id in pair}
    lines = differences(target.fields, table.dataset.lance_schema, metadata=target.metadata, same=same)
    requested, version = target.metadata.get(STORAGE_VERSION.key), table.dataset.data_storage_version
    # The version of the dataset counts, not the one in its schema's metadata.
    if requested is not None and json.loads(requested) != version:
        target_version = json.loads(requested)
        message = f"{table.name}: its files have storage version {version}, but the schema specifies {target_version}"
        copy = f'lance.write_dataset(lance.dataset(old), new, data_storage_version="{target_version}")'
        help = f'the storage version of a table cannot change: copy the table with `{copy}`, or write `{STORAGE_VERSION.key}: "{version}"`'
        report.add(TABLE_DRIFT, message, file=table.name, help=help)
    report_differences(table.name, lines, report)


class LanceTables(VersionedTables[LanceTable]):
    """Lance tables in folders and object stores."""

    def is_table(self, path: str) -> bool:
        """Return whether a path is the folder of a Lance table."""
        return is_table(Path(path))

    def planned(self, table: LanceTable, change: TableChange, report: Report) -> PlannedChange | None:
        """Plan the steps."""
        made = plan(table, change.new, report, change.rounded, change.references)
        if made is None:
            return None
        written = made.titles(steps.REWRITE)
        rows = counted(table.row_count, "row") if written else ""
        return PlannedChange(
            title=change.title("Lance", change.path),
            lines=tuple(
                numbered_lines(
                    (step.verb, f"{step.title}: {step.describe()}  [{step.cost}]") for step in made.steps
                )
            ),
            document={"steps": [step.to_json() for step in made.steps]},
            summary=counted(len(made.steps), "step"),
            is_done=made.is_done and not table.has_notes,
            unlooked=tuple(f"{step.title}: {step.question}" for step in made.of(steps.UncheckedRule)),
            rows_rewritten=table.row_count if written else 0,
            question=f"{', '.join(written)}: will be rewritten for {rows}. Continue?" if written else "",
            apply=lambda report, progress, spread: apply_plan(made, report, progress, spread),
        )

    def verify(
        self, path: str, locked: LockedDataset, expected: LockedSchemaVersion, report: Report
    ) -> TableState | None:
        """Report how a table differs from a schema."""
        table = open_table(path, locked, report) if can_store(expected, report) else None
        if table is None:
            return None
        report_drift(table, expected, report)
        version = table.dataset.version
        return TableState(f"is at version {version}", {"version": version})

    def verify_data(
        self,
        path: str,
        locked: LockedDataset,
        expected: LockedSchemaVersion,
        references: Mapping[str, str],
        report: Report,
    ) -> None:
        """Report the rows that break a constraint."""
        table = open_table(path, locked, report)
        if table is not None:
            report_broken(table, expected, references, report)


TABLES = LanceTables(
    engine="Lance", open_table=open_table, imagined=LanceTable.imagined, errors_of=lambda _: ()
)
