"""The compiler beside buf: `python -m tests.bench.compiler`.

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
    """A build into an empty folder."""

    def case() -> Run:
        out = manifests.parent / "out"
        shutil.rmtree(out, ignore_errors=True)
        return run([SCHEMAC, "build", str(manifests), "--out", str(out), "--format", "json"], manifests)

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


def scaling(scratch: Path, rounds: int) -> dict[int, Run]:
    """One file of growing size; the first, of one field, shows what a build costs before it does anything."""
    found: dict[int, Run] = {}
    for fields in (1, 1_000, 10_000, 100_000):
        root = Path(tempfile.mkdtemp(dir=scratch))
        case = schemac_build(write_manifests(root / "manifests", 1, fields))
        found[fields] = interleave({"build": case}, rounds)["build"]
        shutil.rmtree(root)
    return found


def main() -> None:
    """Measure, and print a table with ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()) / "schemac-bench")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    buf = install_buf(options.scratch)
    print(
        f"{platform.python_implementation()} {platform.python_version()}, buf {BUF_VERSION}, median of {options.rounds}"
    )
    print(
        f"{'workload':<16}{'schemac build':>15}{'buf build':>12}{'buf lint':>12}{'÷ build':>9}{'÷ both':>9}{'peak MB':>9}"
    )
    figures: dict[str, float] = {}
    for files, fields in ((10, 50), (100, 50), (1_000, 50), (1, 10_000)):
        found = compare(buf, options.scratch, files, fields, options.rounds)
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
    start = interleave({"version": lambda: run([SCHEMAC, "--version"], options.scratch)}, options.rounds)[
        "version"
    ]
    root = Path(tempfile.mkdtemp(dir=options.scratch))
    manifest = write_manifests(root / "manifests", 1, 50)
    check = interleave({"check": lambda: run([SCHEMAC, "check", "."], manifest)}, options.rounds)["check"]
    shutil.rmtree(root)
    print(
        f"--version {start.wall * 1000:.0f} ms, check of 50 fields {check.cpu * 1000:.0f} ms of processor time"
    )
    grown = scaling(options.scratch, max(1, options.rounds // 2))
    base = grown.pop(1).cpu
    for fields, r in grown.items():
        print(
            f"{fields:>7} fields in one file: {r.wall:.2f} s, {(r.cpu - base) / fields * 1e6:.1f} µs of processor a field, {r.peak:.0f} MB"
        )
    print(json.dumps({name: round(value, 2) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
