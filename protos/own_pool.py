"""Gives the message classes that protoc generated a descriptor pool of their own: `own_pool.py FILE_pb2.py`.

A program may also import the messages of Lance's own project, which have the same names. Protobuf refuses two definitions
of one name in a pool, and generated code registers all that it defines in the default one.
"""

import sys
from pathlib import Path

REPLACEMENTS = (
    ("_descriptor_pool.Default()", "_descriptor_pool.DescriptorPool()"),
    (
        "# @@protoc_insertion_point(imports)",
        "from google.protobuf import message_factory as _message_factory",
    ),
    (
        "_builder.BuildTopDescriptorsAndMessages(DESCRIPTOR, 'lance.file_pb2', _globals)",
        """for _message in DESCRIPTOR.message_types_by_name.values():
  _globals[_message.name] = _message_factory.GetMessageClass(_message)
  _globals[_message.name].__module__ = __name__""",
    ),
)


def main(path: Path) -> None:
    """Rewrite the module in place. Raises ValueError where protoc writes other code than is known here."""
    text = path.read_text(encoding="utf-8")
    for old, new in REPLACEMENTS:
        if text.count(old) != 1:
            raise ValueError(f"{path} does not have one `{old.strip()}`")
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
