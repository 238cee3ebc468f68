"""A schema compiler for data tables.

    >>> import schemac
    >>> (trips,) = schemac.compile_text("name: trips\\nfields:\\n  - name: fare\\n    type: Float64\\n")
    >>> trips.to_arrow()
    fare: double not null

Names are loaded when they are first used, so that `import schemac` costs nothing by itself.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from schemac.version import __version__

if TYPE_CHECKING:
    from schemac.api import (
        Dataset,
        build_text,
        check_text,
        compile_file,
        compile_text,
        diff,
        from_arrow,
        from_iceberg,
        from_lance,
        from_odf,
        from_paimon,
        from_parquet,
        from_spark,
        from_spark_ddl,
    )
    from schemac.artifacts.emission import Loss
    from schemac.attributes.arrow import ArrowDefaults
    from schemac.evolution.changes import Change
    from schemac.source.diagnostic import Diagnostic, SchemaError, Severity

__all__ = [
    "ArrowDefaults",
    "Change",
    "Dataset",
    "Diagnostic",
    "Loss",
    "SchemaError",
    "Severity",
    "__version__",
    "build_text",
    "check_text",
    "compile_file",
    "compile_text",
    "diff",
    "from_arrow",
    "from_iceberg",
    "from_lance",
    "from_odf",
    "from_paimon",
    "from_parquet",
    "from_spark",
    "from_spark_ddl",
]

_HOMES = {
    **dict.fromkeys(
        ("Dataset", "build_text", "check_text", "compile_file", "compile_text", "diff"), "schemac.api"
    ),
    **dict.fromkeys(
        ("from_arrow", "from_iceberg", "from_lance", "from_odf", "from_paimon", "from_parquet"), "schemac.api"
    ),
    **dict.fromkeys(("from_spark", "from_spark_ddl"), "schemac.api"),
    **dict.fromkeys(("Diagnostic", "SchemaError", "Severity"), "schemac.source.diagnostic"),
    "ArrowDefaults": "schemac.attributes.arrow",
    "Change": "schemac.evolution.changes",
    "Loss": "schemac.artifacts.emission",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'schemac' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
