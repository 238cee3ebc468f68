"""`apply` on a disk of its own that is too small, and again when there is room.

Shape: a program for `unshare --mount`; the arguments are an engine, an empty folder and sizes. The folder becomes the disk. For each size in KiB
of room it prints a JSON line.
"""

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa

import schemac
from schemac.cli.main import main

ROWS = 20_000
OPTIONAL = "  - {{name: {}, type: {{kind: Option, inner: {}}}{}}}\n"
RENAMED = ", extra: {{schemac.dev/renamedFrom: {}}}"
KEY = "name: t\nfields:\n  - {name: key, type: Int64}\n"
OLD = KEY + OPTIONAL.format("a", "Int32", "") + OPTIONAL.format("b", "Int32", "")
NEW = {
    "lance": KEY
    + OPTIONAL.format("b", "Int32", RENAMED.format("a"))
    + OPTIONAL.format("a", "String", RENAMED.format("b"))
    + OPTIONAL.format("c", "Int8", ""),
    "iceberg": KEY
    + OPTIONAL.format("b", "Int32", RENAMED.format("a"))
    + OPTIONAL.format("a", "Int64", RENAMED.format("b"))
    + OPTIONAL.format("c", "Int8", ""),
}


def mount(folder: Path, kib: int, *more: str) -> None:
    """Make the disk, or give it another size."""
    options = ",".join((*more, f"size={kib}k"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(folder)], check=True)


def lock(text: str) -> schemac.Dataset:
    Path("t.yaml").write_text(text)
    assert main(["lock", "t.yaml", "-q"]) == 0
    (dataset,) = schemac.compile_file("t.yaml")
    return dataset


class LanceTable:
    """A Lance table with an index."""

    def __init__(self, folder: Path) -> None:
        self.name = str(folder / "t.lance")

    def create(self, dataset: schemac.Dataset, rows: list[dict[str, Any]]) -> None:
        table = lance.write_dataset(pa.Table.from_pylist(rows, schema=dataset.to_arrow()), self.name)
        table.create_scalar_index("a", "BTREE")

    def read(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = lance.dataset(self.name).to_table().to_pylist()
        return rows


class IcebergTable:
    """An Iceberg table, whose catalog is on the disk too."""

    name = "iceberg://disk/n.t"

    def __init__(self, folder: Path) -> None:
        for key, value in {
            "URI": f"sqlite:///{folder}/catalog.db",
            "WAREHOUSE": f"file://{folder}",
            "TYPE": "sql",
        }.items():
            os.environ[f"PYICEBERG_CATALOG__DISK__{key}"] = value

    def create(self, dataset: schemac.Dataset, rows: list[dict[str, Any]]) -> None:
        from pyiceberg.catalog import load_catalog
        from pyiceberg.schema import Schema

        catalog = load_catalog("disk")
        catalog.create_namespace("n")
        table = catalog.create_table("n.t", Schema.model_validate(dataset.to_iceberg()))
        table.append(pa.Table.from_pylist(rows, schema=table.schema().as_arrow()))

    def read(self) -> list[dict[str, Any]]:
        from pyiceberg.catalog import load_catalog

        rows: list[dict[str, Any]] = load_catalog("disk").load_table("n.t").scan().to_arrow().to_pylist()
        return rows


def call(*words: str) -> tuple[int, str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = main(list(words))
    return code, out.getvalue()


def values(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The rows without names, which may be provisional between two commits."""
    return [tuple(row.values()) for row in rows]


def try_sizes(engine: str, folder: Path, sizes: list[int]) -> None:
    old = [{"key": key, "a": key, "b": -key} for key in range(ROWS)]
    new = [
        {"key": key, "b": key, "a": str(-key) if engine == "lance" else -key, "c": None}
        for key in range(ROWS)
    ]
    dataset = lock(OLD)
    lock(NEW[engine])
    table = LanceTable(folder) if engine == "lance" else IcebergTable(folder)
    for free in sizes:
        mount(folder, 64 * 1024)
        table.create(dataset, old)
        used = sum(file.stat().st_blocks * 512 for file in folder.rglob("*") if file.is_file()) // 1024
        mount(folder, used + free, "remount")
        code, said = call("apply", "t", "--table", table.name)
        has_old_or_new = values(table.read()) in (values(old), values(new))
        mount(folder, 64 * 1024, "remount")
        again, said_again = call("apply", "t", "--table", table.name)
        verified, _ = call("verify", "t", "--table", table.name)
        is_new = table.read() == new
        result = {"free": free, "code": code, "said": said, "has_old_or_new": has_old_or_new}
        print(
            json.dumps(
                {**result, "again": again, "said_again": said_again, "verified": verified, "is_new": is_new}
            ),
            flush=True,
        )
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        # A catalog keeps its connection, and so its file, open.
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as project:
        os.chdir(project)
        try_sizes(sys.argv[1], Path(sys.argv[2]), [int(size) for size in sys.argv[3].split(",")])
