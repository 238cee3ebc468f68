"""What engines bring for attributes that Arrow has no words for.

Layer: arrow.
Shape: one `ArrowForm` an engine, found by the engine's domain. Lowered Arrow fields are what every engine starts from, so
each of them sees what the form of another engine has put into them.
"""

from collections.abc import Callable, Mapping
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import Any

from schemac.attributes.attribute import Extra, Role
from schemac.attributes.registry import ATTRIBUTES, domain_of
from schemac.physical.arrow import ArrowType
from schemac.registry.engine import Capability
from schemac.registry.installed import engines
from schemac.source.json_object import Json

Tree = Json


class ArrowForm:
    """The Arrow form of an engine's attributes.

    By default, the attributes say nothing about Arrow: they travel as metadata under their own keys.
    """

    extensions: Mapping[str, Role] = MappingProxyType({})
    """What a field is whose extension type has one of these names."""
    repeated: frozenset[str] = frozenset()
    """Keys of field metadata that the engine leaves in tables, and that only repeat what the Arrow type says."""
    description: str = ""
    """Key of field metadata under which the engine leaves the description of a field as plain text."""

    def metadata(self, key: str, extra: Extra) -> Mapping[str, str] | None:
        """Return the metadata of a field that says what an attribute says; None if it travels under its own key."""
        return None

    def property_of(self, key: str, entry: str) -> str:
        """Return the property of an attribute that an entry of its `metadata` is; empty if it is the attribute."""
        return ""

    def to_arrow(
        self, key: str, storage: ArrowType, metadata: dict[str, str], schema_extra: Extra
    ) -> ArrowType:
        """Return the type of a field, for an attribute that decides it; what is not in the type goes into the metadata."""
        return storage

    def lift_type(
        self, type_: Any, metadata: dict[str, str], note: Callable[[str], None]
    ) -> tuple[Tree, Tree] | None:
        """Return kind and attributes of a type that `to_arrow` makes, and take what says so out of the metadata."""
        return None

    def lift_metadata(self, rest: dict[str, str], kind: str, note: Callable[[str], None]) -> Tree:
        """Take the entries that `metadata` makes out of a field's metadata, and return the attributes that they say.

        An entry that the checks of the engine would refuse is taken out too, and noted.
        """
        return {}


ARROW_FORM = Capability("arrow_form", ArrowForm)


@cache
def forms() -> Mapping[str, ArrowForm]:
    """Return the forms of all engines by domain. Raises EngineError."""
    return {engine.domain: ARROW_FORM.of(engine) for engine in engines() if ARROW_FORM.is_of(engine)}


@cache
def extension_roles() -> Mapping[str, Role]:
    """Return what a field is by the name of its extension type: Arrow's own, and those of all engines. Raises EngineError."""
    declared = (form.extensions.items() for form in forms().values())
    return {"arrow.json": Role.JSON, **dict(chain.from_iterable(declared))}


@cache
def deciding() -> Mapping[str, ArrowForm]:
    """Return the forms by those attributes that decide the type of a field. Raises EngineError."""
    declared_forms = forms()
    return {
        key: declared_forms[domain_of(key)]
        for key, attribute in ATTRIBUTES.items()
        if attribute.decides_type and domain_of(key) in declared_forms
    }
