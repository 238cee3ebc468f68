"""A process that writes a table with the sink and is killed at one of its steps.

Reads jobs from standard input, one JSON a line, and answers each with the number of steps that were taken. Each job has a
process of its own, so that a kill is a kill; a step is anything that changes the disk.
"""

import json
import os
import shutil
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import lance
import lance.fragment
import pyarrow as pa

from schemac.engines.lance import transactions
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.artifact import encode
from schemac.engines.lance.runs.recovery import recover
from schemac.engines.lance.tables.fields import lance_fields_of
from schemac.pipeline.reruns.repeats import fence_and_find_commit
from schemac.pipeline.writing.sink_options import SinkOptions, encode_schema
from schemac.pipeline.writing.table_sink import TableWriter
from schemac.rows.judging.reasons import REASON
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.identity import RunIdentity, this_process
from schemac.rows.runs.storage import NO_STORAGE, is_local
from schemac.rows.runs.tables import Projection, sink_of, source_of

SCHEMA = pa.schema([pa.field("id", pa.int64(), False), pa.field("s", pa.string())])
STEPS: tuple[tuple[Any, str], ...] = (
    (os, "rename"),
    (os, "replace"),
    (os, "makedirs"),
    (os, "remove"),
    (os, "rmdir"),
    (shutil, "rmtree"),
    (Path, "write_text"),
    (Path, "unlink"),
    (lance, "write_dataset"),
    (lance.LanceDataset, "commit"),
    (lance.LanceDataset, "shallow_clone"),
    (lance.LanceDataset, "restore"),
    (lance.LanceDataset, "delete"),
    (lance.fragment, "write_fragments"),
)


@dataclass
class Steps:
    """Counts steps, and kills the process before one of them."""

    kill_before: int | None
    by: int = signal.SIGKILL
    taken: list[str] = field(default_factory=list)

    def watch(self) -> None:
        for owner, label in STEPS:
            setattr(owner, label, self._counted(getattr(owner, label), label))

    def watch_stages(self) -> None:
        """Count the stages of commits instead."""
        for stage, step in transactions.STEPS.items():
            transactions.STEPS[stage] = self._counted(step, stage.name)

    def _counted(self, step: Callable[..., Any], label: str) -> Any:
        def counted(*arguments: Any, **named: Any) -> Any:
            self.taken.append(label)
            if len(self.taken) == self.kill_before:
                os.kill(os.getpid(), self.by)
            return step(*arguments, **named)

        return counted


def batch(good: list[int], bad: int) -> Iterator[pa.RecordBatch]:
    reasons = [[{"path": "id", "rule": "cast", "value": "x"}]] * bad
    columns = [
        pa.array([*good, *[0] * bad], pa.int64()),
        pa.array(["text"] * (len(good) + bad)),
        pa.array([*[None] * len(good), *reasons], pa.list_(REASON)),
        pa.array(["raw"] * (len(good) + bad)),
    ]
    yield pa.record_batch(columns, names=["id", "s", "_errors", "_raw"])


def with_other_ids() -> str:
    """The table's message with ids that Lance would not give."""
    fields = lance_fields_of(SCHEMA)
    for one, id in zip(fields, (7, 3), strict=True):
        one.id = id
    return encode(pb.Schema(fields=fields))


def write(
    folder: Path, run: str, good: list[int], bad: int, mode: str, *, has_ids: bool, name: str = "t.lance"
) -> None:
    """One run from its recovery to its end, in two tasks."""
    table, quarantine = str(folder / name), str(folder / "q.lance")
    recover(table, quarantine, NO_STORAGE)
    identity = RunIdentity(run, datetime.now(UTC), "", mode, this_process())
    options = SinkOptions(
        path=table,
        quarantine=quarantine,
        schema=encode_schema(SCHEMA),
        run=identity.to_json(),
        must_create=mode == "create",
        native=with_other_ids() if has_ids else "",
    )
    writer = TableWriter(options, mode == "overwrite", True)
    halves = (good[: len(good) // 2], bad // 2), (good[len(good) // 2 :], bad - bad // 2)
    writer.commit([writer.write(batch(*half)) for half in halves])


def attempt(folder: Path, run: str, good: list[int], bad: int, mode: str, process: str) -> bool:
    """One attempt of a run that may have been tried before; whether it was committed now."""
    table, quarantine = str(folder / "t.lance"), str(folder / "q.lance")
    sink = sink_of("lance")
    sink.recover(table, quarantine, NO_STORAGE)
    identity = RunIdentity(run, datetime.now(UTC), "", mode, process)
    if fence_and_find_commit(identity, table, quarantine, sink, NO_STORAGE) is not None:
        return False
    options = SinkOptions(
        path=table, quarantine=quarantine, schema=encode_schema(SCHEMA), run=identity.to_json()
    )
    writer = TableWriter(options, mode == "overwrite", True)
    messages = [writer.write(batch(good, bad))]
    try:
        writer.commit(messages)
    except PipelineError:
        writer.abort(messages)
        raise
    return sink.find_run(identity, table, NO_STORAGE) is not None


def replay(folder: Path, run: str, even: bool) -> None:
    """Moves the rows of the quarantine with even numbers, or the other ones, into the table."""
    table, quarantine = str(folder / "t.lance"), str(folder / "q.lance")
    sink, source = sink_of("lance"), source_of("lance")
    assert source is not None
    sink.recover(table, quarantine, NO_STORAGE)
    version = source.newest_version(quarantine)
    assert version is not None
    parts = source.parts(quarantine, version)
    rows = [
        b for part in parts for b in source.read(quarantine, version, part, Projection(address="_address"))
    ]
    found = pa.Table.from_batches(rows).to_pylist() if rows else []
    numbers = [int(row["raw"].removeprefix("raw")) for row in found]
    fits = [(number % 2 == 0) == even for number in numbers]
    columns = {
        "id": pa.array([100 + number for number in numbers], pa.int64()),
        "s": pa.array(["replayed"] * len(numbers)),
        "_errors": pa.array(
            [None if fit else row["errors"] for fit, row in zip(fits, found, strict=True)], pa.list_(REASON)
        ),
        "_address": pa.array([row["_address"] for row in found], pa.int64()),
    }
    identity = RunIdentity(run, datetime.now(UTC), "", "append", this_process())
    options = SinkOptions(
        path=table,
        quarantine=quarantine,
        schema=encode_schema(SCHEMA),
        run=identity.to_json(),
        replay=version,
    )
    writer = TableWriter(options, False, True)
    batch = pa.record_batch(columns)
    half = batch.num_rows // 2
    writer.commit([writer.write(iter([one])) for one in (batch.slice(0, half), batch.slice(half))])


def freeze(job: dict[str, Any]) -> int:
    """Does an attempt in a process that stops before a step; its number, 0 where it came to its end."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            Steps(job["freeze_before"], signal.SIGSTOP).watch()
            # Its driver is gone: what goes on is what the driver had started.
            attempt(
                Path(job["folder"]), job["run"], job["good"], job["bad"], job["mode"], this_process() + "0"
            )
            status = 0
        except PipelineError:
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, os.WUNTRACED)
    assert os.WIFSTOPPED(status) or status == 0, f"failed: {job}"
    return child if os.WIFSTOPPED(status) else 0


def thaw(job: dict[str, Any]) -> int:
    """Lets a process go on, to its end."""
    process = job["thaw"]
    os.kill(process, signal.SIGCONT)
    _, status = os.waitpid(process, 0)
    assert status == 0
    return 0


def do(job: dict[str, Any]) -> int:
    """Does a job in a process of its own; the count of its steps, 0 where it was killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            steps = Steps(job["kill_before"])
            steps.watch_stages() if job.get("is_by_stage") else steps.watch()
            if "even" in job:
                replay(Path(job["folder"]), job["run"], job["even"])
            else:
                write(
                    Path(job["folder"]),
                    job["run"],
                    job["good"],
                    job["bad"],
                    job["mode"],
                    has_ids=job["has_ids"],
                    name=job.get("name", "t.lance"),
                )
            os.write(writing, str(len(steps.taken)).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    told = os.read(reading, 100)
    os.close(reading)
    _, status = os.waitpid(child, 0)
    assert told or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL), f"failed: {job}"
    return int(told or 0)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    assert is_local("/")
    for line in sys.stdin:
        told = json.loads(line)
        tell = thaw if "thaw" in told else freeze if "freeze_before" in told else do
        print(tell(told), flush=True)
