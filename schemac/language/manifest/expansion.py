"""Inserts groups into the schemas that use them, with arguments for their parameters.

Layer: language.
Shape: plain values in, copies of them out; later stages know no groups. A value that comes from a group has its origin
there, with the locations of the uses that lead to it.
Errors: SC231 unknown-group, SC233 reuse-cycle, SC236 invalid-argument, SC110 and SC111 for groups that grow without
end, and SC202 to SC204 of a use.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from schemac.language.manifest.groups import KEYS, PLACEHOLDER, WORDS, Definition, Use, is_inherited, merged
from schemac.language.manifest.library import GroupScope
from schemac.text.source import catalogue as codes
from schemac.text.source.diagnostics import Code, Report
from schemac.text.source.json_object import Json, TreePath
from schemac.text.source.phrases import Help, closest
from schemac.text.syntax.document import Document, MappingNode, SequenceNode, ValueOrigin, Via
from schemac.text.syntax.entries import MAX_DEPTH
from schemac.text.syntax.model import model_errors, sort_of


class Argument(NamedTuple):
    """A value for a parameter, and where it is written."""

    value: Any
    origin: ValueOrigin
    size: int = 1
    """How many values it has inside."""


def arguments_of(definition: Definition, values: Mapping[str, Argument]) -> dict[str, Argument]:
    """Return the argument of each parameter, those without a value left out."""
    arguments: dict[str, Argument] = {}
    for name, parameter in definition.group.parameters.items():
        if name in values:
            arguments[name] = values[name]
        elif not parameter.is_required:
            path = (*definition.path, "parameters", name, "default")
            arguments[name] = Argument(parameter.default, ValueOrigin(definition.document, path))
    return arguments


MAX_VALUES = 1_000_000
"""Values of one schema that groups may make."""
_MOST_GROUPS = 30
"""Groups inside groups."""
_LETTERS = 64
"""Code points of a text that count as one value."""


class ExpansionFrame(NamedTuple):
    """What a text of fields is read in."""

    document: Document
    scope: GroupScope
    groups: tuple[Definition, ...] = ()
    """The groups around it, outermost first."""
    arguments: Mapping[str, Argument] = {}
    """Those of the innermost group."""
    via: tuple[Via, ...] = ()

    def origin(self, path: TreePath) -> ValueOrigin:
        """Return where a value of this text was written."""
        return ValueOrigin(self.document, path, self.via)


class Expander:
    """Expands the schemas of one document."""

    def __init__(self, scope: GroupScope, report: Report, *, is_strict: bool = False) -> None:
        self._scope = scope
        self._report = report
        self._is_strict = is_strict
        self._count = 0
        self.is_whole = True
        """Whether all groups could be put in."""

    def expand(self, document: Document, base: TreePath) -> Document:
        """Return the document with one of its schemas expanded; what is wrong is in the report."""
        value = document.part(base)
        if not isinstance(value, dict):
            return document
        for key in (key for key in KEYS if key in value):
            self._refuse_in_strict(ValueOrigin(document, (*base, key)), key)
        body = {key: item for key, item in value.items() if key not in KEYS}
        if isinstance(body.get("fields"), list):
            at = (*base, "fields")
            body["fields"] = self._fields(body["fields"], ExpansionFrame(document, self._scope), at, len(at))
        return document.with_value(replaced(document.value, base, body))

    def group(self, definition: Definition) -> Document | None:
        """Return a schema with the fields of a group alone, at the path (); None if it needs arguments."""
        if any(parameter.is_required for parameter in definition.group.parameters.values()):
            return None
        frame = ExpansionFrame(definition.document, self._scope, (definition,), arguments_of(definition, {}))
        schema = MappingNode()
        fields = self._of_group(definition, frame, 1)
        schema.put("fields", fields, ValueOrigin(definition.document, (*definition.path, "fields")))
        return definition.document.with_value(schema)

    def _fields(self, fields: list[Any], frame: ExpansionFrame, path: TreePath, depth: int) -> SequenceNode:
        """Return the fields at `path` of the text, which come to be at a depth."""
        expanded = SequenceNode()
        for i, item in enumerate(fields):
            here = (*path, i)
            if isinstance(item, dict) and "use" in item:
                expanded.extend(self._used(item, frame, here, depth))
            elif not self._is_slip(item, frame, here):
                field, origin = self._copy(item, frame, here, depth + 1)
                expanded.put(field, origin or frame.origin(here))
        return expanded

    def _of_group(self, definition: Definition, frame: ExpansionFrame, depth: int) -> SequenceNode:
        """Return the fields of a group, with the attributes that they have from it."""
        fields = self._fields(definition.group.fields, frame, (*definition.path, "fields"), depth)
        extra = {key: value for key, value in definition.group.extra.items() if is_inherited(key)}
        here = (*definition.path, "extra")
        for i, field in enumerate(fields if extra else ()):
            field_extra = field.get("extra", {}) if isinstance(field, dict) else None
            if not isinstance(field_extra, dict):
                continue
            both = MappingNode(field_extra)
            for key, value in extra.items():
                if key in field_extra:
                    both[key] = merged(key, value, field_extra[key])
                else:
                    at = (*here, key)
                    value, origin = self._copy(value, frame, at, depth + 3, is_type=False)
                    both.put(key, value, origin or frame.origin(at))
            fields[i] = MappingNode(field)
            fields[i].put("extra", both, None if field_extra else frame.origin(here))
        return fields

    def _is_slip(self, item: Any, frame: ExpansionFrame, here: TreePath) -> bool:
        """Whether an item is a use whose key is misspelled; if so, it is in the report."""
        if not isinstance(item, dict) or {"name", "type"} & item.keys():
            return False
        near = next((key for key in item if closest(key, ("use",), WORDS.keys) == "use"), None)
        if near is None:
            return False
        message = f"the key `{near}` does not belong here"
        help = Help.did_you_mean("use", near, WORDS.keys)
        self._add(frame.origin((*here, near)), codes.UNKNOWN_KEY, message, help=help, on_key=True)
        return True

    def _copy(
        self, value: Any, frame: ExpansionFrame, path: TreePath, depth: int, *, is_type: bool = True
    ) -> tuple[Any, ValueOrigin | None]:
        """Return a value with the arguments in it, and the groups in its structs; and its origin if it is an argument."""
        self._count += 1
        if isinstance(value, str) and frame.arguments and "$" in value:
            return self._text(value, frame, path)
        if not isinstance(value, dict | list):
            return value, None
        if depth > MAX_DEPTH:
            message = f"the groups that are used here nest more than {MAX_DEPTH} levels deep"
            self._add(frame.origin(path), codes.TOO_DEEP, message, help="flatten the schema")
            return None, None
        if isinstance(value, list):
            items = SequenceNode()
            for i, item in enumerate(value):
                items.put(*self._copy(item, frame, (*path, i), depth + 1, is_type=is_type))
            return items, None
        copy = MappingNode()
        for key, item in value.items():
            at = (*path, key)
            if is_type and key == "fields" and isinstance(item, list):
                copy[key] = self._fields(item, frame, at, depth + 1)
            else:
                # What stands in attributes is nobody's struct.
                is_type_inside = is_type and key != "extra"
                copy.put(key, *self._copy(item, frame, at, depth + 1, is_type=is_type_inside))
        return copy, None

    def _text(self, text: str, frame: ExpansionFrame, path: TreePath) -> tuple[Any, ValueOrigin | None]:
        """Return a text with the arguments in it; one that is a parameter and nothing else is the argument itself."""
        argument = _argument_named(text, frame)
        if argument is not None:
            via = Via(f"used as {text} in group '{frame.groups[-1].name}'", frame.document, path)
            self._count += argument.size
            return argument.value, argument.origin._replace(via=(via, *argument.origin.via))
        parts: list[str] = []
        end = 0
        for match in PLACEHOLDER.finditer(text):
            parts.append(text[end : match.start()])
            end = match.end()
            parts.append("$(" if match[1] is None else self._part(match[1], frame, path))
        made = "".join([*parts, text[end:]])
        self._count += len(made) // _LETTERS
        return made, None

    def _part(self, name: str, frame: ExpansionFrame, path: TreePath) -> str:
        """Return an argument as a part of a text."""
        argument = frame.arguments.get(name)
        if argument is None:
            # What is no parameter is said where the group is defined.
            return ""
        if isinstance(argument.value, str | int) and not isinstance(argument.value, bool):
            return str(argument.value)
        here = Via(f"used in this text of group '{frame.groups[-1].name}'", frame.document, path)
        origin = argument.origin._replace(via=(here, *argument.origin.via))
        message = f"`{name}` is a part of a longer text, so it has to be a text or a whole number, not "
        self._add(origin, codes.INVALID_ARGUMENT, message + sort_of(argument.value))
        return ""

    def _argument(self, value: Any, frame: ExpansionFrame, path: TreePath) -> Argument:
        """Return an argument of a use, which may contain parameters of the enclosing group."""
        argument = _argument_named(value, frame) if isinstance(value, str) else None
        if argument is not None:
            return argument
        before = self._count
        copy, _ = self._copy(value, frame, path, 1, is_type=False)
        return Argument(copy, frame.origin(path), self._count - before)

    def _used(self, item: Json, frame: ExpansionFrame, here: TreePath, depth: int) -> SequenceNode:
        """Return the fields that replace a use."""
        self._refuse_in_strict(frame.origin((*here, "use")), "use")
        try:
            use = Use.model_validate(item, by_name=False)
        except ValidationError as error:
            for e in model_errors(error, Use, item, WORDS):
                self._add(frame.origin((*here, *e.path)), e.code, e.message, help=e.help, on_key=e.on_key)
            return SequenceNode()
        known = frame.scope.find(use.use)
        if not frame.scope.is_sound(use.use):
            # What is wrong with it is said where it is defined.
            self.is_whole = False
            return SequenceNode()
        if known is None:
            self._report_unknown(use.use, frame, here)
            return SequenceNode()
        definition, scope = known
        if not self._may_enter(definition, frame, here):
            return SequenceNode()
        values = {n: self._argument(v, frame, (*here, "with", n)) for n, v in use.arguments.items()}
        if not self._fit(definition, values, frame.origin(here)):
            return SequenceNode()
        via = Via(f"in group '{definition.name}', used here", frame.document, (*here, "use"))
        groups, arguments = (*frame.groups, definition), arguments_of(definition, values)
        inner = ExpansionFrame(definition.document, scope, groups, arguments, (via, *frame.via))
        return self._of_group(definition, inner, depth)

    def _fit(self, definition: Definition, values: Mapping[str, Argument], use: ValueOrigin) -> bool:
        """Whether a use has the arguments that a group needs and no others; what is wrong with them is in the report."""
        parameters = definition.group.parameters
        unknown = [name for name in values if name not in parameters]
        for name in unknown:
            near = closest(name, [free for free in parameters if free not in values])
            help = Help.did_you_mean(near, name) if near else f"its parameters are {', '.join(parameters)}"
            help = help if parameters else Help.remove(": the group has no parameters")
            message = f"the group '{definition.name}' has no parameter `{name}`"
            self._add(use.child("with", name), codes.INVALID_ARGUMENT, message, help=help, on_key=True)
            if near:
                # It is the one that is missing.
                return False
        missing = [n for n, parameter in parameters.items() if n not in values and parameter.is_required]
        if missing:
            names = " and ".join(f"`{name}`" for name in missing)
            entries = ", ".join(f"{name}: …" for name in missing)
            help = f"add `{entries}` to `with:`" if values else f"write `with: {{{entries}}}` below it"
            message = f"the group '{definition.name}' needs {names}"
            self._add(use.child("use"), codes.INVALID_ARGUMENT, message, help=help)
        return not (unknown or missing)

    def _may_enter(self, definition: Definition, frame: ExpansionFrame, here: TreePath) -> bool:
        """Whether a group may be used; not in itself, nor where groups have made too much already."""
        names = [group.name for group in frame.groups]
        if any(group is definition for group in frame.groups):
            way = " → ".join([*names[names.index(definition.name) :], definition.name])
            code, message = codes.REUSE_CYCLE, f"the group contains itself: {way}"
            help = Help.remove_item("remove this use")
        elif len(names) >= _MOST_GROUPS:
            code, message = codes.TOO_DEEP, f"groups are nested more than {_MOST_GROUPS} levels deep"
            help = "write the fields out"
        elif self._count > MAX_VALUES:
            code, message = codes.ALIAS_BOMB, f"groups expand to more than {MAX_VALUES:,} values"
            help = "write the fields out, or use fewer groups in groups"
        else:
            return True
        self._add(frame.origin((*here, "use")), code, message, help=help)
        return False

    def _report_unknown(self, name: str, frame: ExpansionFrame, here: TreePath) -> None:
        """Report a use of a group that is not there; nothing if an import could not be read, which may have it."""
        if not frame.scope.is_whole:
            self.is_whole = False
            # It may well stand in the file that cannot be read.
            return
        names = list(frame.scope.known)
        known = f"the groups here are {', '.join(names)}" if names else ""
        others = known or "write `imports:` with the file that has it"
        help = Help.nearest(name, names, f"{others}, or define it under `groups:`")
        origin = frame.origin((*here, "use"))
        self._add(origin, codes.UNKNOWN_GROUP, f"there is no group '{name}'", help=help)

    def _refuse_in_strict(self, origin: ValueOrigin, key: str) -> None:
        """Report in strict mode that the standard has no such key."""
        if self._is_strict:
            help = "`schemac expand` writes the manifest in the standard's form"
            self._add(origin, codes.FRIENDLY_FORM, f"the standard has no `{key}`", help=help, on_key=True)

    def _add(
        self, origin: ValueOrigin, code: Code, message: str, *, help: str = "", on_key: bool = False
    ) -> None:
        """Report a finding where something was written, and mark the expansion as not whole."""
        self.is_whole = False
        self._report.add(code, message, location=origin.location(on_key=on_key), help=help)


def _argument_named(text: str, frame: ExpansionFrame) -> Argument | None:
    """Return the argument of a text that is a parameter and nothing else."""
    name = PLACEHOLDER.fullmatch(text)
    return frame.arguments.get(name[1]) if name is not None else None


def replaced(value: Any, path: TreePath, new: Any) -> Any:
    """Return a value with another one at a path."""
    if not path:
        return new
    step, *rest = path
    copy = value.copy()
    copy[step] = replaced(value[step], tuple(rest), new)
    return copy
