"""The long text of each diagnostic code of the core; those of an engine or of the pipeline are in its own `pages/`.

Layer: text.
Shape: one Markdown file a code: a title with code and slug, what it means and why, then fenced examples. The
fence of an example says what it is: `yaml wrong` and `yaml right` for manifests, `toml`, `pipeline` and `shell`
likewise; `run` is a pipeline that has to run to its end to show the code, `python` a program with a Spark session `spark`, `log` a
text of Spark. A fence such as `csv rides.csv` is a file that the examples read; one of `lance` or `parquet` has rows as JSON
lines. `rules/<rule>.md` has a rule of the quarantine, with a record or a run that breaks it. `losses/<engine>.md` of an
engine is written by `tests/losses`. In an example of bytes that no text has, `\\xNN` stands for a byte (`bytes wrong`).
"""

import os
from typing import NamedTuple

from schemac.text.source.catalogue import Code

FOLDER = os.path.dirname(__file__)


class Page(NamedTuple):
    """The text of a code."""

    text: str


def read_page(code: Code) -> Page:
    """Return the page of a code."""
    return _page(f"{code.id}.md")


def rule_pages() -> dict[str, Page]:
    """Give the page of each rule that the quarantine of a pipeline names."""
    names = sorted(name for name in os.listdir(f"{FOLDER}/rules") if name.endswith(".md"))
    return {name.removesuffix(".md"): _page(f"rules/{name}") for name in names}


def _page(name: str) -> Page:
    """Return a page by the name of its file. Raises OSError if there is none."""
    with open(f"{FOLDER}/{name}", encoding="utf-8") as stream:
        return Page(stream.read())
