"""Types that a document has as texts, in the dialect of a database or in any notation.

Layer: importers.
"""

from typing import NamedTuple

from schemac.arrow.lift import lift
from schemac.attributes.constraints import MAX_LENGTH
from schemac.importers.constraining import fitting
from schemac.importers.importer import Notes
from schemac.importers.sources import formats, import_value
from schemac.kinds.option import Option
from schemac.manifest.foreign import suggest_meaning
from schemac.physical.arrow import ArrowType, pa
from schemac.source.json_object import Json
from schemac.source.report import Report
from schemac.syntax.type_text import TypeText, read_type

_UNDECIDED = frozenset(
    {"object", "record", "struct", "row", "map", "hashmap", "array", "list", "json", "table"}
)
"""Words that say too little without parts."""


class TypeMatch(NamedTuple):
    """What the text of a type says."""

    tree: Json
    """In the standard's long form; never an Option."""
    extra: Json
    """Attributes of a field of this type."""
    notes: Notes
    """Of one column, and of what is in it."""


def dialect_of(system: str | None) -> str | None:
    """Return the format that reads the DDL of a system by its name; None if none does."""
    if system is None:
        return None
    name = system.casefold()
    return next((format.name for format in formats().values() if name in format.systems), None)


def type_of_text(text: str, dialect: str | None) -> TypeMatch | None:
    """Return what the text of a type says; None if that is not known, or is too little to go by."""
    written = read_type(text)
    if written is not None and written.head.casefold() in _UNDECIDED and not written.arguments:
        return None
    return (_in_dialect(text, dialect) if dialect is not None else None) or _in_any_notation(text, written)


def kind_of(type_: ArrowType) -> tuple[Json, Json]:
    """Return the kind and the attributes that an Arrow type is lifted to, which has to have a kind; only null is an Option."""
    column = pa.field("c", type_, nullable=pa.types.is_null(type_))
    (field,) = lift(pa.schema([column]), "<type>", Report())["fields"]
    return field["type"], field.get("extra", {})


def any_json() -> Json:
    """Return the type of any value of JSON, as the type that Arrow has for it is lifted."""
    tree, extra = kind_of(pa.json_())
    return {**tree, "extra": extra}


def _in_dialect(text: str, dialect: str) -> TypeMatch | None:
    report = Report()
    try:
        imported = import_value(dialect, f"CREATE TABLE t (c {text})", "<type>", report)
    except ModuleNotFoundError:
        return None
    if imported is None or report.has_errors or len(imported.schema["fields"]) != 1:
        return None
    (field,) = imported.schema["fields"]
    tree = field["type"]
    if tree["kind"] == Option.__name__:
        tree = tree["inner"]
    return TypeMatch(tree, field.get("extra", {}), imported.notes)


def _in_any_notation(text: str, written: TypeText | None) -> TypeMatch | None:
    meaning = suggest_meaning(written) if written is not None else None
    if meaning is None or meaning.tree["kind"] == Option.__name__:
        return None
    notes, extra = Notes(), dict(meaning.extra)
    if written is not None and written.bracket == "(" and set(meaning.tree) == {"kind"}:
        longest = [one.head for one in written.types if one.head.isascii() and one.head.isdecimal()][:1]
        accepted, _ = fitting(meaning.tree, {MAX_LENGTH.key: int(longest[0])} if longest else {})
        extra |= accepted
        if not accepted:
            notes.add(("c",), f"not kept: the length in {text}")
    return TypeMatch(dict(meaning.tree), extra, notes)
