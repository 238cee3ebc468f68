"""What an editor shows of the thing under the cursor, and what a field was in the versions of its lock.

Layer: lsp.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from schemac.artifacts.targets import Loss, run_target, types_in_target
from schemac.language.attributes.attribute import Attribute
from schemac.language.attributes.builtin import DESCRIPTION
from schemac.language.attributes.constraints import OF_VALUES
from schemac.language.attributes.registry import known
from schemac.language.kinds.registry import BY_NAME
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import LogicalType
from schemac.language.logical.schema_fields import SchemaField, preorder, type_text_of
from schemac.lsp.grammar import (
    Context,
    Property,
    Shape,
    alternatives,
    chosen,
    description_of,
    kind_of,
    properties_of,
)
from schemac.lsp.locations import DatasetField
from schemac.lsp.outline import Role
from schemac.lsp.pipelines import is_like_pipeline, pipeline_text
from schemac.lsp.projects import Checked
from schemac.project.locking import locked_datasets
from schemac.project.options import CompileOptions
from schemac.project.targets import engines_of
from schemac.registry.installed import engine
from schemac.text.source.report import Report
from schemac.text.syntax.model import AuthoredModel, class_text
from schemac.versions.identity.compilation import Compilation, Locked
from schemac.versions.identity.opening import open_version

_MOST_COLUMNS = 300
"""Columns of a dataset from which on a column is compiled alone, without what its engines say of the whole schema."""


def word_text(context: Context) -> str:
    """Return the description of a key, attribute or kind at the cursor; empty if there is none."""
    cursor = context.cursor
    if cursor.role is Role.TEXT or context.is_in_comment:
        return ""
    if is_like_pipeline(context.written.root):
        return pipeline_text(context)
    if cursor.role is Role.KEY and cursor.key:
        if context.shape.extra is not None:
            attribute = known(cursor.key)
            return attribute_text(attribute) if attribute is not None else ""
        models = chosen(context.shape, lambda: context.written.value(len(cursor.path)))
        for model, one in ((of, one) for of in models for one in properties_of(of)):
            if one.alias == cursor.key:
                text, words = description_of(model, one), Shape(one.annotation).words
                lines = [f"**{one.alias}**" + (f": {text}" if text else "")]
                if words and (one.name != "kind" or words[0] not in BY_NAME):
                    lines.append(f"Values: {', '.join(f'`{word}`' for word in words)}")
                default = one.field.get_default()
                if one.field.is_required():
                    lines.append("Required.")
                elif isinstance(default, str | int) and not isinstance(default, bool) and default != "":
                    lines.append(f"Default: `{default}`")
                return "\n\n".join(lines)
        return ""
    shape = context.shape
    written = context.written.value(len(cursor.path))
    kind = kind_of(written) if shape.is_type or shape.is_kind else None
    if kind is not None:
        example = f"\n\n```yaml\ntype: {kind.example}\n```" if not kind.has_short_form else ""
        return f"**{kind.__name__}**: {class_text(kind)}{example}"
    return ""


def attribute_text(attribute: Attribute[Any]) -> str:
    """Return what an attribute is, which values it takes, and where it fits."""
    fits = "every kind" if attribute.fits is None else ", ".join(sorted(attribute.fits))
    where = [f"fields ({fits})"] if attribute.on_field else []
    where += ["the schema"] if attribute.on_schema else []
    lines = [f"**{attribute.key}**: {attribute.summary}", f"On {' and '.join(where)}."]
    words = Shape(attribute.value_type).words
    if words:
        lines.append(f"Values: {', '.join(f'`{word}`' for word in words)}")
    for model in alternatives(attribute.value_type):
        if isinstance(model, type) and issubclass(model, AuthoredModel) and model is not LogicalType:
            rows: list[str] = []
            for name, field in model.model_fields.items():
                one = Property(name, field)
                texts = [
                    description_of(model, one),
                    ", ".join(f"`{word}`" for word in Shape(one.annotation).words),
                ]
                text = " ".join(filter(None, texts))
                rows.append(f"- `{one.alias}`{': ' if text else ''}{text}")
            lines.append("\n".join(rows))
    return "\n\n".join(lines)


def field_text(dataset_field: DatasetField, checked: Checked, others: int = 0) -> str:
    """Return all that is known of a field: its type in each engine, its ids and history, constraints and losses."""
    field, dataset = dataset_field.field, dataset_field.dataset
    is_read = dataset.is_read(field)
    about = f"`{type_text_of(field)}`" if is_read else "has a mistake in its type"
    lines = [f"**{field.path_text}**  {about}"]
    description = field.extra.get(DESCRIPTION.key)
    if isinstance(description, str):
        lines.append(description)
    if others:
        lines.append(f"In {dataset.name} and {others} more {'place' if others == 1 else 'places'}.")
    report = Report()
    path, name = dataset_field.file.file.path, dataset_field.file.file.name
    locked = locked_datasets(path, name, [dataset_field.dataset], report, is_error=False).get(
        dataset_field.dataset.name
    )
    locked = locked if locked is not None and locked.dataset.newest is not None else None
    id_ = locked.identities.ids.get(field) if locked is not None else None
    if locked is not None and id_ is not None:
        numbers = locked.identities.numbers.get(field)
        entries = numbers.entries if numbers is not None else ()
        words = [f"{_title(name)} {', '.join(map(str, ids))}" for name, ids in entries]
        firsts = [state.first for state in locked.dataset.states if state.id == id_]
        since = f", since version {min(firsts)}" if firsts else ", not locked yet"
        lines.append(f"Field id {id_}{since}" + (f" ({'; '.join(words)})" if words else ""))
    types, losses = compiled(dataset, field, checked, locked) if is_read else ({}, [])
    if types:
        rows = [f"| {engine(name).title} | `{_cell(text)}` |" for name, text in types.items()]
        lines.append("\n".join(["| engine | type |", "|---|---|", *rows]))
    constraints = [
        f"`{_CONSTRAINTS[key].name}: {value}`" for key, value in field.extra.items() if key in _CONSTRAINTS
    ]
    if constraints:
        lines.append(f"Constraints: {', '.join(constraints)}")
    if losses:
        rows = [f"- {engine(loss.target).title}: {_of_loss(loss)}" for loss in losses]
        lines.append("\n".join(["Losses:", "", *dict.fromkeys(rows)]))
    if locked is not None:
        lines += history(locked, field)
    return "\n\n".join(lines)


def _of_loss(loss: Loss) -> str:
    return f"{loss.lost} is left out" if loss.becomes == "nothing" else f"{loss.lost} becomes {loss.becomes}"


def _cell(text: str) -> str:
    """Return a text with its bars escaped, for a cell of a Markdown table."""
    return text.replace("|", "\\|")


def _title(name: str) -> str:
    """Return the title of an engine for people; its name if it is not installed."""
    try:
        return engine(name).title
    except KeyError:
        return name


def compiled(
    dataset: LogicalDataset, field: SchemaField, checked: Checked, locked: Locked | None
) -> tuple[dict[str, str], list[Loss]]:
    """Return the type of a field in each engine that the dataset is built for, by the engine's name, and what is lost of it."""
    options = CompileOptions.of(checked.project)
    is_alone = len(dataset.columns) > _MOST_COLUMNS
    if is_alone:
        dataset, locked = replace(dataset, columns=(field.column,)), None
    if not dataset.is_whole:
        return {}, []
    compilation = Compilation.of(dataset, options.arrow_options, options.versions, locked)
    types: dict[str, str] = {}
    losses: list[Loss] = []
    below = {one.path_text for one in preorder([field])}
    for name in engines_of(dataset, options.targets, is_named=options.are_targets_named):
        engine_types = types_in_target(name, compilation)
        if engine_types is not None:
            by_field, report = engine_types
            refused = [d for d in report.diagnostics if d.path == field.path_text and d.severity == "error"]
            text = f"none: {refused[0].message}" if refused else by_field.get(field, "")
            types |= {name: text} if text else {}
        if engine_types is not None or not is_alone:
            emission = run_target(name, compilation).emission
            losses += [loss for loss in emission.losses if loss.path in below]
    return types, losses


_CONSTRAINTS: Mapping[str, Attribute[Any]] = {attribute.key: attribute for attribute in OF_VALUES}


_MOST_VERSIONS = 20
"""Versions that are opened for the history of one field, newest first."""


def history(locked: Locked, field: SchemaField) -> Iterator[str]:
    """Yield a table of the versions in which a field was another one than in the version before; nothing where it never changed."""
    id_ = locked.identities.ids.get(field)
    former: list[tuple[int, str, str]] = []
    for version in locked.dataset.versions[-_MOST_VERSIONS:]:
        opened = open_version(locked.dataset, version)
        then = next((one for one, state in opened.states.items() if state.id == id_), None)
        row = (then.path_text, type_text_of(then)) if then is not None else ("", "")
        if (former[-1][1:] if former else ("", "")) != row:
            former.append((version.number, *row))
    now = (field.path_text, type_text_of(field))
    rows = [
        f"| {number} | {f'`{path}` `{text}`' if path else 'not there'} |" for number, path, text in former
    ]
    if former and former[-1][1:] != now:
        rows.append(f"| not locked | `{now[0]}` `{now[1]}` |")
    if len(rows) > 1:
        yield "\n".join(["| version | field |", "|---|---|", *rows])
