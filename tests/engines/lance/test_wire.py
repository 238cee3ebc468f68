"""The bytes of a Lance schema against the classes that are generated from the message's definition."""

from hypothesis import example, given
from hypothesis import strategies as st

from schemac.arrow.lower_metadata import EXTENSION_NAME
from schemac.engines.lance import wire
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.nodes import NO_MARKS, KeyMarks, Node
from schemac.engines.lance.types import Encoding

NUMBERS = st.integers(-1, 2**31 - 1)
TEXTS = st.text(max_size=300)
POSITIONS = st.integers(0, 2**32 - 1)
METADATA = st.dictionaries(TEXTS.filter(bool) | st.just(EXTENSION_NAME), TEXTS.filter(bool), max_size=4).map(
    lambda entries: dict(sorted(entries.items()))
)
MARKS = st.just(NO_MARKS) | st.builds(KeyMarks, st.booleans(), POSITIONS, POSITIONS)
NODES = st.builds(Node, TEXTS, NUMBERS, TEXTS, st.booleans(), st.integers(0, 4), METADATA, MARKS)


def test_know_the_numbers_of_the_definition() -> None:
    fields, schema = (message.DESCRIPTOR.fields_by_name for message in (pb.Field, pb.Schema))
    known = {
        name.removesuffix("_OF_SCHEMA").strip("_").lower(): number
        for name, number in vars(wire).items()
        if name[0] == "_"
        and name[1:].isupper()
        and isinstance(number, int)
        and not name.endswith("_OF_SCHEMA")
    }
    keys = {name: f"unenforced_{name}" for name in known if "key" in name}
    assert known == {name: fields[keys.get(name, name)].number for name in known}
    assert len(known) == 11
    assert schema["fields"].number == wire._FIELDS_OF_SCHEMA
    assert schema["metadata"].number == wire._METADATA_OF_SCHEMA
    named = {name: number for name, number in vars(Encoding).items() if name.isupper()}
    assert named == dict(pb.Field.Encoding.items())


@given(st.lists(st.tuples(NUMBERS, NODES), max_size=5), METADATA)
@example([], {"owner": "a", "owner:team": "b"})
def test_write_what_the_generated_classes_write(
    nodes: list[tuple[int, Node]], metadata: dict[str, str]
) -> None:
    message = pb.Schema(metadata={key: text.encode() for key, text in metadata.items()})
    for id, node in nodes:
        entries = node.metadata
        marks = node.marks if entries else NO_MARKS
        message.fields.add(
            id=id,
            name=node.name,
            parent_id=node.parent,
            logical_type=node.logical_type,
            nullable=node.is_nullable,
            encoding=pb.Field.Encoding.ValueType(node.encoding),
            extension_name=entries.get(EXTENSION_NAME, ""),
            metadata={key: text.encode() for key, text in entries.items()},
            unenforced_primary_key=marks.is_primary,
            unenforced_primary_key_position=marks.primary_position,
            unenforced_clustering_key_position=marks.clustering_position,
        )
    assert wire.schema_bytes(nodes, metadata) == message.SerializeToString(deterministic=True)
