"""Processor time of the bound on the whole horizon, as a share of solving, and the gaps that it certifies."""

from statistics import median
from time import thread_time
from typing import Any
from unittest.mock import patch

import numpy as np

import solver.horizon.sequence
from solver import TRANSFERS, GradientModel, advance, start
from solver.instances import BUDGETS, random_network
from solver.whole.horizon_bound import horizon_bound

__all__ = ["certificate_cost"]

_CASES = [(30, 10), (30, 75), (100, 10), (100, 75), (800, 10), (800, 75)]
_SAMPLED = 5
_RUNS = 11


def certificate_cost(seed: int, *, smoke: bool) -> list[dict[str, Any]]:
    """One row for each case, kind of budgets and kind of transfer."""
    return [
        _row(seed, n_devices, steps, budgets, transfer)
        for n_devices, steps in _CASES[: 1 if smoke else None]
        for budgets in BUDGETS
        for transfer in TRANSFERS
    ]


def _row(seed: int, n_devices: int, steps: int, budgets: str, transfer: str) -> dict[str, Any]:
    receive, transmit = BUDGETS[budgets]
    generator = np.random.default_rng([seed, n_devices, steps, *budgets.encode()])
    network = random_network(generator, n_devices, receive=receive, transmit=transmit, only_into=_SAMPLED)
    state = start(network, range(_SAMPLED))
    norms = GradientModel().norms(1, steps)
    spent: list[float] = []

    def timed(*args: Any) -> float:
        begin = thread_time()
        bound = horizon_bound(*args)
        spent.append(thread_time() - begin)
        return bound

    whole: list[float] = []
    with patch.object(solver.horizon.sequence, "horizon_bound", timed):
        for _ in range(_RUNS):
            begin = thread_time()
            plan = advance(network, state, norms, horizon=steps, transfer=transfer)
            whole.append(thread_time() - begin)
    objective = float(np.mean([step.objective for step in plan.steps]))
    certifying = median(spent[1:])
    solving = median(whole[1:]) - certifying
    bound = plan.bound or 0.0
    return {
        "n_devices": n_devices,
        "sample_size": _SAMPLED,
        "steps": steps,
        "budgets": budgets,
        "transfer": transfer,
        "solve_ms": solving * 1e3,
        "certificate_ms": certifying * 1e3,
        "share": certifying / solving,
        "certified_gap": (objective - bound) / objective,
    }
