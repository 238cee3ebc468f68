"""What is known of one engine lies in its folder; the rest of the compiler finds it through the registry.

Each list names what is left and why. Nothing joins a list without a reason, and a line that is not needed any more has to go.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import schemac
from schemac.language.attributes.registry import ATTRIBUTES, DOMAINS, domain_of
from schemac.registry.engine import engines, load
from schemac.versions.evolution.changes import facts
from tests.architecture.trees import nodes_of, tree_of

PACKAGE = Path(schemac.__file__).parent
ENGINES = {path.parent.name for path in (PACKAGE / "engines").glob("*/__init__.py")}
"""Modules beside the folders are not of one engine: `api`, the typed methods of all, and dialects that several write."""
OF_THE_CORE = {
    "arrow": "Arrow is the physical form of every schema, whatever engine it is for",
    "odf": "manifests are written in the standard of ODF",
    "python": "the compiler speaks of the language, and of functions in it",
    "pydantic": "the library that reads the settings of projects and pipelines has the same name",
    "jsonschema": "the library that checks values of vocabularies has the same name",
}
ROOMS = {
    "engines": "one folder per engine",
}
OF_THE_ROOM = {"pipeline": "spark"}
"""A room that is one engine's may name it."""
Listed = dict[str, dict[str, str]]
"""A reason, and the modules that it holds for with the engines that they may name."""

IMPORTING: Listed = {}
NAMING: Listed = {
    "Spark's name of a format of files": {"pipeline/declaration/job.py": "avro"},
}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def of(listed: Listed) -> dict[str, set[str]]:
    """The engines of each module; no module stands under two reasons."""
    pairs = [(module, set(names.split())) for modules in listed.values() for module, names in modules.items()]
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def modules(*, but: set[str]) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE)
        if place.parts[0] not in but:
            yield place.as_posix(), tree_of(path)


@cache
def words(text: str) -> frozenset[str]:
    """The words of an identifier or a text in lower case: `LanceSchema`, `to_lance` and `lance.org` have `lance`."""
    return frozenset(word.lower() for word in _WORD.findall(text))


def texts(tree: ast.Module) -> Iterator[str]:
    """Every identifier and every string, but for docstrings."""
    # The tree is shared with other tests, and stays as it is.
    docstrings = {
        id(node.value)
        for node in nodes_of(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in nodes_of(tree):
        if id(node) in docstrings:
            continue
        for _, value in ast.iter_fields(node):
            yield from (
                item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)
            )


def imported(tree: ast.Module) -> Iterator[str]:
    for node in nodes_of(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_import_no_engine_by_its_name() -> None:
    found: dict[str, set[str]] = {}
    for module, tree in modules(but={"engines"}):
        for name in imported(tree):
            if name.startswith("schemac.engines.") and name.split(".")[2] in ENGINES:
                found.setdefault(module, set()).add(name.split(".")[2])
    assert found == of(IMPORTING)


def test_name_no_engine_outside_its_folder() -> None:
    named = ENGINES - set(OF_THE_CORE)
    found = {
        module: engines
        for module, tree in modules(but=set(ROOMS))
        if (
            engines := (named - {OF_THE_ROOM.get(module.split("/")[0])})
            & {word for text in texts(tree) for word in words(text)}
        )
    }
    assert found == of(NAMING)


def test_find_a_name_in_every_form() -> None:
    source = '"""Lance."""\nfrom schemac.engines.lance import x\ndef to_paimon(a): return f"a {a} of Spark" + pylance'
    found = {word for text in texts(ast.parse(source)) for word in words(text)}
    assert {"lance", "paimon", "spark"} <= found
    assert "lance" not in {
        word for text in texts(ast.parse('"""Lance."""\nbalance = pylance')) for word in words(text)
    }
    assert list(imported(ast.parse("from schemac.engines import lance"))) == ["schemac.engines.lance"]


def test_find_the_attributes_of_every_engine() -> None:
    """They stand in the engine's own domain, which is closed, and their changes are facts that there are."""
    bringing = [engine for engine in engines() if engine.attributes]
    assert {engine.name for engine in bringing} >= {"lance", "paimon", "spark"}
    for engine in bringing:
        brought: Any = load(engine.attributes)
        assert engine.domain in DOMAINS
        assert {domain_of(attribute.key) for attribute in brought} == {engine.domain}
        assert all(ATTRIBUTES[attribute.key] is attribute for attribute in brought)
    told = {
        fact
        for attribute in ATTRIBUTES.values()
        for fact in (*attribute.facts, *(attribute.property_facts or {}).values())
    }
    assert told <= set(facts())
