"""The compiler beside buf: `python -m tests.bench.compiler`, or a part of it with `--only breaking`.

buf comes from the npm package @bufbuild/buf, installed into a scratch folder; its native program is timed, not
the script around it.
"""

import argparse
import json
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import count
from math import log
from pathlib import Path

from tests.bench.again import report_again
from tests.bench.measure import SCHEMAC, Run, interleave, run
from tests.bench.workload import write_manifests, write_protos

BUF_VERSION = "1.75.0"


def install_buf(scratch: Path) -> str:
    """The path of buf's native program."""
    scratch.mkdir(parents=True, exist_ok=True)
    if not (scratch / "node_modules").is_dir():
        subprocess.run(
            ["npm", "install", "--silent", "--no-audit", "--no-fund", f"@bufbuild/buf@{BUF_VERSION}"],
            cwd=scratch,
            check=True,
        )
    (program,) = scratch.glob("node_modules/@bufbuild/buf-*/bin/buf")
    return str(program)


TARGETS = tuple(word for name in ("arrow", "lance", "spark") for word in ("--target", name))


def schemac_build(manifests: Path) -> Callable[[], Run]:
    """A build into a new folder each time."""
    numbers = count()

    def case() -> Run:
        out = str(manifests.parent / f"out-{next(numbers)}")
        words = [SCHEMAC, "build", str(manifests), "--out", out, "--no-cache", "--format", "json", *TARGETS]
        return run(words, manifests)

    return case


def peer_cases(buf: str, protos: Path) -> dict[str, Callable[[], Run]]:
    """buf build and buf lint of a workload."""
    return {
        "buf build": lambda: run([buf, "build", "-o", "image.binpb"], protos),
        "buf lint": lambda: run([buf, "lint"], protos),
    }


def schemac_check(manifests: Path) -> Callable[[], Run]:
    """A check of everything in a folder."""
    return lambda: run([SCHEMAC, "check", ".", "--no-cache", "--format", "json"], manifests)


def compare(buf: str, scratch: Path, files: int, fields: int, rounds: int) -> dict[str, Run]:
    """All cases of one workload."""
    root = Path(tempfile.mkdtemp(dir=scratch))
    manifests = write_manifests(root / "manifests", files, fields)
    cases = {
        "schemac build": schemac_build(manifests),
        "schemac check": schemac_check(manifests),
        **peer_cases(buf, write_protos(root / "protos", files, fields)),
    }
    return interleave(cases, rounds)


def breaking_cases(buf: str, root: Path, changed: int) -> dict[str, Callable[[], Run]]:
    """The same edit in some of 1,000 files of 50 fields, judged by both; findings are the expected end."""
    repository = root / "repository"
    manifests = write_manifests(repository / "tables", 1_000, 50)
    shutil.copytree(manifests, root / "tables-before")
    git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    for words in (["init"], ["add", "."], ["commit", "-m", "before"]):
        subprocess.run([*git, *words], cwd=repository, check=True, capture_output=True)
    before, protos = write_protos(root / "protos-before", 1_000, 50), write_protos(root / "protos", 1_000, 50)
    subprocess.run([buf, "build", "-o", str(root / "before.binpb")], cwd=before, check=True)
    for number in range(changed):
        edit(
            manifests / f"table_{number}.yaml",
            "name: field_8\n    type: Int32",
            "name: field_8\n    type: Int64",
        )
        edit(protos / "acme/v1" / f"table_{number}.proto", "int32 field_8 =", "int64 field_8 =")

    def judge(against: str) -> Callable[[], Run]:
        engines = [word for name in ("arrow", "lance", "spark") for word in ("--engine", name)]
        words = [
            SCHEMAC,
            "breaking",
            "--against",
            against,
            "tables",
            *engines,
            "--format",
            "json",
            "--no-cache",
        ]
        return lambda: run(words, repository, expected=(1,))

    return {
        "git": judge("git:HEAD"),
        "folder": judge(str(root / "tables-before")),
        "buf image": lambda: run(
            [buf, "breaking", "--against", str(root / "before.binpb")], protos, expected=(100,)
        ),
        "buf folder": lambda: run([buf, "breaking", "--against", str(before)], protos, expected=(100,)),
    }


def edit(file: Path, old: str, new: str) -> None:
    """Replace a text that stands in a file once."""
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, file
    file.write_text(text.replace(old, new), encoding="utf-8")


def report_breaking(buf: str, scratch: Path, rounds: int) -> dict[str, float]:
    """`schemac breaking` beside `buf breaking`."""
    figures: dict[str, float] = {}
    for changed in (1_000, 10):
        root = Path(tempfile.mkdtemp(dir=scratch))
        found = interleave(breaking_cases(buf, root, changed), rounds)
        for name, r in found.items():
            print(
                f"{changed:>5} of 1,000 changed, {name:<11}{r.wall:>7.2f} s{r.cpu:>7.2f} s of processor{r.peak:>7.0f} MB"
            )
        for ours, theirs in (("git", "buf image"), ("folder", "buf folder")):
            figures |= {
                f"breaking {changed} {ours} / {theirs}": found[ours].wall / found[theirs].wall,
                f"breaking {changed} {ours} / {theirs} of processor": found[ours].cpu / found[theirs].cpu,
                f"breaking {changed} {ours} / {theirs} of memory": found[ours].peak / found[theirs].peak,
            }
    return figures


def fields_of_one_file(folder: Path, number: int) -> Path:
    return write_manifests(folder, 1, number)


def manifests_of_ten_fields(folder: Path, number: int) -> Path:
    return write_manifests(folder, number, 10)


def documents_of_one_file(folder: Path, number: int) -> Path:
    return write_text(
        folder, "".join(f"---\nname: a{n}\nfields: [{{name: x, type: Int8}}]\n" for n in range(number))
    )


def attributes_of_one_field(folder: Path, number: int) -> Path:
    keys = "".join(f"      acme.com/key{n}: {n}\n" for n in range(number))
    return write_text(folder, f"fields:\n  - name: a\n    type: Int8\n    extra:\n{keys}")


def parts_of_one_key(folder: Path, number: int) -> Path:
    mark = "lance.org/primaryKey: {position: %d}"
    fields = "".join(f"  - {{name: a{n}, type: Int64, extra: {{{mark % (n + 1)}}}}}\n" for n in range(number))
    return write_text(folder, f"fields:\n{fields}")


def findings_of_one_file(folder: Path, number: int) -> Path:
    fields = "".join(f"  - {{name: a{n}, type: {{kind: Timestamp, unit: seconds}}}}\n" for n in range(number))
    return write_text(folder, f"fields:\n{fields}")


def write_text(folder: Path, text: str) -> Path:
    """One manifest."""
    folder.mkdir(parents=True)
    (folder / "manifest.yaml").write_text(text, encoding="utf-8")
    return folder


GROWTH: dict[str, tuple[Callable[[Path, int], Path], tuple[int, ...]]] = {
    "manifests": (manifests_of_ten_fields, (10, 100, 1_000, 10_000)),
    "fields in one file": (fields_of_one_file, (1_000, 10_000, 100_000)),
    "documents in one file": (documents_of_one_file, (10, 100, 1_000)),
    "attributes of a field": (attributes_of_one_field, (1_000, 10_000, 100_000)),
    "parts of a key": (parts_of_one_key, (1_000, 10_000, 40_000)),
    "warnings": (findings_of_one_file, (100, 1_000, 10_000)),
}
"""What grows, and how far."""


def report_growth(scratch: Path, rounds: int) -> dict[str, float]:
    """Processor time of builds that grow; the exponent is that of what is beyond a build of next to nothing."""
    figures: dict[str, float] = {}
    root = Path(tempfile.mkdtemp(dir=scratch))
    base = interleave({"": schemac_build(write_manifests(root / "base", 1, 1))}, rounds)[""]
    for name, (make, sizes) in GROWTH.items():
        cases = {str(size): schemac_build(make(root / name / str(size) / "m", size)) for size in sizes}
        found = interleave(cases, max(1, rounds // 2))
        for size, r in found.items():
            print(f"{int(size):>8,} {name:<22}{r.wall:>8.2f} s{r.cpu:>8.2f} s of processor{r.peak:>7.0f} MB")
        before, last = (found[str(size)].cpu - base.cpu for size in sizes[-2:])
        figures[f"exponent of {name}"] = log(last / before) / log(sizes[-1] / sizes[-2])
    return figures


def report_build(buf: str, scratch: Path, rounds: int) -> dict[str, float]:
    """`schemac build` beside `buf build` and `buf lint`."""
    print(
        f"{'workload':<16}{'schemac build':>15}{'buf build':>12}{'buf lint':>12}{'÷ build':>9}{'÷ both':>9}{'peak MB':>9}"
    )
    figures: dict[str, float] = {}
    for files, fields in ((10, 50), (100, 50), (1_000, 50), (1, 10_000)):
        found = compare(buf, scratch, files, fields, rounds)
        ours, build, lint = found["schemac build"], found["buf build"].wall, found["buf lint"].wall
        name = f"{files} × {fields}"
        figures |= {
            f"{name} / build": ours.wall / build,
            f"{name} / both": ours.wall / (build + lint),
            f"{name} / build of processor": ours.cpu / found["buf build"].cpu,
            f"{name} / build of memory": ours.peak / found["buf build"].peak,
            f"{name} check / lint": found["schemac check"].wall / lint,
        }
        print(
            f"{name:<16}{ours.wall:>14.3f}s{build:>11.3f}s{lint:>11.3f}s{ours.wall / build:>9.2f}"
            f"{ours.wall / (build + lint):>9.2f}{ours.peak:>9.0f}"
        )
    return figures | report_start(buf, scratch, max(rounds, 20))


def report_start(buf: str, scratch: Path, rounds: int) -> dict[str, float]:
    """Commands that are over at once, and a check of one file of 50 fields beside `buf lint` of one."""
    root = Path(tempfile.mkdtemp(dir=scratch))
    manifests, protos = write_manifests(root / "manifests", 1, 50), write_protos(root / "protos", 1, 50)
    words = {"--version": ["--version"], "--help": ["--help"], "explain": ["explain", "SC201"]}
    found = interleave(
        {
            **{name: partial(run, [SCHEMAC, *given], scratch) for name, given in words.items()},
            "check": schemac_check(manifests),
            "buf lint": peer_cases(buf, protos)["buf lint"],
        },
        rounds,
    )
    print(", ".join(f"{name} {r.cpu * 1000:.0f} ms of processor time" for name, r in found.items()))
    ours, theirs = found["check"], found["buf lint"]
    return {
        "check of one file / lint": ours.wall / theirs.wall,
        "check of one file / lint of processor": ours.cpu / theirs.cpu,
    }


def main() -> None:
    """Measure, and print a table with ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()) / "schemac-bench")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--only", choices=("build", "breaking", "again", "growth"), help="measure this part alone"
    )
    options = parser.parse_args()
    buf = install_buf(options.scratch)
    print(
        f"{platform.python_implementation()} {platform.python_version()}, buf {BUF_VERSION}, median of {options.rounds}"
    )
    figures: dict[str, float] = {}
    # Removed at the end: ext4 makes new files slowly for minutes after thousands were removed.
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        scratch = Path(folder)
        parts: dict[str, Callable[[], dict[str, float]]] = {
            "build": lambda: report_build(buf, scratch, options.rounds),
            "breaking": lambda: report_breaking(buf, scratch, options.rounds),
            "again": lambda: report_again(buf, scratch, options.rounds),
            "growth": lambda: report_growth(scratch, options.rounds),
        }
        for name, report in parts.items():
            if options.only in (None, name):
                figures |= report()
    print(json.dumps({name: round(value, 2) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
