"""Lance: the schema of a table's newest version.

Floor: 7 (importers).
Source: `LanceDataset.schema`, `LanceDataset.data_storage_version`.
"""

from pathlib import Path

from schemac.attributes import lance as words
from schemac.importers.importer import Imported, Importer, refuse
from schemac.lifting.lift import lift
from schemac.physical.arrow import pa
from schemac.source.report import Report


def read(path: Path, report: Report) -> Imported | None:
    """The schema with keys, encodings and the storage version."""
    # Imported here for start-up time, and because Lance is an extra that may not be there.
    import lance

    try:
        table = lance.dataset(str(path))
        schema, version = table.schema, table.data_storage_version
    except (ValueError, pa.ArrowException) as error:
        # Lance adds the places in its own source where the error passed.
        reason = str(error).splitlines()[0].partition(", /")[0].partition(": Not found")[0]
        refuse(path, f"it is no Lance table: {reason[0].lower()}{reason[1:]}", report)
        return None
    tree = lift(schema, str(path), report)
    if version in words.STORAGE_VERSIONS and version != words.DEFAULT_STORAGE_VERSION:
        tree = {**tree, "extra": {**tree.get("extra", {}), words.STORAGE_VERSION.key: version}}
    return Imported(
        tree, (f"from version {table.version} of a Lance table",), name=path.name.removesuffix(".lance")
    )


IMPORTER = Importer("lance", "Lance table", read)
