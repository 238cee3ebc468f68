"""Changes whose verdict depends on what lies around them: the struct, list or map above, the keys, the table's settings."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from schemac.engines.paimon.attributes import PaimonFact
from schemac.language.logical.facts import AnyFact, Fact
from tests.conformance.manifest_types import Manifest, buffer, extension, member, of, option, struct
from tests.evolution.case import Case

INT, LONG, TEXT = of("Int32"), of("Int64"), of("String")
X, Y, NEW = member("x", INT), member("y", INT), member("n", option(of("Int32")))
PAIMON, ICEBERG = "paimon.apache.org", "iceberg.apache.org"


def _case(name: str, old: Manifest, new: Manifest, *facts: AnyFact) -> Case:
    return Case(name, {"fields": [member("id", LONG), old]}, {"fields": [member("id", LONG), new]}, facts)


def _set(
    name: str, old: Manifest, new: Manifest, *facts: AnyFact, fields: tuple[Manifest, ...] = (X,)
) -> Case:
    before, after = ({"fields": [member("id", LONG), *fields], "extra": extra} for extra in (old, new))
    return Case(name, before, after, facts)


def _packed(*members: Manifest) -> Manifest:
    return member("s", {**struct(*members), "extra": {"lance.org/encoding": {"packed": True}}})


def _views(*members: Manifest, **properties: Any) -> Manifest:
    return member("v", of("List", buffer("View"), itemType=struct(*members), **properties))


def _vector(item: Manifest) -> Manifest:
    return member("v", of("List", itemType=item, fixedLength=4))


def _mapped(*members: Manifest) -> Manifest:
    return member("m", of("Map", keyType=TEXT, valueType=struct(*members)))


def _member(*members: Manifest) -> Manifest:
    return member("s", struct(*members))


def _listed(*members: Manifest) -> Manifest:
    return member("l", of("List", itemType=struct(*members)))


def _vector_of(*members: Manifest) -> Manifest:
    return _vector(struct(*members))


def _structs() -> Iterator[Case]:
    f = Fact
    yield _case("add to a packed struct", _packed(X), _packed(X, NEW), f.FIELD_ADDED)
    yield _case("drop from a packed struct", _packed(X, Y), _packed(X), f.FIELD_DROPPED)
    yield _case("reorder a packed struct", _packed(X, Y), _packed(Y, X), f.FIELDS_REORDERED)
    yield _case("widen in a packed struct", _packed(X), _packed(member("x", LONG)), f.INTEGER_WIDENED)
    moved = {**X, "extra": {"schemac.dev/renamedFrom": "s.x"}}
    yield Case(
        "move out of a packed struct",
        {"fields": [member("id", LONG), _packed(X, Y)]},
        {"fields": [member("id", LONG), _packed(Y), moved]},
        (f.FIELD_MOVED,),
    )
    bare = {"lance.org/encoding": {"packed": False}}
    before, after = (member("s", struct(*members, extra=bare)) for members in ((X,), (X, NEW)))
    yield _case("add to a struct that is not packed", before, after, f.FIELD_ADDED)
    yield _case("add inside list views", _views(X), _views(X, NEW), f.FIELD_ADDED)
    yield _case("drop inside list views", _views(X, Y), _views(X), f.FIELD_DROPPED)
    yield _case("reorder inside list views", _views(X, Y), _views(Y, X), f.FIELDS_REORDERED)
    optional = member("x", option(INT))
    yield _case("optional inside list views", _views(X), _views(optional), f.BECAME_OPTIONAL)
    yield _case("required inside list views", _views(optional), _views(X), f.BECAME_REQUIRED)
    yield _case("add a required member inside list views", _views(X), _views(X, Y), f.FIELD_ADDED)
    yield _case("required items of a vector", _vector(option(INT)), _vector(INT), f.BECAME_REQUIRED)
    yield _case("optional items of a vector", _vector(INT), _vector(option(INT)), f.BECAME_OPTIONAL)

    yield _case("optional struct", member("s", struct(X)), member("s", option(struct(X))), f.BECAME_OPTIONAL)
    for name, around in (("a map", _mapped), ("a vector", _vector_of)):
        yield _case(f"replace all members in {name}", around(X), around(NEW), f.FIELD_ADDED, f.FIELD_DROPPED)
    left = {**member("t", struct(X)), "extra": {"schemac.dev/renamedFrom": "s.t"}}
    before = {"fields": [member("s", struct(member("t", struct(X, Y)), member("z", INT)))]}
    facts = (f.FIELD_MOVED, f.FIELD_DROPPED, f.FIELD_DROPPED)
    yield Case("drop a member and the struct around its own", before, {"fields": [left]}, facts)


def _moves() -> Iterator[Case]:
    """Members that go on, or go up, in a struct that may be null, and optional ones that leave it."""
    loose = member("x", option(INT))

    def moved(name: str, old: tuple[Manifest, ...], new: tuple[Manifest, ...], was: Manifest | None) -> Case:
        before, after = member("s", option(struct(*old))), member("s", option(struct(*new)))
        outer = () if was is None else (was,)
        fields = ([member("id", LONG), before], [member("id", LONG), after, *outer])
        return Case(name, {"fields": fields[0]}, {"fields": fields[1]}, (Fact.FIELD_MOVED,))

    from_s, from_t = ({**X, "extra": {"schemac.dev/renamedFrom": path}} for path in ("s.x", "s.t.x"))
    inner, both = member("t", struct(Y)), member("t", struct(X, Y))
    yield moved("move a member on", (X, inner), (member("t", struct(Y, from_s)),), None)
    yield moved("move a required member up", (both,), (inner, from_t), None)
    left = {**loose, "extra": {"schemac.dev/renamedFrom": "s.x"}}
    yield moved("move an optional member out of a struct that may be null", (loose, Y), (Y,), left)


def _blobs() -> Iterator[Case]:
    """What Lance gives to readers otherwise than it takes it from writers."""
    for name, kind, extra in (
        ("a blob", "Binary", {"lance.org/blob": {}}),
        ("JSON", "String", {"lance.org/json": True}),
        ("JSON of Arrow", "String", extension("arrow.json")),
    ):
        inner = {**member("x", of(kind, extra)), "extra": {**extra, "schemac.dev/renamedFrom": "x"}}
        before, after = (
            {"fields": fields}
            for fields in (
                [member("x", of(kind, extra)), member("s", struct(Y))],
                [member("s", struct(Y, inner))],
            )
        )
        yield Case(f"move {name} into a struct", before, after, (Fact.FIELD_MOVED,))


def _documents() -> Iterator[Case]:
    """JSON in a list, struct or map that is written anew, in part or as a whole."""
    f, json = Fact, of("String", {"lance.org/json": True})
    document, wide = member("j", json), member("x", LONG)
    lists, large = (
        member("l", of("List", extra, itemType=json)) for extra in (None, buffer("Contiguous", 64))
    )
    yield _case("wider offsets around JSON", lists, large, f.OFFSET_WIDTH_CHANGED)
    optional = member("j", option(json))
    yield _case("add JSON in a map", _mapped(X), _mapped(X, optional), f.FIELD_ADDED)
    yield _case("add beside JSON in a map", _mapped(document), _mapped(document, NEW), f.FIELD_ADDED)
    for name, around in (("a map", _mapped), ("a struct", _member), ("a list", _listed)):
        before, after = around(document, X), around(document, wide)
        yield _case(f"widen beside JSON in {name}", before, after, f.INTEGER_WIDENED)
        after = around(document, member("x", TEXT))
        yield _case(f"numbers to texts beside JSON in {name}", before, after, f.TYPE_REPLACED)
    before, after = (_listed(document, member("x", type_)) for type_ in (TEXT, json))
    yield _case("texts to JSON beside JSON in a list", before, after, f.JSON_CHANGED)


def _wrapped() -> Iterator[Case]:
    """Structs that are made of fields which were elsewhere."""
    f, moved = Fact, {**X, "extra": {"schemac.dev/renamedFrom": "x"}}
    for name, members, nested in (
        ("wrap a column", (moved,), False),
        ("wrap a column beside an optional one", (moved, NEW), False),
        ("wrap a column beside a required one", (moved, Y), False),
        ("wrap a column twice beside a required one", (moved, Y), True),
    ):
        inner = member("s", struct(*members))
        yield _case(name, X, member("o", struct(inner)) if nested else inner, f.FIELD_ADDED, f.FIELD_MOVED)


def _histories() -> Iterator[Case]:
    """What depends on which version a field is of."""
    f, wide = Fact, member("y", LONG)

    def version(*members: Manifest, beside: tuple[Manifest, ...] = ()) -> Manifest:
        return {"fields": [member("id", LONG), *beside, member("s", option(struct(*members)))]}

    first, second, third = version(X), version(X, Y), version(X, wide)
    yield Case("leave members that were added later", second, version(Y), (f.FIELD_DROPPED,), (first,))
    later = (first, second)
    yield Case("leave members that were rewritten later", third, version(wide), (f.FIELD_DROPPED,), later)
    yield Case("leave a member of the beginning", second, version(X), (f.FIELD_DROPPED,), (first,))
    old, new = (_vector(item) for item in (INT, LONG))
    later = (first, version(X, old))
    dropped = (f.FIELD_DROPPED,)
    yield Case("leave a vector that was rewritten later", version(X, new), version(new), dropped, later)
    lists = _listed(Y)
    yield Case("leave a list that was added later", version(X, lists), version(lists), dropped, (first,))
    key = {**X, "extra": {"lance.org/primaryKey": {"position": 1}}}
    begun, keyed, left = ({"fields": [_member(*members)]} for members in ((key,), (key, Y), (Y,)))
    yield Case("leave members that were added later than the key", keyed, left, dropped, (begun,))
    alone, bare = ({"fields": [member("id", LONG), *more]} for more in ((), (X,)))
    inner = {**X, "extra": {"schemac.dev/renamedFrom": "x"}}
    outer = {**X, "extra": {"schemac.dev/renamedFrom": "s.x"}}
    between, after = (
        {"fields": [member("id", LONG), member("s", struct(inner, NEW))]},
        version(NEW, beside=(outer,)),
    )
    yield Case("a struct whose members have left", bare, after, (f.FIELD_ADDED,), between=(between,))
    plain = {"fields": [member("id", LONG), member("s", option(INT))]}
    facts = (f.FIELD_ADDED, f.FIELD_DROPPED)
    yield Case("a column that was a struct", bare, plain, facts, between=(between,))
    joined = (version(NEW, beside=(X,)), between)
    yield Case("a struct that a member joined and left", bare, version(NEW), facts, between=joined)
    yield Case("a struct of new members", bare, version(NEW, beside=(X,)), (f.FIELD_ADDED,), (alone,))


def _keys() -> Iterator[Case]:
    """What is in the key of a map."""
    f, renamed = Fact, {**member("z", INT), "extra": {"schemac.dev/renamedFrom": "x"}}

    def keyed(*members: Manifest) -> Manifest:
        return member("m", of("Map", keyType=struct(*members), valueType=INT))

    yield _case("add inside keys", keyed(X), keyed(X, NEW), f.FIELD_ADDED)
    yield _case("drop inside keys", keyed(X, Y), keyed(X), f.FIELD_DROPPED)
    yield _case("rename inside keys", keyed(X), keyed(renamed), f.FIELD_RENAMED)
    yield _case("optional inside keys", keyed(X), keyed(member("x", option(INT))), f.BECAME_OPTIONAL)
    yield _case("required inside keys", keyed(member("x", option(INT))), keyed(X), f.BECAME_REQUIRED)


def _without_type() -> Iterator[Case]:
    """What some engines have no type for."""
    f, waited = Fact, member("w", option(of("Duration")))
    before, after = ({"fields": [X, *more]} for more in ((), (waited,)))
    yield Case("add a duration", before, after, (f.FIELD_ADDED,))
    yield Case("drop a duration", after, before, (f.FIELD_DROPPED,))
    told = {"fields": [{**X, "extra": {"example.com/a": 1}}, waited]}
    yield Case("another attribute beside a duration", after, told, (f.ATTRIBUTE_ADDED,))
    yield Case("an attribute and a duration", before, told, (f.ATTRIBUTE_ADDED, f.FIELD_ADDED))


def _extensions() -> Iterator[Case]:
    opaque = extension("arrow.opaque", '{"type_name":"a","vendor_name":"b"}')
    for name, kind, properties in (
        ("arrow.uuid", "Binary", {"fixedLength": 16}),
        ("arrow.bool8", "Int8", {}),
    ):
        old = member("x", of(kind, extension(name), **properties))
        new = member("x", of(kind, opaque, **properties))
        yield _case(f"{name} to another", old, new, Fact.EXTENSION_TYPE_CHANGED)


def _times() -> Iterator[Case]:
    units = ("Second", "Millisecond", "Microsecond", "Nanosecond")
    for old, new in pairwise(units):
        before, after = (member("x", of("Timestamp", unit=unit)) for unit in (old, new))
        yield _case(f"timestamps from {old} to {new}", before, after, Fact.TIME_UNIT_REFINED)
        yield _case(
            f"dates to timestamps in {new}", member("x", of("Date")), after, Fact.TEMPORAL_TYPE_CHANGED
        )


def _zones() -> Iterator[Case]:
    clock, kyiv = (member("x", of("Timestamp", timezone=zone)) for zone in (None, "Europe/Kyiv"))
    yield _case("give a clock a zone that is not UTC", clock, kyiv, Fact.ZONE_ADDED)
    yield _case("take a zone that is not UTC", kyiv, clock, Fact.ZONE_REMOVED)
    said = {**clock, "extra": {"schemac.dev/clockZone": "Europe/Kyiv"}}
    yield _case("give a clock its own zone", said, kyiv, Fact.ZONE_ADDED, Fact.ATTRIBUTE_REMOVED)


def _paimon() -> Iterator[Case]:
    keys, options = f"{PAIMON}/primaryKeys", f"{PAIMON}/options"
    for name, key, old, new in (
        ("other buckets", "bucket", "1", "2"),
        ("another merge engine", "merge-engine", "deduplicate", "first-row"),
        ("another format of files", "file.format", "parquet", "orc"),
        ("keep more snapshots", "snapshot.num-retained.max", "10", "20"),
    ):
        base = {keys: ["id"]}
        before, after = ({**base, options: {"bucket": "1", key: value}} for value in (old, new))
        yield _set(name, before, after, PaimonFact.OPTION_SET)
    yield _set("other keys", {keys: ["id"]}, {keys: ["id", "x"]}, PaimonFact.PRIMARY_KEYS_CHANGED)


def _paimon_columns() -> Iterator[Case]:
    """Columns whose change a key, a type or an option of Paimon forbids."""
    f, keys, options = Fact, f"{PAIMON}/primaryKeys", f"{PAIMON}/options"
    identity = member("id", LONG)
    both = {"fields": [identity, X], "extra": {keys: ["id", "x"]}}
    alone = {"fields": [identity], "extra": {keys: ["id"]}}
    yield Case("drop a Paimon key", both, alone, (PaimonFact.PRIMARY_KEYS_CHANGED, f.FIELD_DROPPED))
    renamed = {**member("z", INT), "extra": {"schemac.dev/renamedFrom": "x"}}
    other = {"fields": [identity, renamed], "extra": {keys: ["id", "z"]}}
    yield Case("rename a Paimon key", both, other, (PaimonFact.PRIMARY_KEYS_CHANGED, f.FIELD_RENAMED))
    implicit = {options: {"disable-explicit-type-casting": "true"}}
    before, after = ({"fields": [member("x", type_)], "extra": implicit} for type_ in (LONG, INT))
    yield Case("narrow where Paimon casts nothing explicitly", before, after, (f.INTEGER_NARROWED,))
    yield Case("widen where Paimon casts nothing explicitly", after, before, (f.INTEGER_WIDENED,))


def _iceberg() -> Iterator[Case]:
    f, version, identifiers = Fact, f"{ICEBERG}/formatVersion", f"{ICEBERG}/identifierFields"
    yield _set("a newer format of Iceberg", {version: 2}, {version: 3}, f.ATTRIBUTE_CHANGED)
    yield _set("an older format of Iceberg", {version: 3}, {version: 2}, f.ATTRIBUTE_CHANGED)
    yield _set("the usual format of Iceberg", {}, {version: 2}, f.ATTRIBUTE_ADDED)
    yield _set("fields that identify", {}, {identifiers: ["id"]}, f.ATTRIBUTE_ADDED)
    yield _set("other fields that identify", {identifiers: ["id"]}, {identifiers: ["x"]}, f.ATTRIBUTE_CHANGED)
    yield _set("no fields that identify", {identifiers: ["id"]}, {}, f.ATTRIBUTE_REMOVED)
    for name in ("initialDefault", "writeDefault"):
        old, new = ({**X, "extra": {f"{ICEBERG}/{name}": value}} for value in (1, 2))
        before, after = ({"fields": [member("id", LONG), x], "extra": {version: 3}} for x in (old, new))
        yield Case(f"another {name}", before, after, (f.ATTRIBUTE_CHANGED,))
    told = {**Y, "extra": {f"{ICEBERG}/initialDefault": 1}}
    before, after = ({"fields": [X, *more], "extra": {version: 3}} for more in ((), (told,)))
    yield Case("add a required column with a default", before, after, (f.FIELD_ADDED,))
    after = {"fields": [X, Y], "extra": {version: 3}}
    yield Case("add a required column in format 3", before, after, (f.FIELD_ADDED,))
    key = {**told, "extra": {**told["extra"], "lance.org/primaryKey": {"position": 1}}}
    after = {"fields": [X, key], "extra": {version: 3}}
    yield Case("add a key with a default", before, after, (f.FIELD_ADDED,))
    wider = option(LONG)
    yield _case(
        "widen a column that becomes optional", X, member("x", wider), f.BECAME_OPTIONAL, f.INTEGER_WIDENED
    )
    yield from _variants()
    yield from _blames()


def _blames() -> Iterator[Case]:
    """A change beside another that Iceberg has no schema for: in a field above or below it, or in the schema as a whole."""
    f = Fact
    owned, noted = ({**X, "extra": {key: "a"}} for key in ("example.com/a", "opendatafabric.org/description"))

    def schema(*fields: Manifest, **extra: Any) -> Manifest:
        return {"fields": list(fields), "extra": {f"{ICEBERG}/{key}": value for key, value in extra.items()}}

    waiting = member("s", struct(member("w", option(of("Duration")))))
    facts: tuple[AnyFact, ...] = (f.ATTRIBUTE_ADDED, f.FIELD_ADDED)
    yield Case("an attribute and a struct with a duration", schema(X), schema(owned, waiting), facts)

    def variant(x: Manifest, value: Manifest) -> Manifest:
        parts = (member("value", value), member("metadata", of("Binary")))
        return schema(x, member("v", struct(*parts, extra={f"{ICEBERG}/type": "variant"})), formatVersion=3)

    before, after = variant(X, of("Binary")), variant(owned, TEXT)
    facts = (f.ATTRIBUTE_ADDED, f.TEXT_AND_BYTES_SWAPPED)
    yield Case("an attribute and another part of a variant", before, after, facts)
    before = schema(X, identifierFields=["x"])
    after = schema(member("x", option(INT)), identifierFields=["x"], tableProperties={"a": "b"})
    facts = (f.ATTRIBUTE_ADDED, f.BECAME_OPTIONAL)
    yield Case("a property and an optional field that identifies", before, after, facts)
    default = {f"{ICEBERG}/writeDefault": 1}
    before = schema({**X, "extra": default}, formatVersion=3)
    after = schema({**noted, "extra": {**noted["extra"], **default}}, formatVersion=2)
    facts = (f.ATTRIBUTE_CHANGED, f.DESCRIPTION_ADDED)
    yield Case("an older format without defaults", before, after, facts)


def _variants() -> Iterator[Case]:
    """Structs that are one value to Iceberg, which has no fields in them."""
    f, extra = Fact, {f"{ICEBERG}/type": "variant"}
    value, metadata = member("value", of("Binary")), member("metadata", of("Binary"))
    told = {**value, "extra": {"opendatafabric.org/description": "a"}}

    def version(type_: Manifest) -> Manifest:
        return {
            "fields": [member("id", LONG), member("v", type_)],
            "extra": {f"{ICEBERG}/formatVersion": 3},
        }

    plain, variant = version(struct(value)), version(struct(value, metadata, extra=extra))
    described = version(struct(told, metadata, extra=extra))
    yield Case("describe a part of a variant", variant, described, (f.DESCRIPTION_ADDED,))
    facts = (f.ATTRIBUTE_ADDED, f.DESCRIPTION_ADDED, f.FIELD_ADDED)
    yield Case("a struct to a variant", plain, described, facts)
    facts = (f.ATTRIBUTE_REMOVED, f.DESCRIPTION_REMOVED, f.FIELD_DROPPED)
    yield Case("a variant to a struct", described, plain, facts)


CASES = (
    *_structs(),
    *_moves(),
    *_blobs(),
    *_documents(),
    *_wrapped(),
    *_histories(),
    *_keys(),
    *_without_type(),
    *_extensions(),
    *_times(),
    *_zones(),
    *_paimon(),
    *_paimon_columns(),
    *_iceberg(),
)
