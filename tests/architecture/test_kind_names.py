"""A kind answers for itself; the rest of the compiler goes by its family, or asks it.

Each list names the modules that hold names of kinds as texts all the same, and why. Nothing joins a list without a reason, and
a name that is not needed any more has to go. A kind's class is not a text: the type checker knows when it is gone.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import schemac
from schemac.language.kinds.registry import BY_NAME
from tests.architecture.trees import nodes_of, tree_of

PACKAGE = Path(schemac.__file__).parent
ROOMS = {"kinds", "_generated"}
NUMBERS = "Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64"
Listed = dict[str, dict[str, str]]
"""A reason, and the modules that it holds for with the kinds that they may name."""

NAMING: Listed = {
    "Arrow's own rules: which integers index a dictionary, and what its extension types are stored as": {
        "language/attributes/arrow.py": f"{NUMBERS} Binary List String",
    },
    "what a help writes into a manifest": {
        "language/checks/run.py": "String Timestamp",
        "engines/iceberg/artifact.py": "Binary Int64",
        "engines/paimon/artifact.py": "Binary Int32 Int64 String Time Timestamp",
    },
    "the standard says of which kinds its system columns are": {
        "language/logical/names.py": "Int32 Int64 UInt8 UInt64",
    },
    "type tables of engines, the way back: their types into those of a manifest": {
        "engines/avro/reader.py": "Binary Date Decimal List Map Option String Struct Time Timestamp",
        "engines/iceberg/reader.py": "Binary Decimal Null Time Timestamp",
        "engines/jsonschema/reader.py": "List Map Null String Struct",
        "engines/jsonschema/keywords.py": "Binary Bool Date Decimal Float16 Float32 Float64 Int64 Null String Timestamp",
        "engines/lance/arrow_form.py": "Binary Float32 List Option",
        "engines/lance/tables/fields.py": "List Map Struct",
        "engines/odf/binary.py": "Option",
        "engines/odf/reader.py": "Option Timestamp",
        "engines/paimon/reader.py": "Binary Decimal Int32 String Time Timestamp",
        "engines/pydantic/reader.py": "Bool Decimal Float32 Int64 List Map Null Option String",
        "engines/pydantic/modules.py": "Binary Bool Date Decimal Duration Float64 Int64 List Null String Time Timestamp",
        "engines/protobuf/reader.py": "Duration List String Struct Timestamp",
        "importers/data_files.py": "Decimal String",
    },
    "Python has a type of the same name": {
        "engines/pydantic/artifact.py": "Decimal",
        "engines/pydantic/annotations.py": "Decimal",
    },
    "DataFusion has the same words for its types": {
        "engines/lance/tables/steps.py": "Decimal Float16 Float32 Float64"
    },
    "texts of types in locks, which are read without their kinds": {
        "engines/lance/tables/checks.py": "Timestamp",
        "versions/identity/merge.py": "List Map Struct",
        "versions/identity/opening.py": "Option Struct",
    },
    "the friendly and the strict forms of types, as manifests write them": {
        "versions/evolution/version_pair.py": "Option",
        "importers/sources.py": "Timestamp",
        "language/manifest/bind.py": "List String",
        "language/manifest/standard.py": "Null Option Struct Timestamp",
        "text/syntax/type_text.py": "List",
    },
    "annotations of Python": {"engines/pydantic/lance_models.py": "List"},
    "a word of YAML": {"text/syntax/events.py": "Null"},
}


def of(listed: Listed) -> dict[str, set[str]]:
    """The kinds of each module; no module stands under two reasons."""
    pairs = [(module, set(names.split())) for modules in listed.values() for module, names in modules.items()]
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def named(tree: ast.Module) -> Iterator[str]:
    """Every string that is the name of a kind, but for names of classes in annotations."""
    annotations = {
        node.returns if isinstance(node, ast.FunctionDef) else node.annotation
        for node in nodes_of(tree)
        if isinstance(node, ast.FunctionDef | ast.arg | ast.AnnAssign)
    }
    for node in nodes_of(tree):
        if isinstance(node, ast.Constant) and node.value in BY_NAME and node not in annotations:
            yield str(node.value)


def test_name_no_kind_where_it_can_be_asked() -> None:
    found: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE)
        if ROOMS.isdisjoint(place.parts):
            kinds = set(named(tree_of(path)))
            if kinds:
                found[place.as_posix()] = kinds
    assert found == of(NAMING)


def test_find_a_name_in_every_form() -> None:
    source = (
        'def f(a: "Map") -> "List": return a.kind == "Struct" or a in ("Date", f"{a}x") or {"kind": "Time"}'
    )
    assert set(named(ast.parse(source))) == {"Struct", "Date", "Time"}
