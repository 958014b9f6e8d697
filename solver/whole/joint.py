"""The arrays of a whole horizon as one problem, from the segments of a plan."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.horizon.weights import NO_WEIGHTS, Weights
from solver.kernels.joint import Joint
from solver.network.subgraph import Subgraph
from solver.validation import frozen

__all__ = ["Segment", "Stacked", "stack"]

_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Segment:
    """Steps under constant conditions.

    Attributes:
        subgraph: the links into the sampled set.
        ceiling: the most that each sampled device may ever hold from here on.
        unsent: u_l of each link before the *horizon's* first step.
        n_steps: how many steps.
    """

    subgraph: Subgraph
    ceiling: FloatArray
    unsent: FloatArray
    n_steps: int


class Stacked(NamedTuple):
    """A whole horizon: its arrays, and for each segment the pair of every link."""

    joint: Joint
    places: tuple[IntArray, ...]


def stack(segments: Sequence[Segment], data: FloatArray, weights: Weights = NO_WEIGHTS) -> Stacked:
    """The whole horizon of these segments; `data` is D_i before its first step."""
    if len(segments) == 1:
        return _stack_one(segments[0], data, weights)
    graphs = [segment.subgraph for segment in segments]
    if all(graph.network is graphs[0].network for graph in graphs):
        places = (np.arange(graphs[0].source.size),) * len(segments)
        offsets, receiver, sender = graphs[0].offsets, graphs[0].receiver, np.arange(graphs[0].budget.size)
        senders: Sequence[IntArray] = (sender,) * len(segments)
    else:
        offsets, receiver, places, senders = _union(graphs)
    number = _numbers(segments)
    n_segments, n_pairs, n_senders = number[-1] + 1, receiver.size, offsets.size - 1
    a, psi, price = (np.zeros((n_segments, n_pairs)) for _ in range(3))
    budget = np.zeros((n_segments, n_senders))
    theta, room, hold = (np.empty((n_segments, data.size)) for _ in range(3))
    limit = np.ones(n_pairs)
    for g, segment, place, sender in zip(number, segments, places, senders, strict=True):
        graph = segment.subgraph
        a[g, place], psi[g, place], budget[g, sender] = graph.fresh, graph.cost, graph.budget
        price[g, place], hold[g] = weights.of_sending(graph), weights.of_holding(graph)
        theta[g] = graph.network.devices.receive_capacity[graph.sampled]
        room[g] = _room(segment, data)
        limit[place] = segment.unsent
    steps = np.repeat(number, [segment.n_steps for segment in segments])
    columns = (offsets, receiver, limit, steps, a, psi, budget, theta, room, price, hold)
    return Stacked(Joint(*map(frozen, columns)), places)


def _stack_one(segment: Segment, data: FloatArray, weights: Weights) -> Stacked:
    """A horizon of one segment, without copies of its links."""
    graph = segment.subgraph
    rows = (
        graph.fresh,
        graph.cost,
        graph.budget,
        graph.network.devices.receive_capacity[graph.sampled],
        _room(segment, data),
        weights.of_sending(graph),
        weights.of_holding(graph),
    )
    columns = (graph.offsets, graph.receiver, segment.unsent, np.zeros(segment.n_steps, np.int64))
    joint = Joint(*map(frozen, columns), *(frozen(row).reshape(1, -1) for row in rows))
    return Stacked(joint, (np.arange(graph.source.size),))


def _room(segment: Segment, data: FloatArray) -> FloatArray:
    """What each receiver may take from the horizon's start to the segment's end, finite."""
    return np.maximum(np.minimum(segment.ceiling, _LARGEST) - data, 0.0)


def _numbers(segments: Sequence[Segment]) -> list[int]:
    """The number of each segment; neighbours under the same conditions share one, since long ones come in parts."""
    numbers = [0]
    for before, after in pairwise(segments):
        same = before.subgraph.network is after.subgraph.network and np.array_equal(before.ceiling, after.ceiling)
        numbers.append(numbers[-1] + (not same))
    return numbers


def _union(
    graphs: Sequence[Subgraph],
) -> tuple[IntArray, IntArray, tuple[IntArray, ...], Sequence[IntArray]]:
    """The pairs of all graphs by sender: offsets, receivers, and the places of each graph's links and senders."""
    n_receivers = graphs[0].sampled.size
    keys = [graph.source * np.int64(n_receivers) + graph.receiver for graph in graphs]
    pairs = np.unique(np.concatenate(keys))
    known, first = np.unique(pairs // n_receivers, return_index=True)
    offsets = np.append(first, pairs.size)
    places = tuple(np.searchsorted(pairs, key) for key in keys)
    senders = [np.searchsorted(known, graph.source[graph.offsets[:-1]]) for graph in graphs]
    return offsets, pairs % n_receivers, places, senders
