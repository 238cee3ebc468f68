"""Records of JSON that are read one by one, by the readers that the validator asks where no proof takes a value."""

from dataclasses import dataclass
from typing import Any

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
