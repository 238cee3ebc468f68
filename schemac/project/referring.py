"""References between datasets of a run.

Layer: project.
Shape: each manifest is valid by itself; a finding is at the reference, and shows the referenced field at its own
location.
Rule: a table may exist for a dataset without a manifest, so an unknown dataset is a finding only if its name is similar
to a known one.
Errors: SC342, SC343; warning SC344.
"""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from schemac.language.attributes.attribute import Family
from schemac.language.attributes.constraints import REFERENCES, UNIQUE, Reference
from schemac.language.logical.dataset import Findings, LogicalDataset, named_key, primary_key
from schemac.language.logical.model import LogicalType, dotted
from schemac.project.manifests import CompiledFile
from schemac.text.source.catalogue import REFERENCE_TO_NO_KEY, UNFIT_REFERENCE, UNKNOWN_REFERRED
from schemac.text.source.diagnostics import Report, labels_at
from schemac.text.source.phrases import Help

_COMPARED_BY: dict[Family, Callable[[Any], object]] = {
    Family.DECIMAL: attrgetter("precision", "scale"),
    Family.FLOAT: attrgetter("bits"),
    Family.TIME: attrgetter("unit"),
    Family.DURATION: attrgetter("unit"),
    # Whether values need more than 64 bits with a sign.
    Family.INTEGER: lambda type_: type_.bits == 64 and not type_.is_signed,
    Family.TIMESTAMP: lambda type_: (type_.timezone is None, type_.unit == "Nanosecond"),
}
"""What has to be the same in two types of a family for a run to compare their values."""


def check_referring(referring: Sequence[CompiledFile], files: Sequence[CompiledFile], report: Report) -> None:
    """Report references of some manifests to datasets or fields that none of the run has, and to fields that are not a key."""
    holders = {named.name: file for file in files for named in file.named}
    for dataset in (one for file in referring for one in file.datasets):
        findings = Findings(report, dataset.origins)
        for i, reference in enumerate(REFERENCES.read(dataset.schema.extra) or ()):
            at = ("extra", REFERENCES.key, i)
            holder = holders.get(reference.dataset)
            if holder is not None:
                other = next(one for one in holder.datasets if one.name == reference.dataset)
                _check_fields(reference, dataset, other, at, findings)
            elif help := Help.nearest(reference.dataset, holders):
                message = f"there is no dataset `{reference.dataset}`"
                findings.at_schema(UNKNOWN_REFERRED, message, *at, "dataset", help=help)


def _check_fields(
    reference: Reference,
    dataset: LogicalDataset,
    other: LogicalDataset,
    at: tuple[str | int, ...],
    findings: Findings,
) -> None:
    """Check that the fields of a reference exist, have types that compare, and are a key of the other dataset."""
    from schemac.language.constraints.rows import named_fields  # for start-up time, as above

    local_fields, theirs = named_fields(dataset.columns), named_fields(other.columns)
    names = reference.to or reference.fields
    is_sound = True
    for j, (field, name) in enumerate(zip(reference.fields, names, strict=True)):
        if name not in theirs or theirs[name].children:
            help = Help.nearest(name, theirs, f"its fields are {', '.join(theirs)}")
            message = f"{other.name} has no field `{name}` that can be referred to"
            labels = labels_at(other.origins.name_location, "this dataset")
        elif field in local_fields and _comparable(local_fields[field].type) != _comparable(
            theirs[name].type
        ):
            mine, its = local_fields[field].type.type_text(), theirs[name].type.type_text()
            message = f"{field} is {mine}, but `{name}` of {other.name} is {its}"
            help = "give both fields one type"
            labels = labels_at(other.origins.location((*theirs[name].declared_at, "name")), "this field")
        else:
            continue
        place = (*at, "to" if reference.to else "fields", j)
        findings.at_schema(UNFIT_REFERENCE, message, *place, help=help, labels=labels)
        is_sound = False
    key_fields = primary_key(other.columns) or named_key(other)
    keys = [
        *(UNIQUE.read(other.schema.extra) or ()),
        [dotted(tuple(map(str, field.path))) for field in key_fields],
    ]
    if is_sound and not any(key and set(key) <= set(names) for key in keys):
        fields = ", ".join(names)
        message = f"{fields} is not a key of {other.name}: several of its rows may have the same values"
        help = f"make it the primary key there, or add `schemac.dev/unique: [[{fields}]]`"
        labels = labels_at(other.origins.location((*theirs[names[0]].declared_at, "name")), "this field")
        findings.at_schema(REFERENCE_TO_NO_KEY, message, *at, help=help, labels=labels)


def _comparable(type_: LogicalType) -> tuple[Family, object]:
    """Return what two fields of a reference must have alike: the family and, for some families, a property of it."""
    return type_.family, _COMPARED_BY.get(type_.family, lambda _: None)(type_)
