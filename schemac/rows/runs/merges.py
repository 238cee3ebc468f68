"""How the rows of a run meet rows of a table that have the same key.

Layer: rows.
Rule: of several records with one key the one with the greatest value of `latest` counts, also against the row that the table
      has; where they are equal the record counts, so that a run can be repeated. A null is older than any value. A record
      that deletes counts like any other: the row of its key goes, and a later record may bring it back.
"""

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Merge:
    """What becomes of rows with keys that the table has."""

    keys: tuple[str, ...]
    """Columns of the primary key, in its order."""
    latest: str | None = None
    """The column whose greatest value wins; None: the record wins."""
    is_refused: bool = False
    """Whether the rows are refused, all of them, where the table has the key of one."""
    deletes: str | None = None
    """Value of the column `_delete` with which a record deletes the row of its key."""
    unique: tuple[tuple[tuple[str, ...], ...], ...] = ()
    """Sets of fields, each by its path, whose values no two rows of the table may have together."""

    @property
    def columns(self) -> list[str]:
        """Columns that decide."""
        return [*self.keys, *([self.latest] if self.latest is not None else [])]

    def to_json(self) -> str:
        """Write the merge as `parse` reads it."""
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, text: str) -> "Merge":
        """Read a merge."""
        data = json.loads(text)
        unique = tuple(tuple(tuple(path) for path in fields) for fields in data["unique"])
        return cls(**{**data, "keys": tuple(data["keys"]), "unique": unique})


@dataclass(frozen=True)
class Merged:
    """What a commit is to add and to replace, as it was judged for one version of the table."""

    fragments: list[str]
    version: int
    """The version that was judged; 0 if there is no table."""
    replaced: str = ""
    """The rows that go, in the engine's own form; empty if none do."""
    superseded: int = 0
    """Records that do not count, for a later one has their key."""
    deleted: int = 0
    """Records that count, and delete the row of their key, if there is one."""
