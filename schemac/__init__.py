"""A schema compiler for data tables.

    >>> import schemac
    >>> (trips,) = schemac.compile_text("name: trips\\nfields:\\n  - name: fare\\n    type: Float64\\n")
    >>> trips.to_arrow()
    fare: double not null

Names are loaded when they are first used, so `import schemac` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from schemac.engines import PUBLIC
from schemac.version import __version__ as __version__

if TYPE_CHECKING:
    from schemac.artifacts.targets import Loss as Loss
    from schemac.engines.api import *  # noqa: F403 — whatever the engines offer
    from schemac.language.attributes.arrow import ArrowDefaults as ArrowDefaults
    from schemac.project.api import build_text as build_text
    from schemac.project.api import check_text as check_text
    from schemac.project.api import compile_file as compile_file
    from schemac.project.api import compile_text as compile_text
    from schemac.project.api import diff as diff
    from schemac.project.api import from_arrow as from_arrow
    from schemac.project.api import from_parquet as from_parquet
    from schemac.rows.validation.result import UnfitRowsError as UnfitRowsError
    from schemac.rows.validation.result import Validation as Validation
    from schemac.text.source.diagnostics import Diagnostic as Diagnostic
    from schemac.text.source.diagnostics import SchemaError as SchemaError
    from schemac.text.source.diagnostics import Severity as Severity
    from schemac.versions.evolution.changes import Change as Change
else:
    _HOMES = {
        **dict.fromkeys(
            ("build_text", "check_text", "compile_file", "compile_text", "diff"), "schemac.project.api"
        ),
        **dict.fromkeys(("from_arrow", "from_parquet"), "schemac.project.api"),
        **dict.fromkeys(PUBLIC, "schemac.engines.api"),
        **dict.fromkeys(("Diagnostic", "SchemaError", "Severity"), "schemac.text.source.diagnostics"),
        "ArrowDefaults": "schemac.language.attributes.arrow",
        "Change": "schemac.versions.evolution.changes",
        "Loss": "schemac.artifacts.targets",
        **dict.fromkeys(("UnfitRowsError", "Validation"), "schemac.rows.validation.result"),
    }
    # Type checkers take a list for all there is, and could not follow this one.
    __all__ = sorted([*_HOMES, "__version__"])  # noqa: PLE0605 — the names of the engines stand with them

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module 'schemac' has no attribute '{name}'")
        return getattr(import_module(_HOMES[name]), name)

    def __dir__() -> list[str]:
        return list(__all__)
