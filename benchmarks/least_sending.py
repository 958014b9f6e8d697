"""How near to the least sending the finishing pass of a step comes, and what it does to whole horizons (ADR 0055).

The first table has datapoints sent relative to the least that a linear program finds for the same useful data, over the
first four steps of three networks a row. The second has plans of whole horizons with the pass, relative to those
without it, over six networks a row.

    python -m benchmarks.least_sending
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, vstack

from benchmarks.machine import describe
from solver import TRANSFERS, Network, StepProblem, advance, plan_offloading, solve_fast, start, step_problem
from solver.arrays import FloatArray
from solver.horizon.weights import Weights
from solver.instances import BUDGETS, random_network

__all__ = ["main"]

# N, S and the probability of a link; then N, S, T and the probability.
STEPS = [(40, 4, 0.2), (60, 5, 0.2), (100, 6, 0.1), (100, 5, 0.3), (200, 10, 0.3)]
HORIZONS = [(30, 5, 10, 0.2), (100, 6, 10, 0.1), (100, 5, 40, 0.3), (200, 10, 75, 0.1)]


def main() -> int:
    """Print both tables; returns the exit code."""
    print(describe("scipy"))
    for name, rows in (("steps, sent over the least", _steps), ("horizons, with over without", _horizons)):
        print(f"\n{name}")
        for budgets in BUDGETS:
            for transfer in TRANSFERS:
                rows(budgets, transfer)
    return 0


def _network(seed: int, n: int, probability: float, budgets: str) -> Network:
    receive, transmit = BUDGETS[budgets]
    return random_network(
        np.random.default_rng(seed), n, link_probability=probability, receive=receive, transmit=transmit
    )


def _least(problem: StepProblem, load: FloatArray, received: FloatArray) -> float:
    """The fewest datapoints that bring each receiver the same useful data."""
    links = np.arange(problem.n_links)
    sender = np.repeat(np.arange(problem.budget.size), np.diff(problem.offsets))
    shape = (problem.budget.size, problem.n_links)
    limits = vstack(
        [csr_array((np.ones(links.size), (sender, links)), shape), csr_array((problem.cost, (sender, links)), shape)]
    )
    arrives = csr_array((problem.useful, (problem.receiver, links)), (problem.n_receivers, links.size))
    most = np.concatenate([np.ones(problem.budget.size), problem.budget])
    bounds = np.stack([np.zeros(links.size), np.ones(links.size) if problem.limit is None else problem.limit], axis=1)
    found: Any = linprog(load, limits, most, arrives, received, bounds)  # type: ignore[call-overload]
    return float(found.fun) if found.success else np.nan


def _steps(budgets: str, transfer: str) -> None:
    for n, size, probability in STEPS:
        total, worst = np.zeros(3), 1.0
        for seed in range(3):
            network = _network(seed, n, probability, budgets)
            state = start(network, range(size))
            for _ in range(4):
                problem = step_problem(network, state, transfer=transfer)
                load = np.asarray(problem.load)
                now, before = solve_fast(problem), solve_fast(replace(problem, load=None))
                least = _least(problem, load, now.received)
                if least > 0:
                    sent = float(load @ now.fractions)
                    total += np.array([float(load @ before.fractions), sent, least])
                    worst = max(worst, sent / least)
                state = advance(network, state, [1.0], transfer=transfer).state
        figures = (total[:2] / total[2]).tolist()
        print(
            f"{budgets:7}{transfer:10} N={n} S={size}  before {figures[0]:.3f}  now {figures[1]:.3f}  worst {worst:.3f}"
        )


def _horizons(budgets: str, transfer: str) -> None:
    for n, size, horizon, probability in HORIZONS:
        rows = []
        for seed in range(6):
            network = _network(seed, n, probability, budgets)
            plans = partial(_figures, network, size, horizon, transfer)
            rows.append(plans() / _without(plans))
        objective, sent = np.transpose(rows)
        change = f"objective {objective.mean() - 1:+.4%} (worst {objective.max() - 1:+.4%})"
        print(f"{budgets:7}{transfer:10} N={n} S={size} T={horizon}  {change}  sent {sent.mean():.3f}")


def _figures(network: Network, size: int, horizon: int, transfer: str) -> FloatArray:
    """The mean objective of a plan, and the datapoints sent."""
    plan = plan_offloading(network, range(size), horizon=horizon, transfer=transfer)
    sent = sum(float(step.datapoints.sum()) for step in plan.steps)
    return np.array([np.mean([step.objective for step in plan.steps]), sent])


def _without(plans: Callable[[], FloatArray]) -> FloatArray:
    with patch.object(Weights, "load", lambda *_: np.empty(0)):
        return plans()


if __name__ == "__main__":
    sys.exit(main())
