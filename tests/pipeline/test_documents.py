"""Documents are cut piece by piece: the pieces make no difference to the records, and a long document is never held as a whole."""

import bz2
import gzip
import json
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.files import CHUNK_BYTES, chunks_of
from schemac.pipeline.reading.json_records import records_of

WORDS = ["1", "e", "1.5e-7", "nul", "true", "-Infinity", "\\u00e9", "é", "x"]
PARTS = ['"a"', '"features"', '"features": [', '{"id": 1}', '{"a": [1, {"b": "x"}]}', ',\n {"a": ']
TOKENS = st.sampled_from([*'"\\{}[],:\n ', "\n  ", *WORDS, *PARTS])
BROKEN = st.lists(TOKENS, max_size=24).map("".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)
SOUND = st.builds(json.dumps, VALUES, ensure_ascii=st.booleans(), indent=st.sampled_from([None, 0, 2]))
COLLECTIONS = st.lists(VALUES, max_size=4).map(
    lambda items: json.dumps({"type": "x", "features": items, "y": 1})
)
DOCUMENTS = st.lists(BROKEN | SOUND | COLLECTIONS, max_size=4).map("".join)


@given(DOCUMENTS, st.sampled_from([None, "features"]), st.lists(st.integers(0, 200), max_size=12))
def test_pieces_make_no_difference(text: str, member: str | None, cuts: list[int]) -> None:
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    whole = list(records_of((text,), member))
    assert list(records_of((text[a:b] for a, b in pairwise(places)), member)) == whole
    assert list(records_of(text, member)) == whole, "one character at a time"


def _long_document(records: int) -> Iterator[str]:
    yield '{"type": "FeatureCollection", "features": ['
    for i in range(records):
        yield (", " if i else "") + json.dumps({"id": i, "name": "x" * 200})
    yield "]}"


@pytest.mark.parametrize("member", ["features", None])
def test_memory_follows_the_record_not_the_document(member: str | None) -> None:
    """Without the member the object is one record: the test would notice a document that is held."""

    def peak(records: int) -> int:
        tracemalloc.start()
        try:
            for _ in records_of(_long_document(records), member):
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    small, large = peak(500), peak(5000)
    assert (large < 2 * small) == (member == "features"), (small, large)


PACKED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".gzip": gzip.compress,
    ".bz2": bz2.compress,
    ".deflate": zlib.compress,
    ".zst": lambda text: pa.compress(text, codec="zstd", asbytes=True),
    ".zstd": lambda text: pa.compress(text, codec="zstd", asbytes=True),
}


@pytest.mark.parametrize("ending", PACKED)
def test_unpack_in_pieces(ending: str, tmp_path: Path) -> None:
    """What the libraries packed; several streams in one file too; and one that is cut off."""
    text = "".join(f"{i} é\n" for i in range(300_000))
    path = tmp_path / f"a{ending}"
    packed = PACKED[ending](text.encode())
    path.write_bytes(packed)
    pieces = list(chunks_of(str(path), "utf-8"))
    assert "".join(pieces) == text
    assert len(pieces) > 2
    assert max(map(len, pieces)) <= CHUNK_BYTES
    path.write_bytes(packed + PACKED[ending](b"more"))
    assert "".join(chunks_of(str(path), "utf-8")) == text + "more"
    path.write_bytes(packed[:-9])
    with pytest.raises(PipelineError, match="cannot be read to its end"):
        list(chunks_of(str(path), "utf-8"))
