"""A public class has a name of its own, so that a name that is met anywhere says which one is meant."""

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "schemac"


def test_public_classes_have_names_of_their_own() -> None:
    modules: dict[str, set[str]] = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        if "_generated" in path.parts:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].add(path.relative_to(PACKAGE).as_posix())
    assert not {name: homes for name, homes in modules.items() if len(homes) > 1}
