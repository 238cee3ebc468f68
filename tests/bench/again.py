"""The work of a day beside buf's: builds again, with nothing changed and with one file edited, and judges a change of ten files.

Shape: 1,000 manifests of 50 fields in a project, in turn with buf on the same fields; medians. buf has no cache and does all of
it each time, schemac has what the runs before have kept. Edits are new ones in every round, so that none was seen before,
and both print what they find; where it says "again", the same edits are judged a second time.
"""

import itertools
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.bench.measure import SCHEMAC, Run, interleave, run
from tests.bench.workload import write_manifests, write_protos

FILES, FIELDS, EDITED = 1_000, 50, 10
ENGINES = ("arrow", "lance", "spark")
_TYPES = (("Int64", "int64"), ("Int16", "sint32"), ("Int8", "sint64"), ("UInt32", "uint32"))
Cases = dict[str, Callable[[], Run]]


class Workload:
    """The same fields twice: as manifests with locks in a repository, and as .proto files."""

    def __init__(self, root: Path) -> None:
        self.repository = root / "repository"
        self.manifests = write_manifests(self.repository / "tables", FILES, FIELDS)
        self.protos = write_protos(root / "protos", FILES, FIELDS)
        targets = ", ".join(f'"{name}"' for name in ENGINES)
        (self.repository / "schemac.toml").write_text(f'manifests = ["tables"]\ntargets = [{targets}]\n')
        self._do(SCHEMAC, "lock", "--format", "json")
        self.before = shutil.copytree(self.manifests, root / "tables-before")
        self.protos_before = shutil.copytree(self.protos, root / "protos-before")
        for words in (["init"], ["add", "."], ["commit", "-m", "before"]):
            self._do("git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", *words)
        self._edits = itertools.count()

    def _do(self, *words: str) -> None:
        subprocess.run(words, cwd=self.repository, check=True, stdout=subprocess.DEVNULL)

    def edit(self, files: int) -> None:
        """Give a field of some files another type and another description than ever before, in both forms."""
        number = next(self._edits)
        kind, type_ = _TYPES[number % len(_TYPES)]
        for n in range(files):
            _replace(
                self.manifests / f"table_{n}.yaml",
                "  - name: field_8\n",
                "    extra:\n",
                f"    type: {kind}\n    description: The value of edit {number}\n",
            )
            proto = self.protos / "acme/v1" / f"table_{n}.proto"
            _replace(proto, "  // The value number 8 of this record\n", " field_8 =", f"  {type_}")


def _replace(file: Path, start: str, end: str, text: str) -> None:
    """Replace what stands between two texts of a file."""
    content = file.read_text(encoding="utf-8")
    first = content.index(start) + len(start)
    file.write_text(content[:first] + text + content[content.index(end, first) :], encoding="utf-8")


def _build_cases(buf: str, work: Workload) -> Cases:
    """Builds; artifacts are on disk on both sides, and everything that is found is printed."""

    def ours(edited: int) -> Callable[[], Run]:
        def case() -> Run:
            if edited:
                work.edit(edited)
            return run([SCHEMAC, "build", "--format", "json"], work.repository)

        return case

    return {
        "one edited": ours(1),
        "unchanged": ours(0),
        "buf build": lambda: run([buf, "build", "-o", "image.binpb"], work.protos),
    }


def _breaking_cases(buf: str, work: Workload, image: Path) -> Cases:
    """Ten of the files edited, each time otherwise than before; findings are the expected end, for the type of some edits an error."""

    def judge(against: str, *, is_edited: bool) -> Callable[[], Run]:
        words = [SCHEMAC, "breaking", "--against", against, "tables", "--format", "json"]

        def case() -> Run:
            if is_edited:
                work.edit(EDITED)
            return run(words, work.repository, expected=(0, 1))

        return case

    cases: Cases = {}
    for name, against in (("git", "git:HEAD"), ("folder", str(work.before)), ("lock:1", "lock:1")):
        cases[name] = judge(against, is_edited=True)
        cases[f"{name} again"] = judge(against, is_edited=False)
    for name, path in (("buf image", image), ("buf folder", work.protos_before)):
        words = [buf, "breaking", "--against", str(path)]
        cases[name] = lambda words=words: run(words, work.protos, expected=(100,))  # type: ignore[misc]
    return cases


def report_again(buf: str, scratch: Path, rounds: int) -> dict[str, float]:
    """Print a row for each sort of work, and return the ratios."""
    root = Path(tempfile.mkdtemp(dir=scratch))
    work, image = Workload(root), root / "before.binpb"
    subprocess.run([buf, "build", "-o", str(image)], cwd=work.protos, check=True)
    # What was built and judged before somebody edits something.
    run([SCHEMAC, "build", "--format", "json"], work.repository)
    run([SCHEMAC, "breaking", "--against", "lock:1", "tables", "--format", "json"], work.repository)
    found = interleave(_build_cases(buf, work), rounds)
    found |= {
        (name if name.startswith("buf") else f"breaking {name}"): one
        for name, one in interleave(_breaking_cases(buf, work, image), rounds).items()
    }
    print(f"{'1,000 × 50':<24}{'schemac':>10}{'buf':>22}{'÷':>8}{'÷ of processor':>16}")
    figures: dict[str, float] = {}
    for name, ours in found.items():
        if name.startswith("buf"):
            continue
        is_build, is_folder = not name.startswith("breaking"), name.startswith("breaking folder")
        peer = "buf build" if is_build else "buf folder" if is_folder else "buf image"
        theirs = found[peer]
        wall, cpu = ours.wall / theirs.wall, ours.cpu / theirs.cpu
        print(f"{name:<24}{ours.wall:>9.2f}s{peer:>14}{theirs.wall:>7.2f}s{wall:>8.2f}{cpu:>16.2f}")
        figures |= {f"{name} / {peer}": wall, f"{name} / {peer} of processor": cpu}
    return figures
