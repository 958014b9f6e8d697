"""Offloading for many sampled sets of one network at once; samplers and label generation compare sets with it.

The same sequence of convex problems as `solver.horizon` (Sec. III-C), for all sets in one compiled call a step.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solver.arrays import FloatArray, IntArray
from solver.eligibility import ROUNDING, data_ceiling
from solver.errors import InvalidInputError
from solver.fast import MAX_ITERATIONS, TOLERANCE, solve_fast
from solver.gradient import GradientModel
from solver.kernels.layout import Packed, Step
from solver.network import Network
from solver.packing import joined, solve_together, starts
from solver.problem import StepProblem, room_for
from solver.schedule import Schedule
from solver.solution import FEASIBILITY, OPTIMALITY_GAP
from solver.subgraph import Subgraph
from solver.validation import as_count, as_device_set, as_number, frozen

__all__ = ["SetPlans", "plan_sets"]


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
    joint = _Joint.of(network, rows, horizon, noise)
    held = network.devices.data[rows.reshape(-1)]
    useful = np.concatenate([graph.fresh for graph in joint.graphs])
    total = np.zeros(len(rows))
    worst = np.zeros(len(rows))
    fractions = np.empty((horizon, useful.size))
    for t in range(horizon):
        fractions[t], objective, gap = joint.solve(useful, held, float(norms[t]), tolerance)
        held = held + np.bincount(joint.into, useful * fractions[t], minlength=held.size)
        useful = useful * (1.0 - fractions[t])
        total += objective
        worst = np.maximum(worst, gap)
    return SetPlans(
        sets=rows,
        objective=total / horizon,
        sampled_data=held.reshape(rows.shape),
        relative_gap=worst,
        starts=joint.packed.links,
        source=np.concatenate([graph.source for graph in joint.graphs]),
        target=np.concatenate([graph.target for graph in joint.graphs]),
        fractions=fractions,
    )


@dataclass(frozen=True, eq=False)
class _Joint:
    """The links into all sets, laid end to end.

    Attributes:
        graphs: the links into each set.
        packed: the columns of all sets; those that change from step to step are as before the first step.
        into: each link's receiver, counted over the receivers of all sets.
    """

    graphs: list[Subgraph]
    packed: Packed
    into: IntArray

    @classmethod
    def of(cls, network: Network, rows: IntArray, horizon: int, noise: float) -> "_Joint":
        devices = rows.reshape(-1)
        held = network.devices.data[devices]
        ceiling = data_ceiling(Schedule.of(network), devices, 1, horizon)
        unable = (held > ceiling * ROUNDING) | (held <= 0)
        if unable.any():
            raise InvalidInputError("sets", f"device {devices[np.argmax(unable)]} cannot be sampled")
        graphs = [Subgraph.of(network, row) for row in rows]
        columns = Step(
            joined([graph.offsets for graph in graphs]),
            joined([graph.receiver for graph in graphs]),
            joined([graph.fresh for graph in graphs]),
            joined([graph.cost for graph in graphs]),
            joined([graph.budget for graph in graphs]),
            frozen(held),
            frozen(held),
            0.0,
            0.0,
            0.0,
        )
        packed = Packed(
            starts([graph.budget.size for graph in graphs]),
            starts([graph.source.size for graph in graphs]),
            rows.shape[1] * np.arange(len(rows) + 1),
            columns,
            np.array([graph.unsampled_data for graph in graphs]),
            np.empty(len(rows)),
            np.full(len(rows), noise),
            frozen(network.devices.receive_capacity[devices]),
            frozen(ceiling),
        )
        into = np.repeat(packed.receivers[:-1], np.diff(packed.links)) + columns.receiver
        return cls(graphs, packed, into)

    def solve(
        self, useful: FloatArray, held: FloatArray, norm: float, tolerance: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """One step of every set: Φ of all links, the objective and the relative gap of each set."""
        # Rounding in D_i + R_i may exceed the ceiling by the last digit.
        highest = frozen(np.minimum(np.maximum(self.packed.ceiling, held), np.finfo(np.float64).max))
        cap = frozen(room_for(self.packed.theta, highest, held))
        columns = self.packed.columns._replace(a=frozen(useful), cap=cap, data=frozen(held))
        packed = self.packed._replace(columns=columns, G=np.full(len(self.graphs), norm), ceiling=highest)
        phi, _, _, figures = solve_together(packed, tolerance, MAX_ITERATIONS)
        objective = figures[:, 1] + figures[:, 2]
        gap = figures[:, 3] / np.maximum(objective, 1e-300)
        for b in np.flatnonzero((gap > OPTIMALITY_GAP) | (figures[:, 4] > FEASIBILITY)):
            # Rare: a set without a proof is solved again on its own, where the reference solver can be asked.
            answer = solve_fast(_problem(packed, int(b)), tolerance=tolerance)
            own = slice(packed.links[b], packed.links[b + 1])
            phi[own], objective[b], gap[b] = answer.fractions, answer.objective, answer.relative_gap
        return phi, objective, gap


def _problem(packed: Packed, b: int) -> StepProblem:
    """Step b of many as a problem of its own."""
    columns = packed.columns
    senders = slice(packed.senders[b], packed.senders[b + 1])
    links = slice(packed.links[b], packed.links[b + 1])
    receivers = slice(packed.receivers[b], packed.receivers[b + 1])
    return StepProblem(
        offsets=columns.offsets[senders.start + b : senders.stop + b + 1],
        receiver=columns.receiver[links],
        useful=columns.a[links],
        cost=columns.psi[links],
        budget=columns.B[senders],
        receive_capacity=packed.theta[receivers],
        data_ceiling=packed.ceiling[receivers],
        data=columns.data[receivers],
        unsampled_data=float(packed.D_hat[b]),
        gradient_norm=float(packed.G[b]),
        gradient_noise=float(packed.gamma[b]),
    )
