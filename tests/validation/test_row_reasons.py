"""Reasons of rows that are kept together are those that are kept row by row, in the same order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from schemac.rows.judging.reasons import REASONS, Reason, Reasons, reason_array

REASON = st.sampled_from([Reason(f"p{i}", "r", None if i % 2 else "v") for i in range(6)])
ROW = st.integers(0, 7)
MANY = st.dictionaries(ROW, st.integers(0, 2), max_size=5)
STEP = st.one_of(
    st.tuples(st.just("add"), ROW, REASON),
    st.tuples(st.just("refuse"), ROW, REASON),
    st.tuples(st.just("many"), MANY, st.lists(REASON, min_size=3, max_size=3)),
)


@given(st.lists(STEP, max_size=6))
def test_reasons_of_many_rows_are_those_of_each(steps: list[tuple[str, object, object]]) -> None:
    together, single, whole = Reasons(), dict[int, list[Reason]](), dict[int, list[Reason]]()
    for what, rows, reasons in steps:
        if what == "many":
            assert isinstance(rows, dict)
            assert isinstance(reasons, list)
            numbers = dict(sorted(rows.items()))
            together.add(np.array([*numbers], np.int64), reason_array([reasons[i] for i in numbers.values()]))
            for row, number in numbers.items():
                single.setdefault(row, []).append(reasons[number])
            continue
        assert isinstance(rows, int)
        assert isinstance(reasons, Reason)
        if what == "add":
            together.add(np.array([rows]), reason_array([reasons]))
            single.setdefault(rows, []).append(reasons)
        else:
            together.refuse(rows, reasons)
            whole[rows] = [reasons]
    expected = {**single, **whole}
    assert together.rows.tolist() == sorted(expected)
    shown = [[one._asdict() for one in expected[row]] for row in sorted(expected)]
    assert together.array(REASONS).to_pylist() == shown
    assert [*together.by_row().items()] == sorted(expected.items())
