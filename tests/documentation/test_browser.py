"""The site in a real browser, opened from its folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemac.cli.main import main
from tests.documentation.browser import PROGRAM, REASON, Browser, browser
from tests.documentation.projects import shop

__all__ = ["shop"]
pytestmark = [pytest.mark.slow, pytest.mark.skipif(PROGRAM is None, reason=REASON)]
SEARCH = """new Promise(done => {
  const box = document.querySelector("[data-search]");
  box.focus(); box.value = WORDS; box.dispatchEvent(new Event("input", {bubbles: true}));
  const look = () => {
    const found = [...document.querySelectorAll("[data-results] a")].map(a => a.firstChild.textContent);
    window.schemacSearch ? done(found) : setTimeout(look, 20);
  };
  look();
})"""
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"
CONTRAST = """(() => {
  const bright = (text) => {
    const parts = text.match(/[\\d.]+/g).slice(0, 3).map(n => n / 255);
    const [r, g, b] = parts.map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = (one) => {
    for (; one; one = one.parentElement) {
      const found = getComputedStyle(one).backgroundColor;
      if (!found.endsWith(", 0)")) return found;
    }
    return "rgb(255, 255, 255)";
  };
  const least = [...document.querySelectorAll("main *, header *")].filter(one => one.offsetParent && !(one instanceof SVGElement)).map(one => {
    const [a, b] = [bright(getComputedStyle(one).color), bright(paper(one))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  });
  return Math.min(...least);
})()"""


@pytest.fixture
def opened(shop: Path) -> Iterator[tuple[Browser, str]]:
    pytest.importorskip("jinja2", reason="jinja2, which the extra `docs` brings, is not installed")
    assert main(["docs", "-q"]) == 0
    with browser(shop / "browser") as found:
        yield found, (shop / "site").as_uri()


def test_read_the_site_without_a_server(opened: tuple[Browser, str]) -> None:
    page, site = opened
    pages = [
        "index.html",
        "references.html",
        *(f"datasets/{name}.html" for name in ("customers", "orders", "reviews")),
    ]
    for theme in ("light", "dark"):
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        for width in (390, 1280):
            page.call(
                "Emulation.setDeviceMetricsOverride",
                width=width,
                height=800,
                deviceScaleFactor=1,
                mobile=width < 500,
            )
            for name in pages:
                page.open(f"{site}/{name}")
                assert page.ask(OVERFLOW) <= 0, (name, width)
                assert page.ask("window.harm === undefined"), name
                # 4.5 is what WCAG 2 asks for.
                assert page.ask(CONTRAST) >= 4.5, (name, theme)
    page.open(f"{site}/index.html")
    assert page.ask(SEARCH.replace("WORDS", "'city'")) == ["customers.address.city"]
    assert page.ask(SEARCH.replace("WORDS", "'order tot'")) == ["orders.total"]
    page.ask("document.querySelector('[data-search]').form.requestSubmit()")
    page.open(f"{site}/datasets/orders.html#field-total")
    assert page.ask("document.getElementById('field-total').open")
    shown = "[...document.querySelectorAll('[data-revision]')].filter(one => !one.hidden).map(one => one.dataset.revision)"
    assert page.ask(shown) == ["2-3"]
    page.ask("(() => { const one = document.querySelector('[data-pick] select'); one.selectedIndex = 0;"
             " one.dispatchEvent(new Event('change', {bubbles: true})); })()")  # fmt: skip
    assert page.ask(shown) == ["0-3"]
    # The other way round, the two change places: additions would look like what was dropped.
    picked = "[...document.querySelectorAll('[data-pick] select')].map(one => one.selectedIndex)"
    page.ask("(() => { const [old, now] = document.querySelectorAll('[data-pick] select'); old.selectedIndex = 2;"
             " now.selectedIndex = 1; now.dispatchEvent(new Event('change', {bubbles: true})); })()")  # fmt: skip
    assert page.ask(shown) == ["1-2"]
    assert page.ask(picked) == [1, 2]
    page.call("Emulation.setEmulatedMedia", media="print")
    assert page.ask("getComputedStyle(document.querySelector('.bar')).display") == "none"
    assert page.errors == []
    assert {request.partition(":")[0] for request in page.requests} == {"file"}
