"""What the tree promises about itself."""

import ast
import builtins
import re
import shutil
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from shutil import copy
from typing import Any

import pytest

import schemac
from schemac.artifacts.targets import ARTIFACTS, load_target, target_names
from schemac.cli.project_commands import write_schemas
from schemac.importers.importer import Importer
from schemac.language.attributes.builtin import TargetName
from schemac.language.kinds.registry import KINDS
from schemac.language.logical.model import LogicalType
from schemac.registry.codes import builtin_codes
from schemac.registry.engine import Engine, builtin_engines, engines, load
from schemac.versions.evolution.judge import JUDGE
from schemac.versions.identity.lock import NUMBERING
from tests.architecture.trees import nodes_of, tree_of

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "schemac"
MODULES = [p for p in PACKAGE.rglob("*.py") if "_generated" not in p.parts]
MOST_LINES = 500


def test_generate_the_committed_json_schemas(tmp_path: Path) -> None:
    write_schemas(tmp_path)
    made = {p.name: p.read_text(encoding="utf-8") for p in tmp_path.iterdir()}
    assert made == {
        p.name: p.read_text(encoding="utf-8") for p in (ROOT / "schemas").iterdir() if p.name in made
    }
    assert made


def test_generate_the_committed_message_classes(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "grpc_tools.protoc",
        f"-I{ROOT / 'protos'}",
        f"--python_out={tmp_path}",
        f"--pyi_out={tmp_path}",
    ]
    subprocess.run([*command, str(ROOT / "protos/lance/file.proto")], check=True)
    subprocess.run([sys.executable, ROOT / "protos/own_pool.py", tmp_path / "lance/file_pb2.py"], check=True)
    committed = PACKAGE / "engines/lance/_generated" / "lance"
    for name in ("file_pb2.py", "file_pb2.pyi"):
        assert (tmp_path / "lance" / name).read_text() == (committed / name).read_text()


def test_register_every_kind_that_is_declared() -> None:
    def leaves(kind: Any) -> list[type[LogicalType]]:
        below = kind.__subclasses__()
        return [leaf for sub in below for leaf in leaves(sub)] if below else [kind]

    declared = [kind for kind in leaves(LogicalType) if kind.__module__.startswith("schemac.language.kinds")]
    assert set(declared) == set(KINDS)
    assert len([kind for kind in KINDS if kind.standard_number is not None]) == 24


def test_find_every_engine_that_has_a_folder() -> None:
    folders = {p.parent.name for p in (PACKAGE / "engines").glob("*/__init__.py")}
    own = {engine.name for engine in builtin_engines()}
    assert folders == own
    assert set(target_names()) == set(TargetName.__args__)  # type: ignore[attr-defined]


@pytest.mark.parametrize("engine", engines(), ids=lambda engine: engine.name)
def test_load_what_an_engine_refers_to(engine: Engine) -> None:
    assert ARTIFACTS.is_of(engine) or engine.formats
    assert not ARTIFACTS.is_of(engine) or load_target(engine.name).name == engine.name
    assert not JUDGE.is_of(engine) or JUDGE.of(engine)
    assert not NUMBERING.is_of(engine) or NUMBERING.of(engine)
    for format in engine.formats:
        importer = load(format.importer)
        assert isinstance(importer, Importer)
        assert importer.name == format.name
        assert not format.recognizes or callable(load(format.recognizes))


@pytest.mark.parametrize("path", sorted((PACKAGE / "versions/identity").glob("*.py")), ids=lambda p: p.name)
def test_name_no_engine_where_ids_are_kept(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    names = {word for engine in engines() for word in (engine.name, engine.title)} - {
        "arrow",
        "Arrow",
        "Python",
    }
    assert [name for name in names if re.search(rf"\b{name}\b", text)] == []


def test_use_every_code() -> None:
    catalogues = [
        PACKAGE / "text/source/catalogue.py",
        *PACKAGE.glob("engines/*/__init__.py"),
        PACKAGE / "pipeline/codes.py",
        PACKAGE / "language/lint/codes.py",
    ]
    declared = "".join(path.read_text(encoding="utf-8") for path in catalogues)
    constants = re.findall(r"^([A-Z_]+) = (?:error|warning|note)\(", declared, re.MULTILINE)
    assert len(constants) == len(builtin_codes())
    words = {
        word
        for path in MODULES
        if path not in catalogues
        for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))
    }
    assert [name for name in constants if name not in words] == []


def test_keep_each_module_readable() -> None:
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert [path for path in MODULES if lines[path] > MOST_LINES] == []
    assert [path for path in MODULES if not ast.get_docstring(tree_of(path))] == []


def test_import_in_no_circle() -> None:
    """Imports in functions and for annotations count: they are late for start-up time, never to hide a circle."""
    names = {p.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."): p for p in MODULES}
    names = {name.removesuffix(".__init__"): path for name, path in names.items()}

    def imported(path: Path) -> set[str]:
        nodes = [n for n in nodes_of(tree_of(path)) if isinstance(n, ast.ImportFrom)]
        pairs = [(node.module or "", alias.name) for node in nodes for alias in node.names]
        return {f"{m}.{name}" if f"{m}.{name}" in names else m for m, name in pairs} & names.keys()

    graph = {name: imported(path) for name, path in names.items()}
    assert sum(map(len, graph.values())) > 1000
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


DICTIONARIES = {
    "text/source/json_object.py": "Json, an object of a document",
    "rows/judging/judge.py": "values by the names of fields",
    "rows/judging/tokens.py": "objects of a record, by the keys of its source",
    "language/logical/model.py": "ExtraAttributes, whose keys are the author's",
    "engines/api.py": "documents that Python programs are given or give",
    "engines/lance/tables/steps.py": "IndexParameters, keyword arguments of Lance",
}
"""Modules that may have a `dict[str, Any]`, and what for."""


def test_name_the_dictionaries() -> None:
    """A record with keys of our own is a value class, and what is a document says so with `Json`."""
    found = {
        p.relative_to(PACKAGE).as_posix()
        for p in MODULES
        if "dict[str, Any]" in p.read_text(encoding="utf-8")
    }
    assert {name for name in found if not name.startswith("pipeline/")} == DICTIONARIES.keys()


def test_export_what_is_documented() -> None:
    for name in dir(schemac):
        value = getattr(schemac, name)
        assert name == "__version__" or value.__doc__, name


HEAVY = (
    *(
        "pydantic",
        "pyarrow",
        "google.protobuf",
        "flatbuffers",
        "numpy",
        "jsonschema",
        "rich",
        "pyspark",
        "ruamel.yaml",
    ),
    *("dataclasses", "importlib.metadata", "zoneinfo", "asyncio", "multiprocessing"),
    *("inspect", "pathlib", "pkgutil", "signal", "json", "hashlib", "tempfile"),
)
"""What takes longer to load than a small command takes to run."""
_TO_CHECK = (
    *("pydantic", "importlib.metadata", "tempfile", "zoneinfo"),  # pydantic loads the other three
    "ruamel.yaml",
    "dataclasses",
    "inspect",
    "pathlib",
    "json",
    "hashlib",
    "signal",
    "pyarrow",
    "flatbuffers",
    "google.protobuf",
)
LOADED = {
    "": (),
    "--version": (),
    "--help": (),
    "explain SC201": (),
    "explain SC521": (),
    "explain": (),
    "check MANIFEST": _TO_CHECK,
    "check --format json MANIFEST": _TO_CHECK,
}
"""What of it each command may load."""
MOST_OWN = {"": 12, "--version": 12, "--help": 40, "explain SC201": 30, "explain": 70, "check MANIFEST": 251}
"""So many modules of the compiler it may load at most."""


@pytest.mark.parametrize("command", LOADED)
def test_load_nothing_heavy_before_it_is_needed(command: str) -> None:
    script = (
        "import sys\n"
        "from schemac.cli.main import main\n"
        "try:\n"
        "    code = main(sys.argv[2:]) if len(sys.argv) > 2 else 0\n"
        "except SystemExit as end:\n"
        "    code = end.code\n"
        "own = sum(m.partition('.')[0] == 'schemac' for m in sys.modules)\n"
        "print(code, own, [m for m in sys.argv[1].split() if m in sys.modules])"
    )
    words = [
        str(ROOT / "examples/demo/rides.yaml") if word == "MANIFEST" else word for word in command.split()
    ]
    run = [sys.executable, "-c", script, " ".join(HEAVY), *words]
    # The folder is no project, so that nothing is kept for the next run.
    done = subprocess.run(run, capture_output=True, text=True, check=True, cwd="/")
    code, own, loaded = done.stdout.splitlines()[-1].split(" ", 2)
    assert code == "0"
    assert set(ast.literal_eval(loaded)) <= set(LOADED[command])
    assert int(own) <= MOST_OWN.get(command, len(MODULES))


_LANGUAGE = {"pydantic", "schemac.language.attributes.registry", "schemac.language.logical.model"}


_SHOW_MODULES = """
import sys
from schemac.cli.main import main
code = main(sys.argv[1:])
print("--", code, *sys.modules)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which each of the commands below has run, so that nothing is new to them."""
    folder = tmp_path_factory.mktemp("built")
    copy(ROOT / "examples/demo/rides.yaml", folder)
    (folder / "schemac.toml").touch()
    for command in ("lock", "build", "check", "fmt --check"):
        words = [sys.executable, "-m", "schemac", *command.split()]
        subprocess.run(words, check=True, cwd=folder, capture_output=True)
    return folder


@pytest.mark.parametrize(
    ("command", "loads_language"),
    [("check", False), ("build", False), ("lock --check", True), ("fmt --check", True)],
)
def test_load_little_where_nothing_changed(command: str, loads_language: bool, built: Path) -> None:
    """What joins two modules into one makes fewer modules, and may make a command load more; so those that are loaded are named."""
    run = [sys.executable, "-c", _SHOW_MODULES, *command.split()]
    done = subprocess.run(run, check=True, cwd=built, capture_output=True, text=True)
    _, code, *loaded = done.stdout.splitlines()[-1].split(" ")
    assert code == "0"
    of_engines = {one for one in loaded if one.startswith("schemac.engines.") and one.count(".") > 2}
    assert {one.rpartition(".")[2] for one in of_engines} == ({"attributes"} if loads_language else set())
    assert _LANGUAGE & set(loaded) == (_LANGUAGE if loads_language else set())
    assert not {"xml.etree.ElementTree", "html", "pydantic.type_adapter", "pyarrow"} & set(loaded)


def test_check_an_unchanged_project_without_arrow(tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples/demo/rides.yaml", tmp_path)
    (tmp_path / "schemac.toml").write_text("")
    script = (
        "import sys; from schemac.cli.main import main\n"
        "print(main(['check', '-q']), [m for m in ('pyarrow', 'flatbuffers') if m in sys.modules])"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path
        )
        for _ in range(2)
    ]
    assert [run.stdout.splitlines()[-1] for run in runs] == ["0 ['pyarrow', 'flatbuffers']", "0 []"]


@pytest.mark.parametrize("first", ["", "import numpy; "])
def test_build_without_numpy_unless_it_is_there_already(first: str, tmp_path: Path) -> None:
    script = (
        f"import sys; {first}from schemac.cli.main import main\n"
        "code = main(['build', sys.argv[1]])\n"
        "print([m for m in ('flatbuffers', 'numpy', 'pyarrow') if m in sys.modules])\n"
        "import flatbuffers.builder, numpy\n"
        "print(code, flatbuffers.builder.np is numpy)"
    )
    manifest = ROOT / "examples/demo/rides.yaml"
    run = subprocess.run(
        [sys.executable, "-c", script, str(manifest)],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    loaded, result = run.stdout.splitlines()[-2:]
    assert ("numpy" in loaded) == bool(first)
    assert {"flatbuffers", "pyarrow"} <= set(ast.literal_eval(loaded))
    assert result == f"0 {bool(first)}"


def test_begin_the_changelog_with_this_version() -> None:
    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert first is not None
    assert first[1] == schemac.__version__


def test_speak_of_no_machine() -> None:
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split("\n")
    hosts = re.compile(r"pypi\.org|pythonhosted|/root/|/work/|registry\.npmjs|repo1\.maven")
    own = Path(__file__).relative_to(ROOT).as_posix()
    found = [
        name
        for name in tracked
        if name
        and name != own
        and (ROOT / name).is_file()
        and hosts.search((ROOT / name).read_text(encoding="utf-8", errors="replace"))
    ]
    assert found == []


def test_name_the_layer_that_a_module_stands_in() -> None:
    wrong = []
    for path in MODULES:
        package = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        written = re.search(r"^Layer: (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        if written is not None and written[1] != package:
            wrong.append(path.relative_to(PACKAGE).as_posix())
    assert wrong == []


def test_print_through_the_one_way_out() -> None:
    """Who prints past `cli/terminal.py` prints names and arguments as they are, with what a terminal obeys."""
    found = []
    for path in (p for p in MODULES if p.name != "terminal.py"):
        calls = [node.func for node in nodes_of(tree_of(path)) if isinstance(node, ast.Call)]
        texts = {ast.unparse(call) for call in calls}
        found += [(path, text) for text in ("print", "sys.stdout.write", "sys.stderr.write") if text in texts]
    assert found == []


def test_give_no_variable_of_a_comprehension_the_name_of_a_builtin_in_use() -> None:
    """Python 3.12.0 and 3.12.1 take the two for one, where the builtin is called in another comprehension of the function."""
    found = []
    for path in MODULES:
        for function in nodes_of(tree_of(path)):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            nodes = list(ast.walk(function))
            targets = [node.target for node in nodes if isinstance(node, ast.comprehension)]
            variables = {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
            called = {n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
            found += [(path.name, function.name, name) for name in variables & called & set(dir(builtins))]
    assert found == []
