"""Definitions of groups of fields, and the attributes that their fields inherit.

Layer: language.
Shape: `groups:` and `imports:` are next to `fields:`, or alone in a document. The groups of a file are visible in all
of its documents and in files that import it; imports are not passed on.
Errors: SC202 to SC206 of a definition, SC232 duplicate-group, SC235 and SC236 of parameters, SC311 of attributes.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pydantic import Field, ValidationError

from schemac.language.attributes.attribute import Inheritance
from schemac.language.attributes.registry import known
from schemac.language.logical.model import ExtraAttributes
from schemac.language.manifest.documents import schemas_of
from schemac.text.source import catalogue as codes
from schemac.text.source.diagnostics import Code, Report, labels_at
from schemac.text.source.json_object import Json, TreePath, values_in
from schemac.text.source.phrases import Help, closest
from schemac.text.syntax.document import Document, Location
from schemac.text.syntax.model import AuthoredModel, KnownWords, model_errors, sort_of


def is_inherited(key: str) -> bool:
    """Whether the fields of a group or a schema have an attribute that is written there."""
    attribute = known(key)
    return attribute is not None and attribute.inheritance is not None


def merged(key: str, outer: Any, inner: Any) -> Any:
    """Return the attributes of a field merged with those around it."""
    attribute = known(key)
    is_added = attribute is not None and attribute.inheritance is Inheritance.ADDED
    if is_added and isinstance(outer, list) and isinstance(inner, list):
        return [*outer, *(item for item in inner if item not in outer)]
    return inner


PLACEHOLDER = re.compile(r"\$\$\(|\$\(([^()]*)\)")
"""A parameter in a text of a group; `$$(` stands for `$(` itself."""
KEYS = ("imports", "groups")
"""Keys next to `fields:` that the standard does not have."""


class Parameter(AuthoredModel):
    """A parameter of a group: a value that each use sets."""

    description: str = Field("", description="What its value means, for those who use the group.")
    default: Any = Field(
        None,
        description="The value if a use does not set the parameter; without a default, every use has to set it.",
    )

    @property
    def is_required(self) -> bool:
        """Whether each use has to set it."""
        return "default" not in self.model_fields_set


class Group(AuthoredModel):
    """Fields that several schemas have."""

    description: str = Field("", description="What the fields are for.")
    parameters: dict[str, Parameter] = Field(
        {},
        description="The parameters by name. Each use of the group sets them; `$(name)` inserts the value.",
    )
    extra: ExtraAttributes = Field(
        {}, description="Attributes of all fields of the group, unless a field sets its own."
    )
    fields: list[Any] = Field(min_length=1, description="The fields that replace a use.")


class Use(AuthoredModel):
    """An item of a list of fields that is replaced by the fields of a group."""

    use: str = Field(min_length=1, description="The group whose fields are inserted here.")
    arguments: Json = Field({}, alias="with", description="A value for each of the group's parameters.")


class GroupField(AuthoredModel):
    """A field of a group; a parameter may be in each of its texts, or in place of a value."""

    name: str = Field(description="What the field is called.")
    type: Any = Field(description="The type of its values.")
    description: str = Field("", description="A description for readers.")
    extra: ExtraAttributes = Field({}, description="Attributes, as `<domain>/<name>`.")


class GroupLibrary(AuthoredModel):
    """A document with groups alone, for other files to import."""

    description: str = Field("", description="What the groups are for.")
    imports: list[str] = Field(
        [], description="Files whose groups are used here, by their paths from the folder of this file."
    )
    groups: dict[str, Group] = Field(
        description="Fields that several schemas have, by the name of each group."
    )


WORDS = KnownWords(
    keys={
        **dict.fromkeys(("params", "arguments", "args", "variables", "vars"), "parameters"),
        **dict.fromkeys(("doc", "comment", "desc"), "description"),
        **dict.fromkeys(("columns", "members"), "fields"),
        **dict.fromkeys(("parameters", "arguments", "args", "params"), "with"),
        **dict.fromkeys(("group", "include", "ref", "mixin"), "use"),
    },
    nouns={"Group": "a group", "Parameter": "a parameter", "Use": "a use"},
    examples={"Parameter": "{default: 1}", "Use": "{use: audit}"},
)


class Definition(NamedTuple):
    """A group, and where it is."""

    name: str
    document: Document
    path: TreePath
    group: Group


class Import(NamedTuple):
    """A path in `imports:`, and where it is."""

    path: str
    document: Document
    at: TreePath


class GroupFile:
    """The groups and imports of one text."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.report = Report()
        """What is wrong with them."""
        self.imports: list[Import] = []
        self.used: set[str] = set()
        """The groups that it names in a use."""
        self.unsound: set[str] = set()
        """Groups that cannot be used, for what is wrong with them is in the report."""
        self.groups: dict[str, Definition] = {}
        for document in documents:
            for base, holder in _holders(document):
                self._take_imports(document, base, holder.get("imports", []))
                self.used |= _used_in(holder.get("fields")) | _used_in(holder.get("groups"))
                for definition in self._definitions(document, (*base, "groups"), holder.get("groups", {})):
                    report = Report()
                    check_definition(definition, report)
                    self.unsound |= {definition.name} if report.has_errors else set()
                    self.report.extend(report.diagnostics)
                    first = self.groups.setdefault(definition.name, definition)
                    if first is not definition:
                        report_clash(definition, first, self.report)

    def _take_imports(self, document: Document, base: TreePath, written: Any) -> None:
        """Add the imports of a schema; what is no path is reported."""
        at = (*base, "imports")
        if not isinstance(written, list):
            message = f"`imports` has to be a list of paths, not {sort_of(written)}"
            document.report(codes.WRONG_TYPE, message, at, self.report, "write `imports: [groups.yaml]`")
            return
        for i, path in enumerate(written):
            if isinstance(path, str) and path:
                self.imports.append(Import(path, document, (*at, i)))
            else:
                message = f"an import is the path of a file, not {sort_of(path)}"
                help = "write `imports: [groups.yaml]`"
                document.report(codes.WRONG_TYPE, message, (*at, i), self.report, help)

    def _definitions(self, document: Document, at: TreePath, written: Any) -> Iterator[Definition]:
        """Yield the valid groups of a mapping; mistakes are reported, and names of invalid groups go to `unsound`."""
        if not isinstance(written, dict):
            message = f"`groups` has to be a mapping from names to groups, not {sort_of(written)}"
            document.report(codes.WRONG_TYPE, message, at, self.report, "write the name of a group below it")
            return
        for name, value in written.items():
            path = (*at, name)
            try:
                yield Definition(name, document, path, Group.model_validate(value, by_name=False))
            except ValidationError as error:
                self.unsound.add(name)
                for e in model_errors(error, Group, value, WORDS):
                    at = (*path, *e.path)
                    document.report(e.code, e.message, at, self.report, e.help, on_key=e.on_key)


def report_clash(
    second: Definition, first: Definition, report: Report, imported: Location | None = None
) -> None:
    """Report that two groups have one name; `imported` is the location of the second import, if both are imported."""
    there = first.document.location(first.path, on_key=True)
    here = second.document.location(second.path, on_key=True)
    elsewhere = "" if there.source.name == here.source.name else f" in {there.source.name}"
    message = f"the group '{second.name}' is already defined{elsewhere}"
    labels = (*labels_at(there, "first defined here"), *labels_at(imported, "imported here"))
    report.add(codes.DUPLICATE_GROUP, message, location=here, help="rename one of the two", labels=labels)


def check_definition(definition: Definition, report: Report) -> None:
    """Report mistakes of a group that do not depend on its uses: parameters, and attributes that do not fit all of its fields."""

    def add(code: Code, path: TreePath, message: str, help: str, *, on_key: bool = False) -> None:
        at = (*definition.path, *path)
        definition.document.report(code, message, at, report, help, on_key=on_key)

    group = definition.group
    named: set[str] = set()
    for part in ("fields", "extra") if group.parameters else ():
        for path, name in placeholders(getattr(group, part), (part,)):
            named.add(name)
            if name not in group.parameters:
                near = closest(name, group.parameters)
                help: str = "write `$$(` for a text `$(`"
                if near:
                    help = Help.did_you_mean_part(f"$({near})", f"$({name})")
                message = f"the group '{definition.name}' has no parameter `{name}`"
                add(codes.INVALID_ARGUMENT, path, message, help)
    for name in group.parameters.keys() - named:
        message = f"the parameter `{name}` of the group '{definition.name}' is never used"
        help = f"write `$({name})` where its value belongs, or remove it"
        add(codes.UNUSED_GROUP, ("parameters", name), message, help, on_key=True)
    for key in group.extra:
        if not is_inherited(key):
            message = f"`{key}` cannot be given to all fields of a group at once"
            help = "write it under `extra:` of each field that it is for"
            add(codes.MISPLACED_ATTRIBUTE, ("extra", key), message, help, on_key=True)


def placeholders(value: Any, path: TreePath = ()) -> Iterator[tuple[TreePath, str]]:
    """Yield the parameters that a value names, and where."""
    for at, text in strings_in(value, path):
        yield from ((at, match[1]) for match in PLACEHOLDER.finditer(text) if match[1] is not None)


def strings_in(value: object, path: TreePath = ()) -> Iterator[tuple[TreePath, str]]:
    """Yield all texts of a value with their paths."""
    yield from ((at, item) for at, item in values_in(value, path) if isinstance(item, str))


def _used_in(value: Any) -> set[str]:
    """Return the names of groups that are in a use."""
    uses = [item for at, item in values_in(value) if at[-1:] == ("use",) and "extra" not in at]
    # What is not a name is a mistake, and hides which group it was to be: each text in it may be meant.
    words = (word for use in uses for at, item in values_in(use) for word in (item, *at[-1:]))
    return {word for word in words if isinstance(word, str)}


def _holders(document: Document) -> Iterator[tuple[TreePath, Json]]:
    """Yield the mappings that may have groups and imports."""
    # What is wrong with the documents themselves is said where they are bound.
    for path in schemas_of(document):
        holder = document.part(path)
        if isinstance(holder, dict):
            yield path, holder
