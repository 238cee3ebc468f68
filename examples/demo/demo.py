"""What `make demo` shows: a schema becomes artifacts, and records go through Spark into a table that carries it.

Everything is made in the folder `demo/` of the working folder. Each step is a command that you can type yourself.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import lance
import pyarrow.compute as pc

from schemac import compile_file

HERE = Path(__file__).parent
PYTHON = sys.executable
SCHEMAC = str(Path(PYTHON).with_name("schemac"))


def say(text: str) -> None:
    """Print a headline."""
    print(f"\n── {text} " + "─" * max(0, 96 - len(text)), flush=True)


def do(*command: str, folder: Path) -> None:
    """Show a command and run it; the demo stops where one fails."""
    shown = " ".join(
        "schemac" if word == SCHEMAC else "python" if word == PYTHON else word for word in command
    )
    print(f"$ {shown}", flush=True)
    subprocess.run(command, cwd=folder, check=True)


def main() -> None:
    """Run all steps."""
    folder = Path("demo").absolute()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in ("rides.yaml", "pipeline.yaml", "generate.py"):
        shutil.copy(HERE / name, folder)

    say("the schema as its author writes it: demo/rides.yaml")
    print("".join((folder / "rides.yaml").read_text(encoding="utf-8").splitlines(keepends=True)[:16]) + "  …")

    say("check it, and compile it")
    do(SCHEMAC, "check", "rides.yaml", folder=folder)
    do(SCHEMAC, "build", "rides.yaml", folder=folder)
    (rides,) = compile_file(folder / "rides.yaml")
    print("\nLance, the first field of demo/build/rides/lance/schema.binpb:")
    print(rides.to_lance().fields[0])
    print("\nSpark, demo/build/rides/spark/create_table.sql:")
    print((folder / "build/rides/spark/create_table.sql").read_text(encoding="utf-8"))

    say("records; two percent of them are wrong, in one of twelve ways")
    do(PYTHON, "generate.py", "rides.ndjson", folder=folder)

    say("through Spark: read, conform, write, verify: demo/pipeline.yaml")
    do(SCHEMAC, "run", "pipeline.yaml", folder=folder)

    say("the table, read back with pylance")
    table = lance.dataset(str(folder / "rides.lance"))
    print(table.schema.to_string(show_field_metadata=False, show_schema_metadata=False))
    print(f"\n{table.count_rows():,} rows; the first:")
    for name, value in table.head(1).to_pylist()[0].items():
        print(f"  {name:<12} {value}")
    fares = table.to_table(columns=["fare"]).column("fare")
    print(f"  all fares    {pc.sum(fares)}")

    say("records that did not fit, with their reasons")
    quarantine = lance.dataset(str(folder / "rides.quarantine.lance"))
    for row in quarantine.head(6).to_pylist():
        reasons = "; ".join(f"{e['path'] or 'record'}: {e['rule']} ({e['value']})" for e in row["errors"])
        print(f"  {reasons[:100]:<102} {row['raw'][:40]}…")

    expected = 201_600
    kept, refused = table.count_rows(), quarantine.count_rows()
    if (kept, refused) != (expected - expected // 50, expected // 50):
        sys.exit(f"expected {expected // 50} records in quarantine, found {refused}, with {kept} written")
    print(f"\nrows in = {kept:,} written + {refused:,} quarantined = {kept + refused:,}")


if __name__ == "__main__":
    main()
