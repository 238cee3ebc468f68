"""The site in a real browser, opened from its folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemac.cli.main import main
from schemac.versions.evolution.changes import Change
from schemac.versions.evolution.diff import diff
from schemac.versions.evolution.version_pair import locked_schema_version
from schemac.versions.identity.lock import LockedDataset
from tests.documentation.browser import PROGRAM, REASON, Browser, browser
from tests.documentation.projects import drawn_versions, lock_versions, shop

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

COMPARED = """((older, newer) => {
  const section = document.querySelector("[data-compare]");
  const picked = [...section.querySelectorAll("select")];
  [picked[0].selectedIndex, picked[1].selectedIndex] = [older, newer];
  picked[1].dispatchEvent(new Event("change", {bubbles: true}));
  const text = (row) => row.querySelector("code").textContent + ": "
    + [...row.querySelector("div").childNodes].filter(one => !["DEL", "INS"].includes(one.nodeName))
      .map(one => one.textContent.replace("\u2192", "").trim()).filter(Boolean).join(" ");
  return [...picked.map(one => one.selectedIndex), [...section.querySelectorAll("li")].map(text)];
})"""


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
    assert page.ask(f"{COMPARED}(2, 3)") == [2, 3, ["note: field added"]]
    assert page.ask(f"{COMPARED}(0, 3)") == [
        *(0, 3),
        [
            "id: description added opendatafabric.org/description",
            "total: precision raised",
            "note: field added",
        ],
    ]
    # The other way round, the two change places: additions would look like what was dropped.
    assert page.ask(f"{COMPARED}(2, 1)") == [1, 2, ["id: description added opendatafabric.org/description"]]
    assert page.ask(f"{COMPARED}(2, 2)") == [2, 2, []]
    page.call("Emulation.setEmulatedMedia", media="print")
    assert page.ask("getComputedStyle(document.querySelector('.bar')).display") == "none"
    assert page.errors == []
    assert {request.partition(":")[0] for request in page.requests} == {"file"}


EVERY_PAIR = """(() => {
  const history = JSON.parse(document.querySelector("[data-history]").textContent);
  const found = [];
  for (let newer = 1; newer < history.orders.length; newer += 1)
    for (let older = 0; older < newer; older += 1)
      found.push(compare(history, older, newer).map(({path, key, words}) => [path, key || (words.startsWith("field") ? words : "type")]));
  return found;
})()"""


def _element(change: Change) -> tuple[str, str]:
    """What a change is about."""
    words = str(change.fact).replace("-", " ")
    return (change.path, change.key or (words if words.startswith("field") else "type"))


def _compared(locked: LockedDataset) -> list[set[tuple[str, str]]]:
    """What the compiler says of every pair of versions, in the order of `EVERY_PAIR`."""
    versions = [locked_schema_version(locked, one.number) for one in locked.versions]
    pairs = ((versions[old], versions[new]) for new in range(len(versions)) for old in range(new))
    return [{_element(change) for change in diff(*pair)} for pair in pairs]


def test_compare_any_two_versions_as_the_compiler_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("jinja2", reason="jinja2, which the extra `docs` brings, is not installed")
    monkeypatch.chdir(tmp_path)
    with browser(tmp_path / "browser") as page:
        for seed in range(2):
            locked = lock_versions(tmp_path / "drawn.yaml", drawn_versions(seed, 34))
            assert len(locked.versions) > 25
            assert main(["docs", "-q"]) == 0
            page.open((tmp_path / "site/datasets/drawn.html").as_uri())
            found = [{(path, about) for path, about in pair} for pair in page.ask(EVERY_PAIR)]
            assert found == _compared(locked)
        assert page.errors == []


def test_tell_each_version_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page grows with what changed, not with the number of pairs."""
    pytest.importorskip("jinja2", reason="jinja2, which the extra `docs` brings, is not installed")
    monkeypatch.chdir(tmp_path)
    sizes = []
    versions = list(drawn_versions(1, 48))
    for count in (24, 48):
        lock_versions(tmp_path / "drawn.yaml", versions[:count])
        assert main(["docs", "-q"]) == 0
        sizes.append((tmp_path / "site/datasets/drawn.html").stat().st_size)
    assert sizes[1] < 2.2 * sizes[0]
