"""The engines: one folder for each, with everything that the compiler knows about it.

Layer: engines. Engines do not import each other, and nothing below imports them: the rest of the compiler sees each
through its `ENGINE` (`schemac.registry`). A module next to the folders is what several engines share.
"""

PUBLIC = (
    "Dataset", "from_avro", "from_bigquery", "from_datacontract", "from_dbt", "from_delta", "from_duckdb",
    "from_iceberg", "from_jsonschema", "from_lance", "from_odcs", "from_odf", "from_paimon",
    "from_postgres", "from_protobuf", "from_pydantic", "from_snowflake", "from_source", "from_spark",
    "from_spark_ddl",
)  # fmt: skip
"""The names of `schemac.engines.api`, so that `import schemac` knows them without loading it."""
