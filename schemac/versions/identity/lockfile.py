"""The text of a lock file, and the grammar of its lines.

Layer: versions.
Shape: one line for each version and for each state of a field, sorted by id, so that two branches that add fields touch
only the ends of a dataset. Each line ends with a checksum, and each version has a digest of all its lines: an edit by
hand or a loss in a merge is refused with its line. A version that was locked in an earlier form keeps its old digest as
its name, beside the digest of its present lines. Form 2 is written. Form 1 is also read: its fields have the numbers of
two engines, `-` for none, and its versions two numbers of one of them.
Errors: SC402 damaged-lock, SC403 unmerged-lock.
"""

import json
import re
import shlex
from collections.abc import Iterable
from decimal import Decimal
from hashlib import blake2b
from typing import Any

from schemac.arrow.metadata import compact
from schemac.language.logical.model import Part, Segment
from schemac.text.source.catalogue import DAMAGED_LOCK, UNMERGED_LOCK
from schemac.text.source.diagnostics import Region, Report
from schemac.text.source.text import reason_of
from schemac.versions.identity import lock as locks

HEADER = """\
# schemac lock 2: the ids of every field, for life. `schemac lock` writes it; edits by hand are refused.
# version N [highest <engine>=<number>…] [carried <engines>] [id<=<highest>] [was <digest>] [data <engine>=<JSON>…] [attributes] digest
# field ID v<first>-<last> [in <parent>] [at <place>] [ids <engine>=<numbers>…] <name> <type> [attributes]
"""
FORMS = (1, 2)
"""The forms that can be read; the last one is written."""
_HEAD = re.compile(r"# schemac lock (\d+):")
_DIGEST = "[0-9a-f]{16}"
_VERSION = {
    1: re.compile(
        rf"version (?P<number>\d+) schema-(?P<schema>\d+) (?P<highest>{locks.ENGINE_NAME}<=-?\d+ {locks.ENGINE_NAME}<=-?\d+)"
        rf"(?P<carried>)(?: id<=(?P<id>\d+))?(?: made (?P<made>\d+))?(?: (?P<extra>\{{.*\}}))? (?P<was>{_DIGEST})"
    ),
    2: re.compile(
        rf"version (?P<number>\d+)(?: highest(?P<highest>(?: {locks.ENGINE_NAME}=-?\d+)+))?(?: carried (?P<carried>[^ ]+))?"
        rf"(?: id<=(?P<id>\d+))?(?: was (?P<was>{_DIGEST}))?(?P<rest> .*)"
    ),
}
_DATA = re.compile(rf" ({locks.ENGINE_NAME})=")
_IDS = {
    1: rf" (?P<ids>{locks.ENGINE_NAME} (?:-|[0-9,]+) {locks.ENGINE_NAME} (?:-|[0-9,]+))",
    2: rf"(?: ids(?P<ids>(?: {locks.ENGINE_NAME}=[0-9,]+)+))?",
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


def version_core(version: locks.Version) -> str:
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


def field_core(state: locks.FieldState) -> str:
    """Return the line of a field without its id and its versions."""
    shape = state.shape
    parent = f"in {shape.parent} " if shape.parent is not None else ""
    position = f"at {shape.position:f} " if shape.position is not None else ""
    numbers = "".join([f"{engine}={','.join(map(str, ids))} " for engine, ids in state.numbers.entries])
    ids = f"ids {numbers}" if numbers else ""
    extra = f" {shape.extra}" if shape.extra else ""
    return f"{parent}{position}{ids}{_name(shape.segment)} {shape.type}{extra}"


def _name(segment: Segment) -> str:
    """Return a name as a line of a lock has it: a part in brackets, and a name that is not plain as JSON."""
    if isinstance(segment, Part):
        return f"[{segment.value}]"
    return segment if _PLAIN_NAME.fullmatch(segment) else compact(segment)


def parse_version(line: str, form: int) -> locks.Version:
    """Return a version, whose line ends with its seal, in form 1 with its digest. Raises DamageError."""
    match = _VERSION[form].fullmatch(line)
    if match is None:
        raise _no_version()
    highest = [re.split("<?=", entry) for entry in (match["highest"] or "").split()]
    data, extra, seal = _rest_of_form_1(match) if form == 1 else _rest(match["rest"])
    return locks.Version(
        int(match["number"]),
        locks.Highest.make({engine: int(number) for engine, number in highest}),
        data,
        extra,
        match["was"] or seal,
        int(match["id"] or 0),
        tuple(match["carried"].split(",")) if match["carried"] else (),
        seal,
    )


def _rest_of_form_1(match: re.Match[str]) -> tuple[locks.EngineData, str, str]:
    """Return the data, the attributes and the seal of a version of a lock of form 1, which has no seal."""
    remembered = {
        engine: compact(dict(numbering.data_of_form_1(int(match["schema"]), int(match["made"] or 0))))
        for engine, numbering in locks.numberings().items()
        if numbering.data_of_form_1 is not None
    }
    return locks.EngineData.make(remembered), match["extra"] or "", ""


def _no_version() -> DamageError:
    """Return the error for a line that should be a version."""
    return DamageError("the line of a version needs its highest ids and its digest")


def _rest(rest: str) -> tuple[locks.EngineData, str, str]:
    """Return the data of engines about a version, its attributes and its seal. Raises DamageError."""
    data_by_engine: dict[str, str] = {}
    if rest.startswith(" data "):
        rest = rest.removeprefix(" data")
        while match := _DATA.match(rest):
            data_by_engine[match[1]], rest = _object(rest[match.end() :])
    extra, rest = _object(rest[1:]) if rest.startswith(" {") else ("", rest)
    if not re.fullmatch(f" {_DIGEST}", rest):
        raise _no_version()
    return locks.EngineData.make(data_by_engine), extra, rest[1:]


def _object(text: str) -> tuple[str, str]:
    """Return the text of a JSON object, and the rest of the line."""
    try:
        end = _decode(text)[1]
    except ValueError as error:
        raise _no_version() from error
    return text[:end], text[end:]


def parse_field(line: str, form: int) -> tuple[locks.FieldState, str]:
    """Return a state of a field with the core of its line. Raises DamageError."""
    match = _FIELD[form].match(line)
    if match is None:
        raise DamageError("this line is neither a dataset, nor a version, nor a field")
    type_, extra = _type(line[match.end() + 1 :])
    name, words = match["name"], (match["ids"] or "").replace("=", " ").split()
    pairs = zip(words[::2], words[1::2], strict=True)
    state = locks.FieldState(
        int(match["id"]),
        int(match["first"]),
        int(match["last"]) if match["last"] else None,
        locks.FieldShape(
            int(match["parent"]) if match["parent"] else None,
            str(_json(name, "the field's name is not a text in quotes"))
            if name.startswith('"')
            else _PARTS.get(name, name),
            Decimal(match["position"]) if match["position"] else None,
            type_,
            extra,
        ),
        locks.Numbers.make({name: tuple(map(int, ids.split(","))) for name, ids in pairs if ids != "-"}),
    )
    return state, line[match.end("last") + 1 :]


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


def _json(text: str, message: str) -> Any:
    """Return the value of a JSON text. Raises DamageError with the message."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise DamageError(message) from error


_END = "end"
"""The last line, without which a file was cut off between two datasets."""
_CONFLICT = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")
_DATASET = re.compile(r"dataset (.+)")


def write_lock(lock: locks.Lock) -> str:
    """Return the whole file."""
    lines: list[str] = []
    for dataset in lock.datasets:
        lines.append(dataset_line(dataset.name))
        lines += [f"{version_core(version)} {version.seal}" for version in dataset.versions]
        for state in dataset.states:
            last = "" if state.last is None else state.last
            lines.append(f"field {state.id} v{state.first}-{last} {field_core(state)}")
    return HEADER + "".join(f"{line}{_checksum(line)}\n" for line in (*lines, _END))


def digest_of(version: locks.Version, states: Iterable[locks.FieldState]) -> str:
    """Return the digest of a version with these states."""
    ordered = sorted(states, key=lambda state: state.id)
    return _digest(version_core(version), ((state.id, field_core(state)) for state in ordered))


def _digest(version: str, fields: Iterable[tuple[int, str]]) -> str:
    """Return the digest of a version's line and those of its fields, by id."""
    hash = blake2b(version.encode(), digest_size=8)
    for id, field in fields:
        hash.update(f"\n{id} {field}".encode())
    return hash.hexdigest()


def read_lock(text: str, file: str, report: Report) -> locks.Lock | None:
    """Return the lock in a file's text; None after reporting what is wrong with it."""
    # A mark of the encoding, as some editors put it before a text, changes nothing.
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        if line.startswith(_CONFLICT):
            report.add(
                UNMERGED_LOCK,
                f"{file} has changes of two branches that git could not merge",
                file=file,
                at=Region.within(number, 1, len(line) + 1),
                help="run `schemac lock --resolve`",
            )
            return None
    head = _HEAD.match(lines[0])
    if head is None:
        _report_damage(
            1, "this is not a lock file of schemac: its first line is not the expected one", file, report
        )
        return None
    form = int(head[1])
    if form not in FORMS:
        message = f"{file}: this lock has format {form}, but this version of schemac reads only formats up to {FORMS[-1]}"
        help = "install the newer version of schemac that wrote it"
        report.add(DAMAGED_LOCK, message, file=file, at=Region.within(1, 1, 1), help=help)
        return None
    reader = _Reader(file, form, report)
    for number, line in enumerate(lines, 1):
        if line and not line.startswith("#"):
            try:
                reader.add_line(number, line)
            except DamageError as error:
                _report_damage(number, str(error), file, report)
                return None
    if not reader.is_ended:
        _report_damage(len(lines), "the file is truncated: its last line is missing", file, report)
    return reader.lock()


class _Reader:
    """Gathers the lines of datasets, and holds each version against its digest."""

    def __init__(self, file: str, form: int, report: Report) -> None:
        self._file = file
        self._form = form
        self._report = report
        self._datasets: list[locks.LockedDataset] = []
        self._name: str | None = None
        self.is_ended = False
        self._versions: list[locks.Version] = []
        self._lines: list[tuple[int, str]] = []
        """Of each version the number of its line, and the line without the digest."""
        self._states: list[locks.FieldState] = []
        self._cores: list[str] = []
        """Of each state what counts for a digest."""

    def add_line(self, number: int, line: str) -> None:
        """Enter one line without its line break. Raises DamageError."""
        line, check = line[:-8], line[-8:]
        if check != _checksum(line):
            raise DamageError("this line was edited by hand or damaged")
        if self.is_ended:
            raise DamageError("there is something after the last line")
        if line == _END:
            self._finish_dataset()
            self.is_ended = True
        elif match := _DATASET.fullmatch(line):
            self._finish_dataset()
            name = str(_json(match[1], "the name of the dataset is not a text in quotes"))
            if self._datasets and name <= self._datasets[-1].name:
                raise DamageError(f"dataset {name} comes after dataset {self._datasets[-1].name}")
            self._name = name
            self._versions, self._lines, self._states, self._cores = [], [], [], []
        elif self._name is None:
            raise DamageError("there is no dataset line before this line")
        elif line.startswith("version "):
            version = parse_version(line, self._form)
            if self._states:
                raise DamageError(f"version {version.number} comes after a field")
            if version.number != len(self._versions) + 1:
                message = (
                    f"version {version.number} follows {len(self._versions) or 'nothing'}; a line is missing"
                )
                raise DamageError(message)
            self._versions.append(version)
            self._lines.append((number, line.rpartition(" ")[0]))
        else:
            state, core = parse_field(line, self._form)
            if self._states and (state.id, state.first) <= (self._states[-1].id, self._states[-1].first):
                raise DamageError(f"field {state.id} comes after field {self._states[-1].id}")
            newest = len(self._versions)
            if max(state.first, state.last or 0) > newest:
                raise DamageError(
                    f"field {state.id} belongs to a version after {newest or 'none'}; the line of that"
                    " version is missing"
                )
            self._states.append(state)
            self._cores.append(core)

    def lock(self) -> locks.Lock | None:
        """Return the lock; None if something was reported."""
        return None if self._report.has_errors else locks.Lock(tuple(self._datasets))

    def _finish_dataset(self) -> None:
        """Finish the dataset that is being read: report a version that its digest does not fit, and seal those without a seal."""
        if self._name is None:
            return
        if not self._versions:
            raise DamageError(f"dataset {self._name} has no version before this line")
        members: list[list[int]] = [[] for _ in self._versions]
        for place, state in enumerate(self._states):
            for index in range(state.first - 1, state.last or len(members)):
                members[index].append(place)
        versions: list[locks.Version] = []
        for version, (number, text), places in zip(self._versions, self._lines, members, strict=True):
            digest = _digest(text, ((self._states[i].id, self._cores[i]) for i in places))
            if digest != (version.seal or version.digest):
                message = f"version {version.number} was changed after it was locked: a line of one of its fields is missing or was edited"
                _report_damage(number, message, self._file, self._report)
                break
            seal = version.seal or digest_of(version, [self._states[i] for i in places])
            versions.append(version._replace(seal=seal))
        self._datasets.append(locks.LockedDataset(self._name, tuple(versions), tuple(self._states)))


def _checksum(line: str) -> str:
    """Return the end of a line with its checksum."""
    return f" ~{blake2b(line.encode(), digest_size=3).hexdigest()}"


def report_unreadable(error: OSError | UnicodeDecodeError, file: str, report: Report) -> None:
    """Report that the text of a lock cannot be read, at its line where it has one."""
    if isinstance(error, UnicodeDecodeError):
        line = error.object.count(b"\n", 0, error.start) + 1
        _report_damage(
            line, f"byte 0x{error.object[error.start]:02x} in this line is not UTF-8", file, report
        )
        return
    report.add(DAMAGED_LOCK, f"{file} cannot be read: {reason_of(error)}", file=file)


def _report_damage(line: int, message: str, file: str, report: Report) -> None:
    """Report damage at a line, with the command that restores the file."""
    report.add(
        DAMAGED_LOCK,
        f"{file}: {message}",
        file=file,
        at=Region.within(line, 1, 1),
        help=f"restore the file from the repository: git checkout -- {shlex.quote(file)}",
    )
