"""What merging locks loads: git starts the driver once for each lock, so it loads no library that it has no use for."""

import subprocess
import sys
from pathlib import Path

import pytest

from schemac.engines.lance.fields import LazyWords, words_of
from schemac.language.kinds.plain import PlainType
from schemac.language.kinds.registry import KINDS
from schemac.language.logical.model import preorder
from tests.identity.commands import schemac
from tests.identity.trees import fields

FIELDS = [
    "{name: a, type: Int64}",
    "{name: d, type: {kind: Decimal, precision: 9, scale: 2}}",
    "{name: s, type: {kind: Struct, fields: [{name: x, type: String}, {name: m, type: {kind: Map, keyType: String, valueType: Int8}}]}}",
]
LOADED = """\
import sys
from schemac.cli.main import main
code = main(["lock", "--merge-driver", "base", "ours", "theirs"])
print([name for name in ("pyarrow", "numpy", "schemac.versions.evolution.diff") if name in sys.modules])
sys.exit(code)
"""


def locked(folder: Path, *more: str) -> bytes:
    """The lock after these fields were added."""
    (folder / "d.yaml").write_text("fields:\n" + "".join(f"- {field}\n" for field in (*FIELDS, *more)))
    done = schemac(folder, "lock")
    assert done.returncode == 0, done.stderr
    return (folder / "d.lock").read_bytes()


@pytest.mark.parametrize(
    ("new", "loaded"), [("Int32", "[]"), ("{kind: Decimal, precision: 5, scale: 1}", "['pyarrow']")]
)
def test_load_what_a_merge_needs(new: str, loaded: str, tmp_path: Path) -> None:
    base = locked(tmp_path)
    ours = locked(tmp_path, "{name: b, type: Bool}")
    (tmp_path / "d.lock").write_bytes(base)
    theirs = locked(tmp_path, f"{{name: c, type: {new}}}")
    for name, content in (("base", base), ("ours", ours), ("theirs", theirs)):
        (tmp_path / name).write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, loaded), done.stderr
    merged = (tmp_path / "ours").read_text()
    assert " b " in merged
    assert " c " in merged


def test_know_the_words_of_plain_kinds_without_arrow() -> None:
    plain = [kind for kind in KINDS if issubclass(kind, PlainType)]
    assert len(plain) > 10
    dataset = fields(
        **{f"c{number}": str(kind.model_fields["kind"].default) for number, kind in enumerate(plain)}
    )
    lazy = LazyWords(dataset)
    assert {field: lazy[field] for field in preorder(dataset.columns)} == words_of(dataset)
    assert "_all" not in vars(lazy)
