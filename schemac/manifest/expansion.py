"""Groups into the schemas that use them.

Layer: manifest.
Shape: plain values in, plain values out, before anything else is made of them; the rest of the compiler knows no groups. What
comes from a group keeps its place there, with the places that lead to it.
Errors: SC231 unknown-group, SC233 reuse-cycle, SC236 invalid-argument, SC110 and SC111 for groups that grow without end, and
SC202 to SC204 of a use.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from schemac.manifest.arguments import Argument, arguments_of, mistakes_of
from schemac.manifest.expanded import ExpandedDocument, Graft, Via, replaced
from schemac.manifest.groups import KEYS, PLACEHOLDER, WORDS, Definition, Use
from schemac.manifest.inherited import is_inherited, merged
from schemac.manifest.library import Scope
from schemac.source.catalogue import (
    ALIAS_BOMB,
    FRIENDLY_FORM,
    INVALID_ARGUMENT,
    REUSE_CYCLE,
    TOO_DEEP,
    UNKNOWN_GROUP,
    UNKNOWN_KEY,
)
from schemac.source.diagnostic import Code
from schemac.source.json_object import Json
from schemac.source.report import Report
from schemac.source.suggest import closest
from schemac.syntax.complaints import complaints, sort_of
from schemac.syntax.compose import MAX_DEPTH
from schemac.syntax.document import Document, TreePath
from schemac.syntax.remedies import Meant
from schemac.syntax.remedies_within import RemoveItem

MAX_VALUES = 1_000_000
"""Values of one schema that groups may make."""
_MOST_GROUPS = 30
"""Groups inside groups."""
_LETTERS = 64
"""Code points of a text that count as one value."""
_NOWHERE: TreePath = ("",)
"""Where an argument is before it is put somewhere."""


class Frame(NamedTuple):
    """What a text of fields is read in."""

    document: Document
    scope: Scope
    groups: tuple[Definition, ...] = ()
    """The groups around it, outermost first."""
    arguments: Mapping[str, Argument] | None = None
    """Those of the innermost group; None outside of groups with parameters."""
    via: tuple[Via, ...] = ()

    def graft(self, path: TreePath) -> Graft:
        """Return a place in this text."""
        return Graft(self.document, path, self.via)


class Expander:
    """Expands the schemas of one document."""

    def __init__(self, scope: Scope, report: Report, *, is_strict: bool = False) -> None:
        self._scope = scope
        self._report = report
        self._is_strict = is_strict
        self._grafts: dict[TreePath, Graft] = {}
        self._count = 0
        self.is_whole = True
        """Whether all groups could be put in."""

    def expand(self, document: Document, base: TreePath) -> Document:
        """Return the document with one of its schemas expanded; what is wrong is in the report."""
        value: Any = document.value
        for segment in base:
            value = value[segment]
        if not isinstance(value, dict) or not (
            _has_use(value.get("fields")) or any(k in value for k in KEYS)
        ):
            return document
        for key in (key for key in KEYS if key in value):
            self._refuse_in_strict(Graft(document, (*base, key)), key)
        body = {key: item for key, item in value.items() if key not in KEYS}
        if isinstance(body.get("fields"), list):
            at = (*base, "fields")
            body["fields"] = self._fields(body["fields"], Frame(document, self._scope), at, at)
        return ExpandedDocument(document, replaced(document.value, base, body), self._grafts)

    def group(self, definition: Definition) -> Document | None:
        """Return a schema with the fields of a group alone, at the path (); None if it needs arguments."""
        group, at = definition.group, ("fields",)
        if any(parameter.is_required for parameter in group.parameters.values()):
            return None
        arguments = arguments_of(definition, {}) if group.parameters else None
        frame = Frame(definition.document, self._scope, (definition,), arguments)
        fields = self._of_group(definition, frame, at, 0)
        self._grafts[at] = Graft(definition.document, (*definition.path, "fields"))
        return ExpandedDocument(definition.document, {"fields": fields}, self._grafts)

    def _fields(
        self, fields: list[Any], frame: Frame, path: TreePath, at: TreePath, start: int = 0
    ) -> list[Any]:
        """Return the fields at `path` of the text, which come to be at `at` behind the first `start` ones."""
        found: list[Any] = []
        for i, item in enumerate(fields):
            here, place = (*path, i), (*at, start + len(found))
            if isinstance(item, dict) and "use" in item:
                found += self._used(item, frame, here, at, start + len(found))
            elif not self._is_slip(item, frame, here):
                self._grafts[place] = frame.graft(here)
                found.append(self._value(item, frame, here, place))
        return found

    def _of_group(self, definition: Definition, frame: Frame, at: TreePath, start: int) -> list[Any]:
        """Return the fields of a group, with the attributes that they have from it."""
        fields = self._fields(definition.group.fields, frame, (*definition.path, "fields"), at, start)
        extra = {key: value for key, value in definition.group.extra.items() if is_inherited(key)}
        for i, field in enumerate(fields if extra else ()):
            own = field.get("extra", {}) if isinstance(field, dict) else None
            if not isinstance(own, dict):
                continue
            place, here = (*at, start + i, "extra"), (*definition.path, "extra")
            if not own:
                self._grafts[place] = frame.graft(here)
            both = dict(own)
            for key, value in extra.items():
                if key not in own:
                    self._grafts[(*place, key)] = frame.graft((*here, key))
                    value = self._value(value, frame, (*here, key), (*place, key), is_type=False)
                both[key] = merged(key, value, own[key]) if key in own else value
            fields[i] = {**field, "extra": both}
        return fields

    def _is_slip(self, item: Any, frame: Frame, here: TreePath) -> bool:
        """Whether an item is a use whose key is misspelled; if so, it is in the report."""
        if not isinstance(item, dict) or {"name", "type"} & item.keys():
            return False
        near = next((key for key in item if closest(key, ("use",), WORDS.keys) == "use"), None)
        if near is None:
            return False
        message = f"the key `{near}` does not belong here"
        help = Meant.word("use", near, WORDS.keys)
        self._say(frame.graft((*here, near)), UNKNOWN_KEY, message, help=help, on_key=True)
        return True

    def _value(self, value: Any, frame: Frame, path: TreePath, at: TreePath, *, is_type: bool = True) -> Any:
        """Return a value with the arguments in it, and the groups in its structs."""
        self._count += 1
        if isinstance(value, str):
            return (
                self._text(value, frame, path, at) if frame.arguments is not None and "$" in value else value
            )
        if not isinstance(value, dict | list):
            return value
        if len(at) > MAX_DEPTH:
            message = f"the groups that are used here nest more than {MAX_DEPTH} levels deep"
            self._say(frame.graft(path), TOO_DEEP, message, help="flatten the schema")
            return None
        if isinstance(value, list):
            return [
                self._value(item, frame, (*path, i), (*at, i), is_type=is_type)
                for i, item in enumerate(value)
            ]
        found: Json = {}
        for key, item in value.items():
            if is_type and key == "fields" and isinstance(item, list):
                found[key] = self._fields(item, frame, (*path, key), (*at, key))
            else:
                # What stands in attributes is nobody's struct.
                inside = is_type and key != "extra"
                found[key] = self._value(item, frame, (*path, key), (*at, key), is_type=inside)
        return found

    def _text(self, text: str, frame: Frame, path: TreePath, at: TreePath) -> Any:
        """Return a text with the arguments in it; one that is a parameter and nothing else is the argument itself."""
        arguments = frame.arguments
        assert arguments is not None
        whole = PLACEHOLDER.fullmatch(text)
        if whole is not None and whole[1] in arguments:
            argument = arguments[whole[1]]
            via = Via(f"used as $({whole[1]}) in group '{frame.groups[-1].name}'", frame.document, path)
            self._grafts[at] = Graft(argument.document, argument.path, (via, *argument.via))
            self._count += argument.size
            return argument.value
        parts: list[str] = []
        end = 0
        for match in PLACEHOLDER.finditer(text):
            parts.append(text[end : match.start()])
            end = match.end()
            parts.append("$(" if match[1] is None else self._part(match[1], frame, path))
        made = "".join([*parts, text[end:]])
        self._count += len(made) // _LETTERS
        return made

    def _part(self, name: str, frame: Frame, path: TreePath) -> str:
        """Return an argument as a part of a text."""
        assert frame.arguments is not None
        argument = frame.arguments.get(name)
        if argument is None:
            # What is no parameter is said where the group is defined.
            return ""
        if isinstance(argument.value, str | int) and not isinstance(argument.value, bool):
            return str(argument.value)
        here = Via(f"used in this text of group '{frame.groups[-1].name}'", frame.document, path)
        place = Graft(argument.document, argument.path, (here, *argument.via))
        message = f"`{name}` is a part of a longer text, so it has to be a text or a whole number, not "
        self._say(place, INVALID_ARGUMENT, message + sort_of(argument.value))
        return ""

    def _argument(self, value: Any, frame: Frame, path: TreePath) -> Argument:
        """Return what a use says, which may name the parameters of the group around it."""
        whole = (
            PLACEHOLDER.fullmatch(value) if isinstance(value, str) and frame.arguments is not None else None
        )
        if whole is not None and frame.arguments is not None and whole[1] in frame.arguments:
            return frame.arguments[whole[1]]
        before = self._count
        found = self._value(value, frame, path, _NOWHERE, is_type=False)
        return Argument(found, frame.document, path, frame.via, self._count - before)

    def _used(self, item: Json, frame: Frame, here: TreePath, at: TreePath, start: int) -> list[Any]:
        """Return the fields that a use stands for."""
        self._refuse_in_strict(frame.graft((*here, "use")), "use")
        try:
            use = Use.model_validate(item, by_name=False)
        except ValidationError as error:
            for found in complaints(error, Use, item, WORDS):
                place = frame.graft((*here, *found.path))
                self._say(place, found.code, found.message, help=found.help, on_key=found.on_key)
            return []
        known = frame.scope.find(use.use)
        if not frame.scope.is_sound(use.use):
            # What is wrong with it is said where it is defined.
            self.is_whole = False
            return []
        if known is None:
            self._report_unknown(use.use, frame, here)
            return []
        definition, scope = known
        if not self._may_enter(definition, frame, here):
            return []
        given = {n: self._argument(v, frame, (*here, "with", n)) for n, v in use.arguments.items()}
        mistakes = list(mistakes_of(definition, given))
        for mistake in mistakes:
            place = frame.graft((*here, *mistake.at))
            self._say(
                place, INVALID_ARGUMENT, mistake.message, help=mistake.help, on_key=len(mistake.at) == 2
            )
        if mistakes:
            return []
        arguments = arguments_of(definition, given) if definition.group.parameters else None
        via = Via(f"in group '{definition.name}', used here", frame.document, (*here, "use"))
        inner = Frame(definition.document, scope, (*frame.groups, definition), arguments, (via, *frame.via))
        return self._of_group(definition, inner, at, start)

    def _may_enter(self, definition: Definition, frame: Frame, here: TreePath) -> bool:
        """Whether a group may be used; not in itself, nor where groups have made too much already."""
        place = frame.graft((*here, "use"))
        names = [group.name for group in frame.groups]
        if any(group is definition for group in frame.groups):
            way = " → ".join([*names[names.index(definition.name) :], definition.name])
            self._say(
                place,
                REUSE_CYCLE,
                f"the group contains itself: {way}",
                help=RemoveItem("remove this use"),
            )
            return False
        if len(names) >= _MOST_GROUPS:
            message = f"groups are nested more than {_MOST_GROUPS} levels deep"
            self._say(place, TOO_DEEP, message, help="write the fields out")
            return False
        if self._count > MAX_VALUES:
            message = f"groups expand to more than {MAX_VALUES:,} values"
            self._say(place, ALIAS_BOMB, message, help="write the fields out, or use fewer groups in groups")
            return False
        return True

    def _report_unknown(self, name: str, frame: Frame, here: TreePath) -> None:
        if not frame.scope.is_whole:
            self.is_whole = False
            # It may well stand in the file that cannot be read.
            return
        names = frame.scope.names
        near = closest(name, names)
        others = (
            f"the groups here are {', '.join(names)}"
            if names
            else "write `imports:` with the file that has it"
        )
        help = Meant.word(near, name) if near else f"{others}, or define it under `groups:`"
        place = frame.graft((*here, "use"))
        self._say(place, UNKNOWN_GROUP, f"there is no group '{name}'", help=help)

    def _refuse_in_strict(self, graft: Graft, key: str) -> None:
        if self._is_strict:
            help = "`schemac expand` writes the manifest in the standard's form"
            self._say(graft, FRIENDLY_FORM, f"the standard has no `{key}`", help=help, on_key=True)

    def _say(self, graft: Graft, code: Code, message: str, *, help: str = "", on_key: bool = False) -> None:
        self.is_whole = False
        place = graft.document.place(graft.path, on_key=on_key)
        labels = (*place.labels, *[via.label for via in graft.via])
        self._report.add(code, message, spot=place._replace(labels=labels), help=help)


def _has_use(fields: Any) -> bool:
    """Whether a list of fields may have a group in it, at any depth."""
    if not isinstance(fields, list):
        return False
    for item in fields:
        if item.__class__ is dict:
            if "use" in item or "name" not in item:
                return True
            type_ = item.get("type")
            if type_.__class__ is dict and len(type_) > 1 and _has_use_inside(type_):
                return True
    return False


def _has_use_inside(type_: Json) -> bool:
    for key, item in type_.items():
        if item.__class__ is dict and key != "extra" and _has_use_inside(item):
            return True
        if item.__class__ is list and key == "fields" and _has_use(item):
            return True
    return False
