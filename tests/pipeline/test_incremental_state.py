"""Which files are new, without Spark: each content of each path is read once, however the runs come and versions go."""

import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemac.pipeline.declaration.job import Source
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.files import SourceFile
from schemac.pipeline.reruns import incremental
from schemac.pipeline.reruns.incremental import (
    LINKS_TO_A_STATE,
    STATE,
    ReadFiles,
    new_files,
    properties,
    state_of,
)
from schemac.rows.runs.history import CommittedRun
from schemac.rows.runs.identity import RunIdentity
from schemac.text.source.catalogue import CHANGED_FILE, LOST_HISTORY

NOW = datetime(2026, 1, 1, tzinfo=UTC)
READ = Source.model_validate({"path": "in", "mode": "incremental", "changed": "read"})


def committed(told: dict[str, str], mode: str = "append") -> CommittedRun:
    return CommittedRun(RunIdentity("r", NOW, mode=mode), 1, NOW, 1, 0, properties=told)


def listed(folder: Path) -> list[SourceFile]:
    return [
        SourceFile(str(path), path.as_uri(), path.stat().st_size, path.stat().st_mtime_ns // 1000)
        for path in sorted(folder.iterdir())
    ]


STEPS = st.lists(
    st.tuples(st.sampled_from(["write", "touch", "run", "other"]), st.integers(0, 3), st.integers(0, 2)),
    max_size=25,
)


@given(STEPS, st.integers(1, 4))
def test_read_each_content_once(steps: list[tuple[str, int, int]], links: int) -> None:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(incremental, "LINKS_TO_A_STATE", links)
        folder, clock = Path(name), 10**9
        runs: list[CommittedRun] = []
        read: dict[str, str] = {}
        for step, number, content in [*steps, ("run", 0, 0)]:
            path = folder / f"{number}.json"
            clock += 1
            if step == "write" or (step == "touch" and path.exists()):
                if step == "write":
                    path.write_text(f"{content}")
                os.utime(path, (clock, clock))
            elif step == "other":
                runs.insert(0, committed({}))
            elif step == "run":
                state = state_of(runs)
                found = list(new_files(READ, listed(folder), state))
                now = {file.path: Path(file.path).read_text() for file in listed(folder)}
                assert {file.path for file in found} == {
                    path for path, text in now.items() if read.get(path) != text
                }
                read |= now
                if found:
                    runs.insert(0, committed(properties(state, found)))
        lengths = [len(runs[: i + 1]) for i, run in enumerate(runs) if STATE in run.properties]
        if lengths:
            # Versions before the newest one with all files may be cleaned up.
            assert state_of(runs[: lengths[0]]) == state_of(runs)


def test_follow_the_rule_for_a_file_that_changed(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("1")
    state = ReadFiles({file.path: file for file in new_files(READ, listed(tmp_path), ReadFiles())})
    (tmp_path / "a.json").write_text("22")
    assert len(list(new_files(READ, listed(tmp_path), state))) == 1
    for changed, count in (("ignore", 0), ("refuse", None)):
        source = READ.model_validate({"path": "in", "mode": "incremental", "changed": changed})
        if count is not None:
            assert len(list(new_files(source, listed(tmp_path), state))) == count
            continue
        with pytest.raises(PipelineError) as caught:
            list(new_files(source, listed(tmp_path), state))
        assert caught.value.code is CHANGED_FILE


def test_refuse_a_history_without_its_beginning(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("1")
    files = list(new_files(READ, listed(tmp_path), ReadFiles()))
    first = committed(properties(ReadFiles(), files))
    second = committed(properties(state_of([first]), files))
    assert state_of([second, first]).links == 2
    with pytest.raises(PipelineError) as caught:
        state_of([second])
    assert caught.value.code is LOST_HISTORY
    assert state_of([committed({}, "overwrite"), second, first]) == ReadFiles(), "an overwrite begins anew"
    assert LINKS_TO_A_STATE > 1
