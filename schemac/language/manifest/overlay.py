"""Overlays: how datasets are stored in one environment.

Layer: language.
Shape: names of datasets, and attributes that say how values are stored; never what they mean. A dataset with an overlay has the
same fields at the same positions.
Errors: SC202 to SC206 of the file, SC237 invalid-overlay.
"""

from dataclasses import dataclass, replace
from typing import Any

from pydantic import Field, ValidationError

from schemac.language.attributes.attribute import Attribute, Role
from schemac.language.attributes.registry import ATTRIBUTES, DOMAINS, domain_of, known
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import ExtraAttributes, columns, preorder
from schemac.language.manifest.standard import is_dataset_name
from schemac.text.source.catalogue import INVALID_DATASET_NAME, INVALID_OVERLAY
from schemac.text.source.diagnostics import Code, Report
from schemac.text.source.json_object import TreePath
from schemac.text.source.phrases import Help, closest, one_of
from schemac.text.syntax.document import Document, ValueOrigin
from schemac.text.syntax.model import AuthoredModel, KnownWords, model_errors


class FieldOverlay(AuthoredModel):
    """How one field is stored."""

    extra: ExtraAttributes


class DatasetOverlay(AuthoredModel):
    """How one dataset is called and stored."""

    name: str | None = Field(None, description="Its name in this environment.")
    extra: ExtraAttributes = Field({})
    fields: dict[str, FieldOverlay] = Field({}, description="By the paths of the fields.")


class OverlayFile(AuthoredModel):
    """A file of overlays for one environment."""

    description: str = ""
    datasets: dict[str, DatasetOverlay]


_WORDS = KnownWords(
    nouns={
        "OverlayFile": "an overlay",
        "DatasetOverlay": "the overlay of a dataset",
        "FieldOverlay": "a field",
    }
)


def is_stored(attribute: Attribute[Any]) -> bool:
    """Whether an attribute is about storage, so that environments may differ in it."""
    return attribute.is_of_storage or attribute.role in (Role.OPTIONS, Role.STORAGE_VERSION)


@dataclass(frozen=True)
class Overlay:
    """What one file lays over datasets."""

    document: Document
    file: OverlayFile

    def name(self, dataset: str) -> str:
        """Return what a dataset is called."""
        return self.file.datasets.get(dataset, DatasetOverlay()).name or dataset

    def over(self, dataset: LogicalDataset, report: Report) -> LogicalDataset:
        """Return a dataset with the overlay applied; unknown fields are reported."""
        dataset_overlay = self.file.datasets.get(dataset.name)
        if dataset_overlay is None:
            return dataset
        schema = dataset.schema.model_copy(
            update={"extra": _merge_attributes(dataset.schema.extra, dataset_overlay.extra)}
        )
        fields = columns(schema)
        by_path = {schema_field.path_text: schema_field for schema_field in preorder(fields)}
        at: TreePath = ("datasets", dataset.name)
        overlaid: dict[TreePath, ValueOrigin] = {
            ("extra", key): ValueOrigin(self.document, (*at, "extra", key)) for key in dataset_overlay.extra
        }
        for path, field in dataset_overlay.fields.items():
            schema_field = by_path.get(path)
            if schema_field is None:
                help = Help.nearest(path, by_path, f"its fields are {', '.join(by_path)}")
                self.add((*at, "fields", path), f"{dataset.name} has no field {path}", help, report)
                continue
            schema_field.extra = _merge_attributes(dict(schema_field.extra), field.extra)
            overlaid |= {
                schema_field.extra_places(key)[0]: ValueOrigin(
                    self.document, (*at, "fields", path, "extra", key)
                )
                for key in field.extra
            }
        origins = dataset.origins._replace(overlaid={**dataset.origins.overlaid, **overlaid})
        return replace(dataset, name=self.name(dataset.name), schema=schema, columns=fields, origins=origins)

    def add(
        self, path: TreePath, message: str, help: str, report: Report, *, code: Code = INVALID_OVERLAY
    ) -> None:
        """Report what is wrong with a key of the file."""
        self.document.report(code, message, path, report, help, on_key=True)


def read_overlay(document: Document, report: Report) -> Overlay | None:
    """Return the overlays of a document; None after reporting what is wrong with it."""
    local_report = Report()
    try:
        file = OverlayFile.model_validate(document.value, by_name=False)
    except ValidationError as error:
        for e in model_errors(error, OverlayFile, document.value, _WORDS):
            document.report(e.code, e.message, e.path, report, e.help, on_key=e.on_key)
        return None
    overlay = Overlay(document, file)
    for name, one in file.datasets.items():
        at: TreePath = ("datasets", name)
        if one.name is not None and not is_dataset_name(one.name):
            message = f"'{one.name}' is not a valid dataset name"
            help = "use letters, digits, dots, dashes and underscores"
            overlay.add((*at, "name"), message, help, local_report, code=INVALID_DATASET_NAME)
        extras = [(at, one.extra), *(((*at, "fields", path), f.extra) for path, f in one.fields.items())]
        for path, extra in extras:
            for key in extra:
                attribute = known(key)
                if attribute is None and domain_of(key) in DOMAINS:
                    overlay.add((*path, "extra", key), *_unknown_attribute(key), local_report)
                elif attribute is None or not is_stored(attribute):
                    message = f"`{key}` defines what the data mean, so it cannot differ between environments"
                    overlay.add((*path, "extra", key), message, "write it in the manifest", local_report)
    report.extend(local_report.diagnostics)
    return None if local_report.has_errors else overlay


def _unknown_attribute(key: str) -> tuple[str, str]:
    """Return what is wrong with an attribute that its domain does not have, and what to write."""
    domain, _, name = key.partition("/")
    stored = [one.name for one in ATTRIBUTES.values() if domain_of(one.key) == domain and is_stored(one)]
    near = closest(name, stored)
    others = f"an overlay may have {one_of([f'{domain}/{one}' for one in stored])}" if stored else ""
    help = Help.did_you_mean(f"{domain}/{near}", key) if near else others
    return f"`{domain}` has no attribute `{name}`", help


def _merge_attributes(below: ExtraAttributes, above: ExtraAttributes) -> ExtraAttributes:
    """Return attributes with others over them; options are laid over entry by entry."""
    merged = dict(below)
    for key, value in above.items():
        attribute, before = known(key), merged.get(key)
        has_entries = attribute is not None and attribute.has_entries
        if has_entries and isinstance(before, dict) and isinstance(value, dict):
            merged[key] = {**before, **value}
        else:
            merged[key] = value
    return merged
