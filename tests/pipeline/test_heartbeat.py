"""What a run does again and again while it goes on."""

from threading import Event, get_ident

import pytest

from schemac.rows.runs.staging import heartbeat


def test_beats_in_another_thread_until_the_end() -> None:
    beats: list[int] = []
    twice = Event()

    def beat() -> None:
        beats.append(get_ident())
        if len(beats) == 2:
            twice.set()

    with heartbeat(0.001, beat) as thread:
        assert twice.wait(60)
    assert not thread.is_alive()
    assert get_ident() not in beats


def test_ends_with_an_error() -> None:
    with pytest.raises(ValueError, match="x"), heartbeat(60.0, lambda: None) as thread:
        raise ValueError("x")
    assert not thread.is_alive()
