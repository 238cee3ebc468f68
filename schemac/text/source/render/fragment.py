"""Tables as fragments of HTML, for notebooks.

Layer: text.
Shape: texts of others are escaped here; there is no style but what notebooks give to tables.
"""

from collections.abc import Sequence
from html import escape

from schemac.text.source.phrases import printable

MOST_ROWS = 500
"""Rows that a notebook shows of one table."""


def html_table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; of a long one its first rows, and how many more there are."""
    heads = "".join(f'<th scope="col" style="text-align:left">{_text(cell)}</th>' for cell in head)
    cells = ("".join(f'<td style="text-align:left">{_text(c)}</td>' for c in row) for row in rows[:MOST_ROWS])
    body = "".join(f"<tr>{row_cells}</tr>" for row_cells in cells)
    more = len(rows) - MOST_ROWS
    footer = f'<tfoot><tr><td colspan="{len(head)}">and {more} more</td></tr></tfoot>' if more > 0 else ""
    title = f'<caption style="text-align:left"><b>{_text(caption)}</b></caption>'
    return f"<table>{title}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody>{footer}</table>"


def _text(text: str) -> str:
    return escape(printable(text, keep="\n"))
