"""Does a mixture term in the offloading objective help?

Eq. (26) counts datapoints, whichever they are. With m_c(Φ) the datapoints of class c that the sampled devices would
hold after the step, π_c the network's share and D_N all data, this adds a term to (a) and (b) that is convex too:

    minimise  (a) + (b) − ω Σ_c π_c log(ε + m_c(Φ)/(π_c D_N)).

Random sets of held-out ten-device networks are planned step by step with CVXPY for several ω and trained for real on
what each plan moves, with the same random numbers. ω = 0 is first checked against the fast solver. Differences are
paired, set by set. `full` are loose budgets with a tenth of the room to receive: there is more to send than fits, so
that a plan chooses *what* arrives. About ten minutes of one core; the last line is JSON.
"""

import argparse
import json
from dataclasses import replace
from itertools import pairwise

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.labelled_sets import TEN
from benchmarks.machine import describe
from fedl_sim.data.datasets import load_data_set
from fedl_sim.engines.factory import make_engine
from fedl_sim.labels.evaluation import HELD_OUT_SEED
from fedl_sim.labels.label import candidate_sets, realisation_of
from fedl_sim.labels.losses import SetTrainer
from sampler.base import SamplingProblem
from sampler.objectives.mixture import class_shares
from solver.horizon.batch import SetPlans, plan_sets
from solver.network import Network
from solver.network.schedule import Schedule
from solver.network.subgraph import Subgraph
from solver.step.problem import room_for

FIRST_SEED = HELD_OUT_SEED + 5_000_000
BUDGETS = ("loose", "full", "tight", "scarce")
WEIGHTS = (0.1, 1.0, 10.0)
SAMPLE_SIZE = 4
EPSILON = 1e-3


def planned(network: Network, plans: SetPlans, weight: float) -> tuple[SetPlans, NDArray[np.float64]]:
    """The same sets with fractions from CVXPY under ω = weight, and eq. (26) of each, mean over steps."""
    fractions = np.empty_like(plans.fractions)
    surrogate = np.empty(len(plans.sets))
    for b, (first, last) in enumerate(pairwise(plans.starts)):
        fractions[:, first:last], surrogate[b] = _plan(network, plans.sets[b], len(fractions), weight)
    return replace(plans, fractions=fractions), surrogate


def _plan(
    network: Network, sampled: NDArray[np.int64], horizon: int, weight: float
) -> tuple[NDArray[np.float64], float]:
    graph = Subgraph.of(network, sampled)
    shares, whole = class_shares(SamplingProblem.of(Schedule.of(network), len(sampled)))
    present = whole > 0
    # What a datapoint of each sender, and what the sampled devices' own data, adds to m_c/(π_c D_N).
    worth = shares[:, present] / (whole[present] * network.total_data)
    held = network.devices.data[sampled]
    mixture = held @ worth[sampled]
    ceiling = network.devices.processing_capacity[sampled] / network.devices.processing_cost[sampled]
    unsent = np.ones(graph.source.size)
    fractions, total = np.zeros((horizon, graph.source.size)), 0.0
    for t in range(horizon):
        useful = graph.fresh * unsent
        if graph.source.size:
            capacity = room_for(network.devices.receive_capacity[sampled], ceiling, held)
            fractions[t] = _step(
                graph,
                useful,
                capacity,
                held,
                mixture=mixture,
                worth=worth[graph.source],
                whole=whole[present],
                weight=weight,
            )
        moved = useful * fractions[t]
        held = held + np.bincount(graph.receiver, moved, len(sampled))
        mixture = mixture + moved @ worth[graph.source]
        unsent = unsent * (1 - fractions[t])
        total += graph.unsampled_data / (graph.unsampled_data + held.sum()) + float((held**-0.5).mean())
    return fractions, total / horizon


def _step(
    graph: Subgraph,
    useful: NDArray[np.float64],
    capacity: NDArray[np.float64],
    held: NDArray[np.float64],
    *,
    mixture: NDArray[np.float64],
    worth: NDArray[np.float64],
    whole: NDArray[np.float64],
    weight: float,
) -> NDArray[np.float64]:
    n_links, scale = graph.source.size, float(held.mean())
    phi = cp.Variable(n_links, nonneg=True)
    sender = np.repeat(np.arange(graph.budget.size), np.diff(graph.offsets))
    rows = sparse.csr_array((np.ones(n_links), (sender, np.arange(n_links))))
    into = sparse.csr_array((useful / scale, (graph.receiver, np.arange(n_links))), shape=(held.size, n_links))
    received = into @ phi
    x = held / scale + received
    unsampled = graph.unsampled_data / scale
    objective = unsampled * cp.inv_pos(unsampled + cp.sum(x)) + cp.sum(cp.power(x, -0.5)) / (held.size * scale**0.5)
    if weight:
        objective -= weight * (whole @ cp.log(EPSILON + mixture + (useful[:, None] * worth).T @ phi))
    limits = [
        received <= capacity / scale,
        rows @ phi <= 1,
        rows @ cp.multiply(graph.cost, phi) <= np.minimum(graph.budget, 1e6),
    ]
    cp.Problem(cp.Minimize(objective), limits).solve(solver=cp.CLARABEL)
    found: NDArray[np.float64] = np.clip(phi.value, 0.0, 1.0)
    return found


def compare(budget: str, networks: int, sets: int) -> list[dict[str, float | str]]:
    """Train random sets on what plans with and without the term move; means of paired differences."""
    family = replace(TEN, budgets=("loose" if budget == "full" else budget,), draws=3)
    data = load_data_set(family.data_set)
    engine = make_engine("compiled", family.model, data)
    differences: dict[float, list[NDArray[np.float64]]] = {weight: [] for weight in WEIGHTS}
    for seed in range(FIRST_SEED, FIRST_SEED + networks):
        _, realisation = realisation_of(family, seed)
        network = realisation.network
        if budget == "full":
            network = network.with_columns({"receive_capacity": 0.1 * network.devices.receive_capacity})
            realisation = replace(realisation, network=network)
        everything = candidate_sets(network, SAMPLE_SIZE, family.horizon)
        some = everything[np.random.default_rng(seed).permutation(len(everything))[:sets]]
        fast = plan_sets(network, some, horizon=family.horizon, transfer="redraw")
        trainer = SetTrainer.of(family, realisation, data, engine)
        plain, surrogate = planned(network, fast, 0.0)
        # Sequences of optima can part where one is not unique, so not to the last digit.
        np.testing.assert_allclose(surrogate, fast.objective, rtol=2e-3)
        loss, accuracy = trainer.train_sets(plain, seed)
        for weight in WEIGHTS:
            other, cost = planned(network, fast, weight)
            with_term, right = trainer.train_sets(other, seed)
            differences[weight].append(np.stack((with_term - loss, right - accuracy, cost / surrogate - 1, loss)))
    return [_row(budget, weight, np.concatenate(found, axis=1)) for weight, found in differences.items()]


def _row(budget: str, weight: float, found: NDArray[np.float64]) -> dict[str, float | str]:
    change, right, cost, loss = found
    row: dict[str, float | str] = {
        "budget": budget,
        "weight": weight,
        "sets": len(change),
        "loss_without": round(float(loss.mean()), 4),
        "loss_change": round(float(change.mean()), 4),
        "standard_error": round(float(change.std(ddof=1) / np.sqrt(len(change))), 4),
        "accuracy_change": round(float(right.mean()), 4),
        "surrogate_change": round(float(cost.mean()), 5),
    }
    print(row, flush=True)
    return row


def main() -> None:
    """Print a row for each budget and weight, and the JSON line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=int, default=12, help="networks a budget")
    parser.add_argument("--sets", type=int, default=10, help="sets of each network")
    arguments = parser.parse_args()
    print(describe("numpy", "cvxpy", "clarabel"))
    rows = [row for budget in BUDGETS for row in compare(budget, arguments.networks, arguments.sets)]
    print(json.dumps({"offloading_mixture": rows}))


if __name__ == "__main__":
    main()
