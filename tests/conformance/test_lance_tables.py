"""What we let through, Lance writes and reads back; what we refuse, Lance refuses or breaks.

Every type at every position in every storage version is asked of the real library: what is accepted all together in
one table, what is refused one by one.
"""

import json
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

import schemac
from schemac.artifacts.targets import Emission, load_target
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.text.source.diagnostics import Report
from tests.conformance.arrow_values import is_blob, rows, table
from tests.conformance.manifest_types import (
    POSITIONS,
    TYPES,
    VERSIONS,
    Manifest,
    member,
    of,
    option,
    struct,
)
from tests.conformance.oracle import lance_fields
from tests.effort import every_nth, law
from tests.laws.strategies import manifests

pytestmark = pytest.mark.usefixtures("quiet_panics")
PACKED = {"lance.org/encoding": {"packed": True}}
ID = member("id", of("Int64"))
Ask = Callable[[Manifest], Manifest]
PLACES: dict[str, Ask] = {
    **POSITIONS,
    "member of a packed Struct": lambda t: member(
        "field", struct(member("a", t), member("b", of("Int32")), extra=PACKED)
    ),
    "optional member of a packed Struct": lambda t: member(
        "field", struct(member("a", option(t)), member("b", of("Int32")), extra=PACKED)
    ),
    "member of a Struct in a packed Struct": lambda t: member(
        "field", struct(member("a", struct(member("b", t))), member("c", of("Int8")), extra=PACKED)
    ),
}
CAUTIOUS: dict[tuple[str, str], list[str]] = {
    # Version 2.2 packs a struct in a struct where it holds texts or vectors; from 2.3 on it packs any.
    ("2.2", "member of a packed Struct"): ["packed Struct with a vector"],
    # The same vector breaks in a Map that may not be null.
    ("2.3", "optional value of an optional Map"): ["vector of Structs"],
}
"""Where we refuse more than Lance."""


@pytest.fixture
def quiet_panics(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Rust writes its panics to the terminal; each of them also arrives as an exception."""
    yield
    capfd.readouterr()


class Verdict:
    """What our Lance target says of one column beside an id."""

    def __init__(self, field: Manifest, version: str) -> None:
        document = {"extra": {"lance.org/storageVersion": version}, "fields": [field, ID]}
        self.arrow: pa.Schema | None = None
        self.codes: frozenset[str] = frozenset()
        try:
            (dataset,) = schemac.compile_text(json.dumps(document))
        except schemac.SchemaError:
            return
        self.arrow = dataset.to_arrow()
        report = Report()
        target = load_target("lance")
        target.emit(dataset._compilation, Emission(dataset._logical, "lance", target.loss_code, report))
        # SC507 is about the version, whatever the column is.
        self.codes = frozenset(found.code for found in report.diagnostics) - {"SC507"}

    @property
    def is_accepted(self) -> bool:
        return self.arrow is not None and self.codes <= {"SC506", "SC554"}

    @property
    def is_refused(self) -> bool:
        return self.arrow is not None and not self.is_accepted


@cache
def verdicts(place: str, version: str) -> dict[str, Verdict]:
    """Our verdict on each type; those that the checks refuse at this place are left out."""
    found = {name: Verdict(PLACES[place](type_), version) for name, type_ in TYPES.items()}
    return {name: verdict for name, verdict in found.items() if verdict.arrow is not None}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("place", every_nth(PLACES, 2))
def test_keep_what_is_accepted(place: str, version: str, tmp_path: Path) -> None:
    fields = [
        verdict.arrow.field("field").with_name(name)
        for name, verdict in verdicts(place, version).items()
        if verdict.arrow is not None and verdict.is_accepted and "SC506" not in verdict.codes
    ]
    assert_is_kept(pa.schema([*fields, pa.field("id", pa.int64(), nullable=False)]), version, tmp_path)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("place", every_nth(PLACES, 2))
def test_refuse_what_lance_breaks(place: str, version: str, tmp_path: Path) -> None:
    working = []
    for i, (name, verdict) in enumerate(verdicts(place, version).items()):
        if verdict.is_refused:
            assert verdict.arrow is not None
            if _failure(lambda v=verdict, i=i: assert_is_kept(v.arrow, version, tmp_path / str(i))) is None:  # type: ignore[misc]
                working.append(name)
    if (version, place) == ("2.2", "member of a Struct in a packed Struct"):
        assert {TYPES[name]["kind"] for name in working} == {"String", "Binary", "List", "Struct"}
    else:
        assert working == CAUTIOUS.get((version, place), [])


@pytest.mark.parametrize("version", ["2.2", "2.3"])
@pytest.mark.parametrize("place", PLACES)
def test_warn_of_what_is_read_by_itself_only(place: str, version: str, tmp_path: Path) -> None:
    warned = {
        name: verdict for name, verdict in verdicts(place, version).items() if verdict.codes == {"SC506"}
    }
    # All of them break in the same way; a few of each place stand for them.
    for i, verdict in enumerate(list(warned.values())[::9]):
        assert verdict.arrow is not None
        written = table(verdict.arrow)
        dataset = lance.write_dataset(written, tmp_path / str(i), data_storage_version=version)
        assert isinstance(_failure(dataset.to_table), (OSError, pa.ArrowInvalid))
        for column in ("field", "id"):
            back = dataset.to_table(columns=[column]).column(column)
            assert back.to_pylist() == written[column].to_pylist()


def test_warn_of_vectors_of_structs() -> None:
    place = "member of an item of a vector"
    assert len([v for v in verdicts(place, "2.2").values() if v.codes == {"SC506"}]) > 50


def test_refuse_to_pack_a_struct_without_members(tmp_path: Path) -> None:
    verdict = Verdict(member("field", struct(extra=PACKED)), "2.0")
    assert verdict.arrow is not None
    assert verdict.codes == {"SC501"}
    assert _failure(lambda: assert_is_kept(verdict.arrow, "2.0", tmp_path)) is not None


def test_ask_thousands_of_combinations() -> None:
    found = [v for place in PLACES for version in VERSIONS for v in verdicts(place, version).values()]
    assert len([v for v in found if v.is_accepted]) > 4000
    assert len([v for v in found if v.is_refused]) > 3500


def assert_is_kept(schema: pa.Schema, version: str, path: Path) -> None:
    """A table of this schema, with and without rows, is written and read back as it was, under the same message."""
    written = table(schema)
    dataset = lance.write_dataset(written, path / "rows", data_storage_version=version)
    assert_has_message(dataset, schema)
    back = lance.dataset(path / "rows").to_table()
    back.validate(full=True)
    for field in schema:
        if not _holds_blobs(field):
            assert back[field.name].to_pylist() == written[field.name].to_pylist(), field.name
    empty = lance.write_dataset(written.slice(0, 0), path / "empty", data_storage_version=version)
    assert_has_message(empty, schema)
    assert lance.dataset(path / "empty").to_table().num_rows == 0


def assert_has_message(dataset: Any, schema: pa.Schema) -> None:
    """The opened table has exactly our fields."""
    _, fields = lance_fields(dataset.lance_schema)
    theirs = [pb.Field.FromString(field) for field in fields]
    for field in theirs:
        # An empty message that comes with the first dictionary.
        field.ClearField("dictionary")
    _, made = lance_fields(schema)
    assert theirs == [pb.Field.FromString(field) for field in made]


def _holds_blobs(field: Any) -> bool:
    """Whether a blob lies at or below a field; reads give its place in a file, not its bytes."""
    if is_blob(field) or (field.metadata and b"lance-encoding:blob" in field.metadata):
        return True
    storage = getattr(field.type, "storage_type", field.type)
    return any(_holds_blobs(storage.field(i)) for i in range(storage.num_fields))


def _failure(attempt: Callable[[], Any]) -> BaseException | None:
    """What an attempt fails with. A panic in Rust is no Exception."""
    try:
        attempt()
    except KeyboardInterrupt:
        raise
    except BaseException as failure:  # noqa: BLE001 — PanicException
        return failure
    return None


@pytest.mark.parametrize(
    "thresholds", [{}, {"inlineSizeThreshold": 7, "dedicatedSizeThreshold": 8, "packFileSizeThreshold": 9}]
)
@pytest.mark.parametrize("is_optional", [True, False])
def test_make_blobs_as_lance_does(thresholds: Manifest, is_optional: bool) -> None:
    blob = of("Binary", {"lance.org/blob": thresholds})
    document = {"fields": [member("b", option(blob) if is_optional else blob)]}
    (dataset,) = schemac.compile_text(json.dumps(document))
    theirs = lance.blob_field(
        "b",
        nullable=is_optional,
        inline_size_threshold=thresholds.get("inlineSizeThreshold"),
        dedicated_size_threshold=thresholds.get("dedicatedSizeThreshold"),
        pack_file_size_threshold=thresholds.get("packFileSizeThreshold"),
    )
    ours = dataset.to_arrow().field("b")
    assert ours.type.equals(theirs.type.storage_type)
    assert [f.nullable for f in ours.type.fields] == [f.nullable for f in theirs.type.storage_type.fields]
    _, fields = lance_fields(pa.schema([theirs]))
    assert list(dataset.to_lance().fields) == [pb.Field.FromString(field) for field in fields]


@pytest.mark.parametrize("version", VERSIONS)
def test_take_the_bytes_of_blobs(version: str, tmp_path: Path) -> None:
    document = {
        "extra": {"lance.org/storageVersion": version},
        "fields": [member("b", of("Binary", {"lance.org/blob": {}})), ID],
    }
    (dataset,) = schemac.compile_text(json.dumps(document))
    schema = dataset.to_arrow()
    written = table(schema)
    opened = lance.write_dataset(written, tmp_path / "t", data_storage_version=version)
    contents = [blob.readall() for blob in opened.take_blobs("b", indices=[0, 1])]
    expected = [value if isinstance(value, bytes) else value["data"] for value in rows(schema.field("b"))[:2]]
    assert contents == expected


NAMES = {
    "a.b": "SC502",
    "a`b": "SC502",
    "_rowid": "SC502",
    "_rowaddr": "SC502",
    "_rowoffset": "SC502",
    "_row_created_at_version": "SC502",
    "_row_last_updated_at_version": "SC502",
    "_distance": "SC503",
    "_score": "SC503",
    "a b": "",
    "ünï": "",
    "*": "",
    'q"q': "",
    "a'b": "",
    "-": "",
    "x" * 5000: "",
    "ID": "",
}


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name[:40])
def test_judge_column_names(name: str, tmp_path: Path) -> None:
    verdict = Verdict(member(name, of("Int8")), "2.2")
    assert verdict.arrow is not None
    assert verdict.codes == ({NAMES[name]} if NAMES[name] else frozenset())
    failure = _failure(lambda: assert_is_kept(verdict.arrow, "2.2", tmp_path))
    assert (failure is None) == (NAMES[name] != "SC502")


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name[:40])
def test_judge_member_names(name: str, tmp_path: Path) -> None:
    verdict = Verdict(member("s", struct(member(name, of("Int8")))), "2.2")
    assert verdict.arrow is not None
    assert verdict.codes == frozenset()
    assert_is_kept(verdict.arrow, "2.2", tmp_path)
    quoted = name.replace("`", "``")
    assert lance.dataset(tmp_path / "rows").to_table(columns=[f"s.`{quoted}`"]).num_columns == 1


def _deep(levels: int, form: str) -> Manifest:
    type_ = of("Int8")
    for _ in range(levels - 1):
        type_ = struct(member("s", type_)) if form == "Struct" else of("List", itemType=type_)
    return member("deep", type_)


@pytest.mark.parametrize("form", ["Struct", "List"])
def test_take_thirty_two_levels(form: str, tmp_path: Path) -> None:
    verdict = Verdict(_deep(32, form), "2.2")
    assert verdict.is_accepted
    assert verdict.arrow is not None
    value: Any = 1
    for _ in range(31):
        value = {"s": value} if form == "Struct" else [value]
    written = pa.Table.from_pylist([{"deep": value, "id": 1}], schema=verdict.arrow)
    lance.write_dataset(written, tmp_path / "t")
    assert lance.dataset(tmp_path / "t").to_table().to_pylist() == written.to_pylist()
    assert Verdict(_deep(33, form), "2.2").codes == {"SC505"}


def test_break_at_depths_of_arrows_interface(tmp_path: Path) -> None:
    type_: pa.DataType = pa.int8()
    for _ in range(63):
        type_ = pa.list_(type_)
    dataset = lance.write_dataset(pa.table({"deep": pa.nulls(1, type_)}), tmp_path / "t")
    with pytest.raises(pa.ArrowInvalid, match="Recursion level"):
        dataset.to_table()


ENCODINGS: dict[str, Manifest] = {
    "zstd": {"compression": "zstd", "compressionLevel": 22},
    "lz4": {"compression": "lz4"},
    "none": {"compression": "none"},
    "runs": {"rleThreshold": 0.5, "bss": "auto"},
    "dictionary": {
        "dictDivisor": 2,
        "dictSizeRatio": 0.5,
        "dictValuesCompression": "zstd",
        "dictValuesCompressionLevel": 3,
    },
    "miniblock": {"structuralEncoding": "miniblock"},
    "fullzip": {"structuralEncoding": "fullzip"},
    "sparse": {"structuralEncoding": "sparse"},
    "small chunks": {"minichunkSize": 1024},
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("encoding", every_nth(ENCODINGS, 2))
def test_keep_values_under_encodings(encoding: str, version: str, tmp_path: Path) -> None:
    hint = {"lance.org/encoding": ENCODINGS[encoding]}
    kinds = {kind: of(kind) for kind in ("Int8", "Int64", "Float64", "String", "Binary", "Date", "Timestamp")}
    kinds["vector"] = of("List", itemType=of("Float32"), fixedLength=4)
    kinds["List"] = of("List", itemType=of("Int32"))
    for name, type_ in kinds.items():
        extra = {**type_.get("extra", {}), **hint}
        for place, wrapped in (("required", type_), ("optional", option(type_))):
            verdict = Verdict({**member("field", wrapped), "extra": extra}, version)
            assert verdict.arrow is not None
            path = tmp_path / f"{name} {place}"
            failure = _failure(lambda v=verdict, p=path: assert_is_kept(v.arrow, version, p))  # type: ignore[misc]
            if (encoding, version) == ("sparse", "2.0"):
                # That version ignores the word, and refusing it tells the author so.
                assert verdict.codes == {"SC504"}
                assert failure is None
            else:
                assert (failure is None) == verdict.is_accepted, (name, place, failure)


def _with_short_lengths(tree: Any) -> Any:
    """The manifest with lengths that rows can be made for."""
    if isinstance(tree, list):
        return [_with_short_lengths(item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    shorter = {key: _with_short_lengths(value) for key, value in tree.items()}
    if shorter.get("kind") in ("List", "Binary") and shorter.get("fixedLength", 0) > 64:
        shorter["fixedLength"] = 3
    return shorter


def assert_any_accepted_schema_is_kept(manifest: Manifest) -> None:
    document = _with_short_lengths(manifest)
    version = document.get("extra", {}).get("lance.org/storageVersion", "2.2")
    (dataset,) = schemac.compile_text(json.dumps(document, ensure_ascii=False))
    report = Report()
    target = load_target("lance")
    target.emit(dataset._compilation, Emission(dataset._logical, "lance", target.loss_code, report))
    if {found.code for found in report.diagnostics} <= {"SC503"} and document["fields"]:
        with tempfile.TemporaryDirectory() as folder:
            assert_is_kept(dataset.to_arrow(), version, Path(folder))


@law(120)
@given(manifests())
def test_keep_any_accepted_schema(manifest: Manifest) -> None:
    assert_any_accepted_schema_is_kept(manifest)


@pytest.mark.long
@settings(max_examples=5000, deadline=None, suppress_health_check=list(HealthCheck))
@given(manifests())
def test_keep_any_accepted_schema_at_length(manifest: Manifest) -> None:
    assert_any_accepted_schema_is_kept(manifest)
