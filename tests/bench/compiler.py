"""The compiler beside buf: `python -m tests.bench.compiler`, or a part of it with `--only breaking`.

buf comes from the npm package @bufbuild/buf, installed into a scratch folder; its native program is timed, not
the script around it.
"""

import argparse
import json
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.bench.again import report_again
from tests.bench.measure import Run, interleave, run
from tests.bench.workload import write_manifests, write_protos

SCHEMAC = str(Path(sys.executable).with_name("schemac"))
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


def schemac_build(manifests: Path) -> Callable[[], Run]:
    """A build into an empty folder, by nothing that was kept."""

    def case() -> Run:
        out = manifests.parent / "out"
        shutil.rmtree(out, ignore_errors=True)
        targets = [word for name in ("arrow", "lance", "spark") for word in ("--target", name)]
        words = ["build", str(manifests), "--out", str(out), "--format", "json", "--no-cache", *targets]
        return run([SCHEMAC, *words], manifests)

    return case


def peer_cases(buf: str, protos: Path) -> dict[str, Callable[[], Run]]:
    """buf build and buf lint of a workload."""
    return {
        "buf build": lambda: run([buf, "build", "-o", "image.binpb"], protos),
        "buf lint": lambda: run([buf, "lint"], protos),
    }


def compare(buf: str, scratch: Path, files: int, fields: int, rounds: int) -> dict[str, Run]:
    """All cases of one workload."""
    root = Path(tempfile.mkdtemp(dir=scratch))
    cases = {
        "schemac build": schemac_build(write_manifests(root / "manifests", files, fields)),
        **peer_cases(buf, write_protos(root / "protos", files, fields)),
    }
    found = interleave(cases, rounds)
    shutil.rmtree(root)
    return found


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
        return lambda: run(words, repository, expected=1)

    return {
        "git": judge("git:HEAD"),
        "folder": judge(str(root / "tables-before")),
        "buf image": lambda: run(
            [buf, "breaking", "--against", str(root / "before.binpb")], protos, expected=100
        ),
        "buf folder": lambda: run([buf, "breaking", "--against", str(before)], protos, expected=100),
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
        shutil.rmtree(root)
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


def scaling(scratch: Path, rounds: int) -> dict[int, Run]:
    """One file of growing size; the first, of one field, shows what a build costs before it does anything."""
    found: dict[int, Run] = {}
    for fields in (1, 1_000, 10_000, 100_000):
        root = Path(tempfile.mkdtemp(dir=scratch))
        case = schemac_build(write_manifests(root / "manifests", 1, fields))
        found[fields] = interleave({"build": case}, rounds)["build"]
        shutil.rmtree(root)
    return found


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
            f"{name} MB": ours.peak,
        }
        print(
            f"{name:<16}{ours.wall:>14.3f}s{build:>11.3f}s{lint:>11.3f}s{ours.wall / build:>9.2f}"
            f"{ours.wall / (build + lint):>9.2f}{ours.peak:>9.0f}"
        )
    start = interleave({"version": lambda: run([SCHEMAC, "--version"], scratch)}, rounds)["version"]
    root = Path(tempfile.mkdtemp(dir=scratch))
    manifest = write_manifests(root / "manifests", 1, 50)
    check = interleave({"check": lambda: run([SCHEMAC, "check", ".", "--no-cache"], manifest)}, rounds)[
        "check"
    ]
    shutil.rmtree(root)
    print(
        f"--version {start.wall * 1000:.0f} ms, check of 50 fields {check.cpu * 1000:.0f} ms of processor time"
    )
    grown = scaling(scratch, max(1, rounds // 2))
    base = grown.pop(1).cpu
    for fields, r in grown.items():
        print(
            f"{fields:>7} fields in one file: {r.wall:.2f} s, {(r.cpu - base) / fields * 1e6:.1f} µs of processor a field, {r.peak:.0f} MB"
        )
    return figures


def main() -> None:
    """Measure, and print a table with ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()) / "schemac-bench")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=("build", "breaking", "again"), help="measure this part alone")
    options = parser.parse_args()
    buf = install_buf(options.scratch)
    print(
        f"{platform.python_implementation()} {platform.python_version()}, buf {BUF_VERSION}, median of {options.rounds}"
    )
    figures: dict[str, float] = {}
    parts = {"build": report_build, "breaking": report_breaking, "again": report_again}
    for name, report in parts.items():
        if options.only in (None, name):
            figures |= report(buf, options.scratch, options.rounds)
    print(json.dumps({name: round(value, 2) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
