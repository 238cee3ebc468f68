"""The lines of a lock file: their grammar.

Layer: identity.
Shape: form 2 is written. Form 1 is read as well: its fields have the numbers of two engines, `-` for none, and its versions
two numbers of one of them.
"""

import json
import re
from decimal import Decimal
from typing import Any

from schemac.arrow.lower_metadata import compact
from schemac.identity.lock import EngineData, Highest, Numbers, Shape, State, Version
from schemac.identity.numbering import ENGINE_NAME, numberings
from schemac.logical.path import Part, Segment

HEADER = """\
# schemac lock 2: the ids of every field, for life. `schemac lock` writes it; edits by hand are refused.
# version N [highest <engine>=<number>…] [carried <engines>] [id<=<highest>] [was <digest>] [data <engine>=<JSON>…] [attributes] digest
# field ID v<first>-<last> [in <parent>] [at <place>] [ids <engine>=<numbers>…] <name> <type> [attributes]
"""
FORMS = (1, 2)
"""The forms that can be read; the last one is written."""
_HEAD = re.compile(r"# schemac lock (\d+):")
_DIGEST = "[0-9a-f]{16}"
_VERSION_1 = re.compile(
    rf"version (?P<number>\d+) schema-(?P<schema>\d+) (?P<highest>{ENGINE_NAME}<=-?\d+ {ENGINE_NAME}<=-?\d+)"
    rf"(?: id<=(?P<id>\d+))?(?: made (?P<made>\d+))?(?: (?P<extra>\{{.*\}}))? (?P<digest>{_DIGEST})"
)
_VERSION = re.compile(
    rf"version (?P<number>\d+)(?: highest(?P<highest>(?: {ENGINE_NAME}=-?\d+)+))?(?: carried (?P<carried>[^ ]+))?"
    rf"(?: id<=(?P<id>\d+))?(?: was (?P<was>{_DIGEST}))?(?P<rest> .*)"
)
_DATA = re.compile(rf" ({ENGINE_NAME})=")
_IDS = {
    1: rf" (?P<ids>{ENGINE_NAME} (?:-|[0-9,]+) {ENGINE_NAME} (?:-|[0-9,]+))",
    2: rf"(?: ids(?P<ids>(?: {ENGINE_NAME}=[0-9,]+)+))?",
}
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN_TYPE = re.compile(r"([A-Za-z0-9]+)(\??)")
_PARTS = {f"[{part.value}]": part for part in Part}
_decode = json.JSONDecoder().raw_decode


_FIELD = {
    form: re.compile(
        rf"^field (?P<id>\d+) v(?P<first>\d+)-(?P<last>\d*)(?: in (?P<parent>\d+))?(?: at (?P<position>[0-9.]+))?"
        rf'{_IDS[form]} (?P<name>"(?:[^"\\]|\\.)*"|\S+)',
        re.MULTILINE,
    )
    for form in FORMS
}
"""A field's line up to its type."""


class DamageError(Exception):
    """A line that no lock has."""


def form_of(text: str) -> int | None:
    """Return the form that the first line of a lock names; None if it names none."""
    match = _HEAD.match(text)
    return int(match[1]) if match is not None else None


def version_core(version: Version) -> str:
    """Return the line of a version without its digest."""
    words = [f"version {version.number}"]
    if version.highest.entries:
        words += ["highest", *(f"{engine}={number}" for engine, number in version.highest.entries)]
    if version.carried:
        words.append(f"carried {','.join(version.carried)}")
    if version.highest_id:
        words.append(f"id<={version.highest_id}")
    if version.digest and version.digest != version.seal:
        words.append(f"was {version.digest}")
    if version.data.entries:
        words += ["data", *(f"{engine}={text}" for engine, text in version.data.entries)]
    if version.extra:
        words.append(version.extra)
    return " ".join(words)


def field_core(state: State) -> str:
    """Return the line of a field without its id and its versions."""
    shape = state.shape
    parent = f"in {shape.parent} " if shape.parent is not None else ""
    position = f"at {shape.position:f} " if shape.position is not None else ""
    numbers = "".join([f"{engine}={','.join(map(str, ids))} " for engine, ids in state.numbers.entries])
    ids = f"ids {numbers}" if numbers else ""
    extra = f" {shape.extra}" if shape.extra else ""
    return f"{parent}{position}{ids}{_name(shape.segment)} {shape.type}{extra}"


def _name(segment: Segment) -> str:
    if isinstance(segment, Part):
        return f"[{segment.value}]"
    return segment if _PLAIN_NAME.fullmatch(segment) else compact(segment)


def parse_version(line: str, form: int) -> tuple[Version, str]:
    """Return a version with the digest that closes its line. Raises DamageError."""
    if form == 1:
        return _version_of_form_1(line)
    match = _VERSION.fullmatch(line)
    if match is None:
        raise _no_version()
    highest = dict(entry.split("=") for entry in (match["highest"] or "").split())
    data, rest = _data(match["rest"])
    extra, rest = _object(rest[1:]) if rest.startswith(" {") else ("", rest)
    if not re.fullmatch(f" {_DIGEST}", rest):
        raise _no_version()
    seal = rest[1:]
    version = Version(
        int(match["number"]),
        Highest.make({engine: int(number) for engine, number in highest.items()}),
        data,
        extra,
        match["was"] or seal,
        int(match["id"] or 0),
        tuple((match["carried"] or "").split(",")) if match["carried"] else (),
        seal,
    )
    return version, seal


def _version_of_form_1(line: str) -> tuple[Version, str]:
    match = _VERSION_1.fullmatch(line)
    if match is None:
        raise _no_version()
    highest = dict(entry.split("<=") for entry in match["highest"].split())
    remembered = {
        engine: numbering.data_of_form_1(int(match["schema"]), int(match["made"] or 0))
        for engine, numbering in numberings().items()
        if numbering.data_of_form_1 is not None
    }
    version = Version(
        int(match["number"]),
        Highest.make({engine: int(number) for engine, number in highest.items()}),
        EngineData.make({engine: compact(dict(data)) for engine, data in remembered.items()}),
        match["extra"] or "",
        match["digest"],
        int(match["id"] or 0),
    )
    return version, match["digest"]


def _no_version() -> DamageError:
    return DamageError("the line of a version needs its highest ids and its digest")


def _data(rest: str) -> tuple[EngineData, str]:
    """Return what engines remember of a version, and what follows."""
    data_by_engine: dict[str, str] = {}
    if rest.startswith(" data "):
        rest = rest.removeprefix(" data")
        while match := _DATA.match(rest):
            data_by_engine[match[1]], rest = _object(rest[match.end() :])
    return EngineData.make(data_by_engine), rest


def _object(text: str) -> tuple[str, str]:
    """Return the text of a JSON object, and what follows."""
    try:
        end = _decode(text)[1]
    except ValueError as error:
        raise _no_version() from error
    return text[:end], text[end:]


def parse_field(line: str, form: int) -> tuple[State, str]:
    """Return a state of a field with the core of its line. Raises DamageError."""
    match = _FIELD[form].match(line)
    if match is None:
        raise DamageError("this line is neither a dataset, nor a version, nor a field")
    type_, extra = _type(line[match.end() + 1 :])
    state = State(
        int(match["id"]),
        int(match["first"]),
        int(match["last"]) if match["last"] else None,
        Shape(
            int(match["parent"]) if match["parent"] else None,
            _segment(match["name"]),
            Decimal(match["position"]) if match["position"] else None,
            type_,
            extra,
        ),
        _numbers(match["ids"] or "", form),
    )
    return state, line[match.end("last") + 1 :]


def _numbers(text: str, form: int) -> Numbers:
    words = text.replace("=", " ").split() if form > 1 else text.split()
    pairs = zip(words[::2], words[1::2], strict=True)
    return Numbers.make({name: tuple(map(int, ids.split(","))) for name, ids in pairs if ids != "-"})


def _segment(name: str) -> Segment:
    if not name.startswith('"'):
        return _PARTS.get(name, name)
    return str(_json(name, "the field's name is not a text in quotes"))


def _type(rest: str) -> tuple[str, str]:
    """Return the texts of the type and of the attributes."""
    try:
        end = _decode(rest)[1] if rest.startswith("{") else len(rest.partition(" ")[0])
    except ValueError as error:
        raise DamageError("the field's type cannot be read") from error
    if rest[end : end + 1] == "?":
        end += 1
    type_, extra = rest[:end], rest[end + 1 :]
    if not type_.startswith("{") and not _PLAIN_TYPE.fullmatch(type_):
        raise DamageError("the field has no type")
    return type_, extra


def dataset_line(name: str) -> str:
    """Return the line of a dataset."""
    return f"dataset {compact(name)}"


def parse_dataset(text: str) -> str:
    """Return the name of a dataset as its line has it. Raises DamageError."""
    return str(_json(text, "the name of the dataset is not a text in quotes"))


def _json(text: str, message: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise DamageError(message) from error
