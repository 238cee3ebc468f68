"""The corpus: manifests as authors write them, and what becomes of them.

An accepted case is a folder with `manifest.yaml` and its outputs, in folders of their own where it declares
several datasets. A rejected case is a manifest in the folder of the one code that it gives. A case whose name
starts with `strict` is compiled with `--strict`.
"""

from pathlib import Path

import pytest

from schemac.registry.codes import builtin_codes
from schemac.text.source.diagnostics import Severity
from schemac.text.source.rendering import render_text
from tests.compiling import compile_bytes
from tests.golden import CORPUS, Golden

ACCEPTED = sorted(path.parent for path in (CORPUS / "accepted").glob("*/manifest.yaml"))
REJECTED = sorted((CORPUS / "rejected").glob("*/*.yaml"))
OUTPUTS = (
    "logical.txt",
    "arrow.txt",
    "lance.txtpb",
    "spark.json",
    "paimon.json",
    "odf.yaml",
    "iceberg.json",
    "iceberg.sql",
    "losses.json",
)
ELSEWHERE = frozenset({
    "SC430", "SC533", "SC534", "SC543", "SC544", "SC545",
    "SC101", "SC104", "SC401", "SC402", "SC403", "SC404", "SC405", "SC406", "SC407", "SC408", "SC409", "SC411", "SC412", "SC413", "SC414",
    "SC415", "SC416", "SC417", "SC418", "SC419", "SC420", "SC421", "SC422", "SC423", "SC424", "SC425", "SC426", "SC427", "SC428", "SC429", "SC541", "SC542", "SC551", "SC552", "SC553", "SC555", "SC237", "SC342", "SC343", "SC344", "SC350", "SC351", "SC352", "SC353", "SC354", "SC431", "SC432", "SC433", "SC597",
    *(id for id in builtin_codes() if id.startswith(("SC6", "SC8"))),
})  # fmt: skip
"""Codes that no text of a manifest can show: `test_pages.py` and `cli/` have their cases."""


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: case.name)
def test_compile_accepted_manifest(case: Path, golden: Golden) -> None:
    compiled = compile_bytes(
        (case / "manifest.yaml").read_bytes(), "manifest.yaml", strict=case.name.startswith("strict")
    )
    findings = render_text(compiled.diagnostics)
    assert compiled.errors == set(), findings
    assert compiled.datasets, "an accepted manifest holds a dataset"
    golden.check(case / "findings.txt", findings)
    is_single = len(compiled.files) == 1
    for dataset, texts in compiled.files.items():
        folder = case if is_single else case / dataset
        for output in OUTPUTS:
            golden.check(folder / output, texts.get(output, ""))
    written = {path.parent.name for path in case.glob("*/*")}
    assert written <= (set() if is_single else set(compiled.files)), (
        "a dataset is gone, its golden files are not"
    )


@pytest.mark.parametrize("case", REJECTED, ids=lambda case: f"{case.parent.name}/{case.stem}")
def test_report_rejected_manifest(case: Path, golden: Golden) -> None:
    code = builtin_codes()[case.parent.name.partition("-")[0]]
    compiled = compile_bytes(
        case.read_bytes(),
        case.name,
        strict=case.stem.startswith("strict"),
        show_losses=code.slug.endswith("-loss"),
        folder=case.parent,
    )
    golden.check(case.with_suffix(".stderr.txt"), render_text(compiled.diagnostics))
    assert compiled.codes == {code.id}
    if code.severity is Severity.ERROR:
        assert compiled.errors == {code.id}


def test_find_case_of_every_code() -> None:
    shown = {case.parent.name for case in REJECTED}
    assert shown == {
        f"{code.id}-{code.slug}" for code in builtin_codes().values() if code.id not in ELSEWHERE
    }


def test_find_input_of_every_golden_file() -> None:
    rejected = {case.with_suffix(".stderr.txt") for case in REJECTED}
    assert set((CORPUS / "rejected").glob("*/*.stderr.txt")) <= rejected
