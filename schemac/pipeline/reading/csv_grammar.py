"""The grammar of CSV records: where one ends, and whether its quotes are as they should be.

Layer: pipeline.
Shape: a `Dialect` out of the options of a source; its `pattern` is the same in Java and in Python. A value that begins with
       a quote ends with one, and a quote inside it is escaped (RFC 4180, with the characters that the options name).
Source: readers differ on every other record: one keeps the quotes as letters, one drops them, one cuts the value.
"""

import re
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from schemac.pipeline.declaration.source_options import Options
from schemac.pipeline.errors import PipelineError
from schemac.text.source.catalogue import SOURCE_OPTION

NO_CELL = f"no cell {uuid.uuid4().hex}"
"""What Spark's reader is told to take for a value that is not there, and no file has: the empty text is a value."""
BLANK = r"[\x00-\x20]*+"


@dataclass(frozen=True)
class Dialect:
    """Separator, quote and escape, and whether blanks around a value are left out."""

    sep: str = ","
    quote: str = '"'
    escape: str = '"'
    comment: str = ""
    skips_leading: bool = False
    skips_trailing: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether a quote is escaped by another one, and no blank is left out: what Arrow's parser knows too."""
        is_one = len(self.sep) == 1 and f"{self.sep}{self.quote}".isascii()
        return is_one and self.escape == self.quote and not self.skips_leading and not self.skips_trailing

    @cached_property
    def _inner(self) -> str:
        """A pattern of what is between two quotes."""
        quote, escape = re.escape(self.quote), re.escape(self.escape)
        if not self.escape:
            return f"[^{quote}]*+"
        if self.escape == self.quote:
            return f"(?:[^{quote}]++|{quote}{quote})*+"
        either = f"[{quote}{escape}]"
        return f"(?:[^{quote}{escape}]++|{escape}{either}|{escape}(?!{either}))*+"

    @cached_property
    def quoted(self) -> str:
        """A pattern of a quoted value, blanks around it included."""
        before, after = self._blanks
        return f"{before}{re.escape(self.quote)}{self._inner}{re.escape(self.quote)}{after}"

    @property
    def _blanks(self) -> tuple[str, str]:
        blank = BLANK if self.sep != "\t" else r"[\x00-\x08\x0a-\x20]*+"
        return blank if self.skips_leading else "", blank if self.skips_trailing else ""

    @cached_property
    def plain(self) -> str:
        """A pattern of a value without quotes around it."""
        if not self.quote:
            return self._rest
        quote = re.escape(self.quote)
        # With a separator of several letters, Spark's parser may double a quote inside such a value.
        rest = self._rest if len(self.sep) == 1 else f"(?:(?!{re.escape(self.sep)})[^{quote}])*+"
        return f"(?!{self._blanks[0]}{quote}){rest}"

    @property
    def _rest(self) -> str:
        """A pattern of what is before the next separator."""
        sep = re.escape(self.sep)
        return f"[^{sep}]*+" if len(self.sep) == 1 else f"(?:(?!{sep}).)*+"

    @cached_property
    def pattern(self) -> str:
        """A pattern of a whole record whose quotes are as they should be."""
        value = f"(?:{self.quoted}|{self.plain})" if self.quote else self.plain
        return f"(?s){value}(?:{re.escape(self.sep)}{value})*+"

    def is_sound(self, record: str) -> bool:
        """Whether all quotes of a record are as they should be."""
        if not self.quote or self.quote not in record:
            return True
        return re.fullmatch(self.pattern, record) is not None

    def is_comment(self, line: str) -> bool:
        """Whether a line is not a record."""
        return not line.strip(" \r\n") or bool(self.comment and line.startswith(self.comment))

    def records(self, lines: Iterable[str], line_break: str = "", *, is_joined: bool = True) -> Iterator[str]:
        """Join a file's lines into records, each without its last line break; a value in quotes may hold line breaks.

        >>> list(Dialect().records(['1,"a\\n', 'b"\\n', '2,c']))
        ['1,"a\\nb"', '2,c']
        """
        if is_joined and not line_break:
            yield from self._joined(lines)
            return
        for line in lines:
            bare = line.removesuffix(line_break) if line_break else _without_break(line)
            if not self.is_comment(bare):
                yield bare

    def _joined(self, lines: Iterable[str]) -> Iterator[str]:
        pending: list[str] = []
        for line in lines:
            if not pending and self.is_comment(line):
                continue
            if self.quote and (self.quote in line or pending):
                is_open = (self._stays_open if pending else self._opens).match(line) is not None
                pending.append(line)
                if is_open:
                    continue
                line, pending = "".join(pending), []
            yield _without_break(line)
        if pending:
            yield _without_break("".join(pending))

    def is_open(self, line: str) -> bool:
        """Whether a quote opens in a line, and does not close there."""
        return bool(self.quote) and self._opens.match(line) is not None

    @cached_property
    def opening(self) -> str:
        """A pattern of a text in which a quote opens and does not close, without the text's end."""
        quote, sep = re.escape(self.quote), re.escape(self.sep)
        value = f"(?:{self.quoted}{self._rest}|{self.plain})"
        return f"(?:{value}{sep})*+{self._blanks[0]}{quote}{self._inner}"

    @cached_property
    def _opens(self) -> re.Pattern[str]:
        return re.compile(f"(?s){self.opening}\\Z")

    @cached_property
    def _stays_open(self) -> re.Pattern[str]:
        quote, sep = re.escape(self.quote), re.escape(self.sep)
        return re.compile(f"(?s){self._inner}(?:\\Z|{quote}{self._rest}{sep}{self.opening}\\Z)")

    def cells(self, record: str) -> list[str]:
        """Split a sound record into its values, as text."""
        return [cell for cell, _ in self._split(record)]

    def values(self, record: str) -> list[str | None]:
        """Split a sound record into its values; null where nothing is between two separators.

        >>> Dialect().values('1,,"","a""b"')
        ['1', None, '', 'a"b']
        """
        return [None if not cell and not is_quoted else cell for cell, is_quoted in self._split(record)]

    def _split(self, record: str) -> list[tuple[str, bool]]:
        """Each value, and whether it is in quotes."""
        if not self.quote or self.quote not in record:
            return [(self._bare(cell), False) for cell in record.split(self.sep)]
        cells, start = [], 0
        value = re.compile(f"(?s)({self.quoted})|({self.plain})")
        while True:
            match = value.match(record, start)
            assert match is not None
            is_quoted = match[1] is not None
            cells.append((self._unquoted(match[1]) if is_quoted else self._bare(match[2]), is_quoted))
            start = match.end() + len(self.sep)
            if match.end() >= len(record):
                return cells

    def _bare(self, cell: str) -> str:
        cell = cell.lstrip() if self.skips_leading else cell
        return cell.rstrip() if self.skips_trailing else cell

    def _unquoted(self, cell: str) -> str:
        inner = self._bare(cell)[1:-1]
        if not self.escape:
            return inner
        return re.sub(re.escape(self.escape) + f"([{re.escape(self.quote + self.escape)}])", r"\1", inner)


def _without_break(line: str) -> str:
    return line[:-2] if line.endswith("\r\n") else line[:-1] if line.endswith(("\n", "\r")) else line


def dialect_of(options: Options) -> Dialect:
    """Read the dialect out of the options of a source."""
    quote = options.text("quote", '"')
    dialect = Dialect(
        sep=_unescaped(options.text("sep", ",")),
        quote=quote,
        # A quote inside quotes is doubled, as RFC 4180 has it; Spark's own default is a backslash.
        escape=options.text("escape", quote),
        comment=options.text("comment"),
        skips_leading=options.flag("ignoreLeadingWhiteSpace") or False,
        skips_trailing=options.flag("ignoreTrailingWhiteSpace") or False,
    )
    for name, text in (("quote", dialect.quote), ("escape", dialect.escape), ("comment", dialect.comment)):
        if len(text) > 1:
            raise PipelineError(
                SOURCE_OPTION, f"the option `{name}` is `{text}`", "write one character, or ''"
            )
    if not dialect.sep:
        raise PipelineError(SOURCE_OPTION, "the delimiter `sep` is empty", "write it, such as `sep: ';'`")
    if dialect.sep in (dialect.quote, dialect.escape, dialect.comment) or dialect.comment in {
        dialect.quote
    } - {""}:
        message = "two of the options `sep`, `quote` and `comment` are the same character"
        raise PipelineError(SOURCE_OPTION, message, "use a different character for each")
    return dialect


def _unescaped(sep: str) -> str:
    return {r"\t": "\t", "\\0": "\0"}.get(sep, sep)
