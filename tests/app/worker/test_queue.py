"""Many jobs over several workers: each once, shared fairly, small validations not behind large ones."""

from pathlib import Path
from typing import Any

from tests.support.crew import Crew

JOBS = 60
TINY: dict[str, Any] = {
    "aggregations": 1,
    "aggregation_period": 1,
    "generator": {"n_devices": 4, "mean_datapoints": 5},
    "sample_size": 1,
}


def test_many_tiny_jobs_over_three_workers_run_once_each(crew: Crew) -> None:
    crew.hire(3)
    crew.until(lambda: crew.ready() == 3)
    jobs = [crew.submit("heuristic", **TINY) for _ in range(JOBS)]
    crew.until(lambda: crew.validations.counts().validations.get("succeeded", 0) == JOBS)
    with crew.store.read() as t:
        begun = t.rows("SELECT part_id, aggregation, COUNT(*) FROM validation_attempts GROUP BY part_id, aggregation")
    assert len(begun) == 2 * len(jobs)
    assert {count for _, _, count in begun} == {1}


def test_parts_of_a_validation_spread_and_a_later_small_one_does_not_wait(crew: Crew, tmp_path: Path) -> None:
    crew.hire(2)
    crew.until(lambda: crew.ready() == 2)
    large = crew.submit("ours", seeds=tuple(range(20)), aggregations=5)
    crew.until(lambda: crew.find(large).rounds_done > 0)
    small = crew.submit("ours", aggregations=5)
    first, second = crew.wait(small), crew.wait(large)
    assert (first.state, second.state) == ("succeeded", "succeeded")
    assert first.finished_at is not None
    assert second.finished_at is not None
    assert first.finished_at < second.finished_at
    with crew.store.read() as t:
        rows = t.rows("SELECT worker, COUNT(*) FROM validation_parts WHERE validation_id = ? GROUP BY worker", large)
    shares: dict[str, int] = dict(rows)
    assert len(shares) == 2
