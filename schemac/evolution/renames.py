"""The order of renames.

Layer: evolution.
"""

from collections.abc import Container, Iterator, Mapping


def in_turn(renames: Mapping[str, str], others: Container[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield renames of siblings, old name and new, such that no name is given while it is taken.

    Where they go round in a circle one steps aside first, under a name that neither they nor `others` have.
    """
    pending = dict(renames)
    while pending:
        old = next((old for old, new in pending.items() if new not in pending), None)
        if old is not None:
            yield old, pending.pop(old)
            continue
        old, new = next(iter(pending.items()))
        temporary = f"{old}_{new}"
        while temporary in pending or temporary in renames.values() or temporary in others:
            temporary += "_"
        yield old, temporary
        pending[temporary] = pending.pop(old)
