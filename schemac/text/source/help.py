"""Help texts that name the fix that applies them.

Layer: text.
Shape: a `Help` is the text of a finding's help, with the name of a fix and its arguments; the fix does exactly what the
text says. The location of the finding is where the fix applies; `schemac.text.syntax.fixes` makes the edits of each
name. A fix is safe if the corrected manifest can only mean what its author meant. A help joined of several is plain
text.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Self

from schemac.text.source.phrases import closest, fold


def quoted(text: str) -> str:
    """Return a text of printable characters in double quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Help(str):
    """The help of a finding, and the fix that carries it out."""

    __slots__ = ("arguments", "fix_name", "is_safe")
    fix_name: str
    is_safe: bool
    arguments: Mapping[str, Any]
    """What the fix is made of; texts of it stand in the manifest as they are."""

    @classmethod
    def _fix(cls, help: str, fix_name: str, *, is_safe: bool = False, **arguments: object) -> Self:
        """Return a help with the fix that applies it and its arguments."""
        self = cls(help)
        self.fix_name, self.is_safe, self.arguments = fix_name, is_safe, arguments
        return self

    @classmethod
    def write(cls, text: str, *, key: str = "", reason: str = "", is_safe: bool = True) -> Self:
        """Return "write `Int32`", or with its key "write `unit: Second`"; a reason is appended unchanged.

        The text is YAML on one line, for what the finding underlines. A key has to be the one that is there.
        """
        pair = f"{key}: {text}" if key else text
        return cls._fix(f"write `{pair}`{reason}", "write", is_safe=is_safe, text=text, key=key)

    @classmethod
    def write_in_quotes(cls, text: str) -> Self:
        """Return "write "2.0" in quotes"."""
        return cls._fix(f"write {quoted(text)} in quotes", "write", is_safe=True, text=quoted(text), key="")

    @classmethod
    def write_without_quotes(cls, text: str) -> Self:
        """Return "write 5 without quotes"."""
        return cls._fix(f"write {text} without quotes", "write", is_safe=True, text=text, key="")

    @classmethod
    def write_type(cls, text: str, *, key: str = "", reason: str = "", is_safe: bool = True) -> Self:
        """Return the same as `write` for a type in the place of another one, whether that is a name or a mapping."""
        pair = f"{key}: {text}" if key else text
        return cls._fix(f"write `{pair}`{reason}", "write_type", is_safe=is_safe, text=text)

    @classmethod
    def write_text(cls, text: str, *, mark: str = "`", is_safe: bool = True) -> Self:
        """Return "write `^a$`", or with other marks, for a text in the quotes that are there, or in those that it needs."""
        return cls._fix(f"write {mark}{text}{mark}", "write_text", is_safe=is_safe, text=text)

    @classmethod
    def did_you_mean(
        cls, near: str, instead_of: str, synonyms: Mapping[str, str] | None = None, *, mark: str = "`"
    ) -> Self:
        """Return "did you mean …?". A word that differs in case and signs alone, or a known synonym, is not a guess."""
        is_certain = fold(instead_of) == fold(near) or (synonyms or {}).get(fold(instead_of)) == near
        text = f"did you mean {mark}{near}{mark}?"
        return cls._fix(text, "did_you_mean", is_safe=is_certain, near=near, instead_of=instead_of)

    @classmethod
    def nearest(
        cls,
        word: str,
        known: Iterable[str],
        otherwise: str = "",
        synonyms: Mapping[str, str] | None = None,
        *,
        mark: str = "`",
    ) -> str:
        """Return "did you mean …?" for the known word that is most like another one; `otherwise` if none is near."""
        near = closest(word, known, synonyms)
        return cls.did_you_mean(near, word, synonyms, mark=mark) if near else otherwise

    @classmethod
    def did_you_mean_part(
        cls, near: str, instead_of: str, *, mark: str = "`", is_in_key: bool = False
    ) -> Self:
        """Return "did you mean …?" for a word in a longer text: in the value, or in the key."""
        text = f"did you mean {mark}{near}{mark}?"
        return cls._fix(text, "did_you_mean_part", near=near, instead_of=instead_of, is_in_key=is_in_key)

    @classmethod
    def quote(cls, text: str = "", *, help: str = "") -> Self:
        """Return "write it in quotes", with the text if there is one; or a help of the caller's own words."""
        suffix = f": {quoted(text)}" if text else ""
        return cls._fix(help or f"write it in quotes{suffix}", "quote", is_safe=True)

    @classmethod
    def rewrite(cls, help: str, text: str, *, is_safe: bool = False) -> Self:
        """Return a help that writes a text as the value of the finding's key, in the quotes that are there or that it needs."""
        return cls._fix(help, "rewrite", is_safe=is_safe, text=text)

    @classmethod
    def remove(cls, reason: str = "", *, what: str = "it", help: str = "", is_safe: bool = True) -> Self:
        """Return "remove it", and why; or a help of the caller's own words. The fix removes the key with its value, or the item."""
        return cls._fix(help or f"remove {what}{reason}", "remove", is_safe=is_safe)

    @classmethod
    def remove_item(cls, help: str) -> Self:
        """Return a help that takes out the item of a list that the key of the finding is in."""
        return cls._fix(help, "remove_item")

    @classmethod
    def remove_tag(cls, help: str = "remove the tag") -> Self:
        """Return a help that takes out the tag before a value."""
        return cls._fix(help, "remove_tag")

    @classmethod
    def remove_character(cls, character: str) -> Self:
        """Return "remove it" for a control character, which is written as an escape in double quotes."""
        return cls._fix("remove it", "remove_character", character=character)

    @classmethod
    def remove_property(cls, help: str, key: str) -> Self:
        """Return a help that takes a property out of the type that the finding is in."""
        return cls._fix(help, "remove_property", key=key)

    @classmethod
    def remove_attribute(cls, help: str, key: str, part: str = "", *, is_around: bool = False) -> Self:
        """Return a help that takes out an attribute of the finding's field or type, or a part of its value.

        If `is_around`, the attribute may be that of a field that the finding's field is in.
        """
        return cls._fix(help, "remove_attribute", key=key, part=part, is_around=is_around)

    @classmethod
    def make_optional(cls, help: str) -> Self:
        """Return a help whose fix wraps the type in an Option and removes the flag of nullability beside it."""
        return cls._fix(help, "make_optional", is_safe=True)

    @classmethod
    def make_required(cls, help: str, *, levels: int = 0) -> Self:
        """Return a help whose fix removes the Option around the type of a field, this many structs above that of the finding."""
        return cls._fix(help, "make_required", levels=levels)

    @classmethod
    def unwrap(cls, help: str, *, is_safe: bool) -> Self:
        """Return a help that writes the type inside of an Option in its place."""
        return cls._fix(help, "unwrap", is_safe=is_safe)

    @classmethod
    def retype(cls, key: str, text: str, *, reason: str = "") -> Self:
        """Return "write `unit: Microsecond`" for the type that the finding is about; with `type`, for the type as a whole."""
        return cls._fix(f"write `{key}: {text}`{reason}", "retype", key=key, text=text)

    @classmethod
    def retype_with_attributes(cls, help: str, text: str, attributes: Mapping[str, str]) -> Self:
        """Return a help that writes another type, and attributes beside the name of its field."""
        return cls._fix(help, "retype_with_attributes", text=text, attributes=attributes)

    @classmethod
    def swap_attribute(cls, help: str, key: str, pair: str, type_: str) -> Self:
        """Return a help that writes a pair in the place of the attribute of this key, and the type that it is for."""
        return cls._fix(help, "swap_attribute", key=key, pair=pair, type_=type_)

    @classmethod
    def add_key(cls, key: str, value: str, *, reason: str = "") -> Self:
        """Return "write `kind: SetDataSchema`" for a key that is missing in the finding's mapping, or beside its key."""
        return cls._fix(f"write `{key}: {value}`{reason}", "add_key", key=key, value=value)

    @classmethod
    def add_keys(cls, help: str, *pairs: tuple[str, str]) -> Self:
        """Return a help that writes keys with values beside the finding's key; those that are there get the values."""
        return cls._fix(help, "add_keys", pairs=pairs)

    @classmethod
    def add_attribute(cls, key: str, value: str) -> Self:
        """Return "write `schemac.dev/unit: km` under its `extra:`" for the field of the finding."""
        return cls._fix(f"write `{key}: {value}` under its `extra:`", "add_attribute", key=key, value=value)

    @classmethod
    def add_to_schema(cls, help: str, keys: tuple[str, ...], *pairs: tuple[str, str]) -> Self:
        """Return a help that writes pairs below `extra` and these keys of the schema around the finding."""
        return cls._fix(help, "add_to_schema", keys=keys, pairs=pairs)

    @classmethod
    def leave_out(cls, title: str, key: str, name: str) -> Self:
        """Return "leave Spark out with `schemac.dev/targets`", which takes a name out of that attribute of the schema."""
        return cls._fix(f"leave {title} out with `{key}`", "leave_out", key=key, name=name)

    @classmethod
    def move_to_schema(cls, help: str) -> Self:
        """Return a help that moves an attribute of a field to the `extra:` of the schema."""
        return cls._fix(help, "move_to_extra", is_safe=True, key="", is_of_schema=True)

    @classmethod
    def move_to_extra(cls, help: str, key: str) -> Self:
        """Return a help that moves a property of a field to its `extra:`, under this key."""
        return cls._fix(help, "move_to_extra", is_safe=True, key=key, is_of_schema=False)

    @classmethod
    def move_to_field(cls, help: str) -> Self:
        """Return a help that moves a key out of the type of a field to the field."""
        return cls._fix(help, "move_to_field", is_safe=True)

    @classmethod
    def move_to_child(cls, help: str, key: str) -> Self:
        """Return a help that moves an attribute to a child type, such as that of the key `itemType`."""
        return cls._fix(help, "move_to_child", key=key)

    @classmethod
    def move_under(cls, attribute: str, name: str) -> Self:
        """Return "write `lance.org/encoding: {compression: …}`" for a property that was written outside of its attribute."""
        text = f"write `{attribute}: {{{name}: …}}`"
        return cls._fix(text, "move_under", is_safe=True, attribute=attribute, name=name)
