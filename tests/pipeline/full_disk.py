"""Runs on a disk of its own that is too small: writes, gives up as Spark does, and goes on when there is room.

Shape: a program for `unshare --mount`; the argument is an empty folder, which becomes the disk. For each size it prints a JSON
line: whether the run failed, and what table and quarantine hold then, and after the next run.
"""

import json
import os
import subprocess
import sys
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import lance

from schemac.pipeline.writing.sink_options import SinkOptions, encode_schema
from schemac.pipeline.writing.table_sink import TableWriter, WrittenRows
from schemac.rows.runs.identity import RunIdentity, this_process
from schemac.rows.runs.storage import NO_STORAGE
from schemac.rows.runs.tables import sink_of
from tests.pipeline.killing import SCHEMA, batch

BIG = list(range(60_000))
KIB = 1024


def mount(folder: Path, kib: int, *more: str) -> None:
    """Make the disk, or give it another size."""
    options = ",".join((*more, f"size={kib}k"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(folder)], check=True)


def write(folder: Path, run: str, good: list[int], bad: int) -> None:
    """One run as Spark does it: what fails is given up."""
    table, quarantine = str(folder / "t.lance"), str(folder / "q.lance")
    sink_of(None).recover(table, quarantine, NO_STORAGE)
    identity = RunIdentity(run, datetime.now(UTC), "", "append", this_process())
    options = SinkOptions(
        path=table, quarantine=quarantine, schema=encode_schema(SCHEMA), run=identity.to_json()
    )
    writer = TableWriter(options, False, True)
    written: list[WrittenRows] = []
    try:
        written.append(writer.write(batch(good, bad)))
        writer.commit(written)
    except Exception:
        writer.abort(written)
        raise


def state(folder: Path) -> dict[str, Any]:
    """What is on the disk: rows of the table, runs of the quarantine, staging folders, files that no version names."""
    table = lance.dataset(str(folder / "t.lance"))
    quarantine = lance.dataset(str(folder / "q.lance"))
    unnamed = []
    for dataset, path in ((table, folder / "t.lance"), (quarantine, folder / "q.lance")):
        named = {
            file.path
            for version in dataset.versions()
            for part in dataset.checkout_version(version["version"]).get_fragments()
            for file in part.data_files()
        }
        unnamed += [entry for entry in os.listdir(path / "data") if entry not in named]
    return {
        "rows": table.count_rows(),
        "bad": sorted(set(quarantine.to_table()["run"].to_pylist())),
        "staging": [path.name for path in folder.rglob("_staging-*")],
        "unnamed": unnamed,
    }


def main(place: str) -> None:
    """Try sizes from one on which nothing can be written to one on which all can."""
    folder = Path(place)
    for free in map(int, sys.argv[2].split(",")):
        mount(folder, 64 * KIB)
        write(folder, "first", [1, 2, 3], 1)
        used = sum(file.stat().st_blocks * 512 for file in folder.rglob("*") if file.is_file()) // KIB
        mount(folder, used + free, "remount")
        failed = ""
        try:
            write(folder, "second", BIG, 200)
        except Exception as error:  # noqa: BLE001  whatever it is, it is told
            failed = f"{type(error).__name__}: {error}"
        found = state(folder)
        mount(folder, 64 * KIB, "remount")
        write(folder, "third", [4], 1)
        print(json.dumps({"free": free, "failed": failed, "then": found, "next": state(folder)}), flush=True)
        subprocess.run(["umount", str(folder)], check=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1])
