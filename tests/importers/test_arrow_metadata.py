"""Metadata of Arrow comes into a dataset, or a warning names it and its field, wherever it is."""

from collections.abc import Callable, Iterator

import pyarrow as pa
import pytest

import schemac

BAD = {b"k\xff": b"v", b"ok": b"\xfe", b"fine": b"1"}


class Registered(pa.ExtensionType):  # type: ignore[misc]
    """An extension type of a program, with metadata of its own."""

    def __init__(self, content: bytes = b"") -> None:
        self.content = content
        super().__init__(pa.int32(), "example.registered")

    def __arrow_ext_serialize__(self) -> bytes:
        return self.content

    @classmethod
    def __arrow_ext_deserialize__(cls, _storage: pa.DataType, serialized: bytes) -> "Registered":
        return cls(serialized)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    pa.register_extension_type(Registered())
    yield
    pa.unregister_extension_type("example.registered")


def bad(name: str = "x", type_: pa.DataType | None = None, *, is_nullable: bool = True) -> pa.Field:
    return pa.field(name, type_ or pa.int32(), is_nullable, BAD)


PLACES: dict[str, Callable[[], tuple[pa.Field, str]]] = {
    "column": lambda: (bad(), "x"),
    "member": lambda: (pa.field("s", pa.struct([bad()])), "s.x"),
    "item": lambda: (pa.field("l", pa.list_(bad("item"))), "l.item"),
    "item of a large list": lambda: (pa.field("l", pa.large_list(bad("item"))), "l.item"),
    "item of views": lambda: (pa.field("l", pa.list_view(bad("item"))), "l.item"),
    "item of a vector": lambda: (pa.field("v", pa.list_(bad("item"), 3)), "v.item"),
    "key": lambda: (pa.field("m", pa.map_(bad("key", is_nullable=False), pa.int8())), "m.key"),
    "value": lambda: (pa.field("m", pa.map_(pa.string(), bad("value"))), "m.value"),
    "member of an item": lambda: (pa.field("l", pa.list_(pa.struct([bad()]))), "l.item.x"),
    "dictionary": lambda: (bad("d", pa.dictionary(pa.int8(), pa.string())), "d"),
    "uuid": lambda: (bad("u", pa.uuid()), "u"),
    "json": lambda: (bad("j", pa.json_()), "j"),
    "registered type": lambda: (bad("r", Registered()), "r"),
}


@pytest.mark.parametrize("place", PLACES)
def test_name_the_metadata_that_is_not_kept(place: str) -> None:
    field, path = PLACES[place]()
    dataset = schemac.from_arrow(pa.schema([field]))
    assert [(w.code, w.path, w.message) for w in dataset.warnings] == [
        ("SC555", path, f"not kept: the metadata {key}, which is not UTF-8 ({path})")
        for key in ("k\\xff", "ok")
    ]
    assert b"fine" in str(dataset.to_arrow().serialize().to_pybytes()).encode()


def test_name_metadata_of_the_schema() -> None:
    dataset = schemac.from_arrow(pa.schema([pa.field("a", pa.int8())], metadata=BAD))
    assert [w.path for w in dataset.warnings] == ["", ""]
    assert dataset.to_arrow().metadata == {b"fine": b"1"}


@pytest.mark.parametrize("holder", [lambda f: f, lambda f: pa.field("s", pa.struct([f]))])
def test_keep_what_a_registered_type_says_of_itself(holder: Callable[[pa.Field], pa.Field]) -> None:
    schema = pa.schema([holder(pa.field("a", Registered(b"version 2")))])
    dataset = schemac.from_arrow(schema)
    assert dataset.warnings == ()
    again = pa.ipc.read_schema(dataset.to_arrow().serialize())
    assert again.equals(schema)
    field = again.field(0)
    type_ = field.type if isinstance(field.type, Registered) else field.type.field(0).type
    assert type_.content == b"version 2"


def test_name_what_a_registered_type_says_in_no_text() -> None:
    dataset = schemac.from_arrow(pa.schema([pa.field("a", Registered(b"\xff"))]))
    assert [(w.path, w.message) for w in dataset.warnings] == [
        ("a", "not kept: the metadata ARROW:extension:metadata, which is not UTF-8 (a)")
    ]
