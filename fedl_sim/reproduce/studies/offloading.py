"""The fast offloading solver against the reference solver on the networks of the experiments: objective and time.

`make bench-solver` is the thorough benchmark; this study uses the networks that the other studies train on.
"""

from dataclasses import replace
from functools import partial
from statistics import median

import numpy as np

from fedl_sim.data.datasets import load_data_set
from fedl_sim.network.realisation import RealisationSettings, realise
from fedl_sim.randomness import stream
from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.figures.points import solver_figures
from fedl_sim.reproduce.figures.rows import rows_of
from fedl_sim.reproduce.study import Report, Scope, Study
from fedl_sim.reproduce.tables import Table
from sampler.base import SamplingProblem
from sampler.baselines import sample_randomly
from solver import Plan, Schedule, plan_offloading

__all__ = ["solver_study"]

RATIO = "CVXPY's time over ours"


def solver_study(template: Cell, scope: Scope) -> Study:
    """Random sets of S = 6 on realisations of growing size; nothing is trained."""
    data_set = "digits" if scope.quick else "mnist"
    sizes = (50, 100) if scope.quick else (100, 200, 400, 800)

    def report(_: object) -> Report:
        rows = [
            _row(replace(template.realisation, n_devices=n, budget=budget), template, data_set, scope.seeds)
            for n in sizes
            for budget in ("loose", "tight", "scarce")
        ]
        tables = (_table(rows, scope.seeds),)
        return Report(tables, solver_figures(rows_of(tables)))

    return Study("solver", (), report)


def _row(
    settings: RealisationSettings, template: Cell, data_set: str, seeds: tuple[int, ...]
) -> dict[str, str | int | float | None]:
    data = load_data_set(data_set)
    run = replace(template.run, sample_size=6)
    fast: list[Plan] = []
    reference: list[Plan] = []
    for seed in seeds:
        realisation = realise(settings, data, seed)
        period = run.training.aggregation_period
        problem = SamplingProblem.of(Schedule.of(realisation.network), run.sample_size, horizon=period)
        sampled = sample_randomly(problem, stream(seed, "sample", "random", 0)).sampled
        plan = partial(plan_offloading, realisation.network, sampled, transfer="redraw")
        plan(horizon=1)  # compiled code loads once
        fast.append(plan(horizon=period))
        reference.append(plan(horizon=period, method="cvxpy"))
    differences = [
        abs(a.steps[0].objective - b.steps[0].objective) / b.steps[0].objective
        for a, b in zip(fast, reference, strict=True)
    ]
    ratios = [b.seconds / a.seconds for a, b in zip(fast, reference, strict=True)]
    return {
        "N": settings.n_devices,
        "budget": settings.budget,
        "transfers in the first step": float(np.mean([plan.steps[0].source.size for plan in fast])),
        "worst gap proved": max(plan.relative_gap or 0.0 for plan in fast),
        "largest difference of the first step": max(differences),
        RATIO: median(ratios),
    }


def _table(rows: list[dict[str, str | int | float | None]], seeds: tuple[int, ...]) -> Table:
    return Table(
        "solver",
        f"Optimised offloading of random sets (S = 6), {len(seeds)} networks a row: fast solver against CVXPY",
        tuple(rows[0]),
        tuple(rows),
    )
