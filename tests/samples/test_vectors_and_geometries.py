"""Sampled vectors are what Lance trains its indices on, and sampled geometries are valid."""

import re
import struct
from itertools import pairwise
from typing import Any

import lance
import pyarrow as pa
import pytest

import schemac

ROWS = 600


def sample(type_: str, extra: str = "{}", rows: int = ROWS) -> pa.Table:
    (dataset,) = schemac.compile_text(
        f"name: d\nfields:\n  - {{name: id, type: Int64}}\n  - {{name: x, type: {type_}, extra: {extra}}}\n"
    )
    table = dataset.sample(rows, seed=3)
    assert dataset.validate(table).reasons == ()
    return table


@pytest.mark.parametrize("item", ["Float16", "Float32", "Float64"])
@pytest.mark.parametrize("metric", ["l2", "cosine"])
def test_train_an_index(item: str, metric: str, tmp_path: Any) -> None:
    """Each vector is found again as its own nearest neighbour, and none of the partitions is empty."""
    table = sample(f"{{kind: List, itemType: {item}, fixedLength: 16}}")
    data = lance.write_dataset(table, tmp_path / "t.lance")
    data.create_index("x", "IVF_FLAT", metric=metric, num_partitions=4)
    (index,) = [data.stats.index_stats(one.name) for one in data.describe_indices()]
    assert all(part["size"] for part in index["indices"][0]["partitions"])
    for row in (0, 5, ROWS - 1):
        nearest = {"column": "x", "q": table["x"][row].as_py(), "k": 1, "nprobes": 4}
        found = data.to_table(nearest=nearest)
        assert found["x"][0].as_py() == table["x"][row].as_py()
        assert found["_distance"][0].as_py() == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize(
    "type_",
    [
        "{kind: List, itemType: Float32, fixedLength: 768}",
        "{kind: List, itemType: {kind: Option, inner: Float32}, fixedLength: 3}",
        "{kind: Option, inner: {kind: List, itemType: Float64, fixedLength: 300}}",
        "{kind: Struct, fields: [{name: v, type: {kind: List, itemType: Float32, fixedLength: 500}}]}",
    ],
)
def test_draw_each_vector_by_itself(type_: str) -> None:
    found = [row for row in sample(type_, rows=100)["x"].to_pylist() if row is not None]
    vectors = [row["v"] if isinstance(row, dict) else row for row in found]
    assert len({*map(str, vectors)}) == len(vectors)
    assert all(item is None or -1 <= item <= 1 for vector in vectors for item in vector)


def test_keep_the_bounds_of_components() -> None:
    extra = "{schemac.dev/minimum: 5, schemac.dev/maximum: 6}"
    table = sample(f"{{kind: List, itemType: {{kind: Float32, extra: {extra}}}, fixedLength: 4}}", rows=50)
    assert {5 <= item <= 6 for vector in table["x"].to_pylist() for item in vector} == {True}


BINARY = [
    "{arrow.apache.org/extensionType: {name: geoarrow.wkb}}",
    "{arrow.apache.org/extensionType: {name: ogc.wkb}}",
    "{iceberg.apache.org/type: geometry}",
    '{iceberg.apache.org/type: "geography(OGC:CRS84)"}',
]


@pytest.mark.parametrize("extra", BINARY)
def test_write_well_known_binary(extra: str) -> None:
    found = [read_binary(value) for value in sample("Binary", extra)["x"].to_pylist()]
    assert {type_ for type_, _ in found} == {1, 2, 3}


def test_write_bytes_where_an_attribute_speaks_of_something_else() -> None:
    table = sample("{kind: Binary, fixedLength: 16}", "{iceberg.apache.org/type: uuid}")
    assert {len(value) for value in table["x"].to_pylist()} == {16}


def test_number_geometries_that_are_unique() -> None:
    (dataset,) = schemac.compile_text(
        "name: d\nextra: {schemac.dev/unique: [[x]]}\n"
        "fields:\n  - {name: x, type: Binary, extra: {arrow.apache.org/extensionType: {name: ogc.wkb}}}\n"
    )
    found = dataset.sample(ROWS, seed=1)["x"].to_pylist()
    assert len({*found}) == ROWS
    assert {read_binary(value)[0] for value in found} == {1}


def read_binary(value: bytes) -> tuple[int, Any]:
    """Read well-known binary to its last byte; rings are closed, lines have two points or more."""
    order, type_ = struct.unpack_from("<BI", value)
    assert order == 1
    at = 5

    def count() -> int:
        nonlocal at
        at += 4
        return int(struct.unpack_from("<I", value, at - 4)[0])

    def point() -> tuple[float, float]:
        nonlocal at
        at += 16
        x, y = struct.unpack_from("<2d", value, at - 16)
        assert -180 <= x <= 180
        assert -90 <= y <= 90
        return x, y

    shape: Any = point() if type_ == 1 else None
    if type_ == 2:
        shape = [point() for _ in range(count())]
        assert len(shape) >= 2
    if type_ == 3:
        shape = [[point() for _ in range(count())] for _ in range(count())]
        check_rings(shape)
    assert at == len(value)
    return type_, shape


def check_rings(rings: list[list[Any]]) -> None:
    assert rings
    for ring in rings:
        assert len(ring) >= 4
        assert ring[0] == ring[-1]
        twice = sum(a[0] * b[1] - b[0] * a[1] for a, b in pairwise(ring))
        assert twice > 0, "an outer ring goes counterclockwise"


def test_write_well_known_text() -> None:
    table = sample("String", "{arrow.apache.org/extensionType: {name: geoarrow.wkt}}")
    number = r"-?\d+(\.\d+)?(e-\d+)?"
    points = rf"\({number} {number}(, {number} {number})*\)"
    pattern = rf"POINT \({number} {number}\)|LINESTRING {points}|POLYGON \({points}\)"
    assert {re.fullmatch(pattern, value) is None for value in table["x"].to_pylist()} == {False}


XY = "{kind: Struct, fields: [{name: x, type: Float64}, {name: y, type: Float64}]}"


@pytest.mark.parametrize("point", [XY, "{kind: List, itemType: Float64, fixedLength: 2}"])
@pytest.mark.parametrize(
    ("name", "depth"),
    [
        *[("point", 0), ("linestring", 1), ("polygon", 2)],
        *[("multipoint", 1), ("multilinestring", 2), ("multipolygon", 3)],
    ],
)
def test_write_geoarrow(name: str, depth: int, point: str) -> None:
    type_ = point
    for _ in range(depth):
        type_ = f"{{kind: List, itemType: {type_}}}"
    table = sample(type_, f"{{arrow.apache.org/extensionType: {{name: geoarrow.{name}}}}}", rows=40)
    for value in table["x"].to_pylist():
        shapes = [value] if not name.startswith("multi") else value
        assert shapes
        if name.endswith("linestring"):
            assert all(len(line) >= 2 for line in shapes)
        if name.endswith("polygon"):
            for rings in shapes:
                check_rings([[(*_pair(one),) for one in ring] for ring in rings])


def _pair(point: Any) -> tuple[float, float]:
    return (point["x"], point["y"]) if isinstance(point, dict) else (point[0], point[1])
