"""What a field was in the versions of its lock.

Layer: lsp.
"""

from collections.abc import Iterator

from schemac.evolution.diff import field_type_text
from schemac.identity.opening import open_version
from schemac.logical.schema_fields import SchemaField
from schemac.project.locking import Locked

_MOST_VERSIONS = 20
"""Versions that are opened for the history of one field, newest first."""


def history(locked: Locked, field: SchemaField) -> Iterator[str]:
    """Yield a table of the versions in which a field was another one than in the version before; nothing where it never changed."""
    id_ = locked.identities.ids.get(field)
    former: list[tuple[int, str, str]] = []
    for version in locked.dataset.versions[-_MOST_VERSIONS:]:
        opened = open_version(locked.dataset, version)
        then = next((one for one, state in opened.states.items() if state.id == id_), None)
        row = (then.path_text, field_type_text(then)) if then is not None else ("", "")
        if (former[-1][1:] if former else ("", "")) != row:
            former.append((version.number, *row))
    now = (field.path_text, field_type_text(field))
    rows = [
        f"| {number} | {f'`{path}` `{text}`' if path else 'not there'} |" for number, path, text in former
    ]
    if former and former[-1][1:] != now:
        rows.append(f"| not locked | `{now[0]}` `{now[1]}` |")
    if len(rows) > 1:
        yield "\n".join(["| version | field |", "|---|---|", *rows])
