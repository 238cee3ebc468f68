"""Changes of what Avro, Protobuf, Arrow and Spark have at a field: other forms on the wire, aliases, layouts, one type for two."""

from collections.abc import Iterator

from schemac.language.logical.facts import AnyFact, Fact
from tests.conformance.manifest_types import (
    Manifest,
    buffer,
    dictionary,
    extension,
    member,
    of,
    struct,
)
from tests.evolution.case import Case

INT, LONG, TEXT = of("Int32"), of("Int64"), of("String")
AVRO, PROTOBUF, OWN = "avro.apache.org", "protobuf.dev", "schemac.dev"


def _case(name: str, old: Manifest, new: Manifest, *facts: AnyFact) -> Case:
    return Case(
        name,
        {"fields": [member("id", LONG), member("x", old)]},
        {"fields": [member("id", LONG), member("x", new)]},
        facts,
    )


def _written_as(kind: str, type_: str) -> Manifest:
    return of(kind, {f"{PROTOBUF}/type": type_})


def _enum(**numbers: int) -> Manifest:
    return of("String", {f"{PROTOBUF}/enum": numbers})


def _called(*aliases: str) -> Manifest:
    return of("Int32", {f"{AVRO}/aliases": list(aliases)})


def _protobuf() -> Iterator[Case]:
    f = Fact
    yield _case("truths to numbers", of("Bool"), of("UInt64"), f.TYPE_REPLACED)
    yield _case("another encoding of numbers", INT, _written_as("Int32", "sint32"), f.ATTRIBUTE_ADDED)
    for old, new, kinds, fact in (
        ("sint32", "sint64", ("Int32", "Int64"), f.INTEGER_WIDENED),
        ("fixed32", "sfixed32", ("UInt32", "Int32"), f.SIGN_CHANGED),
        ("fixed64", "sfixed64", ("UInt64", "Int64"), f.SIGN_CHANGED),
    ):
        before, after = _written_as(kinds[0], old), _written_as(kinds[1], new)
        yield _case(f"{old} to {new}", before, after, fact, f.ATTRIBUTE_CHANGED)
    before = _written_as("UInt32", "fixed32")
    yield _case("fixed32 to many", before, of("List", itemType=INT), f.TYPE_REPLACED, f.ATTRIBUTE_REMOVED)
    yield _case("numbers to an enum", INT, _enum(A=0, B=1), f.TYPE_REPLACED, f.ATTRIBUTE_ADDED)
    yield _case("an enum to numbers", _enum(A=0, B=1), INT, f.TYPE_REPLACED, f.ATTRIBUTE_REMOVED)
    signed = _written_as("Int32", "sint32")
    yield _case("many to sint32", of("List", itemType=INT), signed, f.TYPE_REPLACED, f.ATTRIBUTE_ADDED)
    many = of("List", itemType=INT)
    yield _case("an optional list", many, {"kind": "Option", "inner": many}, f.BECAME_OPTIONAL)
    yield _case("a longer enum", _enum(A=0), _enum(A=0, B=1), f.ATTRIBUTE_CHANGED)
    yield _case("a shorter enum", _enum(A=0, B=1), _enum(A=0), f.ATTRIBUTE_CHANGED)
    yield _case("other numbers in an enum", _enum(A=0, B=1), _enum(A=0, B=2), f.ATTRIBUTE_CHANGED)


def _avro() -> Iterator[Case]:
    f = Fact
    yield _case("another alias", _called("a"), _called("a", "b"), f.ATTRIBUTE_CHANGED)
    yield _case("an alias", INT, _called("a"), f.ATTRIBUTE_ADDED)
    yield _case("no alias", _called("a"), INT, f.ATTRIBUTE_REMOVED)
    yield _case("an alias less", _called("a", "b"), _called("a"), f.ATTRIBUTE_CHANGED)
    yield _case("aliases in another order", _called("a", "b"), _called("b", "a"), f.ATTRIBUTE_CHANGED)
    durations, times = (of(kind, unit="Nanosecond") for kind in ("Duration", "Time"))
    yield _case("durations to times of day", durations, times, f.TEMPORAL_TYPE_CHANGED)
    old, new = member("a", INT), {**member("b", INT), "extra": {f"{OWN}/renamedFrom": "x.a"}}
    yield _case("rename a member by its path", struct(old), struct(new), f.FIELD_RENAMED)
    renamed = {**member("y", struct(new)), "extra": {f"{OWN}/renamedFrom": "x"}}
    yield Case(
        "rename a struct and a member of it",
        {"fields": [member("x", struct(old))]},
        {"fields": [renamed]},
        (f.FIELD_RENAMED, f.FIELD_RENAMED),
    )


def _arrow() -> Iterator[Case]:
    f, texts, views = Fact, of("String", dictionary()), of("String", buffer("View"))
    numbers = of("Int32", dictionary())
    yield _case("numbers to a dictionary of texts", INT, texts, f.TYPE_REPLACED, f.DICTIONARY_ADDED)
    yield _case("texts to a dictionary of numbers", TEXT, numbers, f.TYPE_REPLACED, f.DICTIONARY_ADDED)
    yield _case("views to a dictionary", views, texts, f.BUFFER_LAYOUT_CHANGED, f.DICTIONARY_ADDED)
    before, after = (
        of("String", {**buffer("View"), **dictionary(**index)}) for index in ({}, {"indexType": "Int8"})
    )
    yield _case("a narrower dictionary of views", before, after, f.DICTIONARY_CHANGED)
    of_views = of("String", {**buffer("View"), **dictionary()})
    yield _case(
        "a dictionary of views to texts", of_views, TEXT, f.BUFFER_LAYOUT_CHANGED, f.DICTIONARY_REMOVED
    )
    kinds = ({"lance.org/json": True}, extension("arrow.json"), extension("arrow.json", ""))
    of_lance, of_arrow, empty = (of("String", extra) for extra in kinds)
    facts = (f.EXTENSION_TYPE_CHANGED, f.JSON_CHANGED)
    yield _case("JSON of Lance to JSON of Arrow", of_lance, of_arrow, *facts)
    yield _case("JSON of Arrow to JSON of Lance", of_arrow, of_lance, *facts)
    yield _case("empty metadata of an extension type", of_arrow, empty, f.EXTENSION_TYPE_CHANGED)
    tensor = extension("arrow.fixed_shape_tensor", '{"shape":[2,2]}')
    opaque = extension("arrow.opaque", '{"type_name":"a","vendor_name":"b"}')
    other = extension("arrow.opaque", '{"type_name":"c","vendor_name":"b"}')
    before, after = (of("List", extra, itemType=of("Float32"), fixedLength=4) for extra in (tensor, opaque))
    yield _case("another arrow.opaque", of("Int8", opaque), of("Int8", other), f.EXTENSION_TYPE_CHANGED)
    yield _case("arrow.fixed_shape_tensor to another", before, after, f.EXTENSION_TYPE_CHANGED)


def _added() -> Iterator[Case]:
    """Columns that are read in data without them, and those that may be absent whatever they are declared as."""
    f, before = Fact, {"fields": [member("id", LONG)]}
    moment = of("Timestamp", unit="Nanosecond", timezone="UTC")
    for name, type_ in (
        ("add a required column with a default of Avro", of("Int32", {f"{AVRO}/default": 0})),
        ("add a required moment", moment),
    ):
        yield Case(name, before, {"fields": [member("id", LONG), member("x", type_)]}, (f.FIELD_ADDED,))
    yield _case("an optional moment", moment, {"kind": "Option", "inner": moment}, f.BECAME_OPTIONAL)
    renamed = {**member("a_b", INT), "extra": {f"{OWN}/renamedFrom": "a-b"}}
    yield Case(
        "a name that is the same in Avro",
        {"fields": [member("a-b", INT)]},
        {"fields": [renamed]},
        (f.FIELD_RENAMED,),
    )
    wide, wider = (
        of("List", buffer("Contiguous", 64), itemType=struct(*members))
        for members in (
            (member("a", INT), member("b", INT)),
            (member("a", INT),),
        )
    )
    yield _case("drop inside large lists", wide, wider, f.FIELD_DROPPED)
    inner, outer = member("a", INT), {**member("a", INT), "extra": {f"{OWN}/renamedFrom": "l.item.a"}}
    items = (
        of("List", itemType=struct(*members)) for members in ((inner, member("b", INT)), (member("b", INT),))
    )
    old, new = (member("l", list_) for list_ in items)
    yield Case("move a member out of a list", {"fields": [old]}, {"fields": [new, outer]}, (f.FIELD_MOVED,))


def _spark() -> Iterator[Case]:
    told = of("UInt16", {"opendatafabric.org/description": "a"})
    yield _case(
        "a type that Spark has for both, and a description",
        INT,
        told,
        Fact.SIGN_CHANGED,
        Fact.DESCRIPTION_ADDED,
    )
    key, note = {"lance.org/primaryKey": {"position": 1}}, {"opendatafabric.org/description": "a"}
    before, after = (
        {"fields": [member("id", of("Int64", of_id)), member("x", of("Int32", of_x))]}
        for of_id, of_x in ((key, None), (None, note))
    )
    facts = (Fact.PRIMARY_KEY_REMOVED, Fact.DESCRIPTION_ADDED)
    yield Case("no key, and a description", before, after, facts)


CASES = (*_protobuf(), *_avro(), *_arrow(), *_added(), *_spark())
