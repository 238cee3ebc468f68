"""Fills trips.lance with a million rows of the schema in trips.yaml; the same rows every time."""

import lance
import numpy as np
import pyarrow as pa

import schemac

ROWS = 1_000_000
START = np.datetime64("2026-01-01T00:00:00", "us")


def main() -> None:
    """Write the table, with an index on the distance."""
    (trips,) = schemac.compile_file("trips.yaml")
    schema = trips.to_arrow()
    chance = np.random.default_rng(7)
    cents = pa.array(chance.integers(500, 9999, ROWS)).cast(pa.decimal128(20, 0))
    columns = {
        "trip_id": pa.array(np.arange(ROWS)),
        "started_at": pa.array(START + chance.integers(0, 10**12, ROWS)).cast(
            schema.field("started_at").type
        ),
        "fare": pa.compute.divide(cents, pa.scalar(100, pa.decimal128(3, 0))).cast(
            schema.field("fare").type, safe=False
        ),
        "distance": pa.array(chance.integers(200, 30_000, ROWS).astype("int32")),
        "rating": pa.array(chance.integers(1, 6, ROWS).astype("float32")),
        "zone": pa.array(chance.choice(["north", "south", "east", "west"], ROWS)),
    }
    table = pa.table(columns).cast(schema)
    lance.write_dataset(table, "trips.lance", max_rows_per_file=250_000)
    lance.dataset("trips.lance").create_scalar_index("distance", "BTREE")
    print(f"trips.lance: {ROWS:,} rows")


if __name__ == "__main__":
    main()
