"""The zones of the clocks of a job's fields.

Layer: pipeline.
Shape: `zone` of a field in the pipeline file says it of what is read, `schemac.dev/clockZone` in the schema of what is written;
       the side that has no zone counts first, as it does where a table changes (`evolution.clocks`). Where neither says
       it, `timezone` of the source does. `with_zones` writes the zone next to each timestamp, at every depth, where
       whatever reads a value finds it.
"""

import pyarrow as pa

from schemac.pipeline.declaration.job import Job
from schemac.rows.judging.clocks import with_zones as with_zones_of
from schemac.rows.judging.clocks import zone_of

__all__ = ["with_zones", "zone_of"]


def with_zones(schema: pa.Schema, job: Job) -> pa.Schema:
    """Note the zone of its clocks next to each field of a schema that has one."""
    zones = {label: origin.zone for label, origin in job.fields.items() if origin is not None}
    return with_zones_of(schema, zones.get, job.source.timezone)
