"""Avro: the schema as JSON.

Layer: engines.
Shape: `avro/schema.avsc`, a record with a field a column. A struct is a record, called as its field, in a namespace that is
its path. Attributes of other domains are properties of the field or type, as Avro allows.
Errors: SC591 avro-type, SC592 avro-name, SC593 avro-default; losses SC594.
Source: Avro 1.12, "Schema Declaration".
"""

import json
from collections.abc import Sequence
from typing import Any

from schemac.artifacts.emission import Artifact, Compilation, Emission, Target
from schemac.attributes.family import Family
from schemac.attributes.odf import DESCRIPTION
from schemac.attributes.own import RENAMED_FROM
from schemac.attributes.registry import domain_of
from schemac.engines.avro.attributes import ALIASES, DEFAULT, DOMAIN, NAMESPACE
from schemac.engines.avro.codes import AVRO_DEFAULT, AVRO_LOSS, AVRO_NAME, AVRO_TYPE
from schemac.engines.avro.defaults import fits
from schemac.engines.avro.leaves import leaf_of
from schemac.engines.avro.names import name_of, valid
from schemac.engines.json_values import type_tree
from schemac.logical.dataset import LogicalDataset
from schemac.logical.findings import Other
from schemac.logical.slots import Slot
from schemac.source.json_object import Json, in_order

TYPE = "schemac.dev/type"
"""The property for the type of the manifest."""
_PARTS = frozenset({"itemType", "keyType", "valueType", "fields", "extra"})


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """Write the schema's JSON."""
    document = _Writer(emission).dataset(compilation.dataset)
    text = json.dumps(document, indent=2, ensure_ascii=False)
    return [Artifact("avro/schema.avsc", f"{text}\n".encode())]


def old_names(slot: Slot) -> list[str]:
    """Return the aliases of a field: those that are declared, and the name that it was renamed from."""
    renamed = RENAMED_FROM.read(slot.extra)
    names = [*(ALIASES.read(slot.extra) or ()), *([valid(renamed)] if renamed is not None else ())]
    return [name for name in dict.fromkeys(names) if name != name_of(slot)]


class _Writer:
    def __init__(self, emission: Emission) -> None:
        self._emission = emission

    def dataset(self, dataset: LogicalDataset) -> Json:
        extra = dataset.schema.extra
        name = valid(dataset.name)
        if name != dataset.name:
            self._emission.lose(None, f"the name {dataset.name}", name)
        namespace = NAMESPACE.read(extra)
        path = f"{namespace}.{name}" if namespace is not None else name
        return {
            "type": "record",
            "name": name,
            **({"namespace": namespace} if namespace is not None else {}),
            **_doc(extra),
            "fields": self._fields(dataset.columns, path),
            **_properties(extra),
        }

    def _fields(self, slots: Sequence[Slot], namespace: str) -> list[Json]:
        taken: dict[str, Slot] = {}
        for slot in slots:
            name = name_of(slot)
            if name in taken:
                self._emission.findings.at_name(
                    slot,
                    AVRO_NAME,
                    f"{slot.path_text} and {taken[name].path_text} are both called {name} in Avro",
                    help="a name of Avro has letters of ASCII, digits and underscores; give one of them another",
                    other=Other(taken[name], "the other one"),
                )
            elif slot.is_member and name != slot.segment:
                self._emission.lose(slot, f"the name {slot.segment}", name)
            taken.setdefault(name, slot)
        return [self._field(slot, namespace) for slot in slots]

    def _field(self, slot: Slot, namespace: str) -> Json:
        type_ = self._type(slot, namespace)
        aliases = old_names(slot)
        found = {"name": name_of(slot), **_doc(slot.extra), "type": type_}
        if DEFAULT.key in slot.extra:
            default = slot.extra[DEFAULT.key]
            if not fits(default, type_):
                message = (
                    f"{slot.path_text}: {json.dumps(default)} is no {slot.type.type_text()} in Avro's JSON"
                )
                help = "binaries and decimals are texts of code points, dates and times are numbers"
                self._emission.findings.at_extra(slot, DEFAULT.key, AVRO_DEFAULT, message, help=help)
            found |= {"type": _first(type_, default), "default": default}
        elif slot.is_nullable:
            found["default"] = None
        if aliases:
            found["aliases"] = aliases
        return {**found, **_properties(slot.extra)}

    def _type(self, slot: Slot, namespace: str) -> Any:
        """Return the type of a slot; a union with null where it may be null."""
        type_ = self._declared(slot, namespace)
        kept = _kept_type(slot)
        if kept and type_ != "null":
            type_ = {**(type_ if isinstance(type_, dict) else {"type": type_}), **kept}
        if not slot.is_member:
            if DEFAULT.key in slot.extra or ALIASES.key in slot.extra:
                self._emission.lose(slot, "a default value or aliases", "nothing, for only fields have them")
            described = (
                {DESCRIPTION.key: slot.extra[DESCRIPTION.key]} if DESCRIPTION.key in slot.extra else {}
            )
            extra = {**described, **_properties(slot.extra)}
            type_ = {**(type_ if isinstance(type_, dict) else {"type": type_}), **extra} if extra else type_
        return ["null", type_] if slot.is_nullable and type_ != "null" else type_

    def _declared(self, slot: Slot, namespace: str) -> Any:
        below = f"{namespace}.{name_of(slot)}"
        family = slot.type.family
        if family is Family.STRUCT:
            return {**self._named("record", slot, namespace), "fields": self._fields(slot.children, below)}
        if family is Family.LIST:
            if getattr(slot.type, "fixed_length", None) is not None:
                self._emission.lose(slot, slot.type.type_text(), "an array of any length")
            return {"type": "array", "items": self._type(slot.children[0], below)}
        if family is Family.MAP:
            return self._map(slot, namespace, below)
        leaf = leaf_of(slot.type)
        if leaf is None:
            self._emission.findings.at_type(
                slot,
                AVRO_TYPE,
                f"{slot.path_text}: Avro cannot hold {slot.type.type_text()}",
                help="write a Decimal with a scale from 0 to its precision, or leave Avro out of `schemac.dev/targets`"
                if family is Family.DECIMAL
                else "leave Avro out: name the other engines in `schemac.dev/targets` under the schema's `extra:`",
            )
            return "null"
        if not leaf.is_lossless:
            self._emission.lose(slot, slot.type.type_text(), leaf.title)
        if leaf.type == "fixed":
            return {**self._named("fixed", slot, namespace), "size": leaf.size}
        if leaf.logical == "decimal":
            digits = {"precision": leaf.precision, "scale": leaf.scale}
            return {"type": "bytes", "logicalType": "decimal", **digits}
        return {"type": leaf.type, "logicalType": leaf.logical} if leaf.logical else leaf.type

    def _map(self, slot: Slot, namespace: str, below: str) -> Json:
        key, value = slot.children
        if getattr(slot.type, "keys_sorted", False):
            self._emission.lose(slot, "sorted keys", "keys in any order")
        if key.type.family is Family.TEXT:
            if key.extra:
                self._emission.lose(key, "the attributes of the key", "nothing")
            return {"type": "map", "values": self._type(value, below)}
        self._emission.lose(slot, slot.type.type_text(), "an array of records with key and value")
        entry = {"type": "record", "name": "item", "namespace": below}
        parts = [{"name": name_of(part), "type": self._type(part, f"{below}.item")} for part in (key, value)]
        return {"type": "array", "items": {**entry, "fields": parts}}

    def _named(self, type_: str, slot: Slot, namespace: str) -> Json:
        aliases = old_names(slot) if slot.is_member else []
        named = {"type": type_, "name": name_of(slot), "namespace": namespace}
        return {**named, **({"aliases": aliases} if aliases else {})}


def _first(type_: Any, default: Any) -> Any:
    """Return a union whose first branch takes the default, as releases before 1.12 want it."""
    if not isinstance(type_, list):
        return type_
    return sorted(type_, key=lambda branch: not fits(default, branch))


def _kept_type(slot: Slot) -> Json:
    """Return the property for the type of the manifest, where Avro's type does not tell it; its parts stand in Avro's."""
    leaf = leaf_of(slot.type)
    if slot.type.family is Family.STRUCT or (leaf is not None and leaf.is_lossless):
        return {}
    tree = {key: value for key, value in type_tree(slot.type).items() if key not in _PARTS}
    is_map = slot.type.family is Family.MAP
    is_told = slot.children[0].type.family is Family.TEXT if is_map else slot.type.family is Family.LIST
    return {} if is_told and len(tree) == 1 else {TYPE: tree}


def _doc(extra: Any) -> Json:
    return {"doc": extra[DESCRIPTION.key]} if DESCRIPTION.key in extra else {}


def _properties(extra: Any) -> Json:
    """Return the attributes that Avro has no word for."""
    return {
        key: in_order(value)
        for key, value in sorted(extra.items())
        if domain_of(key) != DOMAIN and key not in (DESCRIPTION.key, RENAMED_FROM.key)
    }


TARGET = Target("avro", AVRO_LOSS, emit)
