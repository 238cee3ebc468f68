"""The grammar of CSV records: where one ends, whether its quotes are as they should be, and which cells it has.

Layer: pipeline.
Shape: a `CsvDialect` out of the options of a source. A value that begins with a quote ends with one, and a quote inside it is escaped
       (RFC 4180, with the characters that the options name). A `CsvForm` takes records apart into one column of texts for each cell,
       null where nothing stands between two separators.
Proof: a pattern shows that a record has as many cells as its header, and no quote but around a cell, where one that is doubled stands
       for itself. Arrow's parser reads the records for which it holds; the others are taken apart one by one.
Source: readers differ on every other record: one keeps the quotes as letters, one drops them, one cuts the value.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv

from schemac.pipeline.errors import PipelineError
from schemac.text.source.catalogue import SOURCE_OPTION

if TYPE_CHECKING:
    from schemac.pipeline.declaration.source_options import Options  # the tasks need no pydantic

BLANK = r"[\x00-\x20]*+"
BLANKS = "".join(map(chr, range(0x21)))
NO_TEXT = r"\x00-\x1f"
"""Characters that no cell has which Arrow reads, such as line breaks."""
QUOTES, MALFORMED = "quotes", "malformed"
"""The rules that a record breaks whose quotes are not as they should be, or that has not as many cells as its header."""


@dataclass(frozen=True)
class CsvDialect:
    """Separator, quote and escape, and whether blanks around a value are left out."""

    sep: str = ","
    quote: str = '"'
    escape: str = '"'
    comment: str = ""
    skips_leading: bool = False
    skips_trailing: bool = False
    null_value: str | None = None
    """A cell that is null."""
    empty_value: str = ""
    """What two quotes with nothing between them mean."""
    line_break: str = ""
    """What ends a line; empty for a line feed, a carriage return, or both."""

    @property
    def is_plain(self) -> bool:
        """Whether a quote is escaped by another one, and no blank is left out: what Arrow's parser knows too."""
        is_one = len(self.sep) == 1 and f"{self.sep}{self.quote}".isascii()
        return is_one and self.escape == self.quote and not self.skips_leading and not self.skips_trailing

    @cached_property
    def _inner(self) -> str:
        """The pattern of what is between two quotes."""
        quote, escape = re.escape(self.quote), re.escape(self.escape)
        if not self.escape:
            return f"[^{quote}]*+"
        if self.escape == self.quote:
            return f"(?:[^{quote}]++|{quote}{quote})*+"
        either = f"[{quote}{escape}]"
        return f"(?:[^{quote}{escape}]++|{escape}{either}|{escape}(?!{either}))*+"

    @cached_property
    def quoted(self) -> str:
        """The pattern of a value in quotes, blanks around it included."""
        before, after = self._blanks
        return f"{before}{re.escape(self.quote)}{self._inner}{re.escape(self.quote)}{after}"

    @property
    def _blanks(self) -> tuple[str, str]:
        """Return patterns of the blanks before and after a value; empty where they are part of it."""
        blank = BLANK if self.sep != "\t" else r"[\x00-\x08\x0a-\x20]*+"
        return blank if self.skips_leading else "", blank if self.skips_trailing else ""

    @cached_property
    def plain(self) -> str:
        """The pattern of a value without quotes around it."""
        if not self.quote:
            return self._rest
        quote = re.escape(self.quote)
        # With a separator of several letters, Spark's parser may double a quote inside such a value.
        rest = self._rest if len(self.sep) == 1 else f"(?:(?!{re.escape(self.sep)})[^{quote}])*+"
        return f"(?!{self._blanks[0]}{quote}){rest}"

    @property
    def _rest(self) -> str:
        """The pattern of what is before the next separator."""
        sep = re.escape(self.sep)
        return f"[^{sep}]*+" if len(self.sep) == 1 else f"(?:(?!{sep}).)*+"

    @cached_property
    def pattern(self) -> str:
        """The pattern of a whole record whose quotes are as they should be."""
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

    def records(self, lines: Iterable[str], *, is_joined: bool = True) -> Iterator[str]:
        """Join a file's lines into records, each without its last line break; a value in quotes may hold line breaks.

        >>> list(CsvDialect().records(['1,"a\\n', 'b"\\n', '2,c']))
        ['1,"a\\nb"', '2,c']
        """
        is_joined = is_joined and bool(self.quote) and not self.line_break
        pending: list[str] = []
        for line in lines:
            record = self._without_break(line)
            if not pending and self.is_comment(record):
                continue
            if is_joined and (pending or self.quote in line):
                is_open = (self._stays_open if pending else self._opens).match(line) is not None
                pending.append(line)
                if is_open:
                    continue
                record, pending = self._without_break("".join(pending)), []
            yield record
        if pending:
            yield self._without_break("".join(pending))

    def _without_break(self, line: str) -> str:
        """Return a line without the line break at its end."""
        if self.line_break:
            return line.removesuffix(self.line_break)
        return line[:-2] if line.endswith("\r\n") else line[:-1] if line.endswith(("\n", "\r")) else line

    def is_open(self, line: str) -> bool:
        """Whether a quote opens in a line, and does not close there."""
        return bool(self.quote) and self._opens.match(line) is not None

    @cached_property
    def opening(self) -> str:
        """The pattern of a text in which a quote opens and does not close, without the text's end."""
        quote, sep = re.escape(self.quote), re.escape(self.sep)
        value = f"(?:{self.quoted}{self._rest}|{self.plain})"
        return f"(?:{value}{sep})*+{self._blanks[0]}{quote}{self._inner}"

    @cached_property
    def _opens(self) -> re.Pattern[str]:
        """Return the pattern of a text at whose end a quote is open."""
        return re.compile(f"(?s){self.opening}\\Z")

    @cached_property
    def _stays_open(self) -> re.Pattern[str]:
        """Return the pattern of a text that begins inside a quote, and at whose end a quote is open."""
        quote, sep = re.escape(self.quote), re.escape(self.sep)
        return re.compile(f"(?s){self._inner}(?:\\Z|{quote}{self._rest}{sep}{self.opening}\\Z)")

    def values(self, record: str) -> list[str | None]:
        """Split a sound record into its values; null where nothing is between two separators.

        >>> CsvDialect().values('1,,"","a""b"')
        ['1', None, '', 'a"b']
        """
        if not self.quote or self.quote not in record:
            return [self._bare(cell) or None for cell in record.split(self.sep)]
        values: list[str | None] = []
        value, start = re.compile(f"(?s)({self.quoted})|({self.plain})"), 0
        while True:
            match = value.match(record, start)
            assert match is not None
            values.append(self._bare(match[2]) or None if match[1] is None else self._unquoted(match[1]))
            start = match.end() + len(self.sep)
            if match.end() >= len(record):
                return values

    def _bare(self, cell: str) -> str:
        """Return a cell without the blanks around it, on the sides where the dialect skips them."""
        cell = cell.lstrip(BLANKS) if self.skips_leading else cell
        return cell.rstrip(BLANKS) if self.skips_trailing else cell

    def _unquoted(self, cell: str) -> str:
        """Return the content of a cell in quotes, its escapes resolved."""
        inner = self._bare(cell)[1:-1]
        if not self.escape:
            return inner
        return re.sub(re.escape(self.escape) + f"([{re.escape(self.quote + self.escape)}])", r"\1", inner)


@dataclass(frozen=True)
class CsvForm:
    """Splits records of CSV into cells: `columns` are those of the header, `selection` those that somebody needs."""

    columns: tuple[str, ...]
    dialect: CsvDialect
    selection: tuple[str, ...] = ()

    @cached_property
    def _pattern(self) -> str:
        """The pattern of a record whose cells Arrow's parser reads as we do."""
        sep, quote = re.escape(self.dialect.sep), re.escape(self.dialect.quote)
        cell = f"[^{sep}{quote}{NO_TEXT}]*"
        if quote:
            cell = f"(?:{cell}|{quote}(?:[^{quote}{NO_TEXT}]|{quote}{quote})*{quote})"
        return f"^{cell}(?:{sep}{cell}){{{len(self.columns) - 1}}}$"

    def cells(self, records: pa.Array) -> tuple[dict[str, pa.Array], dict[int, str]]:
        """Return the texts of each column, and the rules that records break; their cells are null."""
        is_plain = self._plain(records)
        try:
            columns = self._parsed(records.filter(is_plain))
        except pa.ArrowInvalid:
            # No record is lost: all of them are taken apart one by one.
            is_plain = pa.repeat(pa.scalar(False), len(records))
            columns = self._parsed(records[:0])
        broken: dict[int, str] = {}
        if is_plain.true_count == len(records):
            return {label: self._with_nulls(column) for label, column in columns.items()}, broken
        others: list[list[str | None]] = []
        nothing: list[str | None] = [None] * len(self.columns)
        rows = pc.indices_nonzero(pc.invert(is_plain))
        for row, text in zip(rows.to_pylist(), records.take(rows).to_pylist(), strict=True):
            cells = nothing
            if text is not None and not self.dialect.is_sound(text):
                broken[row] = QUOTES
            elif text is not None and len(cells := self.dialect.values(text)) != len(self.columns):
                broken[row], cells = MALFORMED, nothing
            others.append(cells)
        for label, column in columns.items():
            number = self.columns.index(label)
            read = pa.array([cells[number] for cells in others], pa.string())
            all_cells = pc.replace_with_mask(pa.nulls(len(records), pa.string()), is_plain, column)
            columns[label] = self._with_nulls(pc.replace_with_mask(all_cells, pc.invert(is_plain), read))
        return columns, broken

    def _with_nulls(self, cells: pa.Array) -> pa.Array:
        """Replace empty texts as the options say, and the text that means null by null."""
        if self.dialect.empty_value:
            cells = pc.if_else(pc.equal(cells, ""), self.dialect.empty_value, cells)
        if self.dialect.null_value is not None:
            is_null = pc.equal(cells, self.dialect.null_value)
            cells = pc.if_else(is_null, pa.scalar(None, pa.string()), cells)
        return cells

    def _plain(self, records: pa.Array) -> pa.Array:
        """Return which records Arrow's parser reads."""
        if not self.dialect.is_plain:
            return pa.repeat(pa.scalar(False), len(records))
        try:
            return pc.fill_null(pc.match_substring_regex(records, self._pattern), False)
        except pa.ArrowInvalid:
            # The pattern is too long for the library.
            separators = len(self.columns) - 1
            is_known = pc.equal(pc.count_substring(records, self.dialect.sep), separators)
            odd = f"[{re.escape(self.dialect.quote)}{NO_TEXT}]"
            return pc.fill_null(pc.and_(is_known, pc.invert(pc.match_substring_regex(records, odd))), False)

    def _parsed(self, records: pa.Array) -> dict[str, pa.Array]:
        """Return the selected columns of records, null for an empty cell. Raises pa.ArrowInvalid if Arrow cuts them otherwise."""
        if not len(records) or not self.selection:
            return {label: pa.nulls(len(records), pa.string()) for label in self.selection}
        offsets = pa.array([0, len(records)], pa.int32())
        text = pc.binary_join(pa.ListArray.from_arrays(offsets, records), "\n").buffers()[2]
        names = [f"c{number}" for number in range(len(self.columns))]
        cell_names = {label: names[self.columns.index(label)] for label in self.selection}
        table = pv.read_csv(
            pa.BufferReader(text),
            read_options=pv.ReadOptions(use_threads=False, block_size=text.size + 1, column_names=names),
            parse_options=pv.ParseOptions(
                delimiter=self.dialect.sep, quote_char=self.dialect.quote or False, ignore_empty_lines=False
            ),
            convert_options=pv.ConvertOptions(
                include_columns=[*cell_names.values()],
                column_types=dict.fromkeys(cell_names.values(), pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                check_utf8=False,
            ),
        )
        if table.num_rows != len(records):
            raise pa.ArrowInvalid("another number of records")
        return {label: table.column(name).combine_chunks() for label, name in cell_names.items()}


@dataclass(frozen=True)
class CsvForms:
    """How the records of each file are split, since files may have other headers.

    `conflicts` are cells that have to be as a folder's name is: the columns of both.
    """

    forms: tuple[CsvForm, ...]
    numbers: Mapping[str, int] = field(default_factory=dict)
    """For files by their addresses, which form they have; the first one unless it is said."""
    conflicts: tuple[tuple[str, str], ...] = ()

    def of(self, uri: str) -> CsvForm:
        """Return the form of a file."""
        return self.forms[self.numbers.get(uri, 0)]

    def selecting(self, cells: Sequence[str]) -> "CsvForms":
        """Return the forms from which some cells are taken."""
        cells = tuple(dict.fromkeys((*cells, *(cell for cell, _ in self.conflicts))))
        forms = [
            replace(form, selection=tuple(cell for cell in cells if cell in form.columns))
            for form in self.forms
        ]
        return replace(self, forms=tuple(forms))


def dialect_of(options: "Options") -> CsvDialect:
    """Read the dialect out of the options of a source."""
    quote, sep = options.text("quote", '"'), options.text("sep", ",")
    dialect = CsvDialect(
        sep={r"\t": "\t", "\\0": "\0"}.get(sep, sep),
        quote=quote,
        # A quote inside quotes is doubled, as RFC 4180 has it; Spark's own default is a backslash.
        escape=options.text("escape", quote),
        comment=options.text("comment"),
        skips_leading=options.flag("ignoreLeadingWhiteSpace") or False,
        skips_trailing=options.flag("ignoreTrailingWhiteSpace") or False,
        null_value=options.some(("nullValue",)).get("nullValue"),
        empty_value=options.text("emptyValue"),
        line_break=options.text("lineSep"),
    )
    for name, text in (("quote", dialect.quote), ("escape", dialect.escape), ("comment", dialect.comment)):
        if len(text) > 1:
            message = f"the option `{name}` is `{text}`"
            raise PipelineError(SOURCE_OPTION, message, "write one character, or ''")
    if not dialect.sep:
        raise PipelineError(SOURCE_OPTION, "the delimiter `sep` is empty", "write it, such as `sep: ';'`")
    is_comment_quote = bool(dialect.quote) and dialect.comment == dialect.quote
    if dialect.sep in (dialect.quote, dialect.escape, dialect.comment) or is_comment_quote:
        message = "two of the options `sep`, `quote` and `comment` are the same character"
        raise PipelineError(SOURCE_OPTION, message, "use a different character for each")
    return dialect
