"""Keys and options of a table, as Paimon will have them.

Layer: engines.
Source: `Schema` of github.com/apache/paimon: the options `primary-key` and `partition` become keys, and are options no
more.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from schemac.attributes.attribute import Attribute
from schemac.engines.paimon import attributes as paimon

TreePath = tuple[str | int, ...]
OPTION_OF = {paimon.PRIMARY_KEYS.key: "primary-key", paimon.PARTITION_KEYS.key: "partition"}
"""The option that says the same as an attribute."""
_OF_OPTIONS = ("extra", paimon.OPTIONS.key)


class KeyColumn(NamedTuple):
    """A column of a key, and where the schema names it."""

    name: str
    location: TreePath


class Table(NamedTuple):
    """What the schema's attributes say of the table as a whole."""

    primary: tuple[KeyColumn, ...]
    partition: tuple[KeyColumn, ...]
    options: dict[str, str]
    doubled: tuple[str, ...]
    """Options that say again what an attribute says."""

    @property
    def primary_names(self) -> tuple[str, ...]:
        """The columns of the primary key."""
        return tuple([column.name for column in self.primary])

    @property
    def partition_names(self) -> tuple[str, ...]:
        """The columns that the table is partitioned by."""
        return tuple([column.name for column in self.partition])

    @property
    def is_of_first_version(self) -> bool:
        """Whether this is an append table as Paimon made them up to 0.7: one bucket, which no key leads to.

        Paimon reads such a table where its schema file has the version 1, for which it asks for no bucket key. Then the
        format has to be named, for in that version its default is another one.
        """
        is_plain = not self.primary and "bucket-key" not in self.options
        return is_plain and self.options.get("bucket", "").strip() == "1" and "file.format" in self.options

    def is_set(self, option: str) -> bool:
        """Whether an option says `true`."""
        return self.options.get(option, "").strip().lower() == "true"


def read_table(extra: Mapping[str, Any]) -> Table:
    """Keys and options, with the keys that are among the options taken out of them."""
    options = dict(paimon.OPTIONS.read(extra) or {})
    doubled: list[str] = []

    def key(attribute: Attribute[list[str]]) -> tuple[KeyColumn, ...]:
        option = OPTION_OF[attribute.key]
        text = options.pop(option, None)
        named = attribute.read(extra)
        if named is not None:
            doubled.extend([option] if text is not None else [])
            return tuple([KeyColumn(name, ("extra", attribute.key, i)) for i, name in enumerate(named)])
        names = [name.strip() for name in (text or "").split(",")]
        return tuple([KeyColumn(name, (*_OF_OPTIONS, option)) for name in names if name])

    primary, partition = key(paimon.PRIMARY_KEYS), key(paimon.PARTITION_KEYS)
    return Table(primary, partition, options, tuple(doubled))
