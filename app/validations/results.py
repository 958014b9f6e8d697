"""From rounds to results: curves with spread, times to the target, data moved, and the verdict on predictions."""

import math
from collections.abc import Sequence
from itertools import takewhile

import numpy as np

from app.validations.answer import Curve, Outcome, SchemeOut, VerdictOut
from app.validations.records import PartRecord, RoundRecord
from app.wire.base import given
from fedl_sim.contract import AggregationRecord, Facts, decode

__all__ = ["estimated_seconds", "scheme_results"]


def scheme_results(
    parts: Sequence[PartRecord], rounds: Sequence[RoundRecord], *, target: float, tolerance: float
) -> list[SchemeOut]:
    """One result for each scheme, in the order asked for; partial while parts are unfinished.

    Raises:
        ContractError: a stored record is damaged.
    """
    records: dict[str, list[AggregationRecord]] = {part.id: [] for part in parts}
    for one in rounds:
        records[one.part_id].append(AggregationRecord.from_json(decode(one.record)))
    names = dict.fromkeys(part.scheme for part in parts)
    return [
        _scheme(name, [part for part in parts if part.scheme == name], records, target, tolerance) for name in names
    ]


def _scheme(
    name: str, parts: Sequence[PartRecord], records: dict[str, list[AggregationRecord]], target: float, tolerance: float
) -> SchemeOut:
    begun = [records[part.id] for part in parts if records[part.id]]
    finished = [records[part.id] for part in parts if part.state == "done"]
    last = [run[-1] for run in finished]
    hits = [hit for run in finished if (hit := next((r for r in run if r.accuracy >= target), None)) is not None]
    everybody = bool(hits) and len(hits) == len(finished)
    gaps = [Facts.from_json(decode(part.facts)).worst_relative_gap for part in parts]
    return SchemeOut(
        scheme=name,
        runs=len(finished),
        runs_planned=len(parts),
        diverged=sum(not math.isfinite(record.loss) for record in last),
        accuracy=_curve(begun, "accuracy"),
        loss=_curve(begun, "loss"),
        gradient_norm=_curve(begun, "gradient_norm"),
        reached=len(hits) / len(finished) if finished else 0.0,
        **given(
            aggregations_to_target=_mean(hits, "aggregation") if everybody else None,
            datapoints_to_target=_mean(hits, "processed") if everybody else None,
            cost_to_target=_mean(hits, "cost") if everybody else None,
        ),
        processed=_mean(last, "processed"),
        moved=_mean(last, "moved"),
        useful=_mean(last, "useful"),
        cost=_mean(last, "cost"),
        worst_relative_gap=max(gaps, default=0.0),
        verdict=_verdict(last, tolerance),
    )


def _curve(runs: Sequence[Sequence[AggregationRecord]], measure: str) -> Curve:
    """Mean and deviation at each aggregation, over the runs that have reached it with a finite value.

    A run that diverges has none from then on. JSON has no other numbers, so the curve ends where no run has one.
    """
    length = max((len(run) for run in runs), default=0)
    values = [[getattr(run[k], measure) for run in runs if k < len(run)] for k in range(length)]
    columns = list(takewhile(bool, ([value for value in column if math.isfinite(value)] for column in values)))
    return Curve(
        mean=[float(np.mean(column)) for column in columns],
        deviation=[float(np.std(column)) for column in columns],
        runs=[len(column) for column in columns],
    )


def _mean(records: Sequence[AggregationRecord], measure: str) -> float:
    return float(np.mean([getattr(record, measure) for record in records])) if records else 0.0


def _verdict(last: Sequence[AggregationRecord], tolerance: float) -> VerdictOut:
    """Compare received useful data with the prediction.

    An error beyond the tolerance is a finding only if it is beyond two standard errors more: else runs are too few. One
    run has no spread to go by, so the tolerance alone decides.
    """
    predicted, arrived = _mean(last, "predicted_useful"), _mean(last, "useful")
    error: float | None = None
    allowed = tolerance
    outcome: Outcome
    if not last:
        outcome = "pending"
    elif predicted <= 0:
        outcome = "nothing_predicted"
    else:
        differences = [record.useful - record.predicted_useful for record in last]
        if len(last) > 1:
            allowed += 2 * float(np.std(differences, ddof=1)) / math.sqrt(len(last)) / predicted
        error = (arrived - predicted) / predicted
        if abs(error) <= tolerance:
            outcome = "as_predicted"
        elif abs(error) <= allowed:
            outcome = "too_few_runs"
        else:
            outcome = "less" if error < 0 else "more"
    return VerdictOut(
        outcome=outcome, predicted_useful=predicted, useful=arrived, allowed=allowed, **given(relative_error=error)
    )


def estimated_seconds(parts: Sequence[PartRecord], rounds: Sequence[RoundRecord]) -> float | None:
    """Seconds that the remaining rounds take at their scheme's pace so far, with as many parts at once as run now."""
    seconds: dict[str, list[float]] = {}
    scheme_of = {part.id: part.scheme for part in parts}
    for one in rounds:
        seconds.setdefault(scheme_of[one.part_id], []).append(one.seconds)
    if not seconds:
        return None
    overall = float(np.mean([value for values in seconds.values() for value in values]))
    pace = {scheme: float(np.mean(values)) for scheme, values in seconds.items()}
    unfinished = [part for part in parts if part.state in {"waiting", "queued", "running"}]
    work = sum((part.rounds - part.next_round) * pace.get(part.scheme, overall) for part in unfinished)
    running = sum(part.state == "running" for part in unfinished)
    return work / max(1, running)
