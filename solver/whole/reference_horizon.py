"""The whole horizon as one convex problem, in CVXPY: the optimum that plans and their horizon bounds are held to.

It is the problem that the docstring of `solver.whole.horizon_bound` states. It is far slower than planning step by
step, so it is for tests and benchmarks.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solver.arrays import FloatArray
from solver.horizon.plan import StepPlan
from solver.horizon.state import HorizonState
from solver.horizon.weights import NO_WEIGHTS, Weights
from solver.network import Network
from solver.network.eligibility import data_ceiling
from solver.network.schedule import Schedule
from solver.network.subgraph import Subgraph
from solver.step.reference import require_installed
from solver.validation import as_column

__all__ = ["JointOptimum", "solve_jointly", "worst_breach"]


@dataclass(frozen=True, eq=False)
class JointOptimum:
    """The best plan of a horizon that sends once.

    Attributes:
        objective: the mean over steps.
        received: (steps, S) R_i(t).
        status: Clarabel's own word.
    """

    objective: float
    received: FloatArray
    status: str


def solve_jointly(
    network: Network | Schedule,
    state: HorizonState,
    gradient_norms: npt.ArrayLike,
    *,
    gradient_noise: float = 1.0,
    weights: Weights = NO_WEIGHTS,
) -> JointOptimum:
    """Minimise the mean objective of the steps after `state`, one for each gradient norm.

    Raises:
        MissingExtraError: CVXPY or Clarabel is not installed.
    """
    require_installed()
    import cvxpy as cp  # noqa: PLC0415 - optional, and slow to load

    schedule = Schedule.of(network)
    norms = as_column(gradient_norms, "gradient_norms")
    unit = float(state.data.mean())
    held: Any = cp.Constant(state.data / unit)
    sent: dict[int, Any] = {}
    constraints: list[Any] = []
    values: list[Any] = []
    received: list[Any] = []
    unsampled = 0.0
    for j, norm in enumerate(norms.tolist()):
        t = state.step + 1 + j
        graph = Subgraph.of(schedule.at(t), state.sampled)
        ceiling = np.maximum(data_ceiling(schedule, state.sampled, t, state.step + norms.size), state.data)
        arrival, rows, cost = _step(cp, graph, unit, sent, weights)
        constraints += rows
        received.append(arrival)
        held = held + arrival
        # Limits above everything that could arrive would only cost digits.
        receive = np.minimum(schedule.at(t).devices.receive_capacity[state.sampled], 2 * graph.unsampled_data)
        constraints.append(arrival <= receive / unit)
        binding = np.flatnonzero(ceiling < state.data + graph.unsampled_data)
        if binding.size:
            constraints.append(held[binding] <= ceiling[binding] / unit)
        unsampled = graph.unsampled_data / unit
        values.append(cost + unit * weights.of_holding(graph) @ held)
        values.append(norm * unsampled * cp.inv_pos(unsampled + cp.sum(held)))
        values.append(gradient_noise / np.sqrt(unit) / state.sampled.size * cp.sum(cp.power(held, -0.5)))
    left = dict(zip((state.target * len(schedule.network) + state.source).tolist(), state.unsent, strict=True))
    constraints += [total <= left.get(key, 1.0) for key, total in sent.items()]
    problem = cp.Problem(cp.Minimize(sum(values) / norms.size), constraints)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11, max_iter=400)
    found = np.array([one.value for one in received], dtype=np.float64) * unit
    return JointOptimum(float(problem.value), found, str(problem.status))


def _step(cp: Any, graph: Subgraph, unit: float, sent: dict[int, Any], weights: Weights) -> tuple[Any, list[Any], Any]:
    """What arrives at a step in units of data, the senders' constraints, and what sending costs in the objective.

    Adds y of each pair to `sent`.
    """
    n_links = graph.source.size
    if n_links == 0:
        return cp.Constant(np.zeros(graph.sampled.size)), [], 0.0
    y = cp.Variable(n_links, nonneg=True)
    into = np.zeros((graph.sampled.size, n_links))
    into[graph.receiver, np.arange(n_links)] = graph.fresh / unit
    sender = np.repeat(np.arange(graph.budget.size), np.diff(graph.offsets))
    of_sender = np.zeros((graph.budget.size, n_links))
    of_sender[sender, np.arange(n_links)] = 1.0
    scale = np.maximum(graph.budget, 1e-9)[:, None]
    rows = [of_sender @ y <= 1, (of_sender * graph.cost / scale) @ y <= graph.budget / scale[:, 0]]
    for place, key in enumerate(graph.keys.tolist()):
        sent[key] = sent.get(key, 0.0) + y[place]
    return into @ y, rows, weights.of_sending(graph) @ y


def worst_breach(network: Network | Schedule, state: HorizonState, steps: Sequence[StepPlan]) -> float:
    """The worst relative breach of a constraint by steps after `state` that send once, from their transfers alone."""
    schedule = Schedule.of(network)
    last = state.step + len(steps)
    left: dict[tuple[int, int], float] = defaultdict(lambda: 1.0)
    left.update(zip(zip(state.source.tolist(), state.target.tolist(), strict=True), state.unsent.tolist(), strict=True))
    held = dict(zip(state.sampled.tolist(), state.data.tolist(), strict=True))
    worst = 0.0
    for step in steps:
        now = schedule.at(step.step)
        devices, links = now.devices, now.links
        pairs = zip(links.source.tolist(), links.target.tolist(), strict=True)
        known = dict(zip(pairs, zip(links.similarity.tolist(), links.transmit_cost.tolist(), strict=True), strict=True))
        ceiling = dict(zip(held, data_ceiling(schedule, state.sampled, step.step, last).tolist(), strict=True))
        shares: dict[int, float] = defaultdict(float)
        spent: dict[int, float] = defaultdict(float)
        arrived: dict[int, float] = defaultdict(float)
        for k, i, share in zip(step.source.tolist(), step.target.tolist(), step.fraction.tolist(), strict=True):
            similarity, cost = known[k, i]
            amount = float(devices.data[k]) * share
            shares[k] += share
            spent[k] += cost * amount
            arrived[i] += (1.0 - similarity) * amount
            left[k, i] -= share
            worst = max(worst, -share, -left[k, i])
        for k, share in shares.items():
            budget = float(devices.transmit_budget[k])
            worst = max(worst, share - 1.0, (spent[k] - budget) / max(budget, 1e-9))
        for i, amount in arrived.items():
            held[i] += amount
            room = float(devices.receive_capacity[i])
            worst = max(worst, (amount - room) / max(room, 1.0), (held[i] - ceiling[i]) / max(ceiling[i], 1.0))
    return worst
