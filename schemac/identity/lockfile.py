"""The lock file's text.

Layer: identity.
Shape: a line for each version and one for each state of a field, sorted by id, so that two branches which add fields
touch only the ends of a dataset. Each line closes with a check of itself, each version has a digest of all its lines:
what was changed by hand, or lost in a merge, is found and refused with its line. A version that was locked in an earlier
form keeps the digest that it had as its name, next to the one of its present lines.
Errors: SC402 damaged-lock, SC403 unmerged-lock.
"""

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import blake2b

from schemac.identity.lock import Lock, LockedDataset, State, Version
from schemac.identity.lock_lines import (
    FORMS,
    HEADER,
    DamageError,
    dataset_line,
    field_core,
    form_of,
    parse_dataset,
    parse_field,
    parse_version,
    version_core,
)
from schemac.source.catalogue import DAMAGED_LOCK, UNMERGED_LOCK
from schemac.source.report import Report
from schemac.source.span import Region
from schemac.source.text import reason_of

_END = "end"
"""The last line, without which a file was cut off between two datasets."""
_CONFLICT = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")
_CHECK = re.compile(r" ~([0-9a-f]{6})")
_DATASET = re.compile(r"dataset (.+)")


def write_lock(lock: Lock) -> str:
    """Return the whole file."""
    lines = [line for dataset in lock.datasets for line in _lines(dataset)]
    return HEADER + "".join(f"{line}\n" for line in (*lines, _with_check(_END)))


def digest_of(version: Version, states: Iterable[State]) -> str:
    """Return the digest of a version with these states."""
    ordered = sorted(states, key=lambda state: state.id)
    return _digest(version_core(version), ((state.id, field_core(state)) for state in ordered))


def _digest(version: str, fields: Iterable[tuple[int, str]]) -> str:
    """Return the digest of a version's line and those of its fields, by id."""
    hash = blake2b(version.encode(), digest_size=8)
    for id, field in fields:
        hash.update(f"\n{id} {field}".encode())
    return hash.hexdigest()


def read_lock(text: str, file: str, report: Report) -> Lock | None:
    """Return the lock in a file's text; None after saying what is wrong with it."""
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
    form = form_of(lines[0])
    if form is None:
        _refuse(1, "this is not a lock file of schemac: its first line is not the expected one", file, report)
        return None
    if form not in FORMS:
        report.add(
            DAMAGED_LOCK,
            f"{file}: this lock has format {form}, but this version of schemac reads only formats up to {FORMS[-1]}",
            file=file,
            at=Region.point(1, 1),
            help="install the newer version of schemac that wrote it",
        )
        return None
    reader = _Reader(file, form, report)
    for number, line in enumerate(lines, 1):
        if line and not line.startswith("#"):
            try:
                reader.take(number, line)
            except DamageError as error:
                _refuse(number, str(error), file, report)
                return None
    if not reader.is_ended:
        _refuse(len(lines), "the file is truncated: its last line is missing", file, report)
    return reader.lock()


class _Reader:
    """Gathers the lines of datasets, and holds each version against its digest."""

    def __init__(self, file: str, form: int, report: Report) -> None:
        self._file = file
        self._form = form
        self._report = report
        self._datasets: list[LockedDataset] = []
        self._name: str | None = None
        self._at: dict[int, int] = {}
        self.is_ended = False
        self._versions: list[Version] = []
        self._states: list[State] = []
        self._texts: dict[int, tuple[str, str]] = {}
        """Of each version its line without the digest, and the digest."""
        self._cores: list[str] = []
        """Of each state what counts for a digest."""

    def take(self, number: int, line: str) -> None:
        line = _checked(line)
        if self.is_ended:
            raise DamageError("there is something after the last line")
        if line == _END:
            self._close()
            self.is_ended = True
        elif match := _DATASET.fullmatch(line):
            self._close()
            name = parse_dataset(match[1])
            if self._datasets and name <= self._datasets[-1].name:
                raise DamageError(f"dataset {name} comes after dataset {self._datasets[-1].name}")
            self._name, self._at = name, {}
            self._versions, self._states, self._cores = [], [], []
        elif self._name is None:
            raise DamageError("there is no dataset line before this line")
        elif line.startswith("version "):
            version, digest = parse_version(line, self._form)
            if self._states:
                raise DamageError(f"version {version.number} comes after a field")
            if version.number != len(self._versions) + 1:
                raise DamageError(
                    f"version {version.number} follows {len(self._versions) or 'nothing'}; a line is missing"
                )
            self._versions.append(version)
            self._texts[version.number] = line.removesuffix(f" {digest}"), digest
            self._at[version.number] = number
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

    def lock(self) -> Lock | None:
        return None if self._report.has_errors else Lock(tuple(self._datasets))

    def _close(self) -> None:
        if self._name is None:
            return
        if not self._versions:
            raise DamageError(f"dataset {self._name} has no version before this line")
        members: list[list[int]] = [[] for _ in self._versions]
        for place, state in enumerate(self._states):
            for index in range(state.first - 1, state.last or len(members)):
                members[index].append(place)
        for version, places in zip(self._versions, members, strict=True):
            text, digest = self._texts[version.number]
            if _digest(text, ((self._states[i].id, self._cores[i]) for i in places)) != digest:
                message = f"version {version.number} was changed after it was locked: a line of one of its fields is missing or was edited"
                _refuse(self._at[version.number], message, self._file, self._report)
                break
        versions = [
            version
            if version.seal
            else replace(version, seal=digest_of(version, [self._states[i] for i in places]))
            for version, places in zip(self._versions, members, strict=True)
        ]
        self._datasets.append(LockedDataset(self._name, tuple(versions), tuple(self._states)))


def _lines(dataset: LockedDataset) -> Iterator[str]:
    yield _with_check(dataset_line(dataset.name))
    for version in dataset.versions:
        yield _with_check(f"{version_core(version)} {version.seal}")
    for state in dataset.states:
        last = "" if state.last is None else state.last
        yield _with_check(f"field {state.id} v{state.first}-{last} {field_core(state)}")


def _with_check(line: str) -> str:
    return f"{line} ~{_check(line)}"


def _check(line: str) -> str:
    return blake2b(line.encode(), digest_size=3).hexdigest()


def _checked(line: str) -> str:
    core, check = line[:-8], line[-8:]
    match = _CHECK.fullmatch(check)
    if match is None or match[1] != _check(core):
        raise DamageError("this line was edited by hand or damaged")
    return core


def report_unreadable(error: OSError | UnicodeDecodeError, file: str, report: Report) -> None:
    """Report that the text of a lock cannot be read, at its line where it has one."""
    if isinstance(error, UnicodeDecodeError):
        line = error.object.count(b"\n", 0, error.start) + 1
        _refuse(line, f"byte 0x{error.object[error.start]:02x} in this line is not UTF-8", file, report)
        return
    report.add(DAMAGED_LOCK, f"{file} cannot be read: {reason_of(error)}", file=file)


def _refuse(line: int, message: str, file: str, report: Report) -> None:
    report.add(
        DAMAGED_LOCK,
        f"{file}: {message}",
        file=file,
        at=Region.point(line, 1),
        help=f"restore the file from the repository: git checkout -- {shlex.quote(file)}",
    )
