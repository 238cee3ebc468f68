"""Judges the rows of `rides.ndjson` and of a sample without Spark: `python try_rows.py`, or `schemac sample rides -n 5` for rows alone."""

from pathlib import Path

import pyarrow.csv

import schemac

HERE = Path(__file__).parent

(rides,) = schemac.compile_file(HERE / "rides.yaml")
(drivers,) = schemac.compile_file(HERE / "drivers.yaml")

known = pyarrow.csv.read_csv(HERE / "drivers.csv")
found = rides.validate((HERE / "rides.ndjson").read_text().splitlines(), references={"drivers": known})
print(found)
for reason in found.reasons:
    print(f"  row {reason.row}: {reason.path}: {reason.rule} ({reason.value})")

sample = rides.sample(1000, seed=7, references={"drivers": drivers})
people = drivers.sample(1000, seed=7)
print(rides.validate(sample, references={"drivers": people}))
