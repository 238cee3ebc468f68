"""`opendatafabric.org`: words of the standard itself, and of the product that grew it.

Layer: language.
Source: the standard's attribute list and RFC-016, RFC-017.
"""

from typing import Annotated, Literal

from pydantic import Field

from schemac.language.attributes.attribute import Attribute, Facts, Family, spelled
from schemac.text.source.json_object import Json
from schemac.text.syntax.model import AuthoredModel

DOMAIN = "opendatafabric.org"


class LogicalTypeWord(AuthoredModel, extra="allow"):
    """A logical type that is more specific than the kind; `linkType` belongs to ObjectLink.

    The standard also allows any core type here in its long form; those carry properties of their own.
    """

    kind: Annotated[str, spelled("Did", "Multihash", "ObjectLink")] = Field(description="The richer type.")
    link_type: Json | None = Field(None, description="What an ObjectLink leads to.")


class LinkedObjects(AuthoredModel):
    """Size of what a block of data links to."""

    num_objects_naive: int = Field(ge=0, description="How many objects there are, counted with repetitions.")
    size_naive: int = Field(ge=0, description="Their bytes, counted with repetitions.")


DESCRIPTION = Attribute[str](
    f"{DOMAIN}/description",
    str,
    "a description for readers",
    on_schema=True,
    facts=Facts("description-added", "description-removed", "description-changed"),
)
TYPE = Attribute[LogicalTypeWord](
    f"{DOMAIN}/type",
    LogicalTypeWord,
    "a richer logical type: Did, Multihash, ObjectLink",
    facts=Facts.all("odf-type-changed"),
    example="{kind: Did}",
)
LINKED_OBJECTS = Attribute[LinkedObjects](
    f"{DOMAIN}/linkedObjects",
    LinkedObjects,
    "size of linked objects; an attribute of data blocks, not of schemas",
    on_field=False,
    example="{numObjectsNaive: 2, sizeNaive: 4096}",
)
ARCHETYPE = Attribute[str](
    "kamu.dev/archetype",
    Annotated[Literal["Collection", "VersionedFile"], spelled("Collection", "VersionedFile")],
    "the kind of the dataset as a whole",
    on_field=False,
    on_schema=True,
    facts=Facts.all("archetype-changed"),
)
WORDS = frozenset({"Did", "Multihash", "ObjectLink"})
"""Logical types that have String as their kind."""
WORD_FAMILIES = frozenset({Family.TEXT})
ATTRIBUTES = (DESCRIPTION, TYPE, LINKED_OBJECTS)
