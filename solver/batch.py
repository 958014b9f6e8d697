"""Offloading for many sampled sets of one network at once: what samplers and label generation compare sets by.

The same sequence of convex problems as `solver.horizon` (Sec. III-C), for all sets in one compiled call a step.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from solver.arrays import FloatArray, IntArray
from solver.eligibility import data_ceiling
from solver.errors import InvalidInputError
from solver.fast import MAX_ITERATIONS, TOLERANCE, solve_fast
from solver.gradient import GradientModel
from solver.kernels.layout import Step
from solver.kernels.step import solve_packed
from solver.network import Network
from solver.problem import StepProblem, room_for
from solver.schedule import Schedule
from solver.solution import OPTIMALITY_GAP
from solver.subgraph import Subgraph
from solver.validation import as_count, as_device_set, as_number, frozen

__all__ = ["SetPlans", "plan_sets"]

Column = TypeVar("Column", FloatArray, IntArray)


@dataclass(frozen=True, eq=False)
class SetPlans:
    """Optimised offloading of B sets through T steps; the links of set b are `starts[b]:starts[b + 1]`.

    Attributes:
        sets: (B, S) the sampled devices of each set.
        objective: (B,) eq. (26), the mean over steps.
        sampled_data: (B, S) D_i(T) of each sampled device.
        relative_gap: (B,) the worst over steps.
        starts: (B + 1,) where each set's links begin.
        source, target: each link's ends.
        fractions: (T, links) Φ.
    """

    sets: IntArray
    objective: FloatArray
    sampled_data: FloatArray
    relative_gap: FloatArray
    starts: IntArray
    source: IntArray
    target: IntArray
    fractions: FloatArray


def plan_sets(
    network: Network,
    sets: npt.ArrayLike,
    *,
    horizon: int,
    gradient: GradientModel | None = None,
    gradient_noise: float = 1.0,
    tolerance: float = TOLERANCE,
) -> SetPlans:
    """Plan every row of `sets` through steps 1..horizon, as `solver.horizon.plan_offloading` plans one.

    Raises:
        InvalidInputError: a row names an unknown device, one twice, or one that cannot process its data.
    """
    rows = np.atleast_2d(np.asarray(sets, dtype=np.int64))
    for row in rows:
        as_device_set(row, "sets", n_devices=len(network))
    horizon = as_count(horizon, "horizon")
    noise = as_number(gradient_noise, "gradient_noise")
    tolerance = as_number(tolerance, "tolerance", strict=True)
    norms = (GradientModel() if gradient is None else gradient).norms(1, horizon)
    graphs = [Subgraph.of(network, row) for row in rows]
    senders = _starts([graph.budget.size for graph in graphs])
    links = _starts([graph.source.size for graph in graphs])
    receivers = rows.shape[1] * np.arange(len(rows) + 1)
    devices = rows.reshape(-1)
    ceiling = data_ceiling(Schedule.of(network), devices, 1, horizon)
    held = network.devices.data[devices]
    unable = (held > ceiling * (1 + 1e-9)) | (held <= 0)
    if unable.any():
        raise InvalidInputError("sets", f"device {devices[np.argmax(unable)]} cannot be sampled")
    offsets, receiver = _joined([g.offsets for g in graphs]), _joined([g.receiver for g in graphs])
    cost, budget = _joined([g.cost for g in graphs]), _joined([g.budget for g in graphs])
    useful = np.concatenate([g.fresh for g in graphs])
    theta = frozen(network.devices.receive_capacity[devices])
    unsampled = np.array([g.unsampled_data for g in graphs])
    into = np.repeat(np.arange(len(rows)) * rows.shape[1], np.diff(links)) + receiver

    total = np.zeros(len(rows))
    worst = np.zeros(len(rows))
    fractions = np.empty((horizon, links[-1]))
    phi, received, prices = np.empty(links[-1]), np.empty(devices.size), np.empty(devices.size)
    figures = np.empty((len(rows), 5))
    for t in range(horizon):
        # Rounding in D_i + R_i may pass the ceiling by the last digit.
        highest = frozen(np.minimum(np.maximum(ceiling, held), np.finfo(np.float64).max))
        step = Step(
            offsets,
            receiver,
            frozen(useful),
            cost,
            budget,
            frozen(room_for(theta, highest, held)),
            frozen(held),
            0.0,
            0.0,
            0.0,
        )
        norm = float(norms[t])
        solve_packed(
            senders,
            links,
            receivers,
            step,
            unsampled,
            np.full(len(rows), norm),
            np.full(len(rows), noise),
            tolerance,
            MAX_ITERATIONS,
            theta,
            highest,
            phi,
            received,
            prices,
            figures,
        )
        objective = figures[:, 1] + figures[:, 2]
        gap = figures[:, 3] / np.maximum(objective, 1e-300)
        for b in np.flatnonzero((gap > OPTIMALITY_GAP) | (figures[:, 4] > 1e-8)):
            # Rare: what the batch could not prove is asked again alone, where the reference solver stands by.
            own, mine = slice(links[b], links[b + 1]), slice(receivers[b], receivers[b + 1])
            answer = solve_fast(
                StepProblem(
                    offsets=graphs[b].offsets,
                    receiver=graphs[b].receiver,
                    useful=useful[own],
                    cost=graphs[b].cost,
                    budget=graphs[b].budget,
                    receive_capacity=theta[mine],
                    data_ceiling=highest[mine],
                    data=held[mine],
                    unsampled_data=float(unsampled[b]),
                    gradient_norm=norm,
                    gradient_noise=noise,
                ),
                tolerance=tolerance,
            )
            phi[own], objective[b], gap[b] = answer.fractions, answer.objective, answer.relative_gap
        fractions[t] = phi
        held = held + np.bincount(into, useful * phi, minlength=devices.size)
        useful = useful * (1.0 - phi)
        total += objective
        worst = np.maximum(worst, gap)
    return SetPlans(
        sets=rows,
        objective=total / horizon,
        sampled_data=held.reshape(rows.shape),
        relative_gap=worst,
        starts=links,
        source=np.concatenate([g.source for g in graphs]),
        target=np.concatenate([g.target for g in graphs]),
        fractions=fractions,
    )


def _joined(columns: list[Column]) -> Column:
    return frozen(np.concatenate(columns))


def _starts(sizes: list[int]) -> IntArray:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)))
