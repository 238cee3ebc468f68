"""Parquet files whose types or metadata a manifest has no word for; what is left out is said."""

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schemac.cli.main import main

# Thrift's compact protocol, as far as a footer without rows needs it: (field number, type, encoded value).
I32, I64, TEXT, LIST, STRUCT = 5, 6, 8, 9, 12
Entry = tuple[int, int, bytes]


def varint(number: int) -> bytes:
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def number(value: int) -> bytes:
    return varint(value << 1)


def text(value: str) -> bytes:
    return varint(len(value)) + value.encode()


def struct(*entries: Entry) -> bytes:
    out, last = b"", 0
    for field, type_, value in entries:
        is_near = field - last < 16
        head = bytes([(field - last) << 4 | type_]) if is_near else bytes([type_]) + number(field)
        out, last = out + head + value, field
    return out + b"\0"


def listed(items: Iterable[bytes]) -> bytes:
    found = list(items)
    return bytes([len(found) << 4 | STRUCT]) + b"".join(found)


def element(name: str, *more: Entry) -> bytes:
    entries = [(4, TEXT, text(name)), (3, I32, number(1)), *more]
    return struct(*sorted(entries))


def leaf(name: str, *logical: Entry) -> bytes:
    more = [(10, STRUCT, struct(*logical))] if logical else []
    return element(name, (1, I32, number(6)), *more)


def group(name: str, children: int, *logical: Entry) -> bytes:
    more = [(10, STRUCT, struct(*logical))] if logical else []
    return element(name, (5, I32, number(children)), *more)


def file_of(*elements: bytes, columns: int) -> bytes:
    schema = [group("schema", columns), *elements]
    footer = struct(
        (1, I32, number(2)), (2, LIST, listed(schema)), (3, I64, number(0)), (4, LIST, listed([]))
    )
    return b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"


VARIANT, GEOMETRY, GEOGRAPHY = 16, 17, 18


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def manifest(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["import", *arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.skipif(
    int(pa.__version__.partition(".")[0]) < 22, reason="pyarrow 21 does not open a file with a VARIANT"
)
def test_note_types_that_are_not_kept(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = file_of(
        leaf("shape", (GEOMETRY, STRUCT, struct((1, TEXT, text("EPSG:4326"))))),
        leaf("area", (GEOGRAPHY, STRUCT, struct())),
        group("doc", 2, (VARIANT, STRUCT, struct())),
        leaf("metadata"),
        leaf("value"),
        group("outer", 1),
        group("inner", 2, (VARIANT, STRUCT, struct())),
        leaf("metadata"),
        leaf("value"),
        columns=4,
    )
    (folder / "x.parquet").write_bytes(content)
    shown = manifest(capsys, "x.parquet")
    assert (
        "# Parquet's type GEOMETRY of shape is not kept (coordinates in EPSG:4326)\n  - {name: shape" in shown
    )
    assert "# Parquet's type GEOGRAPHY of area is not kept\n  - {name: area" in shown
    assert "# Parquet's type VARIANT is not kept: this field has its storage type\n  - name: doc" in shown
    assert (
        "# Parquet's type VARIANT is not kept: this field has its storage type\n          - name: inner"
        in shown
    )


def test_leave_out_what_writers_write_for_themselves(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = (
        "parquet.avro.schema",
        "writer.model.name",
        "org.apache.spark.version",
        "iceberg.schema",
        "huggingface",
    )
    schema = pa.schema([("a", pa.int8())], metadata=dict.fromkeys((*own, "owner"), "x"))
    pq.write_table(schema.empty_table(), "x.parquet")
    shown = manifest(capsys, "x.parquet")
    comment, _, rest = shown.partition("\n")
    assert comment.startswith("# not kept: the metadata ")
    assert all(key in comment and key not in rest for key in own)
    assert "owner: x" in rest


def test_note_metadata_that_is_no_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    field = pa.field("a", pa.int8(), metadata={b"k\xff": b"v", b"ok": b"\xfe", b"fine": b"1"})
    schema = pa.schema([field], metadata={b"top": b"\xff"})
    (folder / "x.arrow").write_bytes(schema.serialize().to_pybytes())
    shown = manifest(capsys, "x.arrow")
    assert "\ufffd" not in shown
    assert shown.startswith("# not kept: the metadata top, which is not UTF-8\n")
    assert "  # not kept: the metadata k\\xff, which is not UTF-8\n" in shown
    assert "  # not kept: the metadata ok, which is not UTF-8\n" in shown
    assert "fine: '1'" in shown


@pytest.mark.parametrize("holder", [lambda f: f, lambda f: pa.field("s", pa.struct([f]))])
def test_let_a_column_of_nulls_be_null(
    folder: Path, capsys: pytest.CaptureFixture[str], holder: object
) -> None:
    assert callable(holder)
    schema = pa.schema([holder(pa.field("a", pa.null()).with_nullable(False))])
    (folder / "x.arrow").write_bytes(schema.serialize().to_pybytes())
    shown = manifest(capsys, "x.arrow")
    assert "# a column of nulls may always be null, even if its source declares otherwise" in shown
    assert '{kind: Option, inner: "Null"}' in shown


def test_note_a_blob_of_the_older_form(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    field = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    (folder / "x.arrow").write_bytes(pa.schema([field]).serialize().to_pybytes())
    assert "  # a blob in the old form" in manifest(capsys, "x.arrow")


def test_refuse_a_document_without_schema(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "x.yaml").write_text("kind: SetInfo\ndescription: x\nkeywords: []\n")
    assert main(["import", "x.yaml", "--out", "m.yaml"]) == 1
    assert "cannot read x.yaml: it contains no schema" in capsys.readouterr().out


def test_offer_to_skip_a_column(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = pa.schema([pa.field("", pa.int8()), pa.field("b", pa.int8())])
    (folder / "x.arrow").write_bytes(schema.serialize().to_pybytes())
    assert main(["import", "x.arrow"]) == 1
    assert "`--skip ''`" in capsys.readouterr().err
    assert main(["import", "x.arrow", "--skip", ""]) == 0
