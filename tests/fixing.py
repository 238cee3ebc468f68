"""Manifests, pipelines, overlays and settings, sound and wrong ones, and what fixes make of them."""

import atexit
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import NamedTuple

from schemac.pipeline.conforming.load import checked_job
from schemac.project.configuration import Project, find_project
from schemac.project.fixing import Fixing
from schemac.project.overlays import overlay_of
from schemac.project.stages import check_source
from schemac.registry.codes import builtin_codes, page
from schemac.text.source.diagnostics import Diagnostic, Report, Severity, SourceText
from tests.compiling import compile_bytes
from tests.golden import CORPUS
from tests.page_files import RIDES as FILES
from tests.page_files import examples_of, files_of


class Sort(StrEnum):
    """What a text is."""

    MANIFEST = "manifest.yaml"
    PIPELINE = "pipeline.yaml"
    OVERLAY = "prod.overlay.yaml"
    SETTINGS = "schemac.toml"


class Text(NamedTuple):
    """A text, and how it is read."""

    name: str
    content: bytes
    is_strict: bool = False
    folder: Path | None = None
    """What lies around it; of all but manifests the folder that it is in."""
    sort: Sort = Sort.MANIFEST

    @property
    def file(self) -> str:
        """How findings speak of it."""
        return self.sort if self.sort is Sort.MANIFEST else str(_around() / self.sort)


def corpus() -> Iterator[Text]:
    """All manifests of the corpus."""
    for path in sorted((CORPUS / "accepted").glob("*/manifest.yaml")):
        yield Text(path.parent.name, path.read_bytes(), path.parent.name.startswith("strict"))
    for path in sorted((CORPUS / "rejected").glob("*/*.yaml")):
        yield Text(
            f"{path.parent.name}/{path.stem}", path.read_bytes(), path.stem.startswith("strict"), path.parent
        )


def pages() -> Iterator[Text]:
    """The manifests that the pages of codes show as wrong."""
    for code in builtin_codes().values():
        for n, example in enumerate(examples_of(page(code))):
            if not example.is_right and example.language in ("yaml", "bytes"):
                content = example.text.encode()
                if example.language == "bytes":
                    content = re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes.fromhex(m[1].decode()), content)
                yield Text(f"{code.id}-{n}", content, code.id in ("SC213", "SC214"))


def beside() -> Iterator[Text]:
    """Pipelines, overlays and settings: those of the pages, and those of `WRONG`."""
    for code in builtin_codes().values():
        shown = page(code)
        for n, example in enumerate(examples_of(shown)):
            sort = {"pipeline": Sort.PIPELINE, "toml": Sort.SETTINGS}.get(example.language)
            if sort is not None and not files_of(shown):
                yield Text(f"{code.id}-{n}", example.text.encode(), sort=sort)
    for sort, texts in WRONG.items():
        yield from (Text(f"{sort}-{n}", text.encode(), sort=sort) for n, text in enumerate(texts))


@cache
def _around() -> Path:
    """Return a folder with what pipelines and settings name."""
    folder = Path(mkdtemp(prefix="schemac-fixing-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    for name, content in {**FILES, "trips.yaml": RIDES, "rides.json": '{"fare": 1.5}\n'}.items():
        (folder / name).write_text(content)
    return folder


RIDES = """\
name: rides
extra: {schemac.dev/targets: [lance]}
fields:
  - {name: ride_id, type: Int64, extra: {lance.org/primaryKey: {position: 1}}}
  - {name: fare, type: Float64}
  - {name: at, type: {kind: Option, inner: {kind: Timestamp, unit: Microsecond}}}
  - {name: note, type: {kind: Option, inner: String}}
"""
_PIPELINE = "source: {path: rides.json}\nschema: trips.yaml\ntarget: {path: rides.lance}\n"
_MORE = """\
# nightly
source:
  path: rides.json  # all of them
  options: {seq: x}
  moed: all
schema: trips.yaml
dataset: ridez
fields:
  "fair": cost  # in euros
  at: {from: when, zone: UTC}
target:
  path: rides.lance
  mode: apend
rules: {rnage: warn}
"""
WRONG = {
    Sort.PIPELINE: (
        _MORE,
        _MORE.replace("\n", "\r\n"),
        "\ufeff" + _MORE,
        _PIPELINE.replace("target", "targt"),
        _PIPELINE.replace("source", "sorce"),
        _PIPELINE.replace("path: rides.json", "'paht': rides.json"),
        _PIPELINE.replace(
            "{path: rides.json}", "{path: rides.json, format: csv, options: {inferSchema: true}}"
        ),
        _PIPELINE.replace(
            "{path: rides.json}", "{path: rides.json, options: {encodng: utf-8, charset: utf-8}}"
        ),
        _PIPELINE.replace(
            "{path: rides.json}", "{path: rides.json, options: {encoding: utf-8, charset: utf-8}}"
        ),
        _PIPELINE.replace("{path: rides.json}", "{path: rides.json, format: csv, explode: lines}"),
        _PIPELINE.replace("{path: rides.json}", "{path: rides.json, mode: incremental}"),
        _PIPELINE.replace("rides.json}", "rides.json, timezone: Europe/Berln}"),
        _PIPELINE + "dataset: ridse\n",
        _PIPELINE + "fields: {fare: {from: a, zone: UTC}}\n",
        _PIPELINE + "fields: {fare: {from: a, format: yyyy}, ride_id: {epoch: Secnd}}\n",
        _PIPELINE + "fields:\n  note: {format: yyyy}\n",
        _PIPELINE + "fields: {at: {epoch: secondes}}\n",
        _PIPELINE + "unexpected: quarantin\ncoerce: txt\nkeys: chek\n",
        _PIPELINE + "maxQuarantined: {rules: {rnage: 1}, fields: {fair: 2}}\n",
        _PIPELINE + "rules: {range: wran}\n",
        _PIPELINE + "rules: {invalid-json: warn}\n",
        _PIPELINE + "references: {drivers: {path: d.lance}}\n",
        _PIPELINE + "where: fare > 1\n",
        _PIPELINE + "version: '1'\n",
        _PIPELINE.replace("rides.lance}", "rides.lance, latest: at}"),
        _PIPELINE.replace("rides.lance}", "rides.lance, mode: upsert, latest: att}"),
        _PIPELINE.replace("rides.lance}", "rides.lance, maxRowsPerFile: 'ten'}"),
        _PIPELINE.replace("rides.lance}", "rides.lance, options: {a: b}}"),
        "schema: trips.yaml\nfields: {fare: {value: 1}}\nkeys: check\ntarget: {path: rides.lance, mode: backfill, allowEmpty: true}\n",
        "sources:\n  - {path: rides.json, optoins: {}}\n  - {path: rides.json, fields: {fair: x}}\nschema: trips.yaml\ntarget: {path: r.lance}\n",
        "base: &base {path: rides.json, moed: all}\nsource: *base\nschema: trips.yaml\ntarget: {path: r.lance}\n",
        "{source: {path: rides.json}, schema: trips.yaml, target: {path: r.lance, modee: append}}\n",
    ),
    Sort.OVERLAY: (
        "datasets:\n  ridez:\n    name: rides_prod\n",
        "datasets:\n  rides:\n    nmae: rides_prod  # its name\n",
        "datasets:\n  rides:\n    fields:\n      fair: {extra: {lance.org/encoding: {compression: zstd}}}\n",
        "datasets: {rides: {fields: {fare: {extra: {lance.org/encoding: {compresion: zstd}}}}}}\n",
        "# ours\r\ndatasets:\r\n  rides:\r\n    feilds:\r\n      fare: {extra: {lance.org/encoding: {compression: zstdd}}}\r\n",
        "datasets:\n  rides:\n    extra:\n      lance.org/storageVersion: 2.1\n",
        "datasets:\n  rides:\n    extra: {lance.org/storageVersoin: '2.1'}\n    fields:\n      fair: {extra: {lance.org/encodng: {compression: zstd}}}\n",
        "datasets:\n  rides:\n    extra: {schemac.dev/unit: EUR}\n    name: other\n",
        "datasets:\n  rides: {extra: &e {lance.org/storageVersion: '2.1'}}\n  ridez: {extra: *e}\n",
    ),
    Sort.SETTINGS: (
        'targets = ["lanse", "arrow"]\n',
        "targts = ['lance'] # ours\r\n[encodings]\r\nstring = 'large_strin'\r\n",
        '[lint]\nselect = [\n  "SC801", # all\n  "namng",\n]\nignroe = []\n',
        '[lint.severity]\nSC8O1 = "eror"\n',
        '[lint]\nseverity = { naming = "warnin" }\n',
        'strict = "true"\n',
        'lint = { max-fields = "10", max_depth = 3 }\n',
        "out = 3\nmetdata = true\n",
        'manifests = "tables"\n',
        '"manifest" = ["."]\n\'strct\' = true\n',
        'system-columns = "rcf"\n[lint.per-path]\n"raw/**" = ["namin", "SC801"]\n',
    ),
}


class Outcome(NamedTuple):
    """A text before and after its fixes."""

    before: Sequence[Diagnostic]
    after: Sequence[Diagnostic]
    content: bytes
    fixing: Fixing


@lru_cache(maxsize=5_000)
def findings_of(text: Text) -> tuple[Diagnostic, ...]:
    """Return what a build finds; of a pipeline what its check does, of an overlay what it says over `MANIFEST`."""
    report = Report()
    if text.sort is Sort.PIPELINE:
        checked_job(Path(text.file), report, edited={text.file: text.content})
    elif text.sort is Sort.OVERLAY:
        _check_overlay(text.file, text.content, report)
    elif text.sort is Sort.SETTINGS:
        folder = _around()
        find_project(folder, report, Path(text.file), edited={text.file: text.content}, base=folder)
        # They are named from their folder.
        return tuple(_placed(d, text.file) for d in report.diagnostics)
    else:
        return compile_bytes(text.content, text.file, strict=text.is_strict, folder=text.folder).diagnostics
    return tuple(d for d in report.diagnostics if d.file in ("", text.file))


def _placed(found: Diagnostic, file: str) -> Diagnostic:
    fix = found.fix
    if fix is not None:
        fix = fix._replace(edits=tuple(edit._replace(file=file) for edit in fix.edits))
    return replace(found, file=file, fix=fix)


def _check_overlay(name: str, content: bytes, report: Report) -> None:
    overlay = overlay_of(content, name, report)
    datasets = check_source(SourceText(RIDES), Project(Path()), Report()) if overlay is not None else []
    if overlay is not None:
        overlay.check_names([one.name for one in datasets], report, is_whole=True)
        for dataset in datasets:
            overlay.over(dataset, None, Project(Path()), report)


def fixed(text: Text, *, is_unsafe: bool) -> Outcome:
    """Fix a text in memory."""
    place = os.path.abspath(text.file)
    fixing = Fixing(is_unsafe)
    after = fixing.run(
        lambda edited: findings_of(text._replace(content=edited[place])), {place: text.content}
    )
    content = fixing.text(text.file).encode() if text.file in fixing.after else text.content
    return Outcome(findings_of(text), after, content, fixing)


def errors(findings: Sequence[Diagnostic]) -> list[str]:
    """The codes of the errors."""
    return [d.code for d in findings if d.severity is Severity.ERROR]
