"""What each target has in the place of every type: the pages of `schemac explain losses`, which people review.

Shape: a table a place, in it one row a type: the target's own words, and what is lost on the way or why it is refused.
`pytest tests/losses --refresh 'losses/*'` writes the pages anew. A target that joins needs an entry in `WORDS`.
"""

import ast
import copy
import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import schemac
from schemac import Dataset
from schemac.artifacts.targets import target_names
from schemac.cli.main import main
from schemac.engines.jsonschema.keywords import dump
from schemac.registry.codes import loss_pages
from schemac.registry.engine import engine
from tests.conformance.manifest_types import POSITIONS, TYPES, Manifest

ENGINES = Path(schemac.__file__).parent / "engines"
PLACES = {
    "column": "A column",
    "optional column": "A column that may be null",
    "optional item of an optional vector": "An item that may be null, of a vector that may be null",
}


def _lance_words(dataset: Dataset) -> str:
    return " > ".join(field.logical_type for field in dataset.to_lance().fields)


def _spark_words(dataset: Dataset) -> str:
    (field,) = dataset.to_spark()["fields"]
    type_, metadata = field["type"], field["metadata"]
    words = type_ if isinstance(type_, str) else json.dumps(type_, sort_keys=True, separators=(",", ":"))
    return f"{words} {json.dumps(metadata, sort_keys=True, ensure_ascii=False)}" if metadata else words


def _arrow_words(dataset: Dataset) -> str:
    field = dataset.to_arrow().field(0)
    return f"{field.type}".replace("\n", " ")


def _paimon_words(dataset: Dataset) -> str:
    (field,) = dataset.to_paimon()["fields"]
    type_ = field["type"]
    return type_ if isinstance(type_, str) else json.dumps(type_, separators=(",", ":"))


def _iceberg_words(dataset: Dataset) -> str:
    (field,) = dataset.to_iceberg()["fields"]
    type_ = field["type"]
    words = type_ if isinstance(type_, str) else json.dumps(type_, separators=(",", ":"))
    return f"{'required' if field['required'] else 'optional'} {words}"


def _odf_words(dataset: Dataset) -> str:
    (field,) = YAML(typ="safe", pure=True).load(dataset.to_odf("schema"))["fields"]
    return json.dumps({key: item for key, item in field.items() if key != "name"}, ensure_ascii=False)


def _avro_words(dataset: Dataset) -> str:
    (field,) = json.loads(dataset.artifacts("avro")["avro/schema.avsc"])["fields"]
    return json.dumps({key: item for key, item in field.items() if key != "name"}, ensure_ascii=False)


def _protobuf_words(dataset: Dataset) -> str:
    ((_, content),) = dataset.artifacts("protobuf").items()
    body = content.decode().partition("message ")[2].partition("{")[2].rpartition("}")[0]
    return (
        " ".join(line for line in body.split("\n") if not line.strip().startswith("//"))
        .replace("  ", " ")
        .strip()
    )


def _json_schema_words(dataset: Dataset) -> str:
    document = json.loads(dataset.artifacts("jsonschema")["jsonschema/schema.json"], parse_float=Decimal)
    (found,) = document["properties"].values()
    return " ".join(dump(_without_patterns(found)).split())


def _without_patterns(schema: Any) -> Any:
    """A schema for people: patterns are long."""
    if isinstance(schema, dict):
        return {key: "…" if key == "pattern" else _without_patterns(item) for key, item in schema.items()}
    return schema


def _python_words(dataset: Dataset) -> str:
    arrow = _arrow_words(dataset)
    return f"{_spark_words(dataset)}, {arrow}" if _has_struct_type(dataset) else arrow


def _has_struct_type(dataset: Dataset) -> bool:
    return not any(loss.lost == "spark/schema.json" for loss in dataset.losses("python"))


def _pydantic_words(dataset: Dataset) -> str:
    ((_, content),) = dataset.artifacts("pydantic").items()
    module = ast.parse(content)
    table = next(node for node in reversed(module.body) if isinstance(node, ast.ClassDef))
    aliases = {
        node.targets[0].id: node.value
        for node in module.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    ((found,),) = [[n.annotation for n in table.body if isinstance(n, ast.AnnAssign)]]
    return ast.unparse(_Plain(aliases).visit(found))


class _Plain(ast.NodeTransformer):
    """Annotations without their metadata."""

    def __init__(self, aliases: dict[str, ast.expr]) -> None:
        self.aliases = aliases

    def visit_Name(self, node: ast.Name) -> Any:
        alias = self.aliases.get(node.id)
        return node if alias is None else self.visit(copy.deepcopy(alias))

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        if (
            isinstance(node.value, ast.Name)
            and node.value.id == "Annotated"
            and isinstance(node.slice, ast.Tuple)
        ):
            return self.visit(node.slice.elts[0])
        return self.generic_visit(node)


WORDS: dict[str, Callable[[Dataset], str]] = {
    "arrow": _arrow_words,
    "lance": _lance_words,
    "spark": _spark_words,
    "paimon": _paimon_words,
    "odf": _odf_words,
    "iceberg": _iceberg_words,
    "jsonschema": _json_schema_words,
    "python": _python_words,
    "pydantic": _pydantic_words,
    "avro": _avro_words,
    "protobuf": _protobuf_words,
}


INTRODUCTIONS = {
    "protobuf": (
        "Comments are left out here. A comment `schemac: {…}` above a field holds what Protobuf cannot express about its type, its attributes",
        "and its name; a message with `around` in its comment represents what a label cannot, such as an item that may be null.",
        "",
    ),
    "avro": (
        "Attributes are properties of their field or type, which Avro allows. In a name, every character that Avro does not allow becomes an",
        "underscore.",
        "",
    ),
    "pydantic": (
        "Types are shown without their validators. `model_validate_json` of the models reads numbers with all digits; if they are parts of",
        "models of your own, pydantic reads the JSON, and a decimal gets the digits of a float. `model_dump_json` writes decimals as texts, as",
        "pydantic does; a pipeline does not accept these. A field whose name is reserved in Python or pydantic has a different name, with its",
        "real name as the alias.",
        "",
    ),
    "python": (
        "The module has the StructType of `spark/schema.json` and the schema of `arrow/schema.arrow`, and has the same losses.",
        "",
    ),
    "jsonschema": (
        "Attributes are keywords of their own, and `schemac.dev/type` names the type where the standard's keywords do not determine it, so",
        "that `schemac import` restores the manifest. Patterns are shown as `…`. `format` is only written if every text that matches the",
        "pattern has this format: `date-time` requires seconds and an offset, and a pipeline does not. A validator cannot see duplicate keys,",
        "because the JSON parser has already dropped one of them.",
        "",
        "Constraints are keywords of the standard. Numbers are compared with them before they are rounded to a Float16 or Float32, so the",
        "bound is the largest (or smallest) number that rounds to a value within it: `maximum: 1.5` of a Float32 is",
        "`maximum: 1.500000059604644775390625`. Constraints on instants, on maps whose keys are not texts, and `unique`, `references` and",
        "`check` are kept as annotations only; each is a loss.",
        "",
    ),
    "iceberg": (
        "The table is of format 2. Format 3 (`iceberg.apache.org/formatVersion: 3`) also has types for nanoseconds and for columns that are",
        "always null. Where `create_table.sql` is named, only the table that this statement creates differs: Spark has no syntax for it.",
        "`schema.json` does not contain the description of the schema, which Iceberg stores in the table properties; neither file contains",
        "your own attributes of the schema.",
        "",
    ),
    "spark": (
        "`schema.json` loses what a StructType cannot express; lance-spark reads its metadata. Where `create_table.sql` is",
        "named, the table that the statement creates through lance-spark differs from `lance/schema.binpb`: DDL cannot express",
        "the nullability of items and values, or metadata other than the comment, and its table properties apply only to",
        "top-level columns. Neither file keeps the description of the schema (lance-spark drops the COMMENT of a table) or",
        "attributes of your own on the schema.",
        "",
        "lance-spark 0.4.0 also ignores the table properties of fixed-size binaries, of vectors of Float16 and of encodings,",
        "and does not support `SET UNENFORCED PRIMARY KEY`.",
        "",
    ),
}


def page(target: str) -> str:
    """The whole page of one target."""
    return "\n".join([*_introduction(target), *_tables(target)])


def _introduction(target: str) -> Iterator[str]:
    title = _title(target)
    yield f"# {title} losses"
    yield ""
    yield f"For every type: what it becomes in the schema for {title}, and what is lost. `schemac build --losses` shows the same"
    yield "for your own fields, and so does `losses.json` next to the artifacts."
    yield ""
    yield from INTRODUCTIONS.get(target, ())


def _title(target: str) -> str:
    return engine(target).title


def _tables(target: str) -> Iterator[str]:
    for place, title in PLACES.items():
        yield f"## {title}"
        yield ""
        yield f"| type | in {_title(target)} | what is lost |"
        yield "|---|---|---|"
        for name, type_ in TYPES.items():
            dataset = _compiled(POSITIONS[place](type_))
            if dataset is not None:
                cells = (name, *_outcome(target, dataset))
                yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
        yield ""


def _compiled(field: Manifest) -> Dataset | None:
    try:
        (dataset,) = schemac.compile_text(json.dumps({"fields": [field]}))
    except schemac.SchemaError:
        return None
    return dataset


def _outcome(target: str, dataset: Dataset) -> tuple[str, str]:
    try:
        losses = dataset.losses(target)
        words = WORDS[target](dataset)
    except schemac.SchemaError as error:
        found: Any = error.diagnostics[0]
        return "refused", f"{found.code}: {found.message}"
    return f"`{words}`", "; ".join(
        f"{_place(loss.path)}{loss.lost} becomes {loss.becomes}{_file(loss.artifact)}" for loss in losses
    )


def _file(artifact: str) -> str:
    """The file, where only one loses it."""
    return f" ({artifact.rpartition('/')[2]})" if artifact else ""


def _place(path: str) -> str:
    """Where in the field, if not the field itself."""
    inner = path.removeprefix("field").removeprefix(".")
    return f"{inner}: " if inner else ""


@pytest.mark.parametrize("target", WORDS)
def test_lose_what_was_reviewed(target: str, request: pytest.FixtureRequest) -> None:
    file = ENGINES / target / "pages" / "losses" / f"{target}.md"
    actual = page(target)
    pattern = request.config.getoption("--refresh")
    if pattern is not None and fnmatch(f"losses/{target}", pattern):
        file.write_text(actual, encoding="utf-8")
    assert actual == file.read_text(encoding="utf-8"), (
        "review, then: pytest tests/losses --refresh 'losses/*'"
    )


def test_have_a_page_for_every_target() -> None:
    assert sorted(loss_pages()) == sorted(WORDS) == sorted(target_names())


def test_explain_losses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "losses"]) == 0
    assert "losses/spark" in capsys.readouterr().out
    assert main(["explain", "losses/spark"]) == 0
    shown = capsys.readouterr().out
    assert shown == loss_pages()["spark"]
    assert "| UInt64 | `decimal(20,0)` | uint64 becomes decimal(20,0) |" in shown
    assert main(["explain", "losses/sparc"]) == 2
    assert "did you mean losses/spark?" in capsys.readouterr().err
    assert main(["explain", "losses/mysql"]) == 2
    assert (
        "no page about losses 'losses/mysql'; `schemac explain losses` lists all" in capsys.readouterr().err
    )
