"""Training under churn: what it costs to lose devices, and how much of that healing gets back.

Every policy starts from the devices that the default sampler chooses, and meets the same events on the same network. So
policies are compared network by network. Without losses they are one and the same, and run once. Healing runs once more
with other random numbers in training (A/A): the difference between the two is due to chance alone.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fedl_sim.churn.churn import Churn
from fedl_sim.churn.policies import POLICIES
from fedl_sim.loop.records import SchemeRun
from fedl_sim.paired import Paired, holm, paired
from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.cell_folder import Results
from fedl_sim.reproduce.figures.points import POLICY_LABELS, churn_figures
from fedl_sim.reproduce.figures.rows import rows_of
from fedl_sim.reproduce.measures import spread
from fedl_sim.reproduce.study import Report, Scope, Study
from fedl_sim.reproduce.tables import Table
from fedl_sim.simulate.summary import first_reaching

__all__ = ["TARGET_SHARE", "churn_study"]

HEALING, AGAIN = "heal", "heal (A/A)"
LABELS = {**POLICY_LABELS, AGAIN: "healing, other random numbers (A/A)"}
# The target is this share of the accuracy that the same network reaches without losses.
TARGET_SHARE = 0.95

Row = dict[str, str | int | float | None]


@dataclass(frozen=True)
class Condition:
    """What goes wrong, with its name in tables."""

    name: str
    churn: Churn

    @property
    def policies(self) -> tuple[str, ...]:
        """The policies to compare; if nobody is lost they do the same."""
        return (*POLICIES, AGAIN) if self.churn.loss > 0 else (HEALING, AGAIN)


CALM = Condition("no loss", Churn())
LOSSES = tuple(Condition(f"{loss:.0%} loss", Churn(loss=loss)) for loss in (0.05, 0.1, 0.2))
MIXED = (
    Condition("10% loss, 30% stragglers", Churn(loss=0.1, straggling=0.3)),
    Condition("10% loss, 30% of transfers lost", Churn(loss=0.1, lost_transfers=0.3)),
    Condition("10% loss, 5% drift", Churn(loss=0.1, drift=0.05)),
    Condition("10% loss, nobody comes back", Churn(loss=0.1, absence=math.inf)),
)


@dataclass(frozen=True, eq=False)
class Outcome:
    """The runs of one policy under one condition, in the order of the networks."""

    condition: Condition
    policy: str
    runs: tuple[SchemeRun, ...]

    @property
    def final(self) -> NDArray[np.float64]:
        """Accuracy after the last aggregation."""
        return np.array([run.aggregations[-1].accuracy for run in self.runs])

    def aggregations_to(self, targets: Sequence[float]) -> NDArray[np.float64]:
        """Aggregations until each network's target; K + 1 if it is not reached."""
        hits = [first_reaching(run, target) for run, target in zip(self.runs, targets, strict=True)]
        never = len(self.runs[0].aggregations)
        return np.array([float(never if hit is None else hit.aggregation) for hit in hits])

    def per_period(self, count: Callable[[SchemeRun], list[int]]) -> float | None:
        """The mean over periods and networks."""
        counts = [number for run in self.runs for number in count(run)]
        return float(np.mean(counts)) if counts else None


def churn_study(template: Cell, scope: Scope) -> Study:
    """On digits, whose runs take seconds: many networks."""
    base = replace(
        template,
        data_set="digits",
        scheme="ours-offload",
        realisation=replace(template.realisation, n_devices=40 if scope.quick else 100),
        run=replace(template.run, sample_size=5, transfer="send_once"),
    )
    conditions = (CALM, LOSSES[-1]) if scope.quick else (CALM, *LOSSES, *MIXED)
    grid = {
        (condition, policy): tuple(
            replace(_under(base, policy), seed=seed, churn=condition.churn) for seed in scope.seeds
        )
        for condition in conditions
        for policy in condition.policies
    }

    def report(results: Results) -> Report:
        outcomes = [
            Outcome(condition, policy, tuple(results[cell] for cell in cells))
            for (condition, policy), cells in grid.items()
        ]
        tables = (_table(outcomes, base), _runs_table(outcomes, scope.seeds))
        return Report(tables, churn_figures(rows_of(tables)))

    return Study("churn", tuple(cell for cells in grid.values() for cell in cells), report)


def _under(base: Cell, policy: str) -> Cell:
    return replace(base, policy=HEALING, luck=1) if policy == AGAIN else replace(base, policy=policy)


def _targets(outcomes: Sequence[Outcome]) -> list[float]:
    """Each network's target."""
    return [TARGET_SHARE * float(accuracy) for accuracy in outcomes[0].final]


def _table(outcomes: Sequence[Outcome], base: Cell) -> Table:
    targets = _targets(outcomes)
    accuracy = _against_healing(outcomes, lambda outcome: outcome.final)
    speed = _against_healing(outcomes, lambda outcome: outcome.aggregations_to(targets))
    rows = []
    for place, outcome in enumerate(outcomes):
        until = outcome.aggregations_to(targets)
        row: Row = {
            "condition": outcome.condition.name,
            "policy": "any" if (outcome.condition, outcome.policy) == (CALM, HEALING) else LABELS[outcome.policy],
            "updates a period": _digits(outcome.per_period(lambda run: [len(p.arrived) for p in run.periods])),
            "devices joining a period": _digits(outcome.per_period(lambda run: [len(p.joined) for p in run.periods])),
            "final accuracy": spread(outcome.final).text(),
            "healing's gain": accuracy[place][0],
            "p": accuracy[place][1],
            "aggregations to target": f"{until.mean():.1f}",
            "reached": f"{np.mean(until < len(outcome.runs[0].aggregations)):.0%}",
            "healing's difference": speed[place][0],
            "p (aggregations)": speed[place][1],
        }
        rows.append(row)
    return Table(
        "churn",
        f"Training under churn on {len(targets)} networks",
        tuple(rows[0]),
        tuple(rows),
        (_note(base),),
    )


def _against_healing(
    outcomes: Sequence[Outcome], measure: Callable[[Outcome], NDArray[np.float64]]
) -> list[tuple[str | None, str | None]]:
    """Healing minus each other policy under the same condition, and p adjusted over all policies that differ."""
    healed = {outcome.condition: measure(outcome) for outcome in outcomes if outcome.policy == HEALING}
    found: dict[int, Paired] = {
        place: paired(healed[outcome.condition] - measure(outcome))
        for place, outcome in enumerate(outcomes)
        if outcome.policy != HEALING
    }
    rivals = {place: one.p_value for place, one in found.items() if outcomes[place].policy != AGAIN}
    adjusted = {place: one.p_value for place, one in found.items()}
    adjusted |= dict(zip(rivals, holm(list(rivals.values())), strict=True))
    return [
        (found[place].text(), f"{adjusted[place]:.2g}") if place in found else (None, None)
        for place in range(len(outcomes))
    ]


def _note(base: Cell) -> str:
    r, run = base.realisation, base.run
    return (
        f"{base.data_set}, N = {r.n_devices}, S = {run.sample_size}, K = {run.aggregations}, {r.budget} budgets. Lost "
        f"devices are back after {Churn().absence:g} periods on average, unless said otherwise. The target is "
        f"{TARGET_SHARE:.0%} of the final accuracy that the network reaches without losses; a run that misses it "
        f"counts as {run.aggregations + 1}. "
        "Gain and difference: healing minus the row's policy, mean over networks with the 95 % interval. p: Wilcoxon's "
        "signed-rank test on the networks' differences, by Holm's method over the column without its A/A rows."
    )


def _runs_table(outcomes: Sequence[Outcome], seeds: Sequence[int]) -> Table:
    targets = _targets(outcomes)
    rows: list[Row] = []
    for outcome in outcomes:
        until = outcome.aggregations_to(targets)
        for seed, run, aggregations in zip(seeds, outcome.runs, until, strict=True):
            last = run.aggregations[-1]
            rows.append(
                {
                    "condition": outcome.condition.name,
                    "policy": outcome.policy,
                    "seed": seed,
                    "accuracy": round(last.accuracy, 4),
                    "loss": round(last.loss, 4),
                    "aggregations_to_target": int(aggregations),
                    "updates": sum(len(period.arrived) for period in run.periods),
                    "lost": sum(len(period.lost) for period in run.periods),
                    "joined": sum(len(period.joined) for period in run.periods),
                    "processed": last.processed,
                    "moved": last.moved,
                }
            )
    return Table("runs", "Every run", tuple(rows[0]), tuple(rows), bulk=True)


def _digits(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f}"
