"""What a dataset may be called, and what the standard calls documents and events.

Layer: manifest.
Source: a name is a folder of the artifacts; the standard's names may have an account before a slash.
"""

import re
from typing import Literal, get_args

from schemac.source.json_object import Json

OtherEventKind = Literal[
    "AddData",
    "ExecuteTransform",
    "Seed",
    "SetPollingSource",
    "SetTransform",
    "SetVocab",
    "SetAttachments",
    "SetInfo",
    "SetLicense",
    "AddPushSource",
    "DisablePushSource",
    "DisablePollingSource",
]
DatasetKind = Literal["Root", "Derivative"]
EVENTS = ("SetDataSchema", *get_args(OtherEventKind))
SOURCE_EVENTS = ("SetPollingSource", "AddPushSource")
"""Events of what is read; its step `read` may have a schema."""
DOCUMENT_KINDS = ("DatasetSnapshot", "MetadataEvent")

# A name is a folder: Windows takes no blank or dot at the end of one.
_PART = r"\w(?:[\w.\- ]*[\w\-])?"
_NAME = re.compile(rf"(?:{_PART}/)?{_PART}")
_START, _END = r"[^\x00-/:-@\[-^`{-\x7f]", r"[^\x00-,./:-@\[-^`{-\x7f]"
_ASCII_PART = rf"{_START}(?:[^\x00-\x1f!-,/:-@\[-^`{{-\x7f]*{_END})?"
_HINT = {"patternErrorMessage": "use letters, digits, dots, dashes and underscores"}
NAME_RULE: Json = {"pattern": f"^(?:{_ASCII_PART}/)?{_ASCII_PART}$", **_HINT}
"""The name of a dataset in JSON Schema, as far as ASCII goes."""
SOURCE_NAME_RULE: Json = {"pattern": rf"^(?:[^\x00-\x1f!-,/:-@\[-^`{{-\x7f]*{_END})?$", **_HINT}
"""The end of such a name."""
_LONGEST_PART = 240
"""Bytes of a folder's name; file systems take 255, and a lock or a backup adds to it."""


def is_dataset_name(name: str) -> bool:
    """Whether a dataset may be called so."""
    return _NAME.fullmatch(name) is not None and not trouble_with(name)[0]


def trouble_with(name: str) -> tuple[str, str]:
    """Why the folder of a name cannot be made, and the way out; both empty if its characters alone decide."""
    if not _NAME.fullmatch(name):
        return "", ""
    account, _, last = name.casefold().rpartition("/")
    if any(len(part.encode()) > _LONGEST_PART for part in name.split("/")):
        return (
            f"it is {len(name.encode())} bytes long",
            f"use at most {_LONGEST_PART} bytes: the name becomes the name of a folder",
        )
    if (account or last) == "artifacts.json" or (account and last == "losses.json"):
        return (
            "a build writes a file with this name",
            "use another name: the name becomes the name of a folder",
        )
    return "", ""


def fitted_name(name: str) -> str:
    """Return the name that a dataset may have and that is nearest to one of another system."""
    parts = [re.sub(r"^\W+|[ .\W]+$", "", re.sub(r"[^\w.\- ]+", "_", part)) for part in name.split("/")]
    return "/".join([part for part in parts if part][-2:]) or "dataset"
