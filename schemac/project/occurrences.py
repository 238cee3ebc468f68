"""All places of a project that have the name of a field, a group, a parameter, a dataset or an attribute of a vocabulary.

Layer: project.
Shape: the first occurrence of each is where it is defined; each has what is written there for another name. A text is parsed only if
it has the name's letters; a name that is written with escapes is not found, which the check after a renaming notices.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from schemac.language.attributes.attribute import Extra
from schemac.language.attributes.builtin import DEPRECATED
from schemac.language.attributes.constraints import REFERENCES
from schemac.language.attributes.registry import ATTRIBUTES, domain_of
from schemac.language.checks.attributes import sound_attributes
from schemac.language.logical.dataset import Findings, LogicalDataset
from schemac.language.logical.model import SchemaField, dotted, preorder
from schemac.language.manifest.groups import PLACEHOLDER, Definition, placeholders, strings_in
from schemac.project.imported import file_at
from schemac.project.manifests import CompiledFile
from schemac.project.project_texts import (
    DatasetTarget,
    FieldTarget,
    GroupTarget,
    NamedTarget,
    ParameterTarget,
    ProjectTexts,
    VocabularyTarget,
    datasets_called,
    key_of,
    texts_of,
)
from schemac.text.source.diagnostics import Report, SourceText, Span
from schemac.text.source.json_object import TreePath, values_in
from schemac.text.source.phrases import Help
from schemac.text.source.text import span_of, with_line_ends
from schemac.text.syntax.document import Document, Location, parse
from schemac.text.syntax.events import scalar_of_name, written


class NoEditError(Exception):
    """Why an edit cannot be made without changing more than it should."""


class Occurrence(NamedTuple):
    """A place that has a name, and what is to be there."""

    path: str
    """Of the text; absolute."""
    source: SourceText
    span: Span
    text: str
    is_definition: bool = False

    @classmethod
    def at(cls, path: str, place: Location, new: str, *, is_definition: bool = False) -> "Occurrence":
        """Return the occurrence of a name that is a scalar of YAML, which keeps its quotes."""
        source, span = place.source, place.span
        return cls(path, source, span, scalar_of_name(new, source.excerpt(span)), is_definition)


RenamedPaths = Mapping[str, Mapping[str, str]]
"""New paths of fields by their old ones, by the names of the datasets that have them."""


def occurrences_of(target: FieldTarget | NamedTarget, new: str, texts: ProjectTexts) -> list[Occurrence]:
    """Return all places of a name, its definition first; each once. Of places alone, the new name is empty. Raises NoEditError."""
    occurrences: list[Occurrence] = []
    match target:
        case FieldTarget():
            occurrences += field_occurrences(target.all, new, new_paths(target, new), texts)
        case GroupTarget():
            definition = definition_of(target, texts)
            if definition is not None:
                place = definition.document.location(definition.path, on_key=True)
                occurrences.append(Occurrence.at(target.file, place, new, is_definition=True))
            uses = _group_uses(target, texts)
            occurrences += [Occurrence.at(path, user.location(at), new) for path, user, at in uses]
        case ParameterTarget():
            occurrences += _parameter_occurrences(target, new, texts)
        case DatasetTarget():
            occurrences += _dataset_occurrences(target.name, new, texts)
        case VocabularyTarget():
            occurrences += _vocabulary_occurrences(target.name, new, texts)
            for path in texts.with_word(target.name):
                for document in texts.documents(path):
                    places = [at for at, _ in values_in(document.value) if at[-2:] == ("extra", target.name)]
                    keys = (document.location(at, on_key=True) for at in places)
                    occurrences += [Occurrence.at(path, key, new) for key in keys]
    unique: dict[tuple[str, Span], Occurrence] = {}
    for one in occurrences:
        unique.setdefault((one.path, one.span), one)
    return sorted(unique.values(), key=lambda one: not one.is_definition)


# Fields


def new_paths(target: FieldTarget, new: str) -> RenamedPaths:
    """Return the paths of a field under another name."""
    paths: dict[str, dict[str, str]] = {}
    for _, dataset, field in target.all:
        paths.setdefault(dataset.name, {})[field.path_text] = dotted((*field.path[:-1], new))
    return paths


def place_of_name(dataset: LogicalDataset, field: SchemaField) -> Location:
    """Return where the name of a field is written, with the uses of groups that lead there."""
    return place_in(dataset, (*field.declared_at, "name"))


def place_in(dataset: LogicalDataset, path: TreePath, *, on_key: bool = False) -> Location:
    """Return where a value of a manifest is, with `on_key` its key; every value is expected to have a place."""
    place = dataset.origins.location(path, on_key=on_key)
    assert place is not None, "every value of a manifest has a place"
    return place


def path_after(path: str, renamed: Mapping[str, str]) -> str | None:
    """Return a path after renamings, by old path; None if neither it nor an enclosing field is renamed."""
    for old, new in renamed.items():
        if path == old or path.startswith(f"{old}."):
            return new + path[len(old) :]
    return None


def new_successor(extra: Extra, renamed: Mapping[str, str]) -> str | None:
    """Return the new name of a deprecated field's successor, by renamed old paths; None if it is not renamed."""
    value = extra.get(DEPRECATED.key)
    successor = value.get("successor") if isinstance(value, dict) else None
    return path_after(successor, renamed) if isinstance(successor, str) else None


def field_occurrences(
    fields: Sequence[tuple[CompiledFile, LogicalDataset, SchemaField]],
    new: str,
    renamed: RenamedPaths,
    texts: ProjectTexts,
) -> Iterator[Occurrence]:
    """Yield all places of fields that get a name and paths. Raises NoEditError."""

    def at(file: CompiledFile, place: Location, text: str, *, is_definition: bool = False) -> Occurrence:
        return Occurrence.at(texts_of(file)[place.source.name], place, text, is_definition=is_definition)

    for file, dataset, field in fields:
        if field.segment != new:
            yield at(file, place_of_name(dataset, field), new, is_definition=True)
        old, after = field.path_text, renamed[dataset.name][field.path_text]
        if not new or (field.parent is None and after == dotted((new,))):
            # Attributes name columns; what they name by its path is left to the check.
            names = (str(field.segment), new) if field.parent is None else (old, after)
            sound = sound_attributes(dataset.schema.extra, None, Findings(Report(), dataset.origins))
            for attribute in ATTRIBUTES.values():
                for renaming in attribute.renamings(sound, *names):
                    path = ("extra", attribute.key, *renaming.steps)
                    yield at(file, place_in(dataset, path, on_key=renaming.is_key), renaming.text)
    for file, dataset in {one[1].name: one[:2] for one in fields}.values():
        for field in preorder(dataset.columns):
            successor = new_successor(field.extra, renamed[dataset.name]) if field.extra else None
            if successor is not None:
                paths = field.extra_places(DEPRECATED.key)
                path = next((path for path in paths if dataset.origins.has(path)), paths[0])
                yield at(file, place_in(dataset, (*path, "successor")), successor)
        yield from _companion_occurrences(key_of(file.file.path), dataset, renamed[dataset.name], texts)
    referring = {*texts.with_word(REFERENCES.name)}
    for file in texts.files:
        if referring.isdisjoint(texts_of(file).values()):
            continue
        for dataset in file.datasets:
            for path, after in _references(dataset, renamed, is_edited=bool(new)):
                yield at(file, place_in(dataset, path), after)
            if new:
                for place, text in _former_names(dataset, renamed):
                    yield at(file, place, "")._replace(text=text)


def _references(
    dataset: LogicalDataset, renamed: RenamedPaths, *, is_edited: bool
) -> Iterator[tuple[TreePath, str]]:
    """Yield where references of a dataset name a field that gets another path, and the new one.

    Of those without `to` the names are the dataset's own too: these places are not edited.
    """
    for i, reference in enumerate(REFERENCES.read(dataset.schema.extra) or ()):
        key = "to" if reference.to is not None else "fields"
        for j, path in enumerate(reference.to or (() if is_edited else reference.fields)):
            after = path_after(path, renamed.get(reference.dataset, {}))
            if after is not None:
                yield ("extra", REFERENCES.key, i, key, j), after


def _former_names(dataset: LogicalDataset, renamed: RenamedPaths) -> Iterator[tuple[Location, str]]:
    """Yield what is added to references without `to` whose fields are not called the same in both datasets any more.

    What they have in `fields` are names of the dataset's own. Raises NoEditError.
    """
    for i, reference in enumerate(REFERENCES.read(dataset.schema.extra) or ()):
        names, others = (
            [path_after(path, renamed.get(name, {})) or path for path in reference.fields]
            for name in (dataset.name, reference.dataset)
        )
        if reference.to is None and names != others:
            place = place_in(dataset, ("extra", REFERENCES.key, i))
            fix = place.fix(Help.add_key("to", f"[{', '.join(map(written, others))}]"))
            if fix is None:
                line = place.region.line
                raise NoEditError(
                    f"the reference in {place.source.name}, line {line}, needs"
                    f" `to: [{', '.join(others)}]`, and its text is also used for others"
                )
            (edit,) = fix.edits
            text = with_line_ends(edit.text, place.source.content)
            yield replace(place, span=span_of(place.source, edit)), text


def _companion_occurrences(
    manifest: str, dataset: LogicalDataset, renamed: Mapping[str, str], texts: ProjectTexts
) -> Iterator[Occurrence]:
    """Yield where overlays and pipelines name fields of a dataset; `manifest` is the absolute path of its manifest."""
    keys: list[tuple[str, Document, TreePath]] = []
    for path, document in texts.overlays(dataset.name):
        overlay = document.part(("datasets",)).get(dataset.name)
        fields = overlay.get("fields") if isinstance(overlay, dict) else None
        if isinstance(fields, dict):
            keys += [(path, document, ("datasets", dataset.name, "fields", key)) for key in fields]
    for path, document in texts.pipelines(os.path.basename(manifest)):
        value: Any = document.value
        schema, fields = value.get("schema"), value.get("fields")
        is_of_manifest = isinstance(schema, str) and file_at(path, schema) == manifest
        if is_of_manifest and value.get("dataset", dataset.name) == dataset.name and isinstance(fields, dict):
            keys += [(path, document, ("fields", key)) for key in fields]
    for path, document, at in keys:
        after = path_after(str(at[-1]), renamed)
        if after is not None:
            yield Occurrence.at(path, document.location(at, on_key=True), after)


# Other names


def definition_of(target: GroupTarget, texts: ProjectTexts) -> Definition | None:
    """Return a group where it is defined."""
    scope = texts.groups(target.file)
    return scope.file.groups.get(target.name) if scope is not None else None


def _group_uses(target: GroupTarget, texts: ProjectTexts) -> Iterator[tuple[str, Document, TreePath]]:
    """Yield all uses of a group, in the texts where its name means this one."""
    for path in texts.with_word(target.name):
        scope = texts.groups(path)
        resolved = scope.find(target.name) if scope is not None else None
        if resolved is None or file_at(path, resolved[1].path) != target.file:
            continue
        for document in texts.documents(path):
            for at, value in strings_in(document.value):
                if value == target.name and at[-1:] == ("use",) and "extra" not in at:
                    yield path, document, at


def _parameter_occurrences(target: ParameterTarget, new: str, texts: ProjectTexts) -> Iterator[Occurrence]:
    """Yield all places of a parameter: its definition, the texts of its group, and the arguments of uses."""
    definition = definition_of(target.group, texts)
    if definition is None or target.name not in definition.group.parameters:
        return
    document, name, file = definition.document, target.name, target.group.file
    place = document.location((*definition.path, "parameters", name), on_key=True)
    yield Occurrence.at(file, place, new, is_definition=True)
    for part in ("fields", "extra"):
        for at, named in placeholders(getattr(definition.group, part), (part,)):
            if named == name:
                span = document.span((*definition.path, *at))
                for match in PLACEHOLDER.finditer(document.source.excerpt(span)):
                    if match[1] == name:
                        inner = Span(span.start + match.start(1), span.start + match.end(1))
                        yield Occurrence(file, document.source, inner, new)
    for path, user, at in _group_uses(target.group, texts):
        argument_path = (*at[:-1], "with", name)
        if user.has(argument_path):
            yield Occurrence.at(path, user.location(argument_path, on_key=True), new)


def _dataset_occurrences(name: str, new: str, texts: ProjectTexts) -> Iterator[Occurrence]:
    """Yield all places of the name of a dataset: its definition, references, overlays and pipelines."""
    manifests = set()
    for file, dataset in datasets_called(name, texts.files):
        path, origins = key_of(file.file.path), dataset.origins
        manifests.add(path)
        place = origins.name_location if origins.named_at is not None else None
        if place is not None:
            yield Occurrence.at(path, place, new, is_definition=True)
    for file in texts.files:
        for dataset in file.datasets if file.named and name.encode() in file.content else ():
            for i, reference in enumerate(REFERENCES.read(dataset.schema.extra) or ()):
                place = dataset.origins.location(("extra", REFERENCES.key, i, "dataset"))
                if reference.dataset == name and place is not None:
                    path = texts_of(file)[place.source.name]
                    yield Occurrence.at(path, place, new)
    for path, document in texts.overlays(name):
        if document.has(("datasets", name)):
            yield Occurrence.at(path, document.location(("datasets", name), on_key=True), new)
    for path, document in texts.pipelines(name):
        value: Any = document.value
        schema, references = value.get("schema"), value.get("references")
        if isinstance(schema, str) and value.get("dataset") == name and file_at(path, schema) in manifests:
            yield Occurrence.at(path, document.location(("dataset",)), new)
        if isinstance(references, dict) and name in references:
            yield Occurrence.at(path, document.location(("references", name), on_key=True), new)


_BY_NAME = ("properties", "dependentRequired", "dependentSchemas")
_NAMES = ("required", "dependentRequired")


def _vocabulary_occurrences(key: str, new: str, texts: ProjectTexts) -> Iterator[Occurrence]:
    """Yield where the JSON Schema of a domain has an attribute; the name there is without the domain."""
    project = texts.project
    domain, name = domain_of(key), key.partition("/")[2]
    file, content = project.configuration.vocabularies.get(domain), project.vocabulary_contents.get(domain)
    if file is None or content is None:
        return
    path, new_name = key_of(project.folder / file), new.removeprefix(f"{domain}/")
    # JSON is YAML.
    for document in parse(SourceText(content.decode("utf-8-sig", "replace"), file), Report())[:1]:
        value = document.value if isinstance(document.value, dict) else {}
        for word in _BY_NAME:
            if document.has((word, name)):
                place, is_definition = document.location((word, name), on_key=True), word == "properties"
                yield Occurrence.at(path, place, new_name, is_definition=is_definition)
        for at, text in strings_in({word: value.get(word) for word in _NAMES}):
            if text == name:
                yield Occurrence.at(path, document.location(at), new_name)
