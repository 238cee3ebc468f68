"""What a dataset may be called.

Floor: 5 (manifest).
Source: a name is a folder of the artifacts; the standard's names may have an account before a slash.
"""

import re

# A name is a folder: Windows takes no blank or dot at the end of one.
_PART = r"\w(?:[\w.\- ]*[\w\-])?"
_NAME = re.compile(rf"(?:{_PART}/)?{_PART}")


def is_dataset_name(name: str) -> bool:
    """Whether a dataset may be called so."""
    return _NAME.fullmatch(name) is not None


def fitted_name(name: str) -> str:
    """The name that a dataset may have and that is nearest to one of another system."""
    parts = [re.sub(r"^\W+|[ .\W]+$", "", re.sub(r"[^\w.\- ]+", "_", part)) for part in name.split("/")]
    return "/".join([part for part in parts if part][-2:]) or "dataset"
