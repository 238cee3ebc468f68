"""The search of the guide's site finds the page for what readers ask; needs the environment that `make docs` makes."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from docs.guide import guide_pages
from docs.markdown import heading, toctree

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-docs/bin/python"
STEMS = """
import sys
from sphinx.search.en import SearchEnglish

english = SearchEnglish({})
words = [word.lower() for word in sys.argv[1].split()]
print(*(english.stem(word) for word in words if word not in english.stopwords))
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON.exists(), reason="the site generator is not here: `make docs`"),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the search in the browser reads, of a site with the pages of the guide alone."""
    folder = tmp_path_factory.mktemp("site")
    for path, page in guide_pages().items():
        file = folder / "source" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page, encoding="utf-8")
    (folder / "source/index.md").write_text(heading("Guide", toctree(guide_pages())), encoding="utf-8")
    # Without `-W`: links lead to pages of the reference, which is left out.
    words = (
        PYTHON,
        *("-m", "sphinx", "-q", "-b", "html", "-c"),
        ROOT / "docs",
        folder / "source",
        folder / "html",
    )
    subprocess.run([str(word) for word in words], check=True, capture_output=True, cwd=ROOT)
    text = (folder / "html/searchindex.js").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text.strip().removeprefix("Search.setIndex(").removesuffix(")"))
    return loaded


def pages_with(index: dict[str, Any], stem: str) -> set[str]:
    """Return the pages with a word in their text or titles."""
    pages: set[str] = set()
    for words in (index["terms"], index["titleterms"]):
        numbers = words.get(stem, [])
        pages |= {index["docnames"][i] for i in (numbers if isinstance(numbers, list) else [numbers])}
    return pages


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("null", "reference/manifest"),
        ("rename column", "how-to/rename-a-column"),
        ("breaking in CI", "how-to/gate-a-pull-request"),
        ("decimal from bigint", "how-to/change-a-table"),
        ("embedding", "how-to/store-embeddings"),
    ],
)
def test_find_the_page(query: str, page: str, index: dict[str, Any]) -> None:
    stems = subprocess.run([PYTHON, "-c", STEMS, query], check=True, capture_output=True, text=True).stdout
    results = set.intersection(*(pages_with(index, stem) for stem in stems.split()))
    assert page in results
