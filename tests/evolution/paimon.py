"""Changes of what only Paimon has: options that name columns, nullable keys, blobs, variants and multisets."""

from collections.abc import Iterator
from typing import Any

from schemac.engines.paimon.attributes import PaimonFact
from schemac.language.logical.facts import Fact
from tests.conformance.manifest_types import Manifest, member, of, option, struct
from tests.evolution.case import Case

INT, LONG, TEXT = of("Int32"), of("Int64"), of("String")
ID, X, NEW = member("id", LONG), member("x", INT), member("n", option(INT))
DOMAIN = "paimon.apache.org"
NOTE = {"opendatafabric.org/description": "a"}


def _table(*fields: Manifest, keys: tuple[str, ...] = ("id",), **options: str) -> Manifest:
    named = {f"{DOMAIN}/options": {key.replace("_", "."): value for key, value in options.items()}}
    key = {f"{DOMAIN}/primaryKeys": list(keys)} if keys else {}
    return {"fields": list(fields), "extra": {**key, **(named if options else {})}}


def _renamed(field: Manifest, old: str) -> Manifest:
    return {**field, "extra": {**field.get("extra", {}), "schemac.dev/renamedFrom": old}}


def _typed(kind: str, type_: str, extra: Manifest | None = None, **properties: Any) -> Manifest:
    return of(kind, {f"{DOMAIN}/type": type_, **(extra or {})}, **properties)


def _of_x(name: str, old: Manifest, new: Manifest, *facts: Any) -> Case:
    before, after = ({"fields": [ID, member("x", type_)]} for type_ in (old, new))
    return Case(name, before, after, facts)


def _options() -> Iterator[Case]:
    f, before = Fact, _table(ID, X, bucket="1", sequence_field="x")
    alone = _table(ID, bucket="1", sequence_field="x")
    yield Case("drop a column that an option names", before, alone, (f.FIELD_DROPPED,))
    z = _renamed(member("z", INT), "x")
    after = _table(ID, z, NEW, bucket="1", sequence_field="z")
    facts = (PaimonFact.OPTION_SET, f.FIELD_RENAMED, f.FIELD_ADDED)
    yield Case("rename a column that an option names", before, after, facts)
    noted = {**ID, "extra": NOTE}
    after = _table(noted, bucket="1", sequence_field="x")
    twice = (f.DESCRIPTION_ADDED, f.FIELD_DROPPED)
    yield Case("drop a column that an option names beside a description", before, after, twice)
    wide = member("w", option(of("Decimal", precision=50, scale=5)))
    old, new = _table(ID, member("y", TEXT)), _table(ID, wide)
    twice = (f.FIELD_ADDED, f.FIELD_DROPPED)
    yield Case("drop a column beside a decimal that is too wide", old, new, twice)
    fine = member("t", of("Timestamp", unit="Nanosecond"))
    old, new = (_table(ID, fine, bucket="1", file_format=name) for name in ("parquet", "avro"))
    yield Case("files that cannot store a column", old, new, (PaimonFact.OPTION_SET,))


def _keys() -> Iterator[Case]:
    f, inner = Fact, member("id", LONG)
    other = _table(ID, _renamed(member("z", LONG), "s.id"), member("s", struct(X)), keys=("z",))
    facts = (PaimonFact.PRIMARY_KEYS_CHANGED, f.FIELD_MOVED)
    yield Case("a member as the key", _table(ID, member("s", struct(inner, X))), other, facts)
    option_facts = (PaimonFact.OPTION_SET, PaimonFact.PRIMARY_KEYS_CHANGED)
    as_option = {"fields": [ID, X], "extra": {f"{DOMAIN}/options": {"primary-key": "id"}}}
    yield Case("the same key as an option", _table(ID, X), as_option, option_facts)
    nullable = {
        f"{DOMAIN}/options": {"primary-key.nullable": "true", "bucket": "1"},
        f"{DOMAIN}/primaryKeys": ["id"],
    }
    before, after = ({"fields": [member("id", id_), X], "extra": nullable} for id_ in (option(LONG), LONG))
    yield Case("a required key", before, after, (f.BECAME_REQUIRED,))
    yield Case("an optional key", after, before, (f.BECAME_OPTIONAL,))
    without = _table(member("id", option(LONG)), X, keys=())
    facts = (PaimonFact.PRIMARY_KEYS_CHANGED, f.BECAME_OPTIONAL)
    yield Case("a key that is dropped and becomes optional", _table(ID, X), without, facts)
    by_option = {"fields": [ID, X], "extra": {f"{DOMAIN}/options": {"partition": "x"}}}
    yield Case("partitions by an option", {"fields": [ID, X]}, by_option, (PaimonFact.OPTION_SET,))


def _types() -> Iterator[Case]:
    f = Fact
    blobs = {f"{DOMAIN}/options": {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}}
    blob = option(of("Binary"))
    old = {**member("b", blob), "extra": {f"{DOMAIN}/type": "BLOB"}}
    new = _renamed({**member("c", blob), "extra": {f"{DOMAIN}/type": "BLOB"}}, "b")
    before, after = ({"fields": [ID, field], "extra": blobs} for field in (old, new))
    yield Case("rename a blob", before, after, (f.FIELD_RENAMED,))
    value, metadata = member("value", of("Binary")), member("metadata", of("Binary"))
    variants = (
        _typed("Struct", "VARIANT", fields=[part, metadata]) for part in (value, {**value, "extra": NOTE})
    )
    yield _of_x("describe a part of a Paimon variant", *variants, f.DESCRIPTION_ADDED)
    row = struct(_renamed(member("z", of("Binary")), "value"), {**metadata, "extra": NOTE})
    variant = _typed("Struct", "VARIANT", fields=[value, metadata])
    changed = PaimonFact.TYPE_CHANGED
    yield _of_x("a variant to a ROW", variant, row, changed, f.FIELD_RENAMED, f.DESCRIPTION_ADDED)
    described = _typed("Struct", "VARIANT", fields=[value, {**metadata, "extra": NOTE}])
    yield _of_x("a ROW to a variant", struct(value, metadata), described, changed, f.DESCRIPTION_ADDED)
    default = of("Int32", {f"{DOMAIN}/defaultValue": "1", **NOTE})
    changed = PaimonFact.DEFAULT_VALUE_CHANGED
    yield _of_x("a default and a description", INT, default, f.DESCRIPTION_ADDED, changed)
    noted = of("Int32", NOTE)
    yield _of_x("describe items", of("List", itemType=INT), of("List", itemType=noted), f.DESCRIPTION_ADDED)
    yield _of_x("a map to a text", of("Map", keyType=TEXT, valueType=INT), TEXT, f.TYPE_REPLACED)
    owned = of("Int32", {"example.com/owner": "a"})
    yield _of_x(
        "an attribute of items", of("List", itemType=INT), of("List", itemType=owned), f.ATTRIBUTE_ADDED
    )
    nullable = {f"{DOMAIN}/nullableKey": True}
    counts = {"keyType": TEXT, "valueType": INT}
    yield _of_x(
        "keys that may be null", of("Map", **counts), of("Map", nullable, **counts), f.ATTRIBUTE_ADDED
    )
    bags = (_typed("Map", "MULTISET", extra, **counts) for extra in ({}, nullable))
    yield _of_x("elements that may be null", *bags, f.ATTRIBUTE_ADDED)
    counted = {"keyType": TEXT, "valueType": option(INT)}
    bags = (_typed("Map", "MULTISET", **properties) for properties in (counts, counted))
    yield _of_x("counts that may be null", *bags, f.BECAME_OPTIONAL)
    vectors = (
        _typed("List", "VECTOR", itemType=item, fixedLength=4)
        for item in (option(of("Float32")), of("Float32"))
    )
    yield _of_x("required elements of a vector", *vectors, f.BECAME_REQUIRED)


CASES = (*_options(), *_keys(), *_types())
