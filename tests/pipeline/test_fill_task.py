"""Where a task of a backfill notes how far it is."""

from types import SimpleNamespace
from typing import Any

import pytest

from schemac.pipeline.backfill import task
from schemac.pipeline.backfill.task import FillTask


@pytest.mark.parametrize(("is_staged", "folder"), [(True, "staging"), (False, None)])
def test_note_progress_only_where_values_are_staged(
    is_staged: bool, folder: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A place without a folder of its own has none for the notes either."""
    folders: list[str | None] = []

    def notes(staging: str | None, _task: int | None) -> Any:
        folders.append(staging)
        return SimpleNamespace()

    monkeypatch.setattr(task, "TaskCount", notes)
    filling: Any = SimpleNamespace(place=SimpleNamespace(staging="staging", is_staged=is_staged))
    assert list(FillTask("lance", filling, 1, "folder", ())(iter(()))) == []
    assert folders == [folder]
