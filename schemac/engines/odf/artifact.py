"""ODF: the standard's own SetDataSchema event.

Layer: engines.
Shape: `odf/schema.yaml`, the event in the standard's long form with every default written out, as `--strict` takes it;
`odf/schema.bin`, the same event as FlatBuffers. Both say the same. `keysSorted` is written where it is false, as the
reference implementation does coming from Arrow; `fixedLength` has no default and is left out. Encoding hints stay, for
an author wrote them.
Errors: SC533 odf-kind for kinds that the standard does not have; without ODF, where nobody asks for it, SC534; losses SC532.
Source: RFC-016; a union has no buffer of its own in FlatBuffers, so the root is the event's table. FlatBuffers' own verifiers
stop at 64 tables inside each other, which is deeper than any engine here reads.
"""

from schemac.artifacts.emission import Artifact, Compilation, Emission, Target
from schemac.attributes.own import TARGETS_OF
from schemac.engines.odf.codes import ODF_KIND, ODF_LEFT_OUT, ODF_LOSS
from schemac.engines.odf.text import write_text
from schemac.engines.odf.values import TAGS
from schemac.logical.dataset import LogicalDataset
from schemac.logical.schema_fields import SchemaField, preorder


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """Return the event, as text and as bytes; nothing where the standard has no such kind."""
    strangers = [s for s in preorder(compilation.dataset.columns) if s.type.kind not in TAGS]
    for field in strangers:
        emission.findings.at_type(
            field,
            ODF_KIND,
            f"{field.path_text}: the standard has no kind {field.type.kind}",
            help=f"leave it out of this dataset's engines with `{TARGETS_OF.key}` under the schema's `extra:`",
        )
    if strangers:
        return []
    text = write_text(compilation.dataset, "event", emission.lose)
    return [
        Artifact("odf/schema.yaml", text.encode()),
        Artifact("odf/schema.bin", to_binary(compilation.dataset)),
    ]


def to_text(dataset: LogicalDataset, form: str) -> str:
    """Return the schema as YAML, in one of the standard's documents."""
    return write_text(dataset, form, _keep_silent)


def to_binary(dataset: LogicalDataset) -> bytes:
    """Return the SetDataSchema event as FlatBuffers."""
    # Imported here for start-up time: who asks for the text needs no `flatbuffers`.
    from schemac.engines.odf.binary import write_binary

    return write_binary(dataset, _keep_silent)


def _keep_silent(_field: SchemaField, _lost: str, _becomes: str) -> None:
    """Losses were entered when the text was written."""


TARGET = Target("odf", ODF_LOSS, emit, left_out_code=ODF_LEFT_OUT)
