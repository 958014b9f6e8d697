"""Greedy sampling on the objective `mixture` as one would write it with networkx: what ours is timed against."""

import math

import networkx as nx
import numpy as np

from sampler.base import SamplingProblem
from sampler.objectives.mixture import aimed_at, class_shares
from solver.interchange import to_networkx

__all__ = ["GreedyRendering"]


class GreedyRendering:
    """The same estimate and the same greedy choice, device by device and link by link."""

    def __init__(self, problem: SamplingProblem, *, epsilon: float = 0.01) -> None:
        network = problem.schedule.network
        self._problem = problem
        self._graph: nx.DiGraph[int] = to_networkx(network)
        shares, whole = class_shares(problem)
        aim = aimed_at(whole)
        self._classes = [(float(share), shares[:, c].tolist()) for c, share in enumerate(aim) if share > 0]
        self._total = network.total_data
        self._epsilon = epsilon * problem.sample_size / len(network)

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
        graph, horizon = self._graph, self._problem.horizon
        nodes = graph.nodes
        held = {i: nodes[i]["data"] for i in sampled}
        weights: dict[int, float] = {}
        for i in sampled:
            for k in graph.predecessors(i):
                weights[k] = weights.get(k, 0.0) + self._link(k, i)[2]
        for i in sampled:
            arriving = {}
            for k in graph.predecessors(i):
                if k not in sampled:
                    s, fresh, weight = self._link(k, i)
                    alone = 1.0 if s >= 1 else 1 + (1 - s) * math.expm1(horizon * math.log1p(-s)) / (s * horizon)
                    slope, part = s * (horizon + 1) / 2, weight / weights[k]
                    arriving[k] = nodes[k]["data"] * fresh * slope * part / (1 + (slope / alone - 1) * part)
            node = nodes[i]
            ceiling = node["processing_capacity"] / node["processing_cost"] - node["data"]
            room = float(np.minimum(node["receive_capacity"] * np.arange(1, horizon + 1), ceiling).mean())
            total = sum(arriving.values())
            fits = 1.0 if total <= room else room / total
            for k, amount in arriving.items():
                held[k] = held.get(k, 0.0) + fits * amount
        return held

    def _link(self, k: int, i: int) -> tuple[float, float, float]:
        """The share of k's data that fits a step, the part of it that is new to i, and the link's weight."""
        sender, edge = self._graph.nodes[k], self._graph.edges[k, i]
        share = min(1.0, sender["transmit_budget"] / (sender["data"] * edge["transmit_cost"]))
        fresh = 1 - edge["similarity"]
        return share, fresh, (fresh * share) ** 2
