"""An editor's project has the findings of `schemac check`: whatever was edited before, and whether it is saved or not."""

import os
import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from schemac.lsp.projects import ProjectFolder
from schemac.project.building import compile_files
from schemac.project.cache.store import NO_CACHE
from schemac.project.configuration import find_project
from schemac.project.discovery import find_manifests
from schemac.project.options import CompileOptions
from schemac.text.source.diagnostics import Diagnostic, Report

EXAMPLE = Path(__file__).parents[2] / "examples" / "shared-fields"
REFERENCE = "  schemac.dev/references: [{fields: [order_id], dataset: customers, to: [customer_id]}]"
SOUND = (
    ("orders.yaml", "  schemac.dev/owner: shop", f"  schemac.dev/owner: shop\n{REFERENCE}"),
    ("customers.yaml", "position: 1", "position: 1}, x.org/a: {"),
    ("customers.yaml", "    extra: {lance.org/primaryKey: {position: 1}}\n", ""),
    ("schemac.toml", '"spark"]', '"spark"]\nvocabularies = {"x.org" = "x.json"}'),
    ("orders.yaml", "  - use: audit", ""),
)
"""What gives no errors, which would hide what several manifests show together."""
EDITS = (
    *SOUND,
    ("groups/audit.yaml", "created_by", "created_from"),
    ("groups/audit.yaml", "type: String", "type: Strin"),
    ("groups/audit.yaml", "  audit:", "  audits:"),
    ("groups/audit.yaml", "fields:", "fields: ["),
    ("groups/money.yaml", "default: 12", "default: 99"),
    ("orders.yaml", "name: orders", "name: customers"),
    ("orders.yaml", "groups/money.yaml", "groups/none.yaml"),
    ("customers.yaml", "successor: email", "successor: mail"),
    ("customers.yaml", "use: contact", "use: contakt"),
    ("schemac.toml", "targets", "target"),
    ("schemac.toml", '"arrow", ', ""),
)


def of_check(folder: Path) -> list[Diagnostic]:
    """What `schemac check` finds in a folder, which is the working one."""
    report = Report()
    project = find_project(folder, report, None, lambda _: NO_CACHE)
    if report.has_errors:
        return list(report.diagnostics)
    out = folder / project.configuration.out
    files = find_manifests(project.configuration.manifests or (".",), project.folder, out, report)
    options = replace(CompileOptions.of(project), has_rules=True)
    compile_files(files, project, options, report, is_whole=True)
    return [d for d in report.diagnostics if d.code != "SC401"]


def shown(found: list[Diagnostic]) -> list[str]:
    return sorted(f"{d} {d.labels}" for d in found)


@pytest.mark.parametrize("seed", range(8))
def test_find_what_the_command_finds(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(seed)
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    (tmp_path / "x.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    lasting = ProjectFolder(tmp_path, is_project=True)
    buffers: dict[str, bytes] = {}
    done: set[tuple[str, str, str]] = set()
    for _ in range(8):
        edit = draw.choice(EDITS if seed % 2 else SOUND)
        name = edit[0]
        done ^= {edit}
        path = tmp_path / name
        text = EXAMPLE.joinpath(name).read_text()
        for _, before, after in (one for one in EDITS if one in done and one[0] == name):
            text = text.replace(before, after)
        is_saved = draw.random() < 0.5
        if is_saved:
            path.write_text(text)
            buffers.pop(str(path), None)
        else:
            buffers[str(path)] = text.encode()
        found = [d for of_file in lasting.check(dict(buffers)).findings.values() for d in of_file]
        on_disk = {Path(one): Path(one).read_bytes() for one in buffers}
        for one, content in buffers.items():
            Path(one).write_bytes(content)
        wanted = of_check(tmp_path)
        for place, content in on_disk.items():
            place.write_bytes(content)
        if any(d.code == "SC601" for d in wanted):
            # The command says no more than that; an editor still shows the rest.
            assert "SC601" in {d.code for d in found}
            continue
        assert shown(found) == shown(wanted), (done, os.listdir(tmp_path))


def test_what_the_settings_exclude_is_checked_only_if_it_is_open(tmp_path: Path) -> None:
    (tmp_path / "schemac.toml").write_text('exclude = ["drafts/"]\n')
    draft = tmp_path / "drafts" / "a.yaml"
    draft.parent.mkdir()
    draft.write_text("fields: [{name: a, type: Strin}]\n")
    state = ProjectFolder(tmp_path, is_project=True)
    assert not state.check({}).findings
    assert [one.code for one in state.check({str(draft): draft.read_bytes()}).findings[str(draft)]] == [
        "SC201"
    ]
