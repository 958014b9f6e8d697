"""Many jobs over several workers: each once, shared fairly, small validations not behind large ones."""

from collections import Counter
from pathlib import Path
from typing import Any

from tests.support.crew import Crew

TINY: dict[str, Any] = {
    "aggregations": 1,
    "aggregation_period": 1,
    "generator": {"n_devices": 4, "mean_datapoints": 5},
    "sample_size": 1,
}


def test_a_thousand_tiny_jobs_over_three_workers_run_once_each(crew: Crew) -> None:
    jobs = [crew.submit("heuristic", **TINY) for _ in range(1000)]
    crew.hire(3)
    crew.until(lambda: crew.validations.counts().validations.get("succeeded", 0) == 1000, 900, look=0.5)
    with crew.store.read() as t:
        begun = t.rows("SELECT part_id, aggregation, COUNT(*) FROM validation_attempts GROUP BY part_id, aggregation")
        by_worker: Counter[str] = Counter(
            dict(t.rows("SELECT worker, COUNT(*) FROM validation_attempts GROUP BY worker"))
        )
    assert len(begun) == 2 * len(jobs)
    assert {count for _, _, count in begun} == {1}
    assert len(by_worker) == 3
    assert min(by_worker.values()) > 2000 / 3 / 2, by_worker


def test_parts_of_a_validation_spread_and_a_later_small_one_does_not_wait(crew: Crew, tmp_path: Path) -> None:
    crew.hire(2)
    large = crew.submit("ours", seeds=tuple(range(30)), aggregations=8)
    crew.until(lambda: crew.find(large).rounds_done > 0)
    small = crew.submit("ours", aggregations=8)
    assert crew.wait(small).state == "succeeded"
    assert crew.find(large).state == "running"
    assert crew.wait(large).state == "succeeded"
    with crew.store.read() as t:
        rows = t.rows("SELECT worker, COUNT(*) FROM validation_parts WHERE validation_id = ? GROUP BY worker", large)
    shares: dict[str, int] = dict(rows)
    assert len(shares) == 2
    assert min(shares.values()) >= 5, shares
