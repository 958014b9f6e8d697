"""Horizons laid end to end, for the kernel that solves many of them, or one, in one call."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from solver.arrays import FloatArray, IntArray
from solver.horizon.weights import NO_WEIGHTS, Weights
from solver.kernels.layout import Answer, Course, Moving, Packed, Step
from solver.network.subgraph import Subgraph
from solver.step.problem import NO_LINKS, StepProblem
from solver.validation import frozen

__all__ = ["Part", "answer_at", "new_course", "pack", "part_of", "problem_at"]


class Part(NamedTuple):
    """One horizon's columns, named as in `solver.step.problem.StepProblem`; `fresh` is `useful` before any offloading.

    `sending` and `holding` are the prices of `solver.horizon.weights`, empty if there are none, and so is `load`.
    """

    offsets: IntArray
    receiver: IntArray
    fresh: FloatArray
    cost: FloatArray
    budget: FloatArray
    receive_capacity: FloatArray
    data_ceiling: FloatArray
    data: FloatArray
    unsampled_data: float
    gradient_noise: float
    unsent: FloatArray
    load: FloatArray = NO_LINKS
    sending: FloatArray = NO_LINKS
    holding: FloatArray = NO_LINKS


def part_of(
    subgraph: Subgraph,
    data: FloatArray,
    ceiling: FloatArray,
    noise: float,
    unsent: FloatArray,
    weights: Weights = NO_WEIGHTS,
) -> Part:
    """The horizon of the sampled devices of a subgraph, from a state on."""
    return Part(
        subgraph.offsets,
        subgraph.receiver,
        subgraph.fresh,
        subgraph.cost,
        subgraph.budget,
        subgraph.network.devices.receive_capacity[subgraph.sampled],
        ceiling,
        data,
        subgraph.unsampled_data,
        noise,
        unsent,
        weights.load(subgraph),
        *weights.columns(subgraph),
    )


def pack(parts: Sequence[Part], gradient_norms: FloatArray, *, once: bool = False) -> tuple[Packed, Moving]:
    """Lay horizons end to end, before their first step; `gradient_norms` has one row a step and one column a part."""
    whole = Part._make(map(_joined, zip(*parts, strict=True)))
    data, unsent = whole.data.copy(), whole.unsent.copy()
    price = np.empty_like(whole.sending)
    moving = Moving(np.empty_like(unsent), np.empty_like(data), data, np.empty_like(data), unsent, price)
    columns = Step(
        frozen(whole.offsets),
        frozen(whole.receiver),
        frozen(moving.a),
        frozen(whole.cost),
        frozen(whole.budget),
        frozen(moving.cap),
        frozen(moving.data),
        0.0,
        0.0,
        0.0,
        frozen(moving.unsent) if once else NO_LINKS,
        frozen(moving.price),
        frozen(whole.load),
    )
    packed = Packed(
        _starts([part.budget.size for part in parts]),
        _starts([part.fresh.size for part in parts]),
        _starts([part.data.size for part in parts]),
        columns,
        np.asarray(whole.unsampled_data),
        # A copy, since numba would compile anew for another layout.
        np.array(gradient_norms, order="C"),
        np.asarray(whole.gradient_noise),
        frozen(whole.receive_capacity),
        frozen(whole.data_ceiling),
        frozen(moving.highest),
        frozen(whole.fresh),
        frozen(whole.sending),
        frozen(whole.holding),
        once,
    )
    return packed, moving


def new_course(packed: Packed) -> Course:
    """Room for the answers."""
    n_steps, n_parts = packed.G.shape
    n_links, n_receivers = packed.links[-1], packed.receivers[-1]
    steps = Answer(
        np.empty((n_steps, n_links)),
        np.empty((n_steps, n_receivers)),
        np.empty((n_steps, n_receivers)),
        np.empty((n_steps, n_parts, 7)),
    )
    return Course(steps, np.empty((n_steps, n_links)), np.empty((n_steps, n_receivers)))


def answer_at(packed: Packed, course: Course, t: int, j: int) -> Answer:
    """The answer to step t of part j; its arrays are views."""
    links = slice(packed.links[j], packed.links[j + 1])
    receivers = slice(packed.receivers[j], packed.receivers[j + 1])
    steps = course.steps
    return Answer(steps.phi[t, links], steps.R[t, receivers], steps.mu[t, receivers], steps.figures[t, j])


def problem_at(packed: Packed, t: int, j: int) -> StepProblem:
    """Step t of part j as a problem of its own, if that is the step that `packed.columns` show."""
    columns = packed.columns
    senders = slice(packed.senders[j], packed.senders[j + 1])
    links = slice(packed.links[j], packed.links[j + 1])
    receivers = slice(packed.receivers[j], packed.receivers[j + 1])
    return StepProblem(
        offsets=columns.offsets[senders.start + j : senders.stop + j + 1],
        receiver=columns.receiver[links],
        useful=columns.a[links].copy(),
        cost=columns.psi[links],
        budget=columns.B[senders],
        receive_capacity=packed.theta[receivers],
        data_ceiling=packed.highest[receivers].copy(),
        data=columns.data[receivers].copy(),
        unsampled_data=float(packed.D_hat[j]),
        gradient_norm=float(packed.G[t, j]),
        gradient_noise=float(packed.gamma[j]),
        limit=columns.limit[links].copy() if columns.limit.size else None,
        price=columns.price[links].copy() if columns.price.size else None,
        load=columns.load[links] if columns.load.size else None,
    )


def _joined(values: Sequence[Any]) -> npt.NDArray[Any]:
    """The columns of all parts in one, or their numbers as a column."""
    if not isinstance(values[0], np.ndarray):
        return np.array(values)
    return values[0] if len(values) == 1 else np.concatenate(values)


def _starts(sizes: Sequence[int]) -> IntArray:
    """Where each part begins, and where the last one ends."""
    return np.array(list(accumulate(sizes, initial=0)), np.int64)
