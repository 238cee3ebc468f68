"""Pieces of text files: every line is read once, by the piece in which it begins, wherever a file is cut."""

import io
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemac.pipeline.reading import files as pieces
from schemac.pipeline.reading.files import FileSplit, SourceFile, lines_of_split, shares

TEXTS = st.lists(
    st.sampled_from([b"a", b"bc", b"\n", b"\r", b"\r\n", b" ", b"\xe2\x82\xac", b"\xff"]), max_size=24
)


def lines_of(text: bytes) -> list[bytes]:
    """Lines by the rule, blank ones left out."""
    return [line for line in re.split(rb"\r\n|\n|\r", text.removeprefix(b"\xef\xbb\xbf")) if line]


@given(
    parts=TEXTS, cuts=st.lists(st.integers(0, 40), max_size=4), block=st.integers(3, 9), mark=st.booleans()
)
def test_each_line_is_read_once(parts: list[bytes], cuts: list[int], block: int, *, mark: bool) -> None:
    text = (b"\xef\xbb\xbf" if mark else b"") + b"".join(parts)
    first = 3 if mark else 0
    bounds = [0, *sorted({cut for cut in cuts if first < cut < len(text)}), None]
    found: list[bytes] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "BLOCK_BYTES", block)
        patch.setattr(pieces, "open_bytes", lambda _: io.BytesIO(text))
        for start, end in pairwise(bounds):
            assert start is not None
            for lines in lines_of_split(FileSplit(SourceFile("x", "x", len(text)), start, end)):
                found += [line for line in lines.to_pylist() if line]
    assert found == lines_of(text)


@given(
    sizes=st.lists(st.integers(0, 300), min_size=1, max_size=8),
    share=st.integers(1, 120),
    is_cut=st.booleans(),
)
def test_shares_have_every_byte_once(sizes: list[int], share: int, *, is_cut: bool) -> None:
    files = [SourceFile(f"f{i}", "", size) for i, size in enumerate(sizes)]
    held = [piece for group in shares(files, share, is_cut=is_cut) for piece in group]
    for file in files:
        parts = [(piece.start, piece.end) for piece in held if piece.file == file]
        assert parts[0][0] == 0
        assert parts[-1][1] is None
        assert all(end == start for (_, end), (start, _) in pairwise(parts))


def test_packed_files_are_not_cut(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\r\nthree"))
    file = SourceFile(str(path), "", 1 << 30)
    (share,) = shares([file], 1 << 20, is_cut=True)
    assert [line for piece in share for lines in lines_of_split(piece) for line in lines.to_pylist()] == [
        b"one",
        b"two",
        b"three",
    ]
