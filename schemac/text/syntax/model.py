"""The base of every pydantic model that describes what an author writes, and its errors in words for the author.

Layer: text.
Shape: one error for each mistake, with the tree path of the culprit; the tags that pydantic puts into its locations for tagged unions
      are taken out.
Errors: SC201 to SC206; a model's own `ValueError` becomes SC312.
"""

from collections.abc import Callable, Mapping
from functools import reduce
from operator import getitem
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from schemac.text.source import catalogue as codes
from schemac.text.source.diagnostics import Code
from schemac.text.source.json_object import TreePath
from schemac.text.source.phrases import Help, closest, fold, one_of, with_article

if TYPE_CHECKING:
    from pydantic import ValidationError

T = TypeVar("T")


Items = Annotated[tuple[T, ...], Field(strict=False)]
"""Any number of values, which manifests write as a list."""


class AuthoredModel(BaseModel):
    """A mapping of a manifest or a pipeline file: closed, exact and frozen, with keys in camelCase."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        defer_build=True,
        protected_namespaces=(),
    )


def class_text(model: type) -> str:
    """Return the first paragraph of a class's docstring, on one line."""
    return " ".join((model.__doc__ or "").partition("\n\n")[0].split())


_SORTS: dict[str, str] = {
    **dict.fromkeys(("int_type", "int_from_float"), "a whole number"),
    "float_type": "a number",
    "string_type": "a text",
    "bool_type": "true or false",
    **dict.fromkeys(("list_type", "tuple_type"), "a list"),
    **dict.fromkeys(("dict_type", "mapping_type", "dataclass_type"), "a mapping"),
    **dict.fromkeys(("model_type", "model_attributes_type"), "a mapping"),
}
_BOUNDS: dict[str, tuple[str, str]] = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("more than", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("less than", "lt"),
}


class ModelError(NamedTuple):
    """One thing that is wrong with a value."""

    code: Code
    path: TreePath
    message: str
    help: str = ""
    on_key: bool = False
    suggestion: str = ""
    """The key that was probably meant."""


class KnownWords(NamedTuple):
    """The language's own words and those that authors bring from elsewhere, for better messages."""

    kinds: Mapping[str, str] = {}
    """Foreign names of kinds, folded, to the kind that is meant; likewise the next two."""
    keys: Mapping[str, str] = {}
    values: Mapping[str, str] = {}
    advice: Mapping[str, Callable[[str, Mapping[str, Any]], str]] = {}
    """What to say about a key, folded, that is none here; told the key as written and the mapping around it."""
    nouns: Mapping[str, str] = {}
    """What a model is called: `Field` is "a field"."""
    examples: Mapping[str, str] = {}
    """A model, or a kind, as an author writes it."""
    type_help: Callable[[str, bool], str | None] = lambda _text, _is_nested: None
    """What to write for the text of a type in another notation, in a field or deeper; None if it is not known."""
    complete_type: Callable[[Mapping[str, Any]], str | None] = lambda _type: None
    """A type with what its author wrote and the properties that are missing; None if there is no saying."""
    friendly_keys: Mapping[str, tuple[str, ...]] = {}
    """Keys that a model has for authors, but that are rewritten before it sees them."""
    document_keys: tuple[str, ...] = ()
    """Keys that may be at the top of a document beside those of what it has."""

    def noun(self, model: Any) -> str:
        """Return what a model is called; `this` where it is not known."""
        return "this" if model is None else self.nouns.get(model.__name__, "this")


def model_errors(
    error: "ValidationError",
    model: Any,
    value: Any,
    words: KnownWords = KnownWords(),  # noqa: B008 — an immutable value
) -> list[ModelError]:
    """Return all errors of a failed validation of `value` by `model`."""
    details = error.errors(include_url=False, include_input=True)
    # A list that lost its only item to another error was not written empty.
    details = [d for d in details if not (d["type"] == "too_short" and d["input"])]
    errors = [_model_error(d, model, value, words) for d in details if d["type"] != "missing"]
    # A misspelled key is one mistake: the property it was meant to be is not also said to be missing.
    meant = {(e.path[:-1], e.suggestion) for e in errors if e.code is codes.UNKNOWN_KEY}
    missing: dict[TreePath, tuple[Any, list[str]]] = {}
    for d in details:
        if d["type"] == "missing":
            path = _without_tags(d["loc"], value)
            if (path[:-1], str(path[-1])) not in meant:
                missing.setdefault(path[:-1], (d, []))[1].append(str(path[-1]))
    return [
        *errors,
        *(_missing_keys(d, of, keys, model, value, words) for of, (d, keys) in missing.items()),
    ]


def sort_of(value: Any) -> str:
    """Return what a value is, in an author's words."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the text '{value if len(value) <= 40 else value[:39] + '…'}'"
    if isinstance(value, int | float):
        return f"the number {value}"
    return "a list" if isinstance(value, list | tuple) else "a mapping"


def _model_error(error: Any, model: Any, value: Any, words: KnownWords) -> ModelError:
    """Return one error of pydantic's in words for the author."""
    kind, context, input = error["type"], error.get("ctx", {}), error["input"]
    path = _without_tags(error["loc"], value)
    is_key = bool(path) and isinstance(path[-1], str)
    name = f"`{path[-1]}`" if is_key else words.noun(_model_at(model, error["loc"]))
    if kind == "extra_forbidden":
        return _unknown_key(error, path, model, value, words)
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return _wrong_kind(kind, path, input, context, words)
    # A number of more than 64 bits is none of the words, but pydantic says only that it is too large.
    if kind in ("literal_error", "enum", "int_parsing_size"):
        choices = _literal_words(error, model) or [
            c.strip(" '").replace("True", "true")
            for c in str(context["expected"]).replace(" or ", ",").split(",")
        ]
        synonyms = {k: v for k, v in words.values.items() if v in choices}
        help = Help.nearest(input, choices, "", synonyms) if isinstance(input, str) else ""
        if str(input) in choices and not isinstance(input, str):
            help = Help.write_in_quotes(str(input))
        elif input in choices:
            # The words are numbers.
            help = Help.write_without_quotes(input)
        return ModelError(
            codes.UNKNOWN_VALUE, path, f"{name} has to be {one_of(choices)}, not {sort_of(input)}", help
        )
    if kind in _BOUNDS:
        words_, key = _BOUNDS[kind]
        return ModelError(codes.OUT_OF_RANGE, path, f"{name} has to be {words_} {context[key]}, not {input}")
    if kind in _SORTS:
        help = _help_with_sort(error, kind, input, model, words)
        return ModelError(
            codes.WRONG_TYPE, path, f"{name} has to be {_SORTS[kind]}, not {sort_of(input)}", help
        )
    if kind == "value_error":
        return ModelError(codes.INVALID_ATTRIBUTE, path, str(context["error"]))
    if kind == "string_pattern_mismatch":
        return ModelError(codes.INVALID_ATTRIBUTE, path, f"{name} cannot be {sort_of(input)}")
    if kind in ("string_too_short", "too_short"):
        return ModelError(codes.OUT_OF_RANGE, path, f"{name} may not be empty")
    return ModelError(codes.WRONG_TYPE, path, f"{name}: {str(error['msg']).lower()}")


def _help_with_sort(error: Any, kind: str, input: Any, model: Any, words: KnownWords) -> str:
    """Return what to write for a value of the wrong type; empty if there is no saying."""
    if kind == "string_type" and isinstance(input, int | float):
        return Help.quote()
    if kind == "int_type" and isinstance(input, str) and input.lstrip("+-").isdigit():
        return Help.write_without_quotes(input)
    meant = _model_at(model, error["loc"])
    example = words.examples.get(meant.__name__) if meant is not None else None
    if example is None:
        return ""
    return (
        f"write `- {example}`, one for each" if kind in ("list_type", "tuple_type") else f"write `{example}`"
    )


def _missing_keys(
    error: Any, of: TreePath, keys: list[str], model: Any, value: Any, words: KnownWords
) -> ModelError:
    """Return one error for all missing keys at a path; if one of them was likely misspelled, an unknown key instead."""
    parent = reduce(getitem, of, value)
    owner = _model_at(model, error["loc"][:-1])
    if len(keys) == 1 and owner is not None and isinstance(parent, dict):
        # A model that takes any key does not say which of them it does not know.
        known = {f.alias or n for n, f in owner.model_fields.items()}
        near = next((key for key in parent if key not in known and closest(key, keys)), None)
        if near is not None:
            return _misplaced_key((*of, near), Help.did_you_mean(keys[0], near))
    kind = parent.get("kind") if isinstance(parent, dict) else None
    if isinstance(kind, str):
        noun, path, example = f"the kind {kind}", (*of, "kind"), words.examples.get(kind)
    else:
        noun, path, example = words.noun(owner), of, None
    names = " and ".join(f"`{key}`" for key in keys)
    if isinstance(kind, str) and len(parent) > 1:
        example = words.complete_type(parent) or example
    help = f"write `{example}`" if example else f"add {' and '.join(f'`{key}:`' for key in keys)}"
    return ModelError(codes.MISSING_PROPERTY, path, f"{noun} needs {names}", help)


def _misplaced_key(path: TreePath, help: str, suggestion: str = "") -> ModelError:
    """Return the error of a key that its mapping does not have; `suggestion` is the key that was probably meant."""
    message = f"the key `{path[-1]}` does not belong here"
    return ModelError(codes.UNKNOWN_KEY, path, message, help, on_key=True, suggestion=suggestion)


def _unknown_key(error: Any, path: TreePath, model: Any, value: Any, words: KnownWords) -> ModelError:
    """Return the error of a key that does not belong in its mapping, with the key that was probably meant."""
    key = str(path[-1])
    parent = reduce(getitem, path[:-1], value)
    owner = _model_at(model, error["loc"][:-1])
    known = [f.alias or n for n, f in owner.model_fields.items()] if owner is not None else []
    known += words.friendly_keys.get(owner.__name__, ()) if owner is not None else ()
    known += words.document_keys if len(path) == 1 else ()
    free = [word for word in known if word not in parent]
    if fold(key) in words.advice:
        return _misplaced_key(path, words.advice[fold(key)](key, parent))
    synonyms = {k: v for k, v in words.keys.items() if v in free}
    near = closest(key, free, synonyms)
    if near:
        return _misplaced_key(path, Help.did_you_mean(near, key, synonyms), near)
    help = f"allowed here: {', '.join(known)}" if known else ""
    if isinstance(parent.get("kind"), str) and parent["kind"] in words.examples:
        properties = [word for word in known if word not in ("kind", "extra")]
        noun = with_article(parent["kind"])
        help = f"{noun} takes {one_of(properties)}" if properties else f"{noun} takes no properties"
    return _misplaced_key(path, help)


def _wrong_kind(kind: str, path: TreePath, input: Any, context: Any, words: KnownWords) -> ModelError:
    """Return the error of a type whose kind is missing, no text, or unknown."""
    if kind == "union_tag_not_found":
        near = next((key for key in input if closest(key, ("kind",), {"type": "kind", "name": "kind"})), None)
        if near is not None:
            return _misplaced_key((*path, near), Help.did_you_mean("kind", near))
        message = "write `kind: String`, or the name of a kind alone"
        return ModelError(codes.MISSING_PROPERTY, path, "a type needs a `kind`", message)
    written = input["kind"]
    if not isinstance(written, str):
        help = _choice_help(written, _is_nested(path), words) or "write `String`"
        return ModelError(
            codes.WRONG_TYPE, (*path, "kind"), f"a type is the name of a kind, not {sort_of(written)}", help
        )
    candidates = [c.strip(" '") for c in str(context["expected_tags"]).split(",")]
    help = _kind_help(input, candidates, _is_nested(path), words)
    return ModelError(codes.UNKNOWN_KIND, (*path, "kind"), f"there is no kind '{written}'", help)


def _is_nested(path: TreePath) -> bool:
    """Whether a type is a part of another one; that of a field is under `type`."""
    return bool(path) and path[-1] != "type"


def _choice_help(written: Any, is_nested: bool, words: KnownWords) -> str | None:
    """Return what to write for a choice between a type and null, as Avro has it."""
    others = [word for word in written if word not in (None, "null")] if isinstance(written, list) else []
    if len(others) != 1 or len(written) != 2:
        return None
    type_help = words.type_help(f"{others[0]}?", is_nested) if isinstance(others[0], str) else None
    return type_help or "write `{kind: Option, inner: …}` for a value that may be null"


def _kind_help(input: Mapping[str, Any], candidates: list[str], is_nested: bool, words: KnownWords) -> str:
    """Return what to write for a type: a typing error corrected, or a type of another system translated."""
    written = input["kind"]
    near = closest(written, candidates, words.kinds)
    # Only the kind is wrong where properties stand beside it.
    if near is not None and len(input) > 1:
        return Help.did_you_mean(near, written, words.kinds)
    type_help = words.type_help(written, is_nested)
    return type_help or (
        Help.did_you_mean(near, written, words.kinds) if near else f"the kinds are {', '.join(candidates)}"
    )


def _without_tags(loc: tuple[int | str, ...], value: Any) -> TreePath:
    """Return a location as a path in the value: a segment that is not a key there was the tag of a union."""
    path: list[str | int] = []
    for position, segment in enumerate(loc):
        is_last = position == len(loc) - 1
        if isinstance(value, dict) and (segment in value or (is_last and segment != value.get("kind"))):
            path.append(segment)
            value = value.get(str(segment))
        elif isinstance(value, list | tuple) and isinstance(segment, int) and segment < len(value):
            path.append(segment)
            value = value[segment]
    return tuple(path)


def _model_at(model: Any, loc: tuple[int | str, ...]) -> Any:
    """Return the model that a location leads to, through lists and unions."""
    candidates = _models_in(model)
    is_key = False
    for segment in loc:
        if isinstance(segment, int):
            continue
        if is_key:
            # A key of the author's own, as the name of a group is.
            is_key = False
            continue
        tagged = [c for c in candidates if c.__name__ == segment]
        if tagged:
            candidates = tagged
            continue
        fields = [f for c in candidates for n, f in c.model_fields.items() if segment in (n, f.alias)]
        candidates = [m for f in fields for m in _models_in(f.annotation)]
        is_key = any(get_origin(f.annotation) is dict for f in fields)
    return candidates[0] if len(candidates) == 1 else None


def _models_in(annotation: Any) -> list[Any]:
    """Return the models that an annotation accepts; for the union of all kinds, each kind."""
    if isinstance(annotation, type) and hasattr(annotation, "model_fields"):
        kinds = vars(annotation).get("kinds")
        return [annotation] if kinds is None else list(kinds.values())
    return [model for argument in get_args(annotation) for model in _models_in(argument)]


def _literal_words(error: Any, model: Any) -> list[str]:
    """Return the words of a Literal, from the model itself: pydantic's message joins them into one text."""
    owner = _model_at(model, error["loc"][:-1])
    fields = owner.model_fields.items() if owner is not None else ()
    annotation = next((f.annotation for n, f in fields if error["loc"][-1] in (n, f.alias)), model)
    literals = (annotation, *get_args(annotation))
    words = [word for literal in literals for word in get_args(literal) if isinstance(word, str | int)]
    return [str(word).lower() if isinstance(word, bool) else str(word) for word in words]
