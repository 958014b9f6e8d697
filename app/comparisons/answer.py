"""Comparisons as they are answered."""

from collections.abc import Sequence
from typing import Any, cast

from pydantic import Field

from app.comparisons.differences import PairedDifference, paired_difference, tied
from app.comparisons.groups import Group, Judged, Mean, group_rows, judge
from app.comparisons.rows import Comparison, Figures, Row, RowState
from app.plans.answer import EnergyOut, PlanStatus, SamplerStatus
from app.wire.base import AnswerModel, Optional, given
from app.wire.fleet import Translation
from app.wire.ids import DeviceIds

__all__ = ["ComparisonGroup", "ComparisonOut", "ComparisonRow", "Difference", "GroupDifference", "MeanInterval"]


class Difference(AnswerModel):
    """This row minus its baseline row."""

    baseline: int = Field(description="The number of its baseline row, from 0.")
    objective: float
    tied: bool = Field(description="Whether the two objectives are tied: they differ by no more than is certified.")
    datapoints_sent: float
    datapoints_useful: float
    transmit_cost: float
    processing_cost: float
    coverage: float
    joules: Optional[float] = Field(None, description="Of sending and processing, if the fleet tells joules.")


class ComparisonRow(AnswerModel):
    """One combination. A row without a plan has `reason` and none of the figures."""

    sampler: str
    sample_size: int
    budget_scale: float
    seed: int
    state: RowState = Field(
        description="`infeasible`: no plan exists. `refused`: the sampler cannot serve this network. "
        "`not_reached`: the time limit was over before this row was begun."
    )
    reason: Optional[str] = None
    status: Optional[PlanStatus] = Field(None, description="As of a plan.")
    sampler_status: Optional[SamplerStatus] = Field(None, description="As of a plan.")
    sampled: Optional[list[int]] = None
    sampled_ids: Optional[list[str]] = Field(None, description="Their ids, if devices have ids.")
    objective: Optional[float] = Field(None, description="Mean over the steps, eq. (26) and the weighted costs.")
    relative_gap: Optional[float] = None
    horizon_bound: Optional[float] = Field(None, description="No plan for these devices has a lower objective.")
    horizon_gap: Optional[float] = None
    set_bound: Optional[float] = Field(None, description="No choice of as many devices has a lower objective.")
    set_gap: Optional[float] = None
    datapoints_sent: Optional[float] = Field(None, description="Over links, in all steps.")
    datapoints_useful: Optional[float] = Field(None, description="Those of them that are new to their receivers.")
    transmit_cost: Optional[float] = None
    processing_cost: Optional[float] = None
    energy: Optional[EnergyOut] = Field(None, description="If the fleet tells joules.")
    coverage: Optional[float] = Field(
        None, description="Share of all data whose like the sampled devices hold, by the similarity of links."
    )
    rank: Optional[int] = Field(
        None,
        description="By objective among the rows of this sample size and budget scale, from 1; ties have one rank.",
    )
    pareto: bool = Field(
        description="Whether no other row beats it: none is at least as good in objective, datapoints sent and joules "
        "(if known) and better in one of them."
    )
    difference: Optional[Difference] = Field(None, description="Absent without a plan, or if the baseline has none.")
    timing_ms: dict[str, float] = Field(description="`sample` and `solve`; a set that an earlier row chose takes none.")


class MeanInterval(AnswerModel):
    """A mean over seeds; with two or more, its 95 % interval by Student's t."""

    mean: float
    low: Optional[float] = None
    high: Optional[float] = None


class GroupDifference(AnswerModel):
    """This group minus its baseline group, row by row; means and intervals are over these pairs.

    A pair has the same seed, unless the baseline names one.
    """

    baseline: int = Field(description="The number of the baseline group, from 0.")
    pairs: int = Field(description="How many pairs have a plan on both sides.")
    tied: bool = Field(description="Whether the mean objectives differ by no more than is certified.")
    objective: MeanInterval
    datapoints_sent: MeanInterval
    datapoints_useful: MeanInterval
    joules: Optional[MeanInterval] = Field(None, description="Of sending and processing, if the fleet tells joules.")
    coverage: MeanInterval


class ComparisonGroup(AnswerModel):
    """The rows of one sampler, sample size and budget scale; means are over those with a plan."""

    sampler: str
    sample_size: int
    budget_scale: float
    rows: list[int] = Field(description="Their numbers, from 0.")
    planned: int = Field(description="How many of them have a plan.")
    objective: Optional[MeanInterval] = None
    set_bound: Optional[float] = Field(None, description="No choice of as many devices has a lower objective.")
    datapoints_sent: Optional[MeanInterval] = None
    datapoints_useful: Optional[MeanInterval] = None
    joules: Optional[MeanInterval] = Field(None, description="Of sending and processing, if the fleet tells joules.")
    coverage: Optional[MeanInterval] = None
    rank: Optional[int] = Field(None, description="As of a row, by the mean objective.")
    pareto: bool = Field(description="As of a row, by the means.")
    difference: Optional[GroupDifference] = Field(None, description="Absent if no pair of rows has two plans.")


class ComparisonOut(AnswerModel):
    """Rows in the order of `budget_scales`, `sample_sizes`, `samplers`, `seeds`, the last of which changes first."""

    n_devices: int
    horizon: int
    complete: bool = Field(description="Whether every row was reached within the time limit.")
    baseline: int = Field(description="The number of the first row's baseline, from 0; `difference` has each row's.")
    rows: list[ComparisonRow]
    groups: list[ComparisonGroup]
    fleet: Optional[Translation] = Field(None, description="How the fleet was translated, if it was one.")
    network_id: Optional[str] = Field(None, description="The stored network, if it was asked for with one.")
    network_version: Optional[int] = Field(None, description="The version of it that was used.")

    @classmethod
    def from_domain(cls, comparison: Comparison, rows: list[Row]) -> "ComparisonOut":
        """The answer, with ranks and differences."""
        common = comparison.common
        judged = judge(rows)
        told = [
            _row(row, found, common.ids, _difference(rows, number, baseline))
            for number, (row, found, baseline) in enumerate(zip(rows, judged, comparison.baselines, strict=True))
        ]
        stored = (
            {} if common.stored is None else dict(zip(("network_id", "network_version"), common.stored, strict=True))
        )
        return cls(
            n_devices=len(common.schedule.network),
            horizon=common.horizon,
            complete=all(row.state != "not_reached" for row in rows),
            baseline=comparison.baselines[0],
            rows=told,
            groups=_groups(rows, comparison.baselines),
            **given(fleet=common.fleet),
            **stored,
        )


def _row(row: Row, judged: Judged, ids: DeviceIds | None, difference: Difference | None) -> ComparisonRow:
    cell = row.cell
    return ComparisonRow(
        sampler=cell.sampler,
        sample_size=cell.sample_size,
        budget_scale=cell.budget_scale,
        seed=cell.seed,
        state=row.state,
        pareto=judged.pareto,
        timing_ms={stage: round(1000 * seconds, 3) for stage, seconds in row.seconds.items()},
        **given(reason=row.reason, rank=judged.rank, difference=difference),
        **({} if row.figures is None else _figures(row.figures, ids)),
    )


def _figures(found: Figures, ids: DeviceIds | None) -> dict[str, Any]:
    sampled = found.sampled.tolist()
    energy = None if found.energy is None else EnergyOut(transmit=found.energy[0], processing=found.energy[1])
    searched = None if found.complete is None else "complete" if found.complete else "time_limit"
    return {
        "status": cast("PlanStatus", found.status),
        "sampled": sampled,
        "objective": found.objective,
        "relative_gap": found.relative_gap,
        "horizon_bound": found.horizon_bound,
        "horizon_gap": found.horizon_gap,
        "set_bound": found.set_bound,
        "set_gap": found.set_gap,
        "datapoints_sent": found.sent,
        "datapoints_useful": found.useful,
        "transmit_cost": found.transmit_cost,
        "processing_cost": found.processing_cost,
        "coverage": found.coverage,
        **given(sampler_status=searched, sampled_ids=ids and ids.named(sampled), energy=energy),
    }


def _difference(rows: list[Row], number: int, place: int) -> Difference | None:
    figures, baseline = rows[number].figures, rows[place].figures
    if figures is None or baseline is None:
        return None
    joules = None
    if figures.energy is not None and baseline.energy is not None:
        joules = sum(figures.energy) - sum(baseline.energy)
    return Difference(
        baseline=place,
        objective=figures.objective - baseline.objective,
        tied=tied([figures], [baseline]),
        datapoints_sent=figures.sent - baseline.sent,
        datapoints_useful=figures.useful - baseline.useful,
        transmit_cost=figures.transmit_cost - baseline.transmit_cost,
        processing_cost=figures.processing_cost - baseline.processing_cost,
        coverage=figures.coverage - baseline.coverage,
        **given(joules=joules),
    )


def _groups(rows: list[Row], baselines: Sequence[int]) -> list[ComparisonGroup]:
    groups = group_rows(rows)
    group_of = {number: place for place, group in enumerate(groups) for number in group.rows}
    return [
        _group(group, _group_difference(found, group_of[baselines[group.rows[0]]]))
        for group in groups
        for found in [paired_difference(rows, group.rows, baselines)]
    ]


def _group_difference(found: PairedDifference | None, baseline: int) -> GroupDifference | None:
    if found is None:
        return None
    return GroupDifference(
        baseline=baseline,
        pairs=found.pairs,
        tied=found.tied,
        objective=_mean(found.objective),
        datapoints_sent=_mean(found.sent),
        datapoints_useful=_mean(found.useful),
        coverage=_mean(found.coverage),
        **given(joules=found.energy and _mean(found.energy)),
    )


def _group(group: Group, difference: GroupDifference | None) -> ComparisonGroup:
    means = {
        "objective": group.objective,
        "datapoints_sent": group.sent,
        "datapoints_useful": group.useful,
        "joules": group.energy,
        "coverage": group.coverage,
    }
    return ComparisonGroup(
        sampler=group.sampler,
        sample_size=group.sample_size,
        budget_scale=group.budget_scale,
        rows=list(group.rows),
        planned=group.planned,
        pareto=group.judged.pareto,
        **given(set_bound=group.set_bound, rank=group.judged.rank, difference=difference),
        **{name: _mean(mean) for name, mean in means.items() if mean is not None},
    )


def _mean(found: Mean) -> MeanInterval:
    return MeanInterval(mean=found.mean, **given(low=found.low, high=found.high))
