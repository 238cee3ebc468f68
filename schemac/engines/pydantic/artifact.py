"""Pydantic: models that take the records which a pipeline takes, with the same reasons for what they refuse.

Layer: engines.
Shape: `pydantic/<dataset>_models.py`, one file that is alone: the validators that it needs, a name for each type without parts, a class
      for each struct, the table last. The metadata of an annotation has the type of the manifest and its attributes. The validators are
      copied as source text out of `values` and the values of `rows`: a part is a statement at the top of a module, and brings the parts
      whose names it has.
Errors: SC589; losses SC590.
Source: pydantic 2; the values that a pipeline takes.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, groupby
from operator import itemgetter
from pkgutil import get_data
from typing import Any

from schemac.artifacts.targets import Artifact, ArtifactTarget, Emission
from schemac.engines import json_values
from schemac.engines.pydantic import PYDANTIC_LOSS, annotations
from schemac.engines.python_source import NOTICE, docstring, identifier, identifiers, literal, module_name
from schemac.language.attributes import builtin
from schemac.language.attributes.attribute import NESTED, Family, Role
from schemac.language.attributes.constraints import REFERENCES, UNIQUE
from schemac.language.attributes.registry import has_role
from schemac.language.constraints.field_constraints import UniqueItems, constraints_at
from schemac.language.constraints.rows import row_constraints
from schemac.language.logical.model import SchemaField
from schemac.text.source.json_object import Json
from schemac.versions.identity.compilation import Compilation

_FILES = (("schemac.rows.judging", "values.py"), (__package__, "values.py"))


class Parts:
    """The statements of modules by the names that they define."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._by_name: dict[str, int] = {}
        self._texts: list[str] = []
        self._needs: list[set[str]] = []
        self._imports: dict[str, tuple[str, str]] = {}
        """Module and name of what is imported, by that name; of a module as a whole the module is empty."""
        for text in texts:
            _docstring, *statements = ast.parse(text).body
            for statement in statements:
                source = ast.get_source_segment(text, statement) or ""
                if isinstance(statement, ast.Import):
                    self._imports |= {name.name: ("", name.name) for name in statement.names}
                elif isinstance(statement, ast.ImportFrom):
                    module = statement.module or ""
                    names = [name.name for name in statement.names if not module.startswith("schemac.")]
                    self._imports |= {name: (module, name) for name in names}
                elif isinstance(statement, ast.Expr):
                    # The docstring of the statement before.
                    self._texts[-1] += f"\n{source}"
                else:
                    self._by_name |= dict.fromkeys(_defined(statement), len(self._texts))
                    self._texts.append(re.sub(r"  # noqa\b.*", "", source))
                    names_in_it = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
                    self._needs.append({name.id for name in names_in_it})

    def needed(self, names: Iterable[str]) -> tuple[set[tuple[str, str]], list[str]]:
        """Return the imports and the statements that some names need, in the order of the module."""
        indices: set[int] = set()
        imports: set[tuple[str, str]] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name in self._imports:
                imports.add(self._imports[name])
            index = self._by_name.get(name)
            if index is not None and index not in indices:
                indices.add(index)
                waiting += self._needs[index]
        return imports, [self._texts[index] for index in sorted(indices)]


def _defined(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a function, class or assignment binds."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        targets = [node for target in statement.targets for node in ast.walk(target)]
        yield from (node.id for node in targets if isinstance(node, ast.Name))


@cache
def parts() -> Parts:
    """Return the parts of all modules."""
    return Parts((get_data(package, name) or b"").decode() for package, name in _FILES)


RESERVED_NAMES = frozenset((
    "construct", "copy", "dict", "from_orm", "json", "parse_file", "parse_obj", "parse_raw", "schema",
    "schema_json", "update_forward_refs", "validate", "list", "Field", "Annotated", "AfterValidator",
    *annotations.OF_LISTS, "Record", "model_computed_fields", "model_config", "model_construct", "model_copy",
    "model_dump", "model_dump_json", "model_extra", "model_fields", "model_fields_set", "model_json_schema",
    "model_parametrized_name", "model_post_init", "model_rebuild", "model_validate", "model_validate_json",
    "model_validate_strings", "model_validator",
))  # fmt: skip
"""Names that models have, and those that annotations of fields use."""

_OF_MODULE = frozenset((
    "Annotated", "Any", "BaseModel", "BrokenRuleError", "ConfigDict", "Decimal", "Field", "Fraction",
    "InitErrorDetails", "Mapping", "Nanoseconds", "Number", "Record", "Self", "UUID",
))  # fmt: skip
"""Names of classes that no model may have."""
_OF_PYDANTIC = (
    "AfterValidator", "BeforeValidator", "Field", "PlainSerializer", "PlainValidator", "WrapValidator", "model_validator",
)  # fmt: skip


IGNORED = "an annotation that pydantic ignores"


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """Return the module with the models of a dataset."""
    dataset = compilation.dataset
    module = _Module(compilation, emission)
    module.model((), dataset.columns, dataset.schema.extra, dataset.name)
    path = f"pydantic/{module_name(dataset.name, 'models')}.py"
    return [Artifact(path, "".join(f"{line}\n" for line in module.lines()).encode())]


class _Module(annotations.AnnotationWriter):
    """Collects the models of one dataset, and writes them as a module."""

    def __init__(self, compilation: Compilation, emission: Emission) -> None:
        super().__init__(emission, compilation.lowered)
        self._dataset = compilation.dataset
        self._aliases: dict[str, str] = {}
        """Names of types without parts by what they are."""
        self._classes: dict[str, list[str]] = {}
        """The lines of the body of each model, by its name."""
        self._names: dict[tuple[str, ...], dict[str, str]] = {}
        """What the members of a struct are called, by its path."""

    def lines(self) -> Iterator[str]:
        """Yield the lines of the whole module."""
        body = [
            line
            for name, lines in self._classes.items()
            for line in ("", "", f"class {name}(Record):", *lines)
        ]
        aliases = [f"{name} = {text}" for text, name in self._aliases.items()]
        used = _names([*aliases, *body])
        imports, functions = parts().needed({*used, "Record"})
        imports |= {("pydantic", name) for name in _OF_PYDANTIC if name in used}
        imports |= {("typing", name) for name in ("Annotated",) if name in used}
        yield docstring(f"Models of {self._dataset.name}.\n\n{NOTICE}")
        yield ""
        for module, pairs in groupby(sorted(imports), key=itemgetter(0)):
            names = [name for _, name in pairs]
            if module:
                yield f"from {module} import {', '.join(names)}"
            else:
                yield from (f"import {name}" for name in names)
        for function in functions:
            yield from ("", "") if function.startswith(("def ", "class ")) else ("",)
            yield from function.split("\n")
        yield ""
        yield from ("", *aliases) if aliases else ()
        yield from body

    def model(
        self, path: Sequence[str], members: Iterable[SchemaField], extra: Mapping[str, Any], title: str
    ) -> str:
        """Enter the class of a table or struct, and return its name."""
        fields = {str(member.segment): member for member in members}
        names = identifiers(fields, RESERVED_NAMES)
        self._names[tuple(path)] = names
        lines = [
            f"    {docstring(str(extra.get(builtin.DESCRIPTION.key) or f'A record of {title}.'), '    ')}",
            "",
        ]
        attributes = _attributes(extra)
        settings = {
            **({} if path else {"title": self._dataset.name}),
            **({"json_schema_extra": attributes} if attributes else {}),
        }
        if settings:
            lines += [f"    model_config = {_python(settings)}", ""]
        for name, member in fields.items():
            lines.append(f"    {names[name]}: {self._field(member, names[name])}")
        if not path:
            lines += self._conditions()
        while lines[-1] == "":
            lines.pop()
        words = [word for part in (self._dataset.name, *path) for word in re.findall("[A-Za-z0-9]+", part)]
        base = "".join(word[0].upper() + word[1:] for word in words) or "Table"
        class_name = identifier(base, {*_OF_MODULE, *self._classes})
        self._classes[class_name] = lines
        return class_name

    def _conditions(self) -> Iterator[str]:
        """Return the method that checks the conditions of a record; nothing if there are none."""
        extra = self._dataset.schema.extra
        for attribute in (UNIQUE, REFERENCES):
            if attribute.key in extra:
                self.lose(None, f"the constraint {attribute.key}", IGNORED)
        written: list[str] = []

        def names(path: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(self._names[path[:depth]][segment] for depth, segment in enumerate(path))

        for check in row_constraints(extra, self._dataset.columns).checks:
            try:
                truth = annotations.condition(check.condition, names)
            except annotations.UnwritableError:
                self.lose(None, f"the condition {check.text}", IGNORED)
                continue
            written.append(f"        keep_condition({literal(check.text)}, {truth})")
        if written:
            yield from ("", '    @model_validator(mode="after")', "    def _keep_conditions(self) -> Self:")
            yield from (
                '        """Refuse a record for which a condition is false."""',
                *written,
                "        return self",
            )

    def _validators(self, field: SchemaField) -> list[str]:
        """Return the metadata of an annotation that checks the constraints of a field."""
        validators: list[str] = []
        for constraint in constraints_at(field):
            if isinstance(constraint, UniqueItems) and not constraint.is_set:
                continue
            try:
                validators.append(annotations.validator(constraint))
            except annotations.UnwritableError:
                self.lose(field, f"the constraint {constraint.attribute.key}", IGNORED)
        return validators

    def _field(self, field: SchemaField, name: str) -> str:
        """Return what follows a field's colon as source; `Any` after reporting that it is nested too deep."""
        annotation = self._source(field)
        # Brackets in texts count as well.
        changes = ((char in "[(") - (char in "])") for char in annotation if char in "[]()")
        if max(accumulate(changes), default=0) > _MOST_BRACKETS:
            annotation = "Any"
            self.refuse_depth(field)
        settings: list[str] = []
        if field.is_nullable:
            settings.append("default=None")
        if name != field.segment:
            settings.append(f"alias={literal(str(field.segment))}")
        if builtin.DESCRIPTION.key in field.extra:
            settings.append(f"description={literal(str(field.extra[builtin.DESCRIPTION.key]))}")
        attributes = _attributes(field.extra)
        if attributes:
            settings.append(f"json_schema_extra={_python(attributes)}")
        if settings == ["default=None"]:
            return f"{annotation} = None"
        return f"{annotation} = Field({', '.join(settings)})" if settings else annotation

    def _source(self, field: SchemaField) -> str:
        """Return the annotation of a column, a member, an item or a value as source."""
        annotation = self.type(field)
        text = annotation.type
        if field.type.family not in NESTED and text != "None":
            text = self._alias(field, annotation)
        if field.extra and not field.is_member:
            text = f"Annotated[{text}, {_metadata_text({'extra': dict(field.extra)})}]"
        return f"{text} | None" if field.is_nullable and text != "None" else text

    def struct(self, field: SchemaField) -> annotations.Annotation:
        """Return the name of a struct's class, which is entered."""
        path = [segment if isinstance(segment, str) else segment.value for segment in field.path]
        return annotations.Annotation(self.model(path, field.children, {}, field.path_text))

    def list(self, field: SchemaField) -> annotations.Annotation:
        """Return a `list` with its length and constraints."""
        (item,) = field.children
        if has_role(field.extra, Role.BRAIN_FLOATS):
            item_type = self._alias(item, annotations.BRAIN_FLOAT)
            item_type = f"{item_type} | None" if item.is_nullable else item_type
        else:
            item_type = self._source(item)
        length = getattr(field.type, "fixed_length", None)
        bounds = f", min_length={length}, max_length={length}" if length is not None else ""
        metadata = ", ".join([f"Field(strict=True{bounds})", *self._validators(field)])
        return annotations.Annotation(f"Annotated[list[{item_type}], {metadata}]")

    def map(self, field: SchemaField) -> annotations.Annotation:
        """Return a `dict`; "None" if its key type has been refused."""
        key, value = field.children
        annotation = self.key(key)
        if annotation is None:
            return annotations.Annotation("None")
        named = self._alias(key, annotation, "Key")
        if key.extra:
            named = f"Annotated[{named}, {_metadata_text({'extra': dict(key.extra)})}]"
        is_text, tree = key.type.family is Family.TEXT, json_values.own_tree(field.type)
        metadata = ["Field(strict=True)" if is_text else "WrapValidator(distinct_keys)"]
        metadata += [_metadata_text(tree)] if len(tree) > 1 else []
        return annotations.Annotation(
            f"Annotated[dict[{named}, {self._source(value)}], {', '.join(metadata)}]"
        )

    def _alias(self, field: SchemaField, leaf: annotations.Annotation, suffix: str = "") -> str:
        """Return the name of a type without parts; its definition is entered once."""
        validators = self._validators(field)
        suffix = f"{suffix}Constrained" if validators else suffix
        tree = _metadata_text(json_values.own_tree(field.type))
        text = f"Annotated[{', '.join([leaf.type, *leaf.metadata, *validators, tree])}]"
        if text not in self._aliases:
            word = "".join(
                part[0].upper() + part[1:] for part in re.findall("[A-Za-z0-9]+", field.type.type_text())
            )
            base = f"{word}{leaf.suffix}{suffix}"
            used_names = {name.removeprefix("_") for name in self._aliases.values()}
            self._aliases[text] = f"_{identifier(base, used_names)}"
        return self._aliases[text]


def _attributes(extra: Mapping[str, Any]) -> Json:
    """Return attributes without the description, sorted by key."""
    return {key: extra[key] for key in sorted(extra) if key != builtin.DESCRIPTION.key}


def _python(value: Any) -> str:
    """Return a value of JSON as Python writes it."""
    if isinstance(value, Mapping):
        items = ", ".join(f"{literal(key)}: {_python(item)}" for key, item in sorted(value.items()))
        return f"{{{items}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_python, value))}]"
    return literal(value) if isinstance(value, str) else repr(value)


def _metadata_text(value: Any) -> str:
    """Return the metadata of an annotation: JSON as text, for unions need what can be hashed."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return f"'{text}'" if text.isprintable() and not {"'", "\\"} & set(text) else literal(text)


_MOST_BRACKETS = 190
"""Python reads 200 brackets inside each other; the annotations of a module stand in some more."""


def _names(lines: Iterable[str]) -> set[str]:
    """Return all names that occur in lines of source."""
    return {node.id for node in ast.walk(ast.parse("\n".join(lines))) if isinstance(node, ast.Name)}


TARGET = ArtifactTarget("pydantic", PYDANTIC_LOSS, emit)
