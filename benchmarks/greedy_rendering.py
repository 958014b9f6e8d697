"""Greedy sampling on the objective `mixture` as one would write it with networkx: what ours is timed against."""

import math

import networkx as nx
import numpy as np

from sampler.base import SamplingProblem
from sampler.objectives.mixture import aimed_at, class_shares
from solver.network.interchange import to_networkx

__all__ = ["GreedyRendering"]


class GreedyRendering:
    """The same estimate, of senders that send once, and the same greedy choice, device by device and link by link."""

    def __init__(self, problem: SamplingProblem, *, epsilon: float = 0.01) -> None:
        network = problem.schedule.network
        self._problem = problem
        self._graph: nx.DiGraph[int] = to_networkx(network)
        shares, whole = class_shares(problem)
        aim = aimed_at(whole)
        self._classes = [(float(share), shares[:, c].tolist()) for c, share in enumerate(aim) if share > 0]
        self._total = network.total_data
        self._epsilon = epsilon * problem.sample_size / len(network)
        self._rooms: dict[int, float] = {}
        self._claims: dict[int, float] = {}

    def sample(self) -> list[int]:
        """Add the best device until S are chosen."""
        sampled: list[int] = []
        for _ in range(self._problem.sample_size):
            rest = [i for i in self._problem.candidates.tolist() if i not in sampled]
            sampled.append(max(rest, key=lambda i: self.value({*sampled, i})))
        return sampled

    def value(self, sampled: set[int]) -> float:
        """f(𝒮) as `sampler.objectives.mixture` states it."""
        held = self._held(sampled)
        size, n = self._problem.sample_size, len(self._graph)
        credit = self._epsilon + (size - len(sampled)) / n
        value = 0.0
        for share, of in self._classes:
            amount = sum(h * of[k] for k, h in held.items())
            value += share * math.log(credit + amount / (share * self._total))
        return value

    def _held(self, sampled: set[int]) -> dict[int, float]:
        graph, nodes = self._graph, self._graph.nodes
        held = {i: nodes[i]["data"] for i in sampled}
        weights: dict[int, float] = {}
        paces: dict[int, float] = {}
        for i in sampled:
            for k in graph.predecessors(i):
                pace, _, weight = self._link(k, i)
                weights[k] = weights.get(k, 0.0) + weight
                paces[k] = paces.get(k, 0.0) + pace
        for i in sampled:
            arriving = {}
            for k in graph.predecessors(i):
                if k not in sampled:
                    pace, fresh, weight = self._link(k, i)
                    if weight > 0:
                        arriving[k] = fresh * self._arrived(pace * weights[k] / weight, paces[k])
            total = sum(arriving.values())
            fits = 1.0 if total <= self._room(i) else self._room(i) / total
            for k, amount in arriving.items():
                held[k] = held.get(k, 0.0) + fits * amount
        return held

    def _arrived(self, pace: float, everything: float) -> float:
        """The mean part that has arrived of data that takes `pace` steps, all of which has by step `everything`."""
        horizon = self._problem.horizon
        done = min(max(min(pace, everything), 1.0), horizon + 1.0)
        late = done * (done - 1) / 2 / pace if pace > 1 else 0.0
        return (late + horizon + 1 - done) / horizon

    def _room(self, i: int) -> float:
        if i not in self._rooms:
            node = self._graph.nodes[i]
            ceiling = node["processing_capacity"] / node["processing_cost"] - node["data"]
            steps = np.arange(1, self._problem.horizon + 1)
            self._rooms[i] = float(np.minimum(node["receive_capacity"] * steps, ceiling).mean())
        return self._rooms[i]

    def _link(self, k: int, i: int) -> tuple[float, float, float]:
        """The steps in which k alone can send all its data to i, what of it is new to i, and the link's weight."""
        sender, edge = self._graph.nodes[k], self._graph.edges[k, i]
        pace = sender["data"] * edge["transmit_cost"] / sender["transmit_budget"]
        fresh = 1 - edge["similarity"]
        return pace, sender["data"] * fresh, (fresh * min(1.0, 1 / pace)) ** 2 * self._claim(i)

    def _claim(self, i: int) -> float:
        """The part of what its senders could bring that i has room for."""
        if i not in self._claims:
            self._claims[i] = 1.0
            alone = (self._link(k, i)[:2] for k in self._graph.predecessors(i))
            total = sum(fresh * self._arrived(pace, pace) for pace, fresh in alone)
            self._claims[i] = 1.0 if total <= self._room(i) else self._room(i) / total
        return self._claims[i]
