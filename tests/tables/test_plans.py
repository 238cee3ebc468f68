"""Plans as people read them: `corpus/plans/<case>/` has two manifests and the text of the plan between them."""

from pathlib import Path

import pytest

from schemac.cli.main import main
from tests.golden import CORPUS, Golden

CASES = sorted((CORPUS / "plans").iterdir())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_say_what_is_done(
    case: Path,
    golden: Golden,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schemac.toml").write_text('targets = ["lance", "spark", "paimon"]\n')
    for version in ("old.yaml", "new.yaml"):
        (tmp_path / "t.yaml").write_bytes((case / version).read_bytes())
        assert main(["lock", "t.yaml"]) == 0
    capsys.readouterr()
    code = main(["plan", "t"])
    golden.check(case / "plan.txt", capsys.readouterr().out)
    assert code == (1 if case.name.startswith("refused") else 0)
