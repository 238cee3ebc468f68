"""Which small mistakes the tests of a room let pass: `python -m tests.mutation.lot [NUMBER] [SEED]`, or `make mutants`.

Shape: mutants are drawn by lot over all modules; each is written into a copy of the compiler, and the tests of its room run there until one
fails; those with Spark only for `pipeline`. What is printed at the end has survived, and is read one by one: a test is missing, or the
mutant means the same.
"""

import ast
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutation.mutants import Mutant, count_of, mutant_of

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "schemac"
BESIDE = ("tests", "docs", "examples", "schemas", "protos")
FILES = (
    "pyproject.toml",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "Makefile",
    "action.yml",
)
COMPILING = ("unit", "test_corpus.py", "lint", "importers", "constraints")
TESTS = {
    "arrow": (*COMPILING, "conformance/test_map_keys.py"),
    "artifacts": ("project", "cache", "test_corpus.py"),
    "cli": ("cli", "test_walkthrough.py"),
    "documentation": ("documentation",),
    "engines": ("engines/{part}", "importers", "losses", "tables", "evolution"),
    "importers": ("importers", "engines"),
    "language": COMPILING,
    "lsp": ("lsp",),
    "pipeline": ("pipeline",),
    "project": ("project", "cache"),
    "registry": ("registry", "kinds"),
    "rows": ("judging", "validation", "constraints", "samples"),
    "text": (*COMPILING, "project", "laws/test_places.py"),
    "versions": ("evolution", "identity", "tables", "laws/test_evolution.py"),
}
"""The tests of a room, below `tests/`; modules outside of the rooms have those of `COMPILING`."""
SECONDS = 1800
"""After so long nobody waits any more: the mutant does not end."""


def drawn(number: int, seed: int) -> Iterator[tuple[Path, int]]:
    """Yield modules with the number of a mutant in each; a module is as likely as it has places."""
    places = [
        (file, place)
        for file in sorted(PACKAGE.rglob("*.py"))
        if "_generated" not in file.parts
        for place in range(count_of(file.read_text(encoding="utf-8")))
    ]
    yield from random.Random(seed).sample(places, number)


def tests_of(module: Path) -> list[str]:
    """Return the tests of a module's room that are there."""
    room, *rest = module.relative_to(PACKAGE).parts
    tests = TESTS[room] if rest else COMPILING
    named = (f"tests/{name.format(part=rest[0] if rest else '')}" for name in tests)
    return [name for name in named if (ROOT / name).exists()]


def is_red(copy: Path, tests: Sequence[str]) -> bool | None:
    """Whether one of these tests fails in a copy; None if they take too long."""
    is_with_spark = "tests/pipeline" in tests
    options = (
        "-m",
        "not long" if is_with_spark else "not long and not spark",
        "-q",
        "-x",
        "-n",
        "2",
        "--dist",
        "loadgroup",
        "--no-header",
        "--tb=no",
        "-p",
        "no:cacheprovider",
    )
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=copy, env=environment, capture_output=True, timeout=SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None
    return done.returncode != 0


def is_noticed(copy: Path, module: Path, mutant: Mutant) -> bool | None:
    """Whether a test fails with the mutant in the place of a module of the copy; None if the tests take too long."""
    file = copy / module.relative_to(ROOT)
    original = file.read_text(encoding="utf-8")
    file.write_text(ast.unparse(mutant.tree), encoding="utf-8")
    try:
        return is_red(copy, tests_of(module))
    finally:
        file.write_text(original, encoding="utf-8")


def main(number: int = 20, seed: int = 1) -> None:
    """Print each mutant with what became of it, and how many have survived.

    Tests that fail without a mutant would notice every mutant: they end the run before the first.
    """
    survivors = 0
    with TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("schemac", *BESIDE):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in FILES:
            shutil.copy(ROOT / name, copy / name)
        drawn_places = list(drawn(number, seed))
        for tests in dict.fromkeys(tuple(tests_of(module)) for module, _ in drawn_places):
            print(f"without a mutant: {' '.join(tests)}", flush=True)
            if is_red(copy, tests) is not False:
                sys.exit(f"these tests fail, or take more than {SECONDS} s, without a mutant")
        for module, place in drawn_places:
            mutant = mutant_of(module.read_text(encoding="utf-8"), place)
            is_killed = is_noticed(copy, module, mutant)
            survivors += is_killed is False
            word = {True: "noticed", False: "SURVIVED", None: "too long"}[is_killed]
            print(f"{word} {module.relative_to(ROOT)}:{mutant.line}: {mutant.what}", flush=True)
    print(f"{survivors} of {number} survived; read each one: a test is missing, or it means the same")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
