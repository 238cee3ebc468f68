"""Whatever stands in a file, the answer is a finding, never a traceback; how the work grows, test_growth counts."""

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import schemac
from schemac.cli.main import main
from schemac.text.source.diagnostics import Diagnostic, Severity

pytestmark = pytest.mark.slow


def _nested_types(opening: str, closing: str, levels: int) -> str:
    return f"fields:\n  - name: a\n    type: {opening * levels}String{closing * levels}\n"


def _bomb(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, levels)]
    return "\n".join(lines) + "\n"


LIST, OPTION, STRUCT = (
    "{kind: List, itemType: ",
    "{kind: Option, inner: ",
    "{kind: Struct, fields: [{name: a, type: ",
)
TEXTS: dict[str, tuple[str, str]] = {
    "empty": ("", "SC105"),
    "only blanks": ("  \n \n", "SC105"),
    "only comments": ("# a\n# b\n", "SC105"),
    "only a document start": ("---\n", "SC105"),
    "null": ("null\n", "SC105"),
    "number": ("42\n", "SC207"),
    "text": ("hello\n", "SC207"),
    "list of numbers": ("[1, 2, 3]\n", "SC204"),
    "list of lists": ("[[[]]]\n", "SC204"),
    "NUL": ("fields: [{name: 'a\x00', type: Int8}]", "SC102"),
    "control character": ("fields: []\x1b\n", "SC102"),
    "lone surrogate": ("fields: [{name: '\ud800', type: Int8}]", "SC102"),
    "escaped lone surrogate": ('fields: [{name: "\\ud800", type: Int8}]', "SC106"),
    "tabs": ("fields:\n\t- name: a\n", "SC107"),
    "duplicate keys": ("fields: []\nfields: []\n", "SC108"),
    "alias bomb": (_bomb(12), "SC110"),
    "chain of 1,000 aliases": (
        "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 1_000)),
        "SC111",
    ),
    "types nested by 1,000 aliases": (
        "t0: &t0 {kind: Int8}\n"
        + "".join(f"t{i}: &t{i} {{kind: List, itemType: *t{i - 1}}}\n" for i in range(1, 1_000))
        + "fields: [{name: a, type: *t999}]\n",
        "SC111",
    ),
    "recursive alias": ("fields: &a [*a]\n", "SC113"),
    "recursive alias in a key": ("&a {*a : 1}\n", "SC113"),
    "flow sequences 10,000 deep": ("[" * 10_000 + "]" * 10_000, "SC111"),
    "open flow sequences 10,000 deep": ("[" * 10_000, "SC111"),
    "flow mappings 10,000 deep": ("{a: " * 10_000 + "}" * 10_000, "SC111"),
    "block sequences 10,000 deep": ("- " * 10_000, "SC111"),
    "block mappings 2,000 deep": ("".join(" " * i + "a:\n" for i in range(2_000)), "SC111"),
    "keys 10,000 deep": ("? " * 10_000, "SC112"),
    "options 150 deep": (_nested_types(OPTION, "}", 150), "SC304"),
    "lists 1,000 deep": (_nested_types(LIST, "}", 1_000), "SC111"),
    "structs 100 deep": (_nested_types(STRUCT, "}]}", 100), "SC111"),
    "precision of 5,000 digits": (
        f"fields: [{{name: a, type: {{kind: Decimal, precision: {'9' * 5_000}, scale: 2}}}}]",
        "SC204",
    ),
    "precision of 390 digits": (
        f"fields: [{{name: a, type: {{kind: Decimal, precision: {'9' * 390}, scale: 2}}}}]",
        "SC205",
    ),
    "precision in hexadecimal": (
        f"fields: [{{name: a, type: {{kind: Decimal, precision: 0x{'f' * 380}, scale: 2}}}}]",
        "SC205",
    ),
    "not a number": ("fields: [{name: a, type: Int8, extra: {x/y: .nan}}]", "SC312"),
    "infinity as position": (
        "fields: [{name: a, type: Int8, extra: {lance.org/primaryKey: {position: .inf}}}]",
        "SC312",
    ),
    "100,000 keys": ("".join(f"k{i}: 1\n" for i in range(100_000)), "SC207"),
    "5,000 unknown keys of a field": (
        "fields:\n  - name: a\n    type: Int8\n" + "".join(f"    k{i}: 1\n" for i in range(5_000)),
        "SC202",
    ),
    "very long line": (
        "fields: [" + ", ".join(f"{{name: a{i}, type: Strin}}" for i in range(5_000)) + "]",
        "SC201",
    ),
    "very long scalar": (f"fields: [{{name: {'x' * 5_000_000}, type: Strin}}]", "SC201"),
    "very long unknown kind": (f"fields: [{{name: a, type: {'S' * 1_000_000}}}]", "SC201"),
    "name of 300 characters": ("name: " + "x" * 300 + "\nfields: [{name: a, type: Int8}]\n", "SC217"),
    "name of the provenance": ("name: artifacts.json\nfields: [{name: a, type: Int8}]\n", "SC217"),
    "name of another's losses": ("name: a/losses.json\nfields: [{name: a, type: Int8}]\n", "SC217"),
    "number of 100 bits in place of one of three": (
        f"extra: {{iceberg.apache.org/formatVersion: {2**100}}}\nfields: [{{name: a, type: Int8}}]\n",
        "SC312",
    ),
    "unknown tag": ("fields: !!python/object:os.system []\n", "SC109"),
    "list as key": ("? [a]\n: b\n", "SC112"),
    "merge key": ("base: &b {name: a}\nfields:\n  - <<: *b\n    type: Int8\n", "SC202"),
}


@pytest.mark.parametrize(("text", "code"), TEXTS.values(), ids=TEXTS.keys())
def test_report_bad_text(text: str, code: str) -> None:
    found = schemac.check_text(text)
    assert code in {d.code for d in found}
    assert any(d.severity is Severity.ERROR for d in found)
    assert all(_is_placed(d, text) for d in found)


def _is_placed(d: Diagnostic, text: str) -> bool:
    """Whether a finding has a place inside its text, or none at all."""
    lines = text.count("\n") + 1
    return d.line == 0 or (
        1 <= d.line <= lines and d.column >= 1 and (d.end_line, d.end_column) >= (d.line, d.column)
    )


@pytest.mark.parametrize("opening", [LIST, OPTION], ids=["list", "option"])
@pytest.mark.parametrize("levels", [40, 150, 190])
def test_survive_deep_types(opening: str, levels: int) -> None:
    text = _nested_types(opening, "}", levels)
    found = schemac.check_text(text)
    try:
        for dataset in schemac.compile_text(text):
            dataset.to_arrow()
            dataset.to_lance()
    except schemac.SchemaError as error:
        found += error.diagnostics
    assert {d.code for d in found} <= {"SC304", "SC505", "SC501"}
    assert found


FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "SC105"),
    "UTF-16": ("fields: []\n".encode("utf-16"), "SC103"),
    "UTF-16 without a mark": ("fields: []\n".encode("utf-16-le"), "SC102"),
    "UTF-32": ("fields: []\n".encode("utf-32"), "SC103"),
    "Latin-1": ("# größe\nfields: []\n".encode("latin-1"), "SC103"),
    "surrogates in UTF-8": (b"# \xed\xa0\x80\nfields: []\n", "SC103"),
    "overlong": (b"# \xc0\x80\n", "SC103"),
    "image": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "SC102"),
    "random bytes": (random.Random(7).randbytes(5_000), "SC102"),
    "50 MB": (b"# " + b"x" * 50_000_000, "SC104"),
    "50 MB of one line of YAML": (b"[" + b"a," * 25_000_000, "SC104"),
}


@pytest.mark.parametrize(("content", "code"), FILES.values(), ids=FILES.keys())
def test_report_bad_file(
    content: bytes,
    code: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "manifest.yaml").write_bytes(content)
    assert main(["check", "manifest.yaml"]) == 1
    assert f"error[{code}]" in capsys.readouterr().out


def _folder_as_file(path: Path) -> None:
    (path / "manifest.yaml").mkdir()


def _dangling_link(path: Path) -> None:
    (path / "manifest.yaml").symlink_to("nowhere.yaml")


def _link_to_itself(path: Path) -> None:
    (path / "manifest.yaml").symlink_to("manifest.yaml")


@pytest.mark.parametrize(
    ("make", "exit_code", "code"),
    [(_folder_as_file, 2, "SC602"), (_dangling_link, 1, "SC101"), (_link_to_itself, 1, "SC101")],
    ids=["folder", "dangling link", "link to itself"],
)
def test_report_path_that_is_no_file(
    make: Callable[[Path], None],
    exit_code: int,
    code: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path)
    assert main(["check", "manifest.yaml"]) == exit_code
    assert f"error[{code}]" in capsys.readouterr().out


def test_report_file_without_permission(tmp_path: Path) -> None:
    """Root may read everything, so the real error is made by a folder that is read as a file."""
    with pytest.raises(schemac.SchemaError) as caught:
        schemac.compile_file(tmp_path)
    (found,) = caught.value.diagnostics
    assert found.code == "SC101"
    assert "directory" in found.message


def test_leave_no_traceback_in_a_real_process(tmp_path: Path) -> None:
    (tmp_path / "deep.yaml").write_text(_nested_types(LIST, "}", 190))
    (tmp_path / "broken.yaml").write_text("fields: [")
    run = subprocess.run(
        [sys.executable, "-m", "schemac", "build", str(tmp_path)],
        cwd=Path(__file__).parent.parent.parent,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 1
    assert "SC106" in run.stdout
    assert "Traceback" not in run.stdout + run.stderr
