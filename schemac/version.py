"""The version of this compiler, which is part of every artifact's provenance."""

__version__ = "0.1.0"
