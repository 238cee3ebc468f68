"""The corpus of constraints: which values of which types break each of them, which every place that checks constraints is held against.

Shape: `tests/judging/corpus/constraints.jsonl`, lines of [name of the constraint, type, as authored, {verdict: values}]; the verdicts are
       `breaks` and `fits`, and values are written as `value_corpus` shows them. Null stands in no line, for no constraint is held against it.
       `python -m tests.judging.value_corpus` writes the file anew, with all constraints, kinds and samples that the registries have.
"""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import pyarrow as pa

from schemac.arrow.constraints import constraints_of
from tests.constraints.cases import Case, arrow_of, cases, dataset_of, values_of
from tests.judging import value_corpus

Verdicts = dict[str, bool]
"""By the value as it is shown: whether it breaks the constraint."""


def lines_of_constraints() -> Iterator[str]:
    """Yield the lines of the corpus, by the functions that validate columns."""
    every = list(cases())
    schema = dataset_of(every).to_arrow(metadata=True)
    constraints = constraints_of(schema)
    for i, case in enumerate(every):
        place = constraints.column(f"c{i}")
        assert place is not None
        (constraint,) = place.constraints
        array = arrow_of(case.type, schema.field(i).type, values_of(case.type)[:-1])
        breaks = constraint.violations(array).to_pylist()
        groups: dict[str, list[str]] = {}
        for text, is_broken in zip(value_corpus.shown_values(array), breaks, strict=True):
            values = groups.setdefault("breaks" if is_broken else "fits", [])
            if text not in values:
                values.append(text)
        yield json.dumps([*key_of(case), groups], ensure_ascii=False)


def key_of(case: Case) -> list[Any]:
    """Return what names a case in the corpus."""
    return [case.kind.attribute.name, case.field["type"]["inner"], case.authored]


def text_of(case: Case) -> str:
    """Return the JSON text of the key of a case, by which `read` has its verdicts."""
    return json.dumps(key_of(case))


@cache
def read() -> dict[str, Verdicts]:
    """Return the verdicts of the corpus, by the JSON text of the key of a case."""
    return {
        json.dumps(key): {
            value: verdict == "breaks" for verdict, values in groups.items() for value in values
        }
        for *key, groups in value_corpus.read("constraints")
    }


def expected(chosen: Sequence[Case], table: pa.Table) -> list[list[bool]]:
    """Return what the corpus says of the values of a table with a column for each case: whether they break its constraint."""
    corpus = read()
    verdicts = []
    for case, column in zip(chosen, table.columns, strict=True):
        of_case = corpus[text_of(case)] | {"None": False}
        verdicts.append([of_case[text] for text in value_corpus.shown_values(column.combine_chunks())])
    return verdicts
