"""Records of JSON that are read one by one, by the readers that the validator asks where no proof takes a value."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from schemac.language.attributes.attribute import Role
from schemac.language.physical import with_parts
from schemac.rows.judging.arrays import is_scalar, role_of, storage_type
from schemac.rows.judging.judge import RecordReader, RecordReasons, malformed_reason, parse_record, value_at
from schemac.rows.judging.reasons import Reason


@dataclass(frozen=True, slots=True)
class JudgedRecord:
    """The values of a record, None if it does not fit, and the reasons why it does not."""

    values: dict[str, Any] | None
    reasons: tuple[Reason, ...]


class RecordJudge(RecordReader):
    """Judges whole records for a schema: the definition of which of them fit."""

    def json(self, text: str) -> JudgedRecord:
        """Read the text of a record; return its values or the reasons against it."""
        assert not self.uncovered, self.uncovered
        record = parse_record(text)
        if record is None:
            return JudgedRecord(None, (malformed_reason(text),))
        reasons, values = RecordReasons(), {}
        for label, steps, read in self.json_readers:
            values[label] = read(value_at(record, steps), label, reasons)
        self.add_unexpected(record, reasons)
        return JudgedRecord(None if reasons else values, tuple(reasons))


def value_type(field: pa.Field) -> pa.DataType:
    """Return the type without extensions and dictionaries."""
    data_type = field.type
    if role_of(field) is Role.BLOB:
        return pa.large_binary()
    if is_scalar(field):
        return storage_type(data_type)
    # The metadata of a part may say what its storage stands for.
    return with_parts(data_type, lambda part: part.with_type(value_type(part)))
