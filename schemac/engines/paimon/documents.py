"""JSON around Paimon tables that is neither a schema nor data.

Layer: engines.
Source: the snapshots of Paimon.
"""

from schemac.importers.foreign_json import ForeignDocument, has_keys

DOCUMENTS = (
    ForeignDocument(
        "a snapshot of a Paimon table", has_keys("schemaId", "baseManifestList"), "import the table's folder"
    ),
)
"""What to import in place of such a file."""
