"""All places that have the name of a group, a parameter, a dataset or an attribute of a vocabulary.

Layer: lsp.
Shape: the first occurrence of each is where it is defined. A text is parsed only if it has the name's letters; a name that is
written with escapes is not found, which the check after a renaming notices.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from schemac.language.attributes.constraints import REFERENCES
from schemac.language.attributes.registry import domain_of
from schemac.language.logical.model import dotted
from schemac.language.manifest.groups import PLACEHOLDER, Definition, placeholders, strings_in
from schemac.lsp.cursor import is_plain
from schemac.lsp.locations import (
    DatasetTarget,
    FieldTarget,
    FileRange,
    GroupTarget,
    NamedTarget,
    ParameterTarget,
    VocabularyTarget,
    datasets_called,
    file_at,
)
from schemac.lsp.projects import ProjectTexts, key_of, uses_in
from schemac.project.name_edits import NameEdit, edits_of_references, path_after
from schemac.text.source.json_object import TreePath, values_in
from schemac.text.source.report import Report, SourceText, Span
from schemac.text.syntax.document import Document, parse
from schemac.text.syntax.events import scalar


class Occurrence(NamedTuple):
    """A place that has a name."""

    path: str
    """Of the text; absolute."""
    source: SourceText
    span: Span
    is_scalar: bool = True
    """Whether it is a scalar of YAML, with its quotes, and no part of one."""
    is_definition: bool = False
    domain: str = ""
    """Of an attribute, where only its name is here."""

    @property
    def site(self) -> FileRange:
        """The place without quotes."""
        span, written = self.span, self.source.excerpt(self.span)
        is_quoted = self.is_scalar and len(written) > 1 and written[0] in "'\"" and written[-1] == written[0]
        inner = Span(span.start + 1, span.end - 1) if is_quoted else span
        return FileRange(self.path, self.source.region(inner))

    def text(self, new: str) -> str:
        """Return what is written there for another name, in the quotes that exist."""
        new = new.removeprefix(f"{self.domain}/") if self.domain else new
        if not self.is_scalar:
            return new
        written = self.source.excerpt(self.span)
        if written.startswith('"'):
            return json.dumps(new, ensure_ascii=False)
        has_no_quotes = not written.startswith("'") and is_plain(new)
        return new if has_no_quotes else scalar(new, written)


def occurrences_of(target: NamedTarget, texts: ProjectTexts) -> list[Occurrence]:
    """Return all places of a name, its definition first; each once."""
    occurrences: list[Occurrence] = []
    match target:
        case GroupTarget():
            definition = definition_of(target, texts)
            if definition is not None:
                at = (definition.document, definition.path)
                occurrences.append(_at_key(target.file, *at, is_definition=True))
            occurrences += [_at_scalar(*use) for use in _group_uses(target, texts)]
        case ParameterTarget():
            occurrences += _parameter_occurrences(target, texts)
        case DatasetTarget():
            occurrences += _dataset_occurrences(target.name, texts)
        case VocabularyTarget():
            occurrences += _vocabulary_occurrences(target.name, texts)
            for path in texts.with_word(target.name):
                for document in texts.documents(path):
                    places = [at for at, _ in values_in(document.value) if at[-2:] == ("extra", target.name)]
                    occurrences += [_at_key(path, document, at) for at in places]
    unique = {(one.path, one.span): one for one in occurrences}
    return sorted(unique.values(), key=lambda one: not one.is_definition)


def _at_key(path: str, document: Document, at: TreePath, *, is_definition: bool = False) -> Occurrence:
    """Return the occurrence of a name that is a key."""
    return Occurrence(path, document.source, document.key_span(at), is_definition=is_definition)


def _at_scalar(path: str, document: Document, at: TreePath, *, is_definition: bool = False) -> Occurrence:
    """Return the occurrence of a name that is a scalar."""
    return Occurrence(path, document.source, document.span(at), is_definition=is_definition)


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
            yield from ((path, document, at) for at in uses_in(document, target.name))


def _parameter_occurrences(target: ParameterTarget, texts: ProjectTexts) -> Iterator[Occurrence]:
    """Yield all places of a parameter: its definition, the texts of its group, and the arguments of uses."""
    definition = definition_of(target.group, texts)
    if definition is None or target.name not in definition.group.parameters:
        return
    document, name, file = definition.document, target.name, target.group.file
    yield _at_key(file, document, (*definition.path, "parameters", name), is_definition=True)
    for part in ("fields", "extra"):
        for at, named in placeholders(getattr(definition.group, part), (part,)):
            if named == name:
                span = document.span((*definition.path, *at))
                for match in PLACEHOLDER.finditer(document.source.excerpt(span)):
                    if match[1] == name:
                        inner = Span(span.start + match.start(1), span.start + match.end(1))
                        yield Occurrence(file, document.source, inner, is_scalar=False)
    for path, user, at in _group_uses(target.group, texts):
        argument_path = (*at[:-1], "with", name)
        if user.has(argument_path):
            yield _at_key(path, user, argument_path)


def _dataset_occurrences(name: str, texts: ProjectTexts) -> Iterator[Occurrence]:
    """Yield all places of the name of a dataset: its definition, references, overlays and pipelines."""
    manifests = set()
    for file, dataset in datasets_called(name, texts.checked):
        path, origins = key_of(file.file.path), dataset.origins
        manifests.add(path)
        if origins.document is not None and origins.named_at is not None:
            yield _at_scalar(path, origins.document, origins.named_at, is_definition=True)
    for file in texts.checked.files:
        for dataset in file.datasets if file.named and name.encode() in file.content else ():
            for i, reference in enumerate(REFERENCES.read(dataset.schema.extra) or ()):
                place = dataset.origins.location(("extra", REFERENCES.key, i, "dataset"))
                if reference.dataset == name and place is not None:
                    yield Occurrence(texts.checked.path(place.source.name), place.source, place.span)
    for path, document in texts.overlays(name):
        if document.has(("datasets", name)):
            yield _at_key(path, document, ("datasets", name))
    for path, document in texts.pipelines(name):
        value: Any = document.value
        schema, references = value.get("schema"), value.get("references")
        if isinstance(schema, str) and value.get("dataset") == name and file_at(path, schema) in manifests:
            yield _at_scalar(path, document, ("dataset",))
        if isinstance(references, dict) and name in references:
            yield _at_key(path, document, ("references", name))


_BY_NAME = ("properties", "dependentRequired", "dependentSchemas")
_NAMES = ("required", "dependentRequired")


def _vocabulary_occurrences(key: str, texts: ProjectTexts) -> Iterator[Occurrence]:
    """Yield where the JSON Schema of a domain has an attribute."""
    project = texts.checked.project
    domain, name = domain_of(key), key.partition("/")[2]
    file, content = project.configuration.vocabularies.get(domain), project.vocabulary_contents.get(domain)
    if file is None or content is None:
        return
    path = key_of(project.folder / file)
    # JSON is YAML.
    for document in parse(SourceText(content.decode("utf-8-sig", "replace"), file), Report())[:1]:
        value = document.value if isinstance(document.value, dict) else {}
        for word in _BY_NAME:
            if document.has((word, name)):
                occurrence = _at_key(path, document, (word, name), is_definition=word == "properties")
                yield occurrence._replace(domain=domain)
        for at, text in strings_in({word: value.get(word) for word in _NAMES}):
            if text == name:
                yield _at_scalar(path, document, at)._replace(domain=domain)


class FieldEdit(NamedTuple):
    """An edit of a text that names a field of another one."""

    path: str
    """Of the text; absolute."""
    source: SourceText
    edit: NameEdit


def field_edits(target: FieldTarget, new: str, texts: ProjectTexts) -> Iterator[FieldEdit]:
    """Yield the edits of references of other datasets, overlays and pipelines that name a field which gets another name.

    Raises NoEditError.
    """
    renamed: dict[str, dict[str, str]] = {}
    for one in target.all:
        new_path = dotted((*one.field.path[:-1], new))
        renamed.setdefault(one.dataset.name, {})[one.field.path_text] = new_path
    for file in texts.checked.files:
        for dataset in file.datasets if file.named else ():
            # Those that have the field are edited with their own texts.
            if dataset.name not in renamed:
                for place, edit in edits_of_references(dataset, renamed):
                    yield FieldEdit(texts.checked.path(place.source.name), place.source, edit)
    for one in target.all:
        name, manifest, old = one.dataset.name, key_of(one.file.file.path), one.field.path_text
        keys: list[tuple[str, Document, TreePath]] = []
        for path, document in texts.overlays(name):
            whole: Any = document.value
            overlay = whole["datasets"].get(name)
            fields = overlay.get("fields") if isinstance(overlay, dict) else None
            if isinstance(fields, dict):
                keys += [(path, document, ("datasets", name, "fields", key)) for key in fields]
        for path, document in texts.pipelines(str(one.field.segment)):
            value: Any = document.value
            schema, fields = value.get("schema"), value.get("fields")
            is_of_manifest = isinstance(schema, str) and file_at(path, schema) == manifest
            if is_of_manifest and value.get("dataset", name) == name and isinstance(fields, dict):
                keys += [(path, document, ("fields", key)) for key in fields]
        for path, document, at in keys:
            after = path_after(str(at[-1]), {old: renamed[name][old]})
            if after is not None:
                named = _at_key(path, document, at)
                yield FieldEdit(path, named.source, NameEdit(named.span, named.text(after)))
