"""Who is taken for dead: silence is counted by the observer's own clock, and only while the observer is awake."""

from hypothesis import given
from hypothesis import strategies as st

from app.worker.liveness import Watch

INTERVAL, TIMEOUT = 2.0, 10.0
pauses = st.lists(st.floats(2 * INTERVAL + 0.01, 1e6), max_size=20)


def test_silence_is_the_time_since_the_count_changed() -> None:
    watch = Watch(longest_gap=4)
    for now, beats in ((100.0, 1), (102.0, 1), (104.0, 2), (106.0, 2), (109.0, 2)):
        watch.look({"a": beats}, now)
    assert watch.silence("a") == 5.0
    watch.look({"a": 2, "b": 7}, 111.0)
    assert (watch.silence("a"), watch.silence("b")) == (7.0, 0.0)
    watch.look({"b": 7}, 113.0)
    watch.look({"a": 2, "b": 7}, 114.0)  # whoever comes back starts anew
    assert (watch.silence("a"), watch.silence("b")) == (0.0, 3.0)


@given(pauses, st.integers(1, 4))
def test_an_observer_that_was_frozen_strikes_nobody_off(frozen: list[float], looks: int) -> None:
    """Both freeze together, again and again, and the observer always looks before the other can send a heartbeat."""
    watch, now = Watch(longest_gap=2 * INTERVAL), 0.0
    for beats, pause in enumerate(frozen):
        for _ in range(looks):
            now += INTERVAL
            watch.look({"other": beats}, now)
        now += pause
        watch.look({"other": beats}, now)
        assert watch.silence("other") <= TIMEOUT


@given(pauses, st.floats(0, 1e9))
def test_a_worker_that_is_silent_is_found_in_the_same_awake_time_whatever_happens(
    frozen: list[float], begin: float
) -> None:
    watch, now, awake = Watch(longest_gap=2 * INTERVAL), begin, 0.0
    watch.look({"dead": 3}, now)
    while watch.silence("dead") <= TIMEOUT:
        now += frozen.pop() if frozen else INTERVAL
        watch.look({"dead": 3}, now)
        awake += 0 if frozen else INTERVAL
        assert awake <= TIMEOUT + 2 * INTERVAL
    assert awake > TIMEOUT - INTERVAL


@given(st.lists(st.tuples(st.floats(0.1, 1e5), st.booleans()), min_size=1, max_size=50))
def test_without_a_longest_gap_every_gap_counts(looks: list[tuple[float, bool]]) -> None:
    """As a server reports it, which looks only when it is asked."""
    watch, now, beats, changed_at = Watch(), 0.0, 0, 0.0
    watch.look({"a": 0}, now)
    for gap, beat in looks:
        now, beats = now + gap, beats + beat
        watch.look({"a": beats}, now)
        changed_at = now if beat else changed_at
        assert abs(watch.silence("a") - (now - changed_at)) < 1e-6
