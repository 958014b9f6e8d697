"""How near the closed-form estimate of what a set will hold comes to what its plan brings.

Random sets of random networks are planned step by step. `received` is what the sampled devices have received on the
mean over the steps, `bias` how far the estimate is from it over all sets, `rms` the same for a single set, and
`correlation` that of estimate and plan over the sets. `full` are loose budgets with a tenth of the receive capacity.

    python -m benchmarks.holdings_estimate
"""

import json
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import describe
from benchmarks.options import parser
from benchmarks.solved_mixture import arrived_part
from sampler.base import SamplingProblem
from sampler.objectives.holdings import Holdings
from solver.horizon.batch import plan_sets
from solver.horizon.transfer import TRANSFERS
from solver.instances import BUDGETS, random_network
from solver.network import Network
from solver.network.schedule import Schedule

__all__ = ["compare"]

# Devices, link probability, sample size.
CASES = ((10, 0.35, 4), (100, 0.1, 5), (100, 0.1, 20))
HORIZON = 20
NETWORKS = 4
SETS = 10


def compare(network: Network, sets: NDArray[np.int64], horizon: int, transfer: str) -> NDArray[np.float64]:
    """Return for each set what it receives by the estimate, and by its plan."""
    problem = SamplingProblem.of(Schedule.of(network), sets.shape[1], horizon=horizon, transfer=transfer)
    own = network.devices.data[sets].sum(axis=1)
    estimate = Holdings.of(problem, np.zeros((len(network), 1))).pool(sets).amount - own
    plans = plan_sets(network, sets, horizon=horizon, transfer=transfer)
    n = len(network)
    links = network.links
    place = np.searchsorted(links.target * n + links.source, plans.target * n + plans.source)
    fresh = network.devices.data[plans.source] * (1.0 - links.similarity[place])
    arrived = arrived_part(plans.fractions, transfer) * fresh
    planned = np.add.reduceat(np.append(arrived, 0.0), plans.starts[:-1]) * (np.diff(plans.starts) > 0)
    return np.column_stack((estimate, planned))


def _rows(cases: Sequence[tuple[int, float, int]], networks: int) -> list[dict[str, Any]]:
    rows = []
    kinds = {**BUDGETS, "full": BUDGETS["loose"]}
    for transfer, (budget, (receive, transmit)) in product(TRANSFERS, kinds.items()):
        for n, probability, size in cases:
            found = []
            for seed in range(networks):
                generator = np.random.default_rng([7, seed])
                network = random_network(generator, n, link_probability=probability, receive=receive, transmit=transmit)
                if budget == "full":
                    network = network.with_columns({"receive_capacity": network.devices.receive_capacity / 10})
                sets = np.array([generator.choice(n, size, replace=False) for _ in range(SETS)])
                found.append(compare(network, sets, HORIZON, transfer))
            ours, planned = np.concatenate(found).T
            some = planned > 0
            rows.append(
                {
                    "transfer": transfer,
                    "budget": budget,
                    "n_devices": n,
                    "sample_size": size,
                    "received": round(float(planned.mean()), 2),
                    "bias": round(float(ours.sum() / planned.sum() - 1), 4),
                    "rms": round(float(np.sqrt(np.mean((ours[some] / planned[some] - 1) ** 2))), 4),
                    "correlation": round(float(np.corrcoef(ours, planned)[0, 1]), 4),
                }
            )
    return rows


def main() -> None:
    """Print the table and a line of JSON."""
    smoke = parser(__doc__).parse_args().smoke
    print(describe("numpy", "numba"), f"{NETWORKS} networks with {SETS} sets each, T = {HORIZON}", sep=", ")
    rows = _rows(CASES[:1], 1) if smoke else _rows(CASES, NETWORKS)
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()))
    print(json.dumps({"holdings": rows}))


if __name__ == "__main__":
    main()
