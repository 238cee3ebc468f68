"""The pictures of the guide: `python -m docs.pictures` writes them to `docs/pictures/`.

A picture is a table of boxes with arrows between them. Colours follow the reader's light or dark setting.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = Path(__file__).parent / "pictures"
_LINE, _CHARACTER, _PADDING, _GAP, _MARGIN = 20, 8.0, 12, 44, 8
"""Height of a line of text, width of a character, space in a box, between boxes and around all, in pixels."""
_STYLE = """\
text{font:13px ui-sans-serif,system-ui,sans-serif;fill:#1f2328}
.code{font-family:ui-monospace,monospace}.box{fill:#fff;stroke:#57606a}.bad{fill:#ffebe9;stroke:#cf222e}.good{fill:#dafbe1;stroke:#1a7f37}
.accent{fill:#ddf4ff;stroke:#0969da}.arrow{stroke:#57606a;fill:none;marker-end:url(#head)}#head path{fill:#57606a}.label{font-size:12px;fill:#57606a}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.box{fill:#161b22;stroke:#8b949e}.bad{fill:#3c1618;stroke:#f85149}.good{fill:#12261e;stroke:#3fb950}
.accent{fill:#121d2f;stroke:#58a6ff}.arrow{stroke:#8b949e}#head path{fill:#8b949e}.label{fill:#8b949e}}"""


@dataclass(frozen=True)
class Box:
    """A box at a column and a row of the picture, as wide as its column; `style` is one of box, accent, good, bad."""

    column: int
    row: int
    lines: tuple[str, ...]
    style: str = "box"
    is_code: bool = False
    rows: int = 1
    """How many rows it stands beside."""

    @property
    def width(self) -> float:
        return max(len(line) for line in self.lines) * _CHARACTER + 2 * _PADDING

    @property
    def height(self) -> int:
        return len(self.lines) * _LINE + 2 * _PADDING


@dataclass(frozen=True)
class Picture:
    """Boxes by name, arrows between them with their labels, and what a reader who cannot see it should hear."""

    title: str
    boxes: dict[str, Box]
    arrows: tuple[tuple[str, str, str], ...] = ()
    row_gap: int = _GAP - 16


@dataclass(frozen=True)
class Rectangle:
    """Where a box stands, in pixels from the upper left corner."""

    x: float
    y: float
    width: float
    height: float


def svg(picture: Picture) -> str:
    """Return a picture as the text of an SVG file."""
    boxes = picture.boxes.values()
    widths = _largest((box.column, box.width) for box in boxes)
    heights = _largest((box.row, box.height) for box in boxes if box.rows == 1)
    left, top = _starts(widths, _widest_label(picture)), _starts(heights, picture.row_gap)
    places = {
        name: Rectangle(left[box.column], _centered(box, heights, top), widths[box.column], box.height)
        for name, box in picture.boxes.items()
    }
    width = max(left[c] + widths[c] for c in widths) + _MARGIN
    height = max(top[r] + heights[r] for r in heights) + _MARGIN
    arrows = "\n".join(_arrow(places[start], places[end], label) for start, end, label in picture.arrows)
    drawn = "\n".join(_drawn(box, places[name]) for name, box in picture.boxes.items())
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img" aria-labelledby="title">
<title id="title">{escape(picture.title)}</title>
<style>{_STYLE}</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>
{drawn}
{arrows}
</svg>
"""


def pictures() -> dict[str, Picture]:
    """Return all pictures by the name of their file."""
    return {
        "compile": _compile(),
        "layers": _layers(),
        "lock": _lock(),
        "verdict": _verdict(),
        "quarantine": _quarantine(),
        "overview": _overview(),
    }


def write(folder: Path) -> None:
    """Write the files of all pictures."""
    folder.mkdir(exist_ok=True)
    for name, picture in pictures().items():
        (folder / f"{name}.svg").write_text(svg(picture), encoding="utf-8")


def _overview() -> Picture:
    manifest = (
        "name: rides", "fields:", "  - name: ride_id", "    type: String", "  - name: fare", "    type:",
        "      kind: Decimal", "      precision: 10", "      scale: 2",
    )  # fmt: skip
    artifacts = (
        ("arrow/schema.arrow", "fare: decimal128(10, 2) not null"),
        ("lance/schema.binpb", 'logical_type: "decimal:128:10:2"'),
        ("spark/create_table.sql", "`fare` DECIMAL(10,2) NOT NULL"),
        ("paimon/schema-0", '"type": "DECIMAL(10, 2) NOT NULL"'),
    )
    boxes = {"manifest": Box(0, 0, manifest, "accent", is_code=True, rows=len(artifacts))}
    boxes |= {lines[0]: Box(1, row, lines, is_code=True) for row, lines in enumerate(artifacts)}
    arrows = tuple(("manifest", file, "") for file, _ in artifacts)
    title = "A manifest of nine lines becomes schemas of Arrow, Lance, Spark and Paimon"
    return Picture(title, boxes, arrows, row_gap=8)


def _compile() -> Picture:
    steps = (
        ("text", "manifest", "YAML"),
        ("tree", "tree", "with locations"),
        ("schema", "schema", "kinds, attributes"),
        ("fields", "Arrow fields", "with ids"),
        ("files", "artifacts", "one folder per engine"),
    )
    boxes = {name: Box(column, 0, (title, line)) for column, (name, title, line) in enumerate(steps)}
    boxes |= {
        "lock": Box(2, 1, ("lock", "ids for life"), "accent"),
        "findings": Box(1, 1, ("diagnostics", "code, place, fix"), "bad"),
    }
    names = [name for name, _, _ in steps]
    return Picture(
        "From text to artifacts: a tree with locations, a logical schema, Arrow fields with the ids of the lock, one folder per engine",
        boxes,
        (
            *((a, b, "") for a, b in pairwise(names)),
            ("tree", "findings", ""),
            ("lock", "fields", ""),
        ),
    )


def _layers() -> Picture:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    boxes = {str(row): Box(0, row, (layer.replace("|", "·"),)) for row, layer in enumerate(layers)}
    title = "The layers of the compiler, from the commands at the top to source text at the bottom"
    return Picture(title, boxes, row_gap=4)


def _lock() -> Picture:
    columns = (
        ("version 1", ("1  trip_id", "2  fare"), "box"),
        ("version 2", ("1  trip_id", "2  fare_amount"), "good"),
        ("version 3", ("1  trip_id", "3  fare"), "bad"),
    )
    boxes = {
        title: Box(column, 0, (title, *lines), style, is_code=True)
        for column, (title, lines, style) in enumerate(columns)
    }
    arrows = (("version 1", "version 2", "fare is renamed"), ("version 2", "version 3", "dropped, and added"))
    return Picture(
        "A renamed field keeps its id 2; a field that is dropped and added again gets the new id 3",
        boxes,
        arrows,
    )


def _verdict() -> Picture:
    boxes = {
        "change": Box(0, 1, ("distance", "Int32 → Int64"), "accent", is_code=True),
        "iceberg": Box(1, 0, ("Iceberg", "metadata only"), "good"),
        "lance": Box(1, 1, ("Lance", "rewrite")),
        "readers": Box(1, 2, ("old readers", "depends on data"), "bad"),
    }
    arrows = (("change", "iceberg", ""), ("change", "lance", ""), ("change", "readers", ""))
    return Picture(
        "A wider integer is metadata only in Iceberg, a rewrite in Lance, and depends on data for old readers",
        boxes,
        arrows,
    )


def _quarantine() -> Picture:
    boxes = {
        "source": Box(0, 0, ("source", "every record")),
        "check": Box(1, 0, ("schema", "types, nulls, constraints"), "accent"),
        "table": Box(2, 0, ("table", "one commit"), "good"),
        "quarantine": Box(2, 1, ("quarantine", "raw text, every reason"), "bad"),
    }
    arrows = (("source", "check", ""), ("check", "table", "fits"), ("check", "quarantine", "does not fit"))
    return Picture(
        "A record that fits goes into the table; any other goes into the quarantine with its raw text and every reason",
        boxes,
        arrows,
    )


def _largest(sizes: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Return the largest size by row or column."""
    largest: dict[int, float] = {}
    for index, size in sizes:
        largest[index] = max(largest.get(index, 0), size)
    return largest


def _starts(sizes: dict[int, float], gap: float) -> dict[int, float]:
    """Return where each row or column starts."""
    starts, at = {}, float(_MARGIN)
    for index in sorted(sizes):
        starts[index] = at
        at += sizes[index] + gap
    return starts


def _centered(box: Box, heights: dict[int, float], top: dict[int, float]) -> float:
    """Return the upper edge of a box in the middle of its rows."""
    last = box.row + box.rows - 1
    return (top[box.row] + top[last] + heights[last] - box.height) / 2


def _widest_label(picture: Picture) -> float:
    return max((len(label) * 6.6 + 24 for _, _, label in picture.arrows if label), default=_GAP)


def _drawn(box: Box, place: Rectangle) -> str:
    style = " class='code'" if box.is_code else ""
    x, y = place.x + _PADDING, place.y + _PADDING + 14
    lines = "".join(
        f'<text{style} xml:space="preserve" x="{x:.1f}" y="{y + _LINE * i:.1f}">{escape(line)}</text>'
        for i, line in enumerate(box.lines)
    )
    corner = (
        f'x="{place.x:.1f}" y="{place.y:.1f}" width="{place.width:.1f}" height="{place.height:.0f}" rx="5"'
    )
    return f'<rect class="{box.style}" {corner}/>{lines}'


def _arrow(start: Rectangle, end: Rectangle, label: str) -> str:
    if start.x == end.x:
        x1 = x2 = start.x + start.width / 2
        y1, y2 = start.y + start.height, end.y
    else:
        x1, x2 = start.x + start.width, end.x
        y1, y2 = start.y + start.height / 2, end.y + end.height / 2
    line = f'<path class="arrow" d="M{x1:.1f} {y1:.1f} L{x2:.1f} {y2:.1f}"/>'
    if not label:
        return line
    x, y = (x1 + x2) / 2, (y1 + y2) / 2 + (-6 if y1 == y2 else 16)
    return f'{line}<text class="label" text-anchor="middle" x="{x:.1f}" y="{y:.1f}">{escape(label)}</text>'


if __name__ == "__main__":
    write(FOLDER)
