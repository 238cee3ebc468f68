"""Findings for people, with the author's line and a way out; changes as unified diffs.

Layer: text.
Shape: Tables as fragments of HTML, for notebooks: texts of others are escaped here; there is no style but what notebooks give to
      tables.
"""

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from schemac.text.source.diagnostics import Diagnostic, Label, Severity
from schemac.text.source.phrases import pictured, printable

_WIDEST = 120
"""Columns of an excerpt that goes into a file or another program; of a longer line the part around the culprit is shown."""
_LEAST = 40
"""Columns of the narrowest excerpt."""
_HANGING = 4
"""Columns by which the further lines of a long message are moved in."""
Paint = Callable[[str, str], str]
"""Puts an SGR code around a text, or leaves it."""
_RED, _YELLOW, _CYAN, _BLUE = "31", "33", "36", "34"
_COLOURS = {Severity.ERROR: _RED, Severity.WARNING: _YELLOW, Severity.NOTE: _CYAN}


def render_text(diagnostics: Iterable[Diagnostic], *, colour: bool = False, width: int | None = None) -> str:
    """Return all findings as text, each followed by an empty line; `width` is that of the terminal, if it goes to one."""
    paint = _in_colour if colour else lambda _colour, text: text
    return "".join(f"{_render(d, paint, width)}\n" for d in diagnostics)


def count_summary(diagnostics: Iterable[Diagnostic]) -> str:
    """`2 errors, 1 warning`; empty if there is nothing."""
    counts = Counter(diagnostic.severity for diagnostic in diagnostics)
    return ", ".join(
        f"{n} {severity}{'s' if n > 1 else ''}" for severity in Severity if (n := counts[severity])
    )


def _render(d: Diagnostic, paint: Paint, width: int | None) -> str:
    """Return one finding for a terminal: heading, place, excerpts with labels, and help, folded at `width`."""
    head = f"{d.severity}[{d.code}]"
    message = _folded(f"{head}: ", printable(d.message), " " * _HANGING, width)
    lines = [f"{paint(f'1;{_COLOURS[d.severity]}', head)}{paint('1', message.removeprefix(head))}\n"]
    margin = len(str(max([d.line, *(label.line for label in d.labels)], default=0)))
    place = f"{d.place} ({d.path})" if d.file and d.path else d.place or d.path
    if place:
        lines.append(f"{' ' * margin}{paint(_BLUE, '-->')} {printable(place)}\n")
    if d.line and d.excerpt:
        lines.append(_excerpt(d, margin, width, paint))
    for label in d.labels:
        if label.file != d.file:
            place = f"{label.file}:{label.line}:{label.column}"
            lines.append(f"{' ' * margin}{paint(_BLUE, ':::')} {printable(place)}\n")
        lines.append(_excerpt(label, margin, width, paint))
    if d.help:
        start = f"{' ' * margin} = help: "
        help_lines = _folded(start, printable(d.help), " " * (margin + _HANGING), width)
        lines.append(help_lines.replace("=", paint(_BLUE, "="), 1) + "\n")
    return "".join(lines)


def _folded(start: str, text: str, indent: str, width: int | None) -> str:
    """Return a text behind its start; on a terminal that is too narrow, on several lines, broken between words."""
    if width is None or len(start) + _width(text) <= width or width < _LEAST:
        return f"{start}{text}"
    import textwrap  # for start-up time: only where a person looks

    wrapper = textwrap.TextWrapper(
        width, initial_indent=start, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(wrapper.wrap(text))


def _excerpt(location: Diagnostic | Label, margin: int, columns: int | None, paint: Paint) -> str:
    """Return a source line and its underline with the message; `margin` is the gutter's, `columns` are the terminal's."""
    if isinstance(location, Label):
        text, message, tint, mark = location.excerpt, location.message, _BLUE, "-"
    else:
        text, message, tint, mark = location.excerpt[0], "", _COLOURS[location.severity], "^"
    is_on_one_line = location.end_line == location.line
    end = location.end_column if is_on_one_line else len(text) + 1
    # The gutter takes its part of a terminal.
    width = _WIDEST if columns is None else max(_LEAST, columns - margin - 3)
    text, column, end = _visible_part(pictured(text), location.column, end, width)
    before, culprit = text[: column - 1].expandtabs(4), text[column - 1 : end - 1]
    gutter = paint(_BLUE, f"{location.line:>{margin}} |")
    empty = paint(_BLUE, f"{'':>{margin}} |")
    underline = mark * max(1, _width(culprit))
    note = f" {printable(message)}" if message else ""
    visible = before + text[column - 1 :].expandtabs(4)
    return f"{gutter} {visible}\n{empty} {' ' * _width(before)}{paint(f'1;{tint}', underline + note)}\n"


def _visible_part(text: str, column: int, end: int, width: int) -> tuple[str, int, int]:
    """Return the part of a long line around the culprit, with the columns moved."""
    if len(text) <= width:
        return text, column, max(end, column)
    start = max(0, min(column - 1 - width // 3, len(text) - width))
    visible = text[start : start + width]
    if start:
        visible = "…" + visible[1:]
    if start + width < len(text):
        visible = visible[:-1] + "…"
    return visible, column - start, max(min(end - start, width + 1), column - start)


def _width(text: str) -> int:
    """Return how many columns a text takes on a terminal."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    """Return how many columns a character takes on a terminal: 0 if it combines, 2 if it is wide, else 1."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _in_colour(code: str, text: str) -> str:
    """Return a text in the colour of an SGR code, for a terminal."""
    return f"\x1b[{code}m{text}\x1b[0m"


_NO_END = "\\ No newline at end of file\n"


def render_diff(name: str, before: str, after: str) -> str:
    """Return what changed in a file; nothing where it is the same."""
    from difflib import unified_diff  # for start-up time: few commands show what changed in a file

    lines = unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True), name, name)
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_END}" for line in lines)


MOST_ROWS = 500
"""Rows that a notebook shows of one table."""


def html_table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; of a long one its first rows, and how many more there are."""
    heads = "".join(f'<th scope="col" style="text-align:left">{_escape(cell)}</th>' for cell in head)
    cells = (
        "".join(f'<td style="text-align:left">{_escape(c)}</td>' for c in row) for row in rows[:MOST_ROWS]
    )
    body = "".join(f"<tr>{row_cells}</tr>" for row_cells in cells)
    more = len(rows) - MOST_ROWS
    footer = f'<tfoot><tr><td colspan="{len(head)}">and {more} more</td></tr></tfoot>' if more > 0 else ""
    title = f'<caption style="text-align:left"><b>{_escape(caption)}</b></caption>'
    return f"<table>{title}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody>{footer}</table>"


def _escape(text: str) -> str:
    """Return a text escaped for HTML, with its lines and without control characters."""
    from html import escape  # for start-up time: programs show no table in a notebook

    return escape(printable(text, keep="\n"))
