"""Offloading for many sampled sets of one network at once; samplers and label generation compare sets with it.

The same sequence of convex problems as `solver.horizon.sequence` (Sec. III-C), for all sets in one compiled call.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solver.arrays import FloatArray, IntArray
from solver.errors import InvalidInputError
from solver.horizon.gradient import GradientModel
from solver.horizon.packing import Part, pack, part_of
from solver.horizon.transfer import DEFAULT_TRANSFER, Transfer, transfer_named
from solver.kernels.layout import Effort
from solver.network import Network
from solver.network.eligibility import ROUNDING, data_ceiling
from solver.network.schedule import Schedule
from solver.network.subgraph import Subgraph
from solver.step.fast import TOLERANCE, effort_for, solve_horizons
from solver.validation import as_count, as_device_set, as_number

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
    transfer: str = DEFAULT_TRANSFER,
    tolerance: float = TOLERANCE,
    effort: Effort | None = None,
) -> SetPlans:
    """Plan every row of `sets` through steps 1..horizon, as `solver.horizon.sequence.plan_offloading` plans one.

    `effort` may end the work in time: steps after its deadline get no iterations, and a set that was not planned to its
    end because the work was cancelled has the objective ∞.

    Raises:
        InvalidInputError: a row names an unknown device, one twice, or one that cannot process its data.
    """
    rows = np.atleast_2d(np.asarray(sets, dtype=np.int64))
    for row in rows:
        as_device_set(row, "sets", n_devices=len(network))
    horizon = as_count(horizon, "horizon")
    noise = as_number(gradient_noise, "gradient_noise")
    norms = (GradientModel() if gradient is None else gradient).norms(1, horizon)
    graphs, parts = _parts(network, rows, horizon, noise)
    once = transfer_named(transfer) is Transfer.SEND_ONCE
    packed, moving = pack(parts, np.repeat(norms[:, None], len(rows), axis=1), once=once)
    course, done = solve_horizons(packed, moving, effort_for(tolerance) if effort is None else effort)
    figures = course.steps.figures
    objective = figures[:, :, 1] + figures[:, :, 2]
    return SetPlans(
        sets=rows,
        objective=np.where(done == horizon, objective.mean(axis=0), np.inf),
        sampled_data=moving.data.reshape(rows.shape),
        relative_gap=(figures[:, :, 4] / np.maximum(objective, 1e-300)).max(axis=0),
        starts=packed.links,
        source=np.concatenate([graph.source for graph in graphs]),
        target=np.concatenate([graph.target for graph in graphs]),
        fractions=course.steps.phi,
    )


def _parts(network: Network, rows: IntArray, horizon: int, noise: float) -> tuple[list[Subgraph], list[Part]]:
    """The links into each set, and each set's horizon before its first step."""
    devices = rows.reshape(-1)
    held = network.devices.data[devices]
    ceiling = data_ceiling(Schedule.of(network), devices, 1, horizon)
    unable = (held > ceiling * ROUNDING) | (held <= 0)
    if unable.any():
        raise InvalidInputError("sets", f"device {devices[np.argmax(unable)]} cannot be sampled")
    size = rows.shape[1]
    graphs = [Subgraph.of(network, row) for row in rows]
    parts = [
        part_of(graph, held[first : first + size], ceiling[first : first + size], noise, np.ones(graph.source.size))
        for graph, first in zip(graphs, range(0, devices.size, size), strict=True)
    ]
    return graphs, parts
