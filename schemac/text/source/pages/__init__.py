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

FOLDER = os.path.dirname(__file__)


def read_page(name: str) -> str:
    """Return the Markdown text of a page, such as that of `SC201` or of `rules/range`. Raises OSError if there is none."""
    with open(f"{FOLDER}/{name}.md", encoding="utf-8") as stream:
        return stream.read()


def rule_pages() -> dict[str, str]:
    """Return the page of each rule that the quarantine of a pipeline names, by the rule."""
    files = (name.partition(".md") for name in sorted(os.listdir(f"{FOLDER}/rules")))
    return {rule: read_page(f"rules/{rule}") for rule, ending, _ in files if ending}
