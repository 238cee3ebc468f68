"""What notebooks show of datasets and changes."""

from html.parser import HTMLParser

import schemac

HARM = "</td><script>window.harm=1</script><img src=x onerror=window.harm=1>"


class _Table(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.cells: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data


def _dataset(fields: str) -> schemac.Dataset:
    (found,) = schemac.compile_text(f"name: rides\nfields: [{fields}]\n")
    return found


def test_show_dataset_as_a_table() -> None:
    shown = _Table(
        _dataset(
            f"{{name: a, type: Int8, description: '{HARM}'}},"
            "{name: s, type: {kind: Struct, fields: [{name: b, type: {kind: Option, inner: Date}}]}}"
        )._repr_html_()
    )
    assert shown.tags == {"table", "caption", "b", "thead", "tbody", "tr", "th", "td"}
    rows = ["field", "type", "description", "a", "Int8", HARM, "s", "Struct<b>", "", "s.b", "Date?", ""]
    assert shown.cells == rows


def test_show_changes_as_a_table() -> None:
    changes = schemac.diff(_dataset("{name: a, type: Int8}"), _dataset("{name: a, type: Int16}"))
    assert isinstance(changes, tuple)
    assert str(changes) == "a: integer-widened: Int8 → Int16"
    shown = _Table(changes._repr_html_())
    assert shown.cells[4:] == ["a", "integer-widened", "Int8", "Int16"]
    same = schemac.diff(_dataset("{name: a, type: Int8}"), _dataset("{name: a, type: Int8}"))
    assert (same, str(same)) == ((), "no changes")


def test_show_the_first_of_many_fields() -> None:
    fields = ",".join(f"{{name: a{n}, type: Int8}}" for n in range(510))
    shown = _Table(_dataset(fields)._repr_html_())
    assert shown.cells[-1] == "and 10 more"
