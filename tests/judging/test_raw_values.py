"""Values of types that no kind of the language has, but one of somebody's own may have, come out as Python objects."""

import pyarrow as pa

from schemac.rows.judging.typed_values import raw_values


def test_give_the_spans_of_an_interval() -> None:
    spans = [pa.MonthDayNano([1, 2, 3]), None]
    assert raw_values(pa.array(spans, pa.month_day_nano_interval())) == spans
    assert raw_values(pa.array([spans], pa.list_(pa.month_day_nano_interval()))) == [spans]
