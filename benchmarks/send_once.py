"""`python -m benchmarks.send_once`: what sending once changes, beside redrawing as in the paper.

Plans first: seeded random networks and networks of the simulator (digits, Sec. V-A), each with loose, tight and scarce
budgets, planned both ways. `sent_at_equal_useful` is what the redrawing plan would send if it did not repeat itself
(y = Φ·u): the same useful data, so the same objective. Then training: FedL on the simulator's networks with both kinds,
the same devices and the same seeds. The last line is one JSON object. About three minutes on two cores.

Limits: one data set for training, and the simulator's own budgets. `benchmarks.solver_speed` prints the plans' part.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from functools import partial
from statistics import mean, stdev
from typing import Any

import numpy as np

from benchmarks.machine import describe
from benchmarks.timing import milliseconds
from fedl_sim.data.datasets import load_data_set
from fedl_sim.loop.loop import RunSettings
from fedl_sim.network.realisation import RealisationSettings, realise
from fedl_sim.simulate.sweep import ExperimentSettings, simulate
from solver import TRANSFERS, Network, Plan, plan_offloading
from solver.instances import BUDGETS, random_network

__all__ = ["compare_plans"]

# N, S and the probability of a link.
CASES = [(10, 5, 0.5), (100, 5, 0.1), (800, 6, 0.1), (800, 20, 0.1)]
STEPS = 75
SEED = 7


def main() -> int:
    """Plan, train, print; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=30, help="networks that FedL trains on, for each kind of budget")
    seeds = parser.parse_args().seeds
    print(describe("numba", "numpy"), f"seed {SEED}", sep=", ")
    plans = compare_plans(SEED) + _simulated(3)
    for row in plans:
        print(json.dumps(row))
    trained = [_train(budget, seeds) for budget in BUDGETS]
    for row in trained:
        print(json.dumps(row))
    print(json.dumps({"plans": plans, "trained": trained}))
    return 0


def compare_plans(seed: int, *, smoke: bool = False) -> list[dict[str, Any]]:
    """Both kinds on random networks."""
    rows = []
    for n, s, probability in CASES[: 1 if smoke else None]:
        for budgets, (receive, transmit) in BUDGETS.items():
            network = random_network(
                np.random.default_rng(seed), n, link_probability=probability, receive=receive, transmit=transmit
            )
            rows.append(_compared("random", budgets, network, np.arange(s)))
    return rows


def _simulated(seeds: int) -> list[dict[str, Any]]:
    """Both kinds on networks of the simulator."""
    data = load_data_set("digits")
    return [
        _compared("digits", budget, realise(RealisationSettings(budget=budget), data, seed).network, np.arange(5))
        for budget in BUDGETS
        for seed in range(seeds)
    ]


def _compared(name: str, budgets: str, network: Network, sampled: np.ndarray[Any, Any]) -> dict[str, Any]:
    plans = {kind: plan_offloading(network, sampled, horizon=STEPS, transfer=kind) for kind in TRANSFERS}
    objectives = {kind: _checked(f"{name} {budgets} {kind}", plan) for kind, plan in plans.items()}
    once, redrawn = plans["send_once"], plans["redraw"]
    times = {
        kind: milliseconds(partial(plan_offloading, network, sampled, horizon=STEPS, transfer=kind))
        for kind in TRANSFERS
    }
    return {
        "network": name,
        "n_devices": len(network),
        "sample_size": len(sampled),
        "budgets": budgets,
        "objective": objectives["send_once"] / objectives["redraw"] - 1.0,
        "sent": once.datapoints_moved / redrawn.datapoints_moved,
        "useful": _useful(once) / _useful(redrawn),
        "sent_at_equal_useful": sum(_not_repeated(redrawn)) / redrawn.datapoints_moved,
        "horizon_gap": {kind: plan.horizon_gap for kind, plan in plans.items()},
        "ms": times,
        "time": times["send_once"] / times["redraw"],
    }


def _checked(name: str, plan: Plan) -> float:
    """The plan's objective; the run ends unless the plan is feasible and every step is certified."""
    if plan.objective is None or plan.relative_gap is None or plan.max_violation is None:
        sys.exit(f"{name}: {plan.status}")
    if plan.relative_gap > 1e-6 or plan.max_violation > 1e-8:
        sys.exit(f"{name}: gap {plan.relative_gap}, violation {plan.max_violation}")
    return plan.objective


def _useful(plan: Plan) -> float:
    return float(sum(step.useful.sum() for step in plan.steps))


def _not_repeated(plan: Plan) -> Iterator[float]:
    """What a redrawing plan sends for the first time in each step: D_k·Φ·u."""
    unsent = np.ones((plan.n_devices, plan.n_devices))
    for step in plan.steps:
        pairs = step.source, step.target
        yield float((step.datapoints * unsent[pairs]).sum())
        unsent[pairs] *= 1.0 - step.fraction


def _train(budget: str, seeds: int) -> dict[str, Any]:
    """FedL with both kinds: final accuracy of each seed, and what was sent."""
    found: dict[str, Any] = {"budgets": budget, "seeds": seeds}
    finals = {}
    for kind in TRANSFERS:
        settings = ExperimentSettings(
            realisation=RealisationSettings(budget=budget),
            run=RunSettings(transfer=kind),
            schemes=("ours-offload",),
            seeds=tuple(range(seeds)),
        )
        runs = simulate(settings).runs
        last = [run.aggregations[-1] for run in runs]
        finals[kind] = np.array([record.accuracy for record in last])
        found[kind] = {
            "accuracy": float(finals[kind].mean()),
            "moved": mean(record.moved for record in last),
            "useful": mean(record.useful for record in last),
        }
    difference = (finals["send_once"] - finals["redraw"]).tolist()
    error = stdev(difference) / seeds**0.5 if seeds > 1 else float("nan")
    return found | {"accuracy_difference": mean(difference), "standard_error": error}


if __name__ == "__main__":
    sys.exit(main())
