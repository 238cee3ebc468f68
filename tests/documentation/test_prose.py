"""Descriptions as Markdown: what authors mean is shown, and nothing that means harm comes through."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.documentation.projects import HARM
from tests.effort import law

pytest.importorskip("markdown_it", reason="markdown-it-py, which the extra `docs` brings, is not installed")
from schemac.documentation.html import plain, prose

HARMFUL = (
    HARM,
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](&#106;avascript:alert(1))",
    "[a](java\tscript:alert(1))",
    "[a](<javascript:alert(1)>)",
    "[a]\n\n[a]: javascript:alert(1)",
    "<javascript:alert(1)>",
    "[a](vbscript:x) [b](data:text/html,<script>alert(1)</script>) [c](file:///etc/passwd)",
    "[a](//evil.example/x) [b](../../x.html) [c](#main)",
    '[a](https://x.example/"onmouseover="harm())',
    '[a](https://x.example "x" onclick="harm()")',
    "[a](https://x.example '\"><script>harm()</script>')",
    "![a](https://evil.example/pixel.png)",
    "![a][b]\n\n[b]: https://evil.example/pixel.png 'x\" onerror=\"harm()'",
    "![<img src=x onerror=harm()>](x)",
    "<div><img src=x onerror=harm()></div>",
    "<style>body{display:none}</style>",
    "<iframe src=https://evil.example></iframe>",
    "<!-- x --><![CDATA[<script>harm()</script>]]><?php x ?>",
    "```<script>\nharm()\n```",
    '```x" onclick="harm()\n<script>\n```',
    "`<script>harm()</script>`",
    "| a |\n|---|\n| <script>harm()</script> |",
    "# <script>harm()</script>\n\nx\n===",
    "> " * 500 + "x",
    "[" * 500 + "x" + "](x)" * 500,
    "*" * 2000,
    "</div></main></body></html>",
    "&lt;script&gt;harm()&lt;/script&gt; &#60;script&#62;",
    "{{ 7*7 }} {% raw %}",
    "\u202e\u2066\x00\x1b[31m\ud800",
)
TAGS = {
    *("p", "em", "strong", "code", "pre", "blockquote", "ul", "ol", "li", "br", "hr", "h4", "h5", "h6"),
    *("table", "thead", "tbody", "tr", "th", "td", "a"),
}
ATTRIBUTES = {
    "a": {"href", "rel", "title"},
    "ol": {"start"},
    "th": {"class"},
    "td": {"class"},
    "code": {"class"},
}


class _Tags(HTMLParser):
    """Fails where there is markup that a description may not make."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        assert {name for name, _ in attrs} <= ATTRIBUTES.get(tag, set())
        for name, value in attrs:
            if name == "href":
                assert value is not None
                assert value.lower().startswith(("https://", "http://", "mailto:"))
                assert ("rel", "noopener noreferrer") in attrs
                self.links.append(value)
            if name == "class" and tag != "code":
                assert value in ("left", "center", "right")
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ("br", "hr")
        assert attrs == []

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("text", HARMFUL, ids=lambda text: text[:20])
def test_let_no_harm_through(text: str) -> None:
    shown = _Tags(str(prose(text)))
    assert "\u202e" not in shown.text
    assert "\u202e" not in plain(text)


@given(
    st.lists(
        st.sampled_from([*HARMFUL, *"[]()<>!*_`~#|:-\"'\\&\n ", "a", "https://a.example", "javascript:"]),
        max_size=12,
    )
)
@law(200)
def test_let_no_harm_through_however_it_is_put_together(parts: list[str]) -> None:
    _Tags(str(prose("".join(parts))))


def test_show_what_authors_mean() -> None:
    text = """What the *passenger* paid, see [the runbook](https://wiki.example/fares?a=1&b=2).

# Rules

- `tip` is in it
- taxes are **not**

| code | means |
|:-----|------:|
| 1 | cash |

![a picture](https://x.example/y.png) 2 * 3 * 4, snake_case_name, List<Int32>
"""
    shown = str(prose(text))
    assert "<em>passenger</em>" in shown
    assert (
        '<a href="https://wiki.example/fares?a=1&amp;b=2" rel="noopener noreferrer">the runbook</a>' in shown
    )
    assert "<h4>Rules</h4>" in shown
    assert "<li>taxes are <strong>not</strong></li>" in shown
    assert '<td class="right">cash</td>' in shown
    assert '!<a href="https://x.example/y.png" rel="noopener noreferrer">a picture</a>' in shown
    assert "2 * 3 * 4, snake_case_name, List&lt;Int32&gt;" in shown
    assert plain(text) == (
        "What the passenger paid, see the runbook. Rules tip is in it taxes are not code means 1 cash"
        " !a picture 2 * 3 * 4, snake_case_name, List<Int32>"
    )
