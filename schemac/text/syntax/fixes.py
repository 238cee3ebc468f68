"""The edits of the fixes that helps name.

Layer: text.
Shape: one method for each name, with the arguments of its `Help`. It goes from the entry of the finding to what is around it or in it, and
gives up where that is not certain, is shared by an alias, or is written on several lines and has to move.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TypeVar

from schemac.text.source.diagnostics import Edit, Fix, Span
from schemac.text.source.phrases import Help, quoted
from schemac.text.syntax.entries import Collection, Entry, EntryLocation
from schemac.text.syntax.events import written

T = TypeVar("T")

_OPTIONAL_KEYS = frozenset({"extra", "imports", "with", "groups", "parameters", "options", "rules"})
"""Keys that are removed too where nothing is left below them."""
_NAMED = re.compile(r"(?:^|[\s\[{,:-])[&*!][^\s]")
"""An anchor, an alias or a tag."""
_TAG = re.compile(r"![^\s,\[\]{}]*[ \t]+(?=[^\s#])")
_ESCAPES = dict(zip("\0\a\b\t\n\v\f\r\x1b\x85", "0abtnvfreN", strict=True))
"""Characters that YAML has an escape of one letter for."""


class _NoFixError(Exception):
    """The text is written in a way that edits would damage."""


def fix_of(help: Help, finding: EntryLocation) -> Fix | None:
    """Return the fix that a help names for the finding at a location; None where edits would damage the text there."""
    edits = _Edits(help, finding)
    try:
        getattr(edits, help.fix_name)(**help.arguments)
    except _NoFixError:
        return None
    source = finding.source
    replaced = tuple(Edit(source.name, *source.region(span), text) for span, text in edits.edits)
    return Fix(str(help), replaced, help.is_safe and not edits.lose_comments) if replaced else None


def _need(value: T | None) -> T:
    """Return the value; None is refused with _NoFixError, which ends the fix."""
    if value is None:
        raise _NoFixError
    return value


def _refuse_if(condition: object) -> None:
    """Give the fix up if a condition holds."""
    if condition:
        raise _NoFixError


class _Edits:
    """The edits of one fix: the method with its name makes them."""

    def __init__(self, help: Help, finding: EntryLocation) -> None:
        self.help = help
        self.finding = finding
        self.content = finding.source.content
        self.edits: list[tuple[Span, str]] = []
        self.lose_comments = False

    @property
    def entry(self) -> Entry:
        """The entry of the finding, or the one around it."""
        return _need(self.finding.entry)

    @property
    def exact_entry(self) -> Entry:
        """The entry of the finding itself."""
        _refuse_if(not self.finding.is_exact)
        return self.entry

    def text(self, span: Span) -> str:
        """Return what is written in a span."""
        return self.finding.source.excerpt(span)

    def line(self, span: Span) -> str:
        """Return the same, which has to be on one line."""
        text = self.text(span)
        _refuse_if("\n" in text)
        return text

    def replace(self, span: Span, text: str) -> None:
        """Replace a span by a text. Refused if the value comes from an alias or an argument."""
        old, entry = self.text(span), self.finding.entry
        _refuse_if(old == text or not old or (entry is not None and entry.is_shared) or "$(" in old)
        # An alias elsewhere may stand for what goes, or what stands there is not what it says.
        _refuse_if(_NAMED.search(old))
        self.edits.append((span, text))
        self.lose_comments |= "#" in old

    def without(self, entry: Entry | None) -> Span:
        """Return what to take out so that an entry is gone."""
        _refuse_if(entry is None or entry.is_shared)
        return _need(_need(entry).removal(self.content))

    def without_attribute(self, entry: Entry) -> Span:
        """Return what to take out so that an attribute is gone, and with it an `extra` that has no other."""
        parent = entry.within.holder
        is_only = len(entry.within.entries) == 1 and parent is not None and parent.key == "extra"
        return self.without(parent if is_only else entry)

    def append(self, mapping: Collection, *pairs: str) -> Span:
        """Append keys with their values to a mapping; return the empty span where they are put."""
        content = self.content
        first, last = mapping.entries[0], mapping.entries[-1]
        at = last.span.end
        if mapping.is_flow:
            text = "".join(f", {pair}" for pair in pairs)
        else:
            line = content.rfind("\n", 0, first.span.start) + 1
            is_line_end = content[at - 1 : at] == "\n"
            indent = " " * (first.span.start - line)
            text = "".join(f"{indent}{pair}\n" if is_line_end else f"\n{indent}{pair}" for pair in pairs)
            rest = content[at : content.find("\n", at) if "\n" in content[at:] else len(content)]
            if not is_line_end and rest.strip():
                # The comment at the end of the line stays there.
                at += len(rest.rstrip("\r"))
        self.edits.append((Span(at, at), text))
        return Span(at, at)

    def put_below(self, mapping: Collection, keys: Sequence[str], value: str) -> Span:
        """Write a value below keys, and those keys that are not there yet; return where."""
        key, *others = keys
        entry = mapping.get(key)
        if entry is None:
            for name in reversed(others):
                value = f"{{{written(name)}: {value}}}"
            _refuse_if(not mapping.entries)
            return self.append(mapping, f"{written(key)}: {value}")
        _refuse_if(entry.is_shared)
        if others:
            return self.put_below(_need(entry.inside), others, value)
        _refuse_if(entry.inside is not None)
        self.replace(entry.value, value)
        return entry.value

    # The fixes, by the names that helps have for them.

    def write(self, text: str, key: str = "") -> None:
        """Write a text in the place of what the finding underlines, which has to be a scalar, of this key if one is named."""
        finding, entry = self.finding, self.finding.entry
        _refuse_if(entry is not None and entry.inside is not None and finding.span == entry.value)
        _refuse_if(not finding.is_exact and (key or entry is None))
        _refuse_if(key and (entry is None or entry.key != key))
        self.replace(finding.span, text)

    def write_type(self, text: str) -> None:
        """Write a type; with the finding at its `kind`, the whole mapping is the type."""
        finding, entry = self.finding, self.finding.entry
        if finding.is_exact and entry is not None and entry.key == "kind":
            self.replace(entry.within.span, text)
            return
        inside = entry.inside if entry is not None and not finding.is_exact else None
        _refuse_if(inside is not None and any(child.key is not None for child in inside.entries))
        self.replace(finding.span, text)

    def write_text(self, text: str) -> None:
        """Write a text in the place of what the finding underlines, in quotes if it needs them."""
        self.write(written(text, self.text(self.finding.span)))

    def did_you_mean(self, near: str, instead_of: str) -> None:
        """Write a word in the place of the other one, which may be the name after a domain; refused where it is there already."""
        finding = self.finding
        if (entry := finding.entry) is not None and finding.span.start == entry.span.start:
            _refuse_if(near in entry.within.words(self.content))
        old = self.text(finding.span)
        word = old[1:-1] if old[:1] in ("'", '"') else old
        if word == instead_of:
            self.write(written(near, old))
            return
        domain = word.removesuffix(f"/{instead_of}")
        self.write(old if domain == word else old.replace(word, f"{domain}/{near}"))

    def did_you_mean_part(self, near: str, instead_of: str, is_in_key: bool) -> None:
        """Write a word in the place of another one that is in the underlined text once."""
        entry = self.exact_entry
        _refuse_if(entry.is_shared)
        span = self.finding.span if is_in_key else entry.value
        before = r"(?<![\w`])" if is_in_key else r"(?<![\w.`])"
        matches = list(re.finditer(rf"{before}{re.escape(instead_of)}(?![\w`])", self.text(span)))
        _refuse_if(len(matches) != 1)
        start = span.start + matches[0].start()
        self.edits.append((Span(start, start + len(instead_of)), near))

    def quote(self) -> None:
        """Write a value in quotes."""
        old = self.text(self.finding.span)
        is_scalar = old.isprintable() and old[:1] not in ("[", "{", "'", '"', "|", ">") and ": " not in old
        self.write(quoted(old) if is_scalar else old)

    def rewrite(self, text: str) -> None:
        """Write another text as the value of the finding's key, whether the key is underlined or the value."""
        entry = self.exact_entry
        _refuse_if(entry.inside)
        self.replace(entry.value, written(text, self.text(entry.value)))

    def remove(self) -> None:
        """Take out the finding's key with its value, or the item; with an attribute that lists nothing else."""
        entry: Entry | None = self.exact_entry
        while entry is not None and len(entry.within.entries) == 1:
            parent = entry.within.holder
            is_list = entry.key is None and not self.help.is_safe
            goes = parent is not None and (
                parent.key in _OPTIONAL_KEYS or (is_list and "/" in (parent.key or ""))
            )
            entry = parent if goes else None
        self.replace(self.without(entry), "")

    def remove_item(self) -> None:
        """Take out the item of a list that the finding's key is in; the only item stays."""
        item = _need(self.exact_entry.within.holder)
        _refuse_if(item.key is not None)
        self.replace(self.without(item), "")

    def remove_tag(self) -> None:
        """Take out the tag before a value."""
        tag = _need(_TAG.match(self.content, self.finding.span.start))
        self.edits.append((Span(tag.start(), tag.end()), ""))

    def remove_character(self, character: str) -> None:
        """Remove a control character from a text in double quotes, if its escape occurs once."""
        _refuse_if(self.exact_entry.inside)
        old, number = self.text(self.finding.span), ord(character)
        # Pairs before it are backslashes.
        lead = r"(?<!\\)(?:\\\\)*"
        forms = rf"{lead}(\\(?:x{number:02x}|u{number:04x}|U{number:08x}))"
        matches = list(re.finditer(forms, old, re.IGNORECASE))
        if short := _ESCAPES.get(character):
            matches += re.finditer(rf"{lead}(\\{short})", old)
        _refuse_if(not old.startswith('"') or len(matches) != 1)
        start = self.finding.span.start
        self.replace(Span(start + matches[0].start(1), start + matches[0].end(1)), "")

    def remove_property(self, key: str) -> None:
        """Take a property out of the type; refused where only the kind would be left, whose name alone would do."""
        self.replace(self.without(self.entry.within.get(key)), "")

    def remove_attribute(self, key: str, part: str, is_around: bool) -> None:
        """Take out an attribute of the field or type that the finding is about; with `extra:` if nothing else is there."""
        attributes = self.entry.attributes(key, is_far=is_around)
        has_part = (a for a in attributes if not is_around or (a.inside is not None and a.inside.get(part)))
        entry: Entry | None = _need(next(has_part, None))
        inside = entry.inside if entry is not None else None
        if part and inside is not None and len(inside.entries) > 1:
            entry = inside.get(part)
        elif entry is not None and len(entry.within.entries) == 1:
            entry = entry.within.holder
        self.replace(self.without(entry), "")

    def make_optional(self) -> None:
        """Wrap the type in an Option, and remove the flag of nullability beside it."""
        flag = self.exact_entry
        type_ = _need(flag.within.get("type"))
        span = self.without(flag)
        _refuse_if(type_.is_shared or span.start < type_.value.end <= span.end)
        self.replace(type_.value, f"{{kind: Option, inner: {self.line(type_.value)}}}")
        self.replace(span, "")

    def make_required(self, levels: int) -> None:
        """Take the Option around the type of a field away."""
        type_ = _need(self.entry.type)
        for _ in range(levels):
            type_ = _need(type_.outer_type)
            # An Option has its type inside of another one.
            while type_.key == "inner":
                type_ = _need(type_.outer_type)
        inner = type_.inside_option
        _refuse_if(type_.is_shared or inner is type_)
        self.replace(type_.value, self.line(inner.value))

    def unwrap(self) -> None:
        """Write the type inside an Option in its place; the Option may be what is underlined, or what that is in."""
        entry = self.exact_entry
        inner = (entry.inside.get("inner") if entry.inside is not None else None) or entry.within.get("inner")
        _refuse_if(inner is None or inner.is_shared)
        self.replace(_need(inner).within.span, self.line(_need(inner).value))

    def retype(self, key: str, text: str) -> None:
        """Write another type, or a property of the type, for the field or item that the finding is about."""
        if self.entry.key == key != "type":
            self.replace(self.entry.value, text)
            return
        type_ = _need(self.entry.type).inside_option
        if key == "type":
            self.replace(type_.value, text)
        elif type_.inside is None:
            self.replace(type_.value, f"{{kind: {self.text(type_.value)}, {key}: {text}}}")
        elif (property_ := type_.inside.get(key)) is not None:
            self.replace(property_.value, text)
        else:
            self.put_below(type_.inside, (key,), text)

    def retype_with_attributes(self, text: str, attributes: Mapping[str, str]) -> None:
        """Write another type, of a field that has its type alone in `type`, and attributes beside the name of the field."""
        entry = _need(self.entry.type)
        _refuse_if(entry.key != "type")
        self.replace(entry.value, text)
        if entry.within.get("extra") is None:
            pairs = ", ".join(f"{written(key)}: {value}" for key, value in attributes.items())
            put = self.put_below(entry.within, ("extra",), f"{{{pairs}}}")
        else:
            _refuse_if(len(attributes) != 1)
            ((key, value),) = attributes.items()
            put = self.put_below(entry.within, ("extra", key), value)
        _refuse_if(entry.next is None and put.start < entry.value.end)

    def swap_attribute(self, key: str, pair: str, type_: str) -> None:
        """Write a pair in the place of an attribute, and the type that it is for."""
        entry = _need(next(self.entry.attributes(key), None))
        old_type = _need(entry.type).inside_option
        _refuse_if(entry.is_shared)
        self.replace(entry.span, pair)
        if self.text(old_type.value) != type_:
            self.replace(old_type.value, type_)

    def add_key(self, key: str, value: str) -> None:
        """Write a key in the mapping that the finding is about, or beside the key that it is at."""
        root, entry = self.finding.root, self.finding.entry
        mapping = _need(root if entry is None else entry.inside if entry.key is None else entry.within)
        _refuse_if(not mapping.entries or mapping.entries[0].key is None)
        _refuse_if(mapping.get(key) is not None or mapping.entries[0].is_shared)
        self.append(mapping, f"{key}: {value}")

    def add_keys(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Write keys beside the finding's: one that is there gets the value, the others follow the last one."""
        entry = self.entry
        mapping = _need(entry.within if self.finding.is_exact else entry.inside)
        _refuse_if(entry.is_shared or not mapping.entries or mapping.entries[0].key is None)
        for key, value in pairs:
            known = mapping.get(key)
            if known is not None and known.inside is None and not known.is_shared:
                with suppress(_NoFixError):
                    self.replace(known.value, value)
        missing = [f"{written(key)}: {value}" for key, value in pairs if mapping.get(key) is None]
        if missing:
            self.append(mapping, *missing)

    def add_attribute(self, key: str, value: str) -> None:
        """Write an attribute under the `extra:` of the field that the finding is about."""
        field = _need(next((entry for entry in self.entry.enclosing() if entry.within.is_field), None))
        _refuse_if(field.is_shared)
        self.put_below(field.within, ("extra", key), value)

    def add_to_schema(self, keys: Sequence[str], pairs: Sequence[tuple[str, str]]) -> None:
        """Write pairs below `extra` and these keys of the schema around the finding."""
        schema = _need(self.entry.schema)
        inside: Collection | None = schema
        for key in ("extra", *keys):
            entry = inside.get(key) if inside is not None else None
            inside = entry.inside if entry is not None else None
        if inside is None and len(pairs) > 1:
            mapping = ", ".join(f"{written(key)}: {value}" for key, value in pairs)
            self.put_below(schema, ("extra", *keys), f"{{{mapping}}}")
            return
        for key, value in pairs:
            with suppress(_NoFixError):
                self.put_below(schema, ("extra", *keys, key), value)

    def leave_out(self, key: str, name: str) -> None:
        """Take a name out of a list of the schema, where the schema itself has it, and others: otherwise it is named elsewhere."""
        extra = _need(_need(self.entry.schema).get("extra"))
        names = _need(_need(extra.inside).get(key))
        _refuse_if(names.is_shared)
        for item in _need(names.inside).entries:
            if self.text(item.value).strip("'\"").lower() == name:
                self.replace(_need(item.removal(self.content)), "")
                return

    def move_to_extra(self, key: str, is_of_schema: bool) -> None:
        """Move a key with its value to the `extra:` beside it, or to that of the schema, under a key or its own."""
        entry = self.exact_entry
        target = _need(entry.schema if is_of_schema else entry.within)
        gone = self.without_attribute(entry)
        text = self.text(entry.value)
        _refuse_if(entry.key is None or "\n" in self.text(entry.span) or not text)
        extra = target.get("extra")
        new_key = key or _need(entry.key)
        _refuse_if(extra is not None and (extra.inside is None or extra.inside.get(new_key) is not None))
        self.replace(gone, "")
        self.put_below(target, ("extra", new_key), text)

    def move_to_field(self) -> None:
        """Move a key of a type beside the `name` of its field."""
        entry = self.exact_entry
        type_ = _need(entry.within.holder)
        gone, key = self.without(entry), _need(entry.key)
        _refuse_if(type_.key != "type" or "\n" in self.text(entry.span) or type_.within.get(key) is not None)
        self.replace(gone, "")
        put = self.put_below(type_.within, (key,), self.text(entry.value))
        _refuse_if(gone.end > put.start > gone.start)

    def move_to_child(self, key: str) -> None:
        """Move an attribute beside the kind of a child type that is a name alone."""
        entry = self.exact_entry
        _refuse_if(not entry.key or entry.within.holder is None)
        siblings = _need(entry.within.holder).within
        type_ = siblings.get("type")
        mapping = type_.inside if type_ is not None and type_.inside is not None else siblings
        child = _need(mapping.get(key))
        gone, text = self.without_attribute(entry), self.line(entry.value)
        _refuse_if(child.inside is not None or child.is_shared)
        _refuse_if(not (gone.end <= child.value.start or child.value.end <= gone.start))
        kind = self.text(child.value)
        self.replace(child.value, f"{{kind: {kind}, extra: {{{entry.key}: {text}}}}}")
        self.replace(gone, "")

    def move_under(self, attribute: str, name: str) -> None:
        """Write a property under the attribute that has it; refused where that is there already."""
        entry = self.exact_entry
        text = self.line(entry.value)
        _refuse_if(entry.key is None or not text or entry.within.get(attribute) is not None)
        self.replace(entry.span, f"{attribute}: {{{name}: {text}}}")
