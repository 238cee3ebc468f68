"""The lock file's text.

Layer: identity.
Shape: a line for each version and one for each state of a field, sorted by id, so that two branches which add fields
touch only the ends of a dataset. Each line closes with a check of itself, each version has a digest of all its lines:
what was changed by hand, or lost in a merge, is found and refused with its line.
Errors: SC402 damaged-lock, SC403 unmerged-lock.
"""

import json
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from hashlib import blake2b
from typing import Any

from schemac.arrow.lower_metadata import compact
from schemac.identity.lock import Lock, LockedDataset, Numbers, Shape, State, Version
from schemac.logical.path import Part, Segment
from schemac.source.catalogue import DAMAGED_LOCK, UNMERGED_LOCK
from schemac.source.report import Report

HEADER = """\
# schemac lock 1: the ids of every field, for life. `schemac lock` writes it; edits by hand are refused.
# version N schema-<Paimon's N> lance<=<highest id> paimon<=<highest id> [id<=<highest>] [attributes] digest
# field ID v<first>-<last> [in <parent>] [at <place>] lance <ids> paimon <id> <name> <type> [attributes]
"""
_FORM = re.compile(r"# schemac lock (\d+):")
_OWN_FORM = "1"
_END = "end"
"""The last line, without which a file was cut off between two datasets."""
_CONFLICT = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")
_CHECK = re.compile(r" ~([0-9a-f]{6})")
_DATASET = re.compile(r"dataset (.+)")
_VERSION = re.compile(
    r"version (?P<number>\d+) schema-(?P<schema_id>\d+) lance<=(?P<lance>-?\d+) paimon<=(?P<paimon>-?\d+)"
    r"(?: id<=(?P<id>\d+))?(?: made (?P<made>\d+))?(?: (?P<extra>\{.*\}))? (?P<digest>[0-9a-f]{16})"
)
_FIELD = re.compile(
    r"field (?P<id>\d+) v(?P<first>\d+)-(?P<last>\d*)(?: in (?P<parent>\d+))?(?: at (?P<position>[0-9.]+))?"
    r" lance (?P<lance>-|[0-9,]+) paimon (?P<paimon>-|\d+) (?P<rest>.+)"
)
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN_TYPE = re.compile(r"([A-Za-z0-9]+)(\??)")
_PARTS = {f"[{part.value}]": part for part in Part}
_decode = json.JSONDecoder().raw_decode


class _DamageError(Exception):
    """A line that no lock has."""


def write_lock(lock: Lock) -> str:
    """The whole file."""
    lines = [line for dataset in lock.datasets for line in _lines(dataset)]
    return HEADER + "".join(f"{line}\n" for line in (*lines, _with_check(_END)))


def digest_of(version: Version, states: Iterable[State]) -> str:
    """The digest of a version with these states."""
    hash = blake2b(_version_core(version).encode(), digest_size=8)
    for state in sorted(states, key=lambda s: s.id):
        hash.update(f"\n{state.id} {_field_core(state)}".encode())
    return hash.hexdigest()


def read_lock(text: str, file: str, report: Report) -> Lock | None:
    """The lock in a file's text; None after saying what is wrong with it."""
    # A mark of the encoding, as some editors put it before a text, changes nothing.
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        if line.startswith(_CONFLICT):
            report.add(
                UNMERGED_LOCK,
                f"{file} has changes of two branches that git could not merge",
                file=file,
                at=(number, 1, number, len(line) + 1),
                help="run `schemac lock --resolve`",
            )
            return None
    form = _FORM.match(lines[0])
    if form is None:
        _refuse(1, "this is not a lock file of schemac: its first line is not the expected one", file, report)
        return None
    if form[1] != _OWN_FORM:
        report.add(
            DAMAGED_LOCK,
            f"{file}: this lock has format {form[1]}, but this version of schemac reads only format {_OWN_FORM}",
            file=file,
            at=(1, 1, 1, 1),
            help="install the newer version of schemac that wrote it",
        )
        return None
    reader = _Reader(file, report)
    for number, line in enumerate(lines, 1):
        if line and not line.startswith("#"):
            try:
                reader.take(number, line)
            except _DamageError as error:
                _refuse(number, str(error), file, report)
                return None
    if not reader.is_ended:
        _refuse(len(lines), "the file is truncated: its last line is missing", file, report)
    return reader.lock()


class _Reader:
    """Gathers the lines of datasets, and holds each version against its digest."""

    def __init__(self, file: str, report: Report) -> None:
        self._file = file
        self._report = report
        self._datasets: list[LockedDataset] = []
        self._name: str | None = None
        self._at: dict[int, int] = {}
        self.is_ended = False
        self._versions: list[Version] = []
        self._states: list[State] = []

    def take(self, number: int, line: str) -> None:
        line = _checked(line)
        if self.is_ended:
            raise _DamageError("there is something after the last line")
        if line == _END:
            self._close()
            self.is_ended = True
        elif match := _DATASET.fullmatch(line):
            self._close()
            name = str(_json(match[1]))
            if self._datasets and name <= self._datasets[-1].name:
                raise _DamageError(f"dataset {name} comes after dataset {self._datasets[-1].name}")
            self._name, self._at = name, {}
            self._versions, self._states = [], []
        elif self._name is None:
            raise _DamageError("there is no dataset line before this line")
        elif line.startswith("version "):
            version = _version(line)
            if self._states:
                raise _DamageError(f"version {version.number} comes after a field")
            if version.number != len(self._versions) + 1:
                raise _DamageError(
                    f"version {version.number} follows {len(self._versions) or 'nothing'}; a line is missing"
                )
            self._versions.append(version)
            self._at[version.number] = number
        else:
            state = _field(line)
            if self._states and (state.id, state.first) <= (self._states[-1].id, self._states[-1].first):
                raise _DamageError(f"field {state.id} comes after field {self._states[-1].id}")
            newest = len(self._versions)
            if max(state.first, state.last or 0) > newest:
                raise _DamageError(
                    f"field {state.id} belongs to a version after {newest or 'none'}; the line of that"
                    " version is missing"
                )
            self._states.append(state)

    def lock(self) -> Lock | None:
        return None if self._report.has_errors else Lock(tuple(self._datasets))

    def _close(self) -> None:
        if self._name is None:
            return
        if not self._versions:
            raise _DamageError(f"dataset {self._name} has no version before this line")
        dataset = LockedDataset(self._name, tuple(self._versions), tuple(self._states))
        members: list[list[State]] = [[] for _ in dataset.versions]
        for state in dataset.states:
            for index in range(state.first - 1, state.last or len(members)):
                members[index].append(state)
        for version, states in zip(dataset.versions, members, strict=True):
            if digest_of(version, states) != version.digest:
                message = f"version {version.number} was changed after it was locked: a line of one of its fields is missing or was edited"
                _refuse(self._at[version.number], message, self._file, self._report)
                break
        self._datasets.append(dataset)


def _lines(dataset: LockedDataset) -> Iterator[str]:
    yield _with_check(f"dataset {compact(dataset.name)}")
    for version in dataset.versions:
        yield _with_check(f"{_version_core(version)} {version.digest}")
    for state in dataset.states:
        last = "" if state.last is None else state.last
        yield _with_check(f"field {state.id} v{state.first}-{last} {_field_core(state)}")


def _version_core(version: Version) -> str:
    made = f" made {version.time_millis}" if version.time_millis else ""
    extra = f" {version.extra}" if version.extra else ""
    highest = f"lance<={version.highest_lance} paimon<={version.highest_paimon}"
    if version.highest_id:
        highest += f" id<={version.highest_id}"
    return f"version {version.number} schema-{version.schema_id} {highest}{made}{extra}"


def _field_core(state: State) -> str:
    shape, numbers = state.shape, state.numbers
    parent = f"in {shape.parent} " if shape.parent is not None else ""
    position = f"at {shape.position:f} " if shape.position is not None else ""
    lance = ",".join(map(str, numbers.lance)) or "-"
    paimon = "-" if numbers.paimon is None else numbers.paimon
    extra = f" {shape.extra}" if shape.extra else ""
    return f"{parent}{position}lance {lance} paimon {paimon} {_name(shape.segment)} {shape.type}{extra}"


def _name(segment: Segment) -> str:
    if isinstance(segment, Part):
        return f"[{segment.value}]"
    return segment if _PLAIN_NAME.fullmatch(segment) else compact(segment)


def _version(line: str) -> Version:
    match = _VERSION.fullmatch(line)
    if match is None:
        raise _DamageError("the line of a version needs its schema, its highest ids and its digest")
    return Version(
        int(match["number"]),
        int(match["schema_id"]),
        int(match["lance"]),
        int(match["paimon"]),
        int(match["made"] or 0),
        match["extra"] or "",
        match["digest"],
        int(match["id"] or 0),
    )


def _field(line: str) -> State:
    match = _FIELD.fullmatch(line)
    if match is None:
        raise _DamageError("this line is neither a dataset, nor a version, nor a field")
    segment, rest = _segment(match["rest"])
    type_, extra = _type(rest)
    lance = tuple(int(id) for id in match["lance"].split(",")) if match["lance"] != "-" else ()
    return State(
        int(match["id"]),
        int(match["first"]),
        int(match["last"]) if match["last"] else None,
        Shape(
            int(match["parent"]) if match["parent"] else None,
            segment,
            Decimal(match["position"]) if match["position"] else None,
            type_,
            extra,
        ),
        Numbers(lance, None if match["paimon"] == "-" else int(match["paimon"])),
    )


def _segment(rest: str) -> tuple[Segment, str]:
    if rest.startswith('"'):
        try:
            name, end = _decode(rest)
        except ValueError as error:
            raise _DamageError("the field's name is not a text in quotes") from error
        return name, rest[end + 1 :]
    word, _, rest = rest.partition(" ")
    return _PARTS.get(word, word), rest


def _type(rest: str) -> tuple[str, str]:
    """The texts of the type and of the attributes."""
    try:
        end = _decode(rest)[1] if rest.startswith("{") else len(rest.partition(" ")[0])
    except ValueError as error:
        raise _DamageError("the field's type cannot be read") from error
    if rest[end : end + 1] == "?":
        end += 1
    type_, extra = rest[:end], rest[end + 1 :]
    if not type_.startswith("{") and not _PLAIN_TYPE.fullmatch(type_):
        raise _DamageError("the field has no type")
    return type_, extra


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise _DamageError("the name of the dataset is not a text in quotes") from error


def _with_check(line: str) -> str:
    return f"{line} ~{_check(line)}"


def _check(line: str) -> str:
    return blake2b(line.encode(), digest_size=3).hexdigest()


def _checked(line: str) -> str:
    core, check = line[:-8], line[-8:]
    match = _CHECK.fullmatch(check)
    if match is None or match[1] != _check(core):
        raise _DamageError("this line was edited by hand or damaged")
    return core


def _refuse(line: int, message: str, file: str, report: Report) -> None:
    report.add(
        DAMAGED_LOCK,
        f"{file}: {message}",
        file=file,
        at=(line, 1, line, 1),
        help="restore the file from the repository: git checkout -- " + file,
    )
