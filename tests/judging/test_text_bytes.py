"""Columns of text with bytes that are no text, as a writer of Parquet left them: refused, never written as they are."""

from typing import Any

import pyarrow as pa
import pytest

import schemac
from schemac.rows.judging.column_proofs import NotUnicodeError


def _text(type_: Any) -> pa.Array:
    held = pa.array(
        [b"ok", b"\xff\xfe", None], pa.large_binary() if type_ == pa.large_string() else pa.binary()
    )
    return pa.Array.from_buffers(type_, 3, held.buffers())


@pytest.mark.parametrize("type_", [pa.string(), pa.large_string()])
@pytest.mark.parametrize("place", ["column", "item", "member"])
def test_refuse_text_that_is_not_utf8(place: str, type_: Any) -> None:
    text = _text(type_)
    column, declared = {
        "column": (text, "String"),
        "item": (
            pa.ListArray.from_arrays([0, 1, 2, 3], text),
            "{kind: List, itemType: {kind: Option, inner: String}}",
        ),
        "member": (
            pa.StructArray.from_arrays([text], ["x"]),
            "{kind: Struct, fields: [{name: x, type: {kind: Option, inner: String}}]}",
        ),
    }[place]
    (dataset,) = schemac.compile_text(
        f"name: t\nfields:\n  - {{name: s, type: {{kind: Option, inner: {declared}}}}}\n"
    )
    with pytest.raises(NotUnicodeError, match="not UTF-8"):
        dataset.validate(pa.table({"s": column}))
    sound = pa.table({"s": column.slice(0, 1)})
    assert dataset.validate(sound).rows == 1
