"""The whole horizon as one problem: fedsift's interior-point method beside CVXPY with Clarabel, in processor time."""

import sys
from time import thread_time
from typing import Any

import numpy as np

from solver import GradientModel, advance, start
from solver.instances import BUDGETS, random_network
from solver.whole.reference_horizon import solve_jointly, worst_breach

__all__ = ["whole_horizon"]

# N, T and the share of pairs with a link.
_CASES = [(30, 10, 0.2), (30, 75, 0.2), (100, 10, 0.1), (100, 40, 0.1), (800, 10, 0.1), (800, 75, 0.02)]
_SAMPLED = 5


def whole_horizon(seed: int, *, smoke: bool) -> list[dict[str, Any]]:
    """One row for each case and kind of budgets; the run ends with an error if a plan is not the optimum."""
    return [
        _row(seed, n_devices, steps, probability, budgets)
        for n_devices, steps, probability in (_CASES[: 1 if smoke else None])
        for budgets in BUDGETS
    ]


def _row(seed: int, n_devices: int, steps: int, probability: float, budgets: str) -> dict[str, Any]:
    receive, transmit = BUDGETS[budgets]
    generator = np.random.default_rng([seed, n_devices, steps, *budgets.encode()])
    network = random_network(
        generator, n_devices, link_probability=probability, receive=receive, transmit=transmit, only_into=_SAMPLED
    )
    state = start(network, range(_SAMPLED))
    norms = GradientModel().norms(1, steps)
    by_steps = advance(network, state, norms, horizon=steps, transfer="send_once")
    begin = thread_time()
    plan = advance(network, state, norms, horizon=steps, transfer="send_once", planning="horizon")
    planned = thread_time()
    optimum = solve_jointly(network, state, norms)
    solved = thread_time()
    objective = float(np.mean([step.objective for step in plan.steps]))
    difference = objective / optimum.objective - 1.0
    breach = worst_breach(network, state, plan.steps)
    if optimum.status == "optimal" and (difference > 1e-6 or breach > 1e-8):
        sys.exit(f"whole horizon N={n_devices} T={steps} {budgets}: off by {difference}, breach {breach}")
    return {
        "n_devices": n_devices,
        "sample_size": _SAMPLED,
        "steps": steps,
        "budgets": budgets,
        "fast_ms": (planned - begin) * 1e3,
        "cvxpy_ms": (solved - planned) * 1e3,
        "ratio": (solved - planned) / (planned - begin),
        "objective_difference": difference,
        "certified_gap": plan.steps[0].relative_gap,
        "max_violation": breach,
        "step_by_step_difference": float(np.mean([step.objective for step in by_steps.steps])) / objective - 1.0,
        "clarabel_status": optimum.status,
    }
