"""Summaries of schemes: means over seeds and draws."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedl_sim.loop.records import AggregationRecord, SchemeRun

__all__ = ["SchemeSummary", "first_reaching", "summarise"]


@dataclass(frozen=True)
class SchemeSummary:
    """A scheme's means over seeds and draws; `None` if not every run reached the target.

    Attributes:
        scheme: its name.
        runs: how many.
        accuracy: mean test accuracy after each aggregation, 0 first.
        accuracy_deviation: standard deviation over runs, same shape.
        reached: share of runs that reached the target.
        aggregations_to_target: mean over runs.
        processed_to_target: datapoints processed until then, mean over runs.
        cost_to_target: energy-like cost until then, mean over runs.
        moved: datapoints sent over links by the end, mean.
        useful: datapoints kept by receivers by the end, mean.
        predicted_useful: what the plans expected, mean.
        processed: datapoints processed by the end, mean.
        cost: energy-like cost by the end, mean.
    """

    scheme: str
    runs: int
    accuracy: tuple[float, ...]
    accuracy_deviation: tuple[float, ...]
    reached: float
    aggregations_to_target: float | None
    processed_to_target: float | None
    cost_to_target: float | None
    moved: float
    useful: float
    predicted_useful: float
    processed: float
    cost: float


def first_reaching(run: SchemeRun, target: float) -> AggregationRecord | None:
    """Return the first aggregation whose accuracy is at least the target."""
    return next((record for record in run.aggregations if record.accuracy >= target), None)


def summarise(runs: Sequence[SchemeRun], target: float) -> tuple[SchemeSummary, ...]:
    """Summarise runs by scheme, in order of first appearance."""
    names = list(dict.fromkeys(run.scheme for run in runs))
    return tuple(_summary(name, [run for run in runs if run.scheme == name], target) for name in names)


def _summary(name: str, runs: Sequence[SchemeRun], target: float) -> SchemeSummary:
    curves = np.array([[record.accuracy for record in run.aggregations] for run in runs])
    last = [run.aggregations[-1] for run in runs]
    hits = [hit for run in runs if (hit := first_reaching(run, target)) is not None]
    all_hit = len(hits) == len(runs)
    return SchemeSummary(
        scheme=name,
        runs=len(runs),
        accuracy=tuple(curves.mean(axis=0).tolist()),
        accuracy_deviation=tuple(curves.std(axis=0).tolist()),
        reached=len(hits) / len(runs),
        aggregations_to_target=_mean([h.aggregation for h in hits]) if all_hit else None,
        processed_to_target=_mean([h.processed for h in hits]) if all_hit else None,
        cost_to_target=_mean([h.cost for h in hits]) if all_hit else None,
        moved=_mean([r.moved for r in last]),
        useful=_mean([r.useful for r in last]),
        predicted_useful=_mean([r.predicted_useful for r in last]),
        processed=_mean([r.processed for r in last]),
        cost=_mean([r.cost for r in last]),
    )


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))
