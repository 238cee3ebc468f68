"""YAML of other programs beside manifests, and what the settings exclude."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schemac.cli.main import main
from schemac.project.configuration import Project
from schemac.project.discovery import Exclusion, is_pattern
from schemac.project.stages import check_source
from schemac.text.source.diagnostics import Report, Severity, SourceText
from tests.cli.repository import Repository
from tests.effort import law

CORPUS = Path(__file__).parent.parent / "corpus"
FOREIGN = {
    "Kubernetes": "apiVersion: v1\nkind: Service\nmetadata: {name: x}\n---\napiVersion: apps/v1\nkind: Deployment\n",
    "a custom resource with fields": "apiVersion: acme.io/v1\nkind: Table\nfields: [{name: a, type: string}]\n",
    "docker compose": "services:\n  db: {image: postgres}\nvolumes: {data: {}}\n",
    "a reset tag of compose": "services:\n  db: {ports: !reset []}\n",
    "a workflow": "name: ci\non: [push]\njobs: {build: {runs-on: ubuntu-latest, steps: []}}\n",
    "an action": "name: x\ninputs: {}\nruns: {using: composite, steps: []}\n",
    "OpenAPI": "openapi: 3.1.0\ninfo: {title: x, version: '1'}\npaths: {}\ncomponents: {schemas: {A: {type: object}}}\n",
    "a template of Helm": "{{- if .Values.x }}\napiVersion: v1\nkind: {{ .Values.kind }}\n{{- end }}\n",
    "a partial of Helm": '{{- define "x" -}}\nname: {{ . }}\n{{- end }}\n',
    "values of Helm": "image: {tag: x}\nfile: a\nkinds: [a]\ngroup: b\n",
    "a playbook": "- hosts: all\n  tasks: [{name: x, apt: {name: y}}]\n",
    "rules of Prometheus": "groups:\n  - name: x\n    rules: [{alert: A, expr: up}]\n",
    "CloudFormation": "Resources: {A: {Type: X, Name: !Sub '${B}'}}\n",
    "MkDocs": "site_name: x\nmarkdown_extensions:\n  - a: {b: !!python/name:c.d }\n",
    "JSON Schema": "$schema: https://json-schema.org/draft/2020-12/schema\ntype: object\n",
    "two keys alike": "a: 1\na: 2\n",
    "a list": "- a\n- b\n",
    "a text": "no manifest\n",
    "a tab": "a:\n\t- b\n",
}
SLIPS = {
    "columns": "columns: [{name: a, type: Int8}]\n",
    "feilds": "feilds: [{name: a, type: Int8}]\n",
    "schema without kind": "schema: {fields: [{name: a, type: Int8}]}\n",
    "misspelled event": "kind: SetDataShema\nschema: {fields: []}\n",
    "events without kind": "- schema: {fields: []}\n",
    "broken YAML": "name: trips\nfields:\n  - {name: a, type: Int8\n",
    "broken event": "- kind: SetDataSchema\n  schema: {fields: [\n",
    "groups without fields": "groups: {audit: [{name: at, type: Timestamp}]}\n",
    "groups as a list": "groups: [{name: audit, fields: [{name: at, type: Timestamp}]}]\n",
    "groups beside a slip": "descripton: x\ngroups: {audit: {fields: [{name: at, type: Timestamp}]}}\n",
    "resource": "$schema: https://opendatafabric.org/schemas/Datset\nheaders: {}\nspec: {}\n",
}


def _found(text: str) -> Report:
    report = Report()
    check_source(SourceText(text, "x.yaml"), Project(Path()), report, is_named=False)
    return report


@pytest.mark.parametrize("text", FOREIGN.values(), ids=FOREIGN)
def test_find_nothing_in_files_of_other_programs(text: str) -> None:
    assert _found(text).diagnostics == ()
    named = Report()
    check_source(SourceText(text, "x.yaml"), Project(Path()), named)
    assert named.has_errors, "a file that somebody names is taken for a manifest"


@pytest.mark.parametrize("text", SLIPS.values(), ids=SLIPS)
def test_find_slips_in_what_is_meant_to_be_a_manifest(text: str) -> None:
    assert _found(text).diagnostics


@pytest.mark.parametrize(
    "case", sorted(CORPUS.glob("rejected/*/*.yaml")), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_find_in_folders_what_is_wrong_with_manifests(case: Path) -> None:
    """Every mistake of the corpus is found in a file that nobody named, unless nothing in it says that it is a manifest."""
    try:
        source = SourceText(case.read_text(encoding="utf-8"), case.name)
    except UnicodeDecodeError:
        return
    named, passed = Report(), Report()
    check_source(source, Project(Path()), named)
    check_source(source, Project(Path()), passed, is_named=False)
    lost = {d.code for d in named.diagnostics if d.severity is Severity.ERROR} - {
        d.code for d in passed.diagnostics
    }
    assert not lost or (case.parent.name, case.stem) in WITHOUT_A_SIGN, lost


WITHOUT_A_SIGN = {
    ("SC105-empty-document", "empty_list"),
    ("SC110-alias-bomb", "billion_laughs"),
    ("SC111-too-deep", "block"),
    ("SC202-unknown-key", "misspelled_kind_of_an_event"),
    ("SC203-missing-property", "event_without_kind"),
    ("SC204-wrong-type", "list_of_numbers"),
    ("SC207-unknown-document", "foreign_document"),
    ("SC207-unknown-document", "number"),
    ("SC207-unknown-document", "text"),
    ("SC209-no-schema", "events_without_schema"),
}
"""Cases that are no manifest by any key; in a folder two of them are notes."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for path in (
        "rides.yaml",
        "charts/x.yaml",
        "charts/keep.yaml",
        "old/rides/x.yaml",
        "dist/x.yaml",
        ".x.yaml",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f"name: {path.replace('/', '.')}\nfields: [{{name: a, type: Int8}}]\n")
    return tmp_path


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("", {"charts/keep.yaml", "charts/x.yaml", "old/rides/x.yaml", "rides.yaml"}),
        ('extendExclude = ["charts/"]', {"old/rides/x.yaml", "rides.yaml"}),
        (
            'extendExclude = ["charts/*", "!keep.yaml"]',
            {"charts/keep.yaml", "old/rides/x.yaml", "rides.yaml"},
        ),
        ('extendExclude = ["/rides*"]', {"charts/keep.yaml", "charts/x.yaml", "old/rides/x.yaml"}),
        ('extendExclude = ["rides"]', {"charts/keep.yaml", "charts/x.yaml", "rides.yaml"}),
        ('exclude = ["**/x.yaml"]', {"charts/keep.yaml", "rides.yaml"}),
        (
            "exclude = []",
            {"charts/keep.yaml", "charts/x.yaml", "old/rides/x.yaml", "rides.yaml", "dist/x.yaml"},
        ),
    ],
)
def test_leave_out_what_settings_exclude(
    settings: str,
    expected: set[str],
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (project / "schemac.toml").write_text(settings)
    (project / "charts").mkdir(exist_ok=True)
    monkeypatch.chdir(project / "charts")
    assert main(["check", "-v", ".."]) == 0
    lines = capsys.readouterr().err.splitlines()[1:-1]
    named = {Path(line.partition(": ")[0]).resolve() for line in lines}
    assert {path.relative_to(project.resolve()).as_posix() for path in named} == expected
    assert main(["check", "x.yaml"]) == 0, "a file that somebody names is checked"


@pytest.mark.parametrize("pattern", ["!", "\\\\", "[z-a]", "[[:alpha:]]*"])
def test_refuse_what_is_no_pattern(pattern: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "schemac.toml").write_text(f'exclude = ["{pattern}"]')
    assert main(["check"]) == 2
    assert "is not a pattern of .gitignore" in capsys.readouterr().out


def test_miss_what_was_compared_before_it_was_excluded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """To exclude a manifest is to drop its dataset; one that was excluded before was none."""
    monkeypatch.chdir(tmp_path)
    repository = Repository(tmp_path, capsys)
    repository.git("init")
    for name in ("tables/a", "old/b", "never/c"):
        repository.write(f"{name}.yaml", "fields: [{name: a, type: Int8}]\n")
    repository.write("schemac.toml", 'extendExclude = ["never/"]')
    repository.commit("one")
    repository.write("schemac.toml", 'extendExclude = ["never/", "old/"]')
    _, out, _ = repository.run("diff", "git:HEAD")
    assert "b: HEAD:old/b.yaml → nothing" in out
    assert "c:" not in out


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_know_a_manifest_that_cannot_be_read_whatever_ends_its_lines(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rides.yaml").write_bytes(f"fields:{end}\t- {{name: a, type: Int8}}{end}".encode())
    assert main(["check"]) == 1
    assert "SC107" in capsys.readouterr().out


@given(st.text("[]!-^az*?\\/{}. #\n\t", max_size=12))
@law(300)
@example("[z-a]")
@example("[[:a:]")
@example("\\")
def test_refuse_a_pattern_or_use_it(text: str) -> None:
    if is_pattern(text):
        Exclusion(Path("/project"), (text,)).hides_file("/project/tables", "rides.yaml")
