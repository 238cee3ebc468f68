"""The Python surface gives the schemas of `schemac build`, whatever the project settles."""

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

import schemac
from schemac.cli.main import main
from schemac.engines.lance._generated.lance import file_pb2 as pb
from tests.golden import CORPUS

EXAMPLES = CORPUS.parent.parent / "examples"
OF_EXAMPLES = sorted(
    path for path in EXAMPLES.glob("*/*.yaml") if path.name not in ("pipeline.yaml", "production.yaml")
)
MANIFESTS = sorted(CORPUS.glob("accepted/*/*.yaml")) + OF_EXAMPLES
GROUPS = EXAMPLES / "shared-fields/groups"
"""What some of them import."""
CONFIGURATIONS = {
    "nothing": "",
    "large": '[encodings]\nstring = "large_string"\nbinary = "large_binary"\nlist = "large_list"\ndate = "date64"\n',
    "columns": 'systemColumns = "rfc"\n[encodings]\nstring = "large_string"\n',
    "columns of kamu, no metadata": 'systemColumns = "kamu"\nmetadata = false\n',
    "vocabulary": '[vocabularies]\n"acme.com" = "vocabulary.json"\n"example.com" = "vocabulary.json"\n',
    "narrow vocabulary": '[vocabularies]\n"acme.com" = "narrow.json"\n"example.com" = "narrow.json"\n',
}


@pytest.mark.parametrize("step", [6, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_give_the_schemas_of_a_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, step: int
) -> None:
    """Built from another folder than the manifest's, and asked for from a third.

    The quick run gives each configuration other manifests, so that together they take all of them.
    """
    compared = 0
    configuration, start = CONFIGURATIONS[name], list(CONFIGURATIONS).index(name) % step
    manifests = MANIFESTS[start::step]
    for number, manifest in enumerate(manifests):
        folder = tmp_path / str(number)
        (folder / "tables").mkdir(parents=True)
        (folder / ".git").mkdir()
        strict = "strict = true\n" if "strict" in manifest.parent.name else ""
        (folder / "schemac.toml").write_text(strict + configuration)
        (folder / "vocabulary.json").write_text("{}")
        (folder / "narrow.json").write_text('{"maxProperties": 0}')
        copy = folder / "tables" / manifest.name
        shutil.copy(manifest, copy)
        # A text has its imports from the folder of its project.
        for beside in (folder, folder / "tables") if manifest in OF_EXAMPLES else ():
            shutil.copytree(GROUPS, beside / "groups")
        monkeypatch.chdir(folder)
        code = main(["build", "--target", "arrow"])
        monkeypatch.chdir(tmp_path)
        if code:
            with pytest.raises(schemac.SchemaError):
                schemac.compile_file(copy)
            continue
        text = copy.read_bytes().decode()
        in_text = schemac.compile_text(text, name=copy.name, project=folder)
        for dataset in (*schemac.compile_file(copy), *in_text):
            if "arrow" not in dataset.schema.extra.get("schemac.dev/targets", ["arrow"]):
                continue
            built = (folder / "build" / dataset.name / "arrow/schema.arrow").read_bytes()
            assert dataset.to_arrow().serialize().to_pybytes() == built
            compared += 1
    assert compared > len(manifests)


@pytest.mark.parametrize("settings", ["", 'lanceSpark = "0.4.0"\n', "metadata = false\n"])
def test_give_the_artifacts_of_every_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str
) -> None:
    """With a lock; from Paimon only where it can hold the schema."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schemac.toml").write_text(settings + CONFIGURATIONS["columns"])
    for example in OF_EXAMPLES:
        shutil.copy(example, tmp_path)
    shutil.copytree(GROUPS, tmp_path / "groups")
    (tmp_path / "half.yaml").write_text(
        "name: half\nfields: [{name: v, type: {kind: List, itemType: Float16, fixedLength: 2}}]\n"
    )
    assert main(["lock"]) == 0
    assert main(["build"]) == 0
    losses = 0
    for manifest in tmp_path.glob("*.yaml"):
        for dataset in schemac.compile_file(manifest):
            built = tmp_path / "build" / dataset.name
            assert dataset.to_lance() == pb.Schema.FromString((built / "lance/schema.binpb").read_bytes())
            assert dataset.to_spark() == json.loads((built / "spark/schema.json").read_text())
            assert dataset.to_spark_ddl() == (built / "spark/create_table.sql").read_text()
            assert dataset.to_odf_flatbuffers() == (built / "odf/schema.bin").read_bytes()
            assert dataset.to_odf() == (built / "odf/schema.yaml").read_text()
            if (built / "paimon").exists():
                assert dataset.to_paimon() == json.loads((built / "paimon/schema-0").read_text())
            told = json.loads((built / "losses.json").read_text())["losses"]
            for target in ("arrow", "lance", "spark", "odf"):
                mine = [(loss.path, loss.lost, loss.becomes) for loss in dataset.losses(target)]
                theirs = [
                    (loss["field"], loss["lost"], loss["becomes"])
                    for loss in told
                    if loss["target"] == target
                ]
                assert mine == theirs, (dataset.name, target)
                losses += len(mine)
    assert losses > 0


def test_take_another_project(tmp_path: Path) -> None:
    for name, kind in (("here", "large_string"), ("there", "string_view")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "schemac.toml").write_text(f'[encodings]\nstring = "{kind}"\n')
    manifest = tmp_path / "here/trips.yaml"
    manifest.write_text("fields: [{name: a, type: String}]\n")

    def type_of(project: Path | None) -> pa.DataType:
        (dataset,) = schemac.compile_file(manifest, project=project)
        return dataset.to_arrow().field("a").type

    assert type_of(None) == pa.large_string()
    assert type_of(tmp_path / "there") == pa.string_view()
    assert type_of(tmp_path / "there/schemac.toml") == pa.string_view()
    (dataset,) = schemac.compile_text(manifest.read_text())
    assert dataset.to_arrow().field("a").type == pa.string()


def test_refuse_a_project_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "schemac.toml").write_text("ouut = 1\n")
    for project in (tmp_path, tmp_path / "schemac.toml", tmp_path / "nowhere.toml"):
        with pytest.raises(schemac.SchemaError) as caught:
            schemac.compile_text("fields: []\n", project=project)
        assert {d.code for d in caught.value.diagnostics} == {"SC601"}


def test_build_a_text_as_the_command_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "name: rides\nfields: [{name: fare, type: Float64}, {name: tip, type: Float32}]\n"
    (tmp_path / "rides.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert main(["build"]) == 0
    written = {
        p.relative_to("build").as_posix(): p.read_bytes()
        for p in Path("build/rides").rglob("*")
        if p.is_file()
    }
    assert schemac.build_text(text, project=tmp_path) == written
    assert set(schemac.build_text(text, targets=["arrow"])) == {
        path for path in written if "/arrow/" in path or path.endswith("losses.json")
    }
    with pytest.raises(schemac.SchemaError, match="Flot64"):
        schemac.build_text(text.replace("Float64", "Flot64"))
