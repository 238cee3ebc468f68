"""What a run does again and again while it goes on."""

from threading import Event, get_ident

import pytest

from schemac.rows.runs.staging import Heartbeat


def test_beats_in_another_thread_until_the_end() -> None:
    beats: list[int] = []
    twice = Event()

    def beat() -> None:
        beats.append(get_ident())
        if len(beats) == 2:
            twice.set()

    with Heartbeat(0.001, beat) as heart:
        assert twice.wait(60)
    assert not heart._thread.is_alive()
    assert get_ident() not in beats


def test_ends_with_an_error() -> None:
    heart = Heartbeat(60.0, lambda: None)
    with pytest.raises(ValueError, match="x"), heart:
        raise ValueError("x")
    assert not heart._thread.is_alive()
