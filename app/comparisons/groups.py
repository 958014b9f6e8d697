"""Rows that differ only by their seed, as one: means with their intervals, and which groups no other group beats."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from app.comparisons.ranking import ranks, undominated
from app.comparisons.rows import Figures, Row

__all__ = ["Group", "Judged", "Mean", "group_rows", "judge"]

# Sums of what is sent follow from a solution that is exact to this.
_SOLVED = 1e-6
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Judged:
    """The rank by objective among those of the same sample size and budget scale, and whether nothing beats it.

    Without a plan there is no rank.
    """

    rank: int | None
    pareto: bool


@dataclass(frozen=True)
class Mean:
    """A mean over seeds and its 95 % interval by Student's t; without an interval if there is one value."""

    mean: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, values: Sequence[float]) -> "Mean":
        """The mean of these values."""
        mean, count = float(np.mean(values)), len(values)
        if count < 2:
            return cls(mean)
        half = float(stdtrit(count - 1, (1 + _CONFIDENCE) / 2) * np.std(values, ddof=1) / np.sqrt(count))
        return cls(mean, mean - half, mean + half)


@dataclass(frozen=True)
class Group:
    """The rows of one sampler, sample size and budget scale. `rows` are their numbers; means are over those planned."""

    sampler: str
    sample_size: int
    budget_scale: float
    rows: tuple[int, ...]
    planned: int
    set_bound: float | None
    objective: Mean | None
    sent: Mean | None
    useful: Mean | None
    coverage: Mean | None
    energy: Mean | None
    judged: Judged


def judge(rows: Sequence[Row]) -> list[Judged]:
    """Rank the rows, and find those that no other row beats in objective, datapoints sent and, if known, joules.

    Two objectives are tied within their certified gaps.
    """
    problems = [(row.cell.budget_scale, row.cell.sample_size) for row in rows]
    return _judged(problems, [_costs([row.figures] if row.figures else []) for row in rows])


def group_rows(rows: Sequence[Row]) -> list[Group]:
    """The groups, in the order of their first rows."""
    members: dict[tuple[float, int, str], list[int]] = {}
    for number, row in enumerate(rows):
        cell = row.cell
        members.setdefault((cell.budget_scale, cell.sample_size, cell.sampler), []).append(number)
    figures = [[found for i in numbers if (found := rows[i].figures) is not None] for numbers in members.values()]
    judged = _judged([(scale, size) for scale, size, _ in members], [_costs(planned) for planned in figures])
    return [
        Group(
            sampler=sampler,
            sample_size=size,
            budget_scale=scale,
            rows=tuple(numbers),
            planned=len(planned),
            set_bound=min((one.set_bound for one in planned), default=None),
            objective=_mean(planned, lambda one: one.objective),
            sent=_mean(planned, lambda one: one.sent),
            useful=_mean(planned, lambda one: one.useful),
            coverage=_mean(planned, lambda one: one.coverage),
            energy=_mean([one for one in planned if one.energy], lambda one: sum(one.energy or ())),
            judged=found,
        )
        for ((scale, size, sampler), numbers), planned, found in zip(members.items(), figures, judged, strict=True)
    ]


def _mean(planned: Sequence[Figures], measure: Callable[[Figures], float]) -> Mean | None:
    return Mean.of([measure(one) for one in planned]) if planned else None


# The value and the width of each measure that rows are judged by.
_Costs = tuple[tuple[float, float], ...]


def _costs(planned: Sequence[Figures]) -> _Costs:
    """Means over the seeds of objective, datapoints sent and joules; empty if nothing was planned."""
    if not planned:
        return ()
    objective = float(np.mean([one.objective for one in planned]))
    width = float(np.mean([one.width for one in planned]))
    sent = float(np.mean([one.sent for one in planned]))
    costs = [(objective, width), (sent, _SOLVED * sent)]
    if planned[0].energy is not None:
        joules = float(np.mean([sum(one.energy or ()) for one in planned]))
        costs.append((joules, _SOLVED * joules))
    return tuple(costs)


def _judged(problems: Sequence[tuple[float, int]], all_costs: Sequence[_Costs]) -> list[Judged]:
    """Ranks count within one of the `problems`, budget scale and sample size; to be beaten, all are compared."""
    known = [place for place, costs in enumerate(all_costs) if costs]
    found = [Judged(None, pareto=False) for _ in all_costs]
    if not known:
        return found
    measures = zip(*(all_costs[place] for place in known), strict=True)
    free = undominated(np.stack([ranks(*zip(*measure, strict=True)) for measure in measures], axis=1))
    for place, pareto in zip(known, free.tolist(), strict=True):
        found[place] = Judged(None, pareto)
    for problem in set(problems):
        places = [place for place in known if problems[place] == problem]
        if places:
            ranked = ranks(*zip(*(all_costs[place][0] for place in places), strict=True))
            for place, rank in zip(places, ranked.tolist(), strict=True):
                found[place] = replace(found[place], rank=rank)
    return found
