"""JSON objects, at the edges of the compiler.

Layer: source.
"""

from typing import Any

Json = dict[str, Any]
"""An object of a JSON, YAML or TOML document, as it was read or is about to be written.

Its keys are those of the document. What the compiler knows by names of its own is a value class.
"""
