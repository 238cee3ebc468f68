"""The long description of the wheel: the README without links into the repository, which would lead nowhere from a registry's page.

Hatchling runs this file while schemac is not installed, so it imports nothing of it.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

IMAGE = re.compile(r"!\[[^\]]*\]\((?!https?:)[^)]*\)\n*")
LINK = re.compile(r"\[([^\]]+)\]\((?!https?:|#)([^)#]*)[^)]*\)")
END = "\nPages of the guide are in `docs/` of the source distribution.\n"


class DescriptionHook(MetadataHookInterface):
    """`[tool.hatch.metadata.hooks.custom]`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set `readme`."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": description(text)}


def description(readme: str) -> str:
    """Return a text of Markdown with the names of linked pages in place of relative links, and without relative pictures.

    >>> description("**[One.](docs/a.md)** See [two](docs/b.md#x), [three](https://example.org).").splitlines()[0]
    '**One.** See two (`docs/b.md`), [three](https://example.org).'
    """
    in_bold = re.compile(rf"\*\*{LINK.pattern}\*\*")
    text = in_bold.sub(r"**\1**", IMAGE.sub("", readme))
    return LINK.sub(r"\1 (`\2`)", text) + END
