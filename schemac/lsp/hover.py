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
from schemac.project.locking import Locked, locked_datasets
from schemac.project.options import CompileOptions
from schemac.project.targets import engines_of
from schemac.registry.installed import engine
from schemac.text.source.report import Report
from schemac.text.syntax.model import AuthoredModel, class_text
from schemac.versions.identity.compilation import Compilation
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
        return _of_key(context, context.shape, cursor.key)
    shape = context.shape
    written = context.written.value(len(cursor.path))
    kind = kind_of(written) if shape.is_type or _is_kind(shape) else None
    if kind is not None:
        example = f"\n\n```yaml\ntype: {kind.example}\n```" if not kind.has_short_form else ""
        return f"**{kind.__name__}**: {class_text(kind)}{example}"
    return ""


def _is_kind(shape: Shape) -> bool:
    is_of_type = shape.holder is not None and issubclass(shape.holder, LogicalType)
    return is_of_type and shape.member is not None and shape.member.name == "kind"


def _of_key(context: Context, shape: Shape, key: str) -> str:
    if shape.extra is not None:
        attribute = known(key)
        return attribute_text(attribute) if attribute is not None else ""
    for model in chosen(shape, lambda: context.written.value(len(context.cursor.path))):
        for record_property in properties_of(model):
            if record_property.alias == key:
                return _property_text(model, record_property)
    return ""


def attribute_text(attribute: Attribute[Any]) -> str:
    """Return what an attribute is, which values it takes, and where it fits."""
    fits = "every kind" if attribute.fits is None else ", ".join(sorted(attribute.fits))
    where = [f"fields ({fits})"] if attribute.on_field else []
    where += ["the schema"] if attribute.on_schema else []
    lines = [f"**{attribute.key}**: {attribute.summary}", f"On {' and '.join(where)}."]
    lines += list(_value_lines(attribute.value_type))
    return "\n\n".join(lines)


def _value_lines(annotation: Any) -> Iterator[str]:
    shape = Shape(annotation)
    if shape.words:
        yield f"Values: {', '.join(f'`{word}`' for word in shape.words)}"
    for one in alternatives(annotation):
        if isinstance(one, type) and issubclass(one, AuthoredModel) and one is not LogicalType:
            rows = [_row(one, Property(name, field)) for name, field in one.model_fields.items()]
            yield "\n".join(rows)


def _row(model: type[AuthoredModel], record_property: Property) -> str:
    words = ", ".join(f"`{word}`" for word in Shape(record_property.annotation).words)
    text = description_of(model, record_property)
    return f"- `{record_property.alias}`{': ' if text or words else ''}{text}{' ' if text and words else ''}{words}"


def _property_text(model: type[AuthoredModel], record_property: Property) -> str:
    text = description_of(model, record_property)
    head = f"**{record_property.alias}**" + (f": {text}" if text else "")
    lines = [head]
    words = Shape(record_property.annotation).words
    if (words and record_property.name != "kind") or (
        record_property.name == "kind" and words and words[0] not in BY_NAME
    ):
        lines.append(f"Values: {', '.join(f'`{word}`' for word in words)}")
    default = record_property.field.get_default()
    if record_property.field.is_required():
        lines.append("Required.")
    elif isinstance(default, str | int) and not isinstance(default, bool) and default != "":
        lines.append(f"Default: `{default}`")
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
    locked = _locked(dataset_field)
    lines += _identity(locked, field)
    types, losses = compiled(dataset, field, checked, locked) if is_read else ({}, [])
    if types:
        rows = [f"| {engine(name).title} | `{_cell(text)}` |" for name, text in types.items()]
        lines.append("\n".join(["| engine | type |", "|---|---|", *rows]))
    lines += _constraints(field)
    if losses:
        rows = [f"- {engine(loss.target).title}: {_of_loss(loss)}" for loss in losses]
        lines.append("\n".join(["Losses:", "", *dict.fromkeys(rows)]))
    if locked is not None:
        lines += history(locked, field)
    return "\n\n".join(lines)


def _of_loss(loss: Loss) -> str:
    return f"{loss.lost} is left out" if loss.becomes == "nothing" else f"{loss.lost} becomes {loss.becomes}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _locked(dataset_field: DatasetField) -> Locked | None:
    report = Report()
    path, name = dataset_field.file.file.path, dataset_field.file.file.name
    locked = locked_datasets(path, name, [dataset_field.dataset], report, is_error=False).get(
        dataset_field.dataset.name
    )
    return locked if locked is not None and locked.dataset.newest is not None else None


def _identity(locked: Locked | None, field: SchemaField) -> Iterator[str]:
    if locked is None:
        return
    id_ = locked.identities.ids.get(field)
    if id_ is None:
        return
    numbers = locked.identities.numbers.get(field)
    entries = numbers.entries if numbers is not None else ()
    words = [f"{_title(name)} {', '.join(map(str, ids))}" for name, ids in entries]
    states = [state for state in locked.dataset.states if state.id == id_]
    since = f", since version {min(state.first for state in states)}" if states else ", not locked yet"
    yield f"Field id {id_}{since}" + (f" ({'; '.join(words)})" if words else "")


def _title(name: str) -> str:
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
    compilation = Compilation.of(dataset, options.lowering, options.versions, locked)
    types: dict[str, str] = {}
    losses: list[Loss] = []
    for name in engines_of(dataset, options.targets, is_named=options.are_targets_named):
        type_text, lost = _of_engine(name, compilation, field, is_alone=is_alone)
        types |= {name: type_text} if type_text else {}
        losses += lost
    return types, losses


def _of_engine(
    name: str, compilation: Compilation, field: SchemaField, *, is_alone: bool
) -> tuple[str, list[Loss]]:
    engine_types, text = types_in_target(name, compilation), ""
    if engine_types is not None:
        types, report = engine_types
        refused = [d for d in report.diagnostics if d.path == field.path_text and d.severity == "error"]
        text = f"none: {refused[0].message}" if refused else types.get(field, "")
    if is_alone and engine_types is None:
        return text, []
    below = {one.path_text for one in preorder([field])}
    losses = run_target(name, compilation).emission.losses
    return text, [loss for loss in losses if loss.path in below]


_CONSTRAINTS: Mapping[str, Attribute[Any]] = {attribute.key: attribute for attribute in OF_VALUES}


def _constraints(field: SchemaField) -> Iterator[str]:
    constraints = [
        f"`{_CONSTRAINTS[key].name}: {value}`" for key, value in field.extra.items() if key in _CONSTRAINTS
    ]
    if constraints:
        yield f"Constraints: {', '.join(constraints)}"


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
