"""Kinds with rules of their own.

Layer: logical.
"""

from abc import ABC, abstractmethod

from schemac.logical.findings import Findings
from schemac.logical.schema_fields import SchemaField


class Checked(ABC):
    """A kind whose properties can be combined to something that means nothing."""

    __slots__ = ()

    @abstractmethod
    def check(self, field: SchemaField, findings: Findings) -> None:
        """Report what no grammar can."""
