"""Our matrix of casts beside pypaimon's."""

import itertools

from schemac.engines.paimon.judge import CastRule, cast
from schemac.engines.paimon.types import parse_type
from tests.conformance.pypaimon.client import Paimon

TYPES = [
    *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE"),
    *("DECIMAL(10, 2)", "DECIMAL(38, 0)", "CHAR(40)", "VARCHAR(40)", "STRING"),
    *("BINARY(8)", "VARBINARY(8)", "BYTES", "TIME(3)", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP_LTZ(6)"),
    *("VARIANT", "BLOB"),
]
NUMBERS = {"TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"}
MOMENTS = {"TIMESTAMP", "TIMESTAMP_LTZ"}
ONLY_RULES = {
    # The rules of both say yes, but Java has nothing that carries these casts out.
    *itertools.product(MOMENTS, NUMBERS - {"INT", "BIGINT"}),
    *itertools.product(NUMBERS - {"INT", "BIGINT"}, MOMENTS),
    *itertools.product({"DATE", "TIME", *MOMENTS}, {"CHAR"}),
}
"""Pairs of roots that pypaimon's rules allow and ours do not."""
JAVA_ONLY = {
    ("BOOLEAN", "DECIMAL"),
    ("INT", "DECIMAL"),  # into few digits
    ("BIGINT", "DECIMAL"),
    *itertools.product({"CHAR", "VARCHAR"}, {"TIME"}),
    *itertools.product({"INT", "TIME"}, MOMENTS),
    *itertools.product(MOMENTS, {"INT"}),
}
"""Casts that Java carries out and pyarrow, with which pypaimon reads, does not."""


def test_allow_what_pypaimon_allows(paimon: Paimon) -> None:
    theirs = paimon.ask("casts", types=TYPES)["casts"]
    differing: dict[str, set[tuple[str, str]]] = {"implicit": set(), "explicit": set()}
    for (a, b), (is_implicit, is_explicit, _) in zip(itertools.product(TYPES, TYPES), theirs, strict=True):
        old, new = parse_type(a), parse_type(b)
        if (cast(old, new) is CastRule.IMPLICIT) != is_implicit:
            differing["implicit"].add((old.root, new.root))
        if (cast(old, new) is not CastRule.NONE) != is_explicit:
            differing["explicit"].add((old.root, new.root))
    assert differing == {"implicit": set(), "explicit": ONLY_RULES}


def test_allow_what_pypaimon_reads(paimon: Paimon) -> None:
    """Casts that pypaimon's reader carries out are ours too, but for those that Java has none of."""
    theirs = paimon.ask("casts", types=TYPES)["casts"]
    unread = set()
    for (a, b), (_, is_explicit, is_read) in zip(itertools.product(TYPES, TYPES), theirs, strict=True):
        old, new = parse_type(a), parse_type(b)
        if cast(old, new) is not CastRule.NONE and not (is_explicit and is_read):
            unread.add((old.root, new.root))
    assert unread == JAVA_ONLY
