"""The same fields as manifests and as .proto files.

Shape: five types in turn, a third of the fields optional, a description on every field, attributes of the
author's own domain on a quarter.
"""

from pathlib import Path

_TYPES = (
    ("UInt64", "uint64"),
    ("String", "string"),
    ("Float64", "double"),
    ("Int32", "int32"),
    ("{kind: Timestamp, unit: Microsecond}", "google.protobuf.Timestamp"),
)


def write_manifests(folder: Path, files: int, fields: int) -> Path:
    """Manifests as an author writes them, one dataset each."""
    folder.mkdir(parents=True)
    for number in range(files):
        lines = [f"name: table_{number}", "fields:"]
        for i in range(fields):
            kind, _ = _TYPES[i % len(_TYPES)]
            type_ = f"{{kind: Option, inner: {kind}}}" if i % 3 == 0 else kind
            lines += [
                f"  - name: field_{i}",
                f"    type: {type_}",
                f"    description: The value number {i} of this record",
            ]
            if i % 4 == 0:
                lines += ["    extra:", "      acme.com/owner: team-a", "      acme.com/tier: 2"]
        (folder / f"table_{number}.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def write_protos(folder: Path, files: int, fields: int) -> Path:
    """The same as messages, in the form that buf's standard rules want."""
    package = folder / "acme" / "v1"
    package.mkdir(parents=True)
    (folder / "buf.yaml").write_text("version: v2\nlint:\n  use: [STANDARD]\n", encoding="utf-8")
    for number in range(files):
        lines = [
            'syntax = "proto3";',
            "package acme.v1;",
            'import "google/protobuf/timestamp.proto";',
            f"message Table{number} {{",
        ]
        for i in range(fields):
            _, type_ = _TYPES[i % len(_TYPES)]
            label = "optional " if i % 3 == 0 else ""
            lines += [f"  // The value number {i} of this record", f"  {label}{type_} field_{i} = {_tag(i)};"]
        (package / f"table_{number}.proto").write_text("\n".join([*lines, "}"]) + "\n", encoding="utf-8")
    return folder


def _tag(index: int) -> int:
    """A field number; 19000 to 19999 are protobuf's own."""
    return index + 1 if index < 18999 else index + 1001
