"""Rules of the checkout are programs: the server runs them in a folder that the user trusts, and not in any other."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.lsp.editor import editor
from tests.project.test_trust import MANIFEST, RULE

pytestmark = pytest.mark.slow
SERVER = ("-m", "schemac", "lsp")


@pytest.mark.parametrize(
    ("program", "options", "is_run"),
    [
        (SERVER, None, True),
        (SERVER, {"projectRules": True}, True),
        ((*SERVER, "--no-project-rules"), None, False),
        (SERVER, {"projectRules": False}, False),
    ],
)
def test_run_rules_of_the_checkout_only_where_it_is_trusted(
    program: tuple[str, ...], options: dict[str, Any] | None, is_run: bool, tmp_path: Path
) -> None:
    marker, folder = tmp_path / "marker", tmp_path / "project"
    folder.mkdir()
    (folder / "schemac.toml").write_text("targets = ['arrow']\n[lint]\nrules = ['r.py']\nselect = ['acme']\n")
    (folder / "r.py").write_text(RULE.format(marker=str(marker)))
    (folder / "rides.yaml").write_text(MANIFEST)

    async def run() -> None:
        async with editor(folder, program=program, options=options) as e:
            uri = e.open(folder / "rides.yaml")
            codes = {one.code for one in await e.found(uri)}
            assert ("ACME801" in codes) is is_run

    asyncio.run(run())
    assert marker.exists() is is_run
