"""How long `gcn_branch` takes, beside a torch-geometric forward pass and a networkx branch search of the same step.

Correctness first: both must pick the same devices from the same weights. Then both are timed in the same run, the rival
with its graph objects ready made (`rival_ms`, their making apart in `rival_conversion_ms`), ours from the network as
the service holds it. The branch on random scores and the ranking variant stand beside. The last line is one JSON
object.

Limits: one process, one thread, random links; a run measures ratios, a loaded machine stretches all alike.

    python -m benchmarks.sampler_speed [--quick]
"""

import json
import sys
from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter
from typing import Any

import networkx as nx
import numpy as np
import torch

from benchmarks.machine import describe
from benchmarks.options import parser
from sampler import SamplingProblem, find_sampler
from sampler.branch.search import PERCENTILES
from sampler.gcn.features import device_features
from sampler.gcn.sampler import GcnBranch
from sampler.gcn.torch_model import GcnScorer, edges_of
from solver.network import Devices, Links, Network
from solver.network.interchange import to_networkx
from solver.network.schedule import Schedule

__all__ = ["CASES", "gcn_branch_speed", "main", "random_links"]

# Devices and links: the paper's largest (p = 0.1), and a city.
CASES = ((100, 990), (800, 63_920), (100_000, 1_000_000))
SAMPLE_SIZE = 6
SEED = 11


def random_links(n_devices: int, n_links: int, seed: int = SEED) -> Network:
    """Draw devices and so many different links between them, without an N×N matrix."""
    generator = np.random.default_rng(seed)
    drawn = generator.integers(n_devices, size=(2, n_links + n_links // 5 + 100))
    drawn = drawn[:, drawn[0] != drawn[1]]
    pairs = np.unique(drawn[1] * np.int64(n_devices) + drawn[0])
    pairs = np.sort(generator.permutation(pairs)[:n_links])
    data = np.maximum(generator.normal(600, np.sqrt(120), n_devices), 1)
    devices = Devices(
        data=data,
        processing_capacity=generator.uniform(6e3, 2e4, n_devices),
        processing_cost=generator.uniform(0.5, 2, n_devices),
        receive_capacity=generator.uniform(5, 50, n_devices),
        transmit_budget=generator.uniform(1, 20, n_devices),
    )
    costs = generator.uniform(1, 12, len(pairs))
    links = Links(pairs % n_devices, pairs // n_devices, generator.random(len(pairs)), costs)
    return Network(devices, links)


def gcn_branch_speed(n_devices: int, n_links: int, sample_size: int = SAMPLE_SIZE) -> dict[str, float | int]:
    """Check and time one case; ends the process if the two pick different devices."""
    torch.set_num_threads(1)
    network = random_links(n_devices, n_links)
    problem = SamplingProblem.of(Schedule.of(network), sample_size, horizon=10)
    rows: dict[str, float | int] = {"n_devices": n_devices, "links": len(network.links), "sample_size": sample_size}
    sampler = GcnBranch()
    begin = perf_counter()
    rival = _Rival(network, sampler, sample_size)
    rows["rival_conversion_ms"] = (perf_counter() - begin) * 1e3
    ours, theirs = sampler(problem, np.random.default_rng(0)).sampled.tolist(), rival.sample(problem)
    if ours != theirs:
        sys.exit(f"N={n_devices}: gcn_branch picks {ours}, its rendering {theirs}")
    for name in ("gcn_branch", "random_branch", "gcn_rank"):
        one = find_sampler(name)
        rows[f"{name}_ms"] = _milliseconds(lambda one=one: one(problem, np.random.default_rng(0)))  # type: ignore[misc]
    rows["rival_ms"] = _milliseconds(lambda: rival.sample(problem))
    rows["times_faster"] = rows["rival_ms"] / rows["gcn_branch_ms"]
    return rows


class _Rival:
    """The same step as one would write it with torch-geometric and networkx."""

    def __init__(self, network: Network, sampler: GcnBranch, sample_size: int) -> None:
        weights = sampler.weights_for(sample_size)
        self._model = GcnScorer([len(weights.features), *(layer.shape[1] for layer in weights.layers)])
        with torch.no_grad():
            for layer, matrix in zip(self._model.layers, weights.layers, strict=True):
                layer.get_parameter("lin.weight").copy_(torch.from_numpy(matrix.T.copy()))
        self._features = weights.features
        self._network = network
        self._edges = edges_of(network)
        self._graph: nx.DiGraph[int] = to_networkx(network)

    def sample(self, problem: SamplingProblem) -> list[int]:
        """Score with torch-geometric, branch along the graph's predecessors."""
        features = torch.from_numpy(device_features(self._network, problem.sample_size, self._features))
        with torch.no_grad():
            scores = self._model(features, *self._edges, torch.zeros(len(features), dtype=torch.long)).tolist()
        free = set(problem.candidates.tolist())
        graph = self._graph
        sampled: list[int] = []
        while len(sampled) < problem.sample_size:
            if sampled:
                last = sampled[-1]
                values = {i: 1 - graph.edges[i, last]["similarity"] for i in graph.predecessors(last)}
            else:
                values = dict(graph.nodes(data="data"))
            best = max(_pool(values, free), key=scores.__getitem__)
            free.remove(best)
            sampled.append(best)
        return sampled


def _pool(values: dict[int, float], free: set[int]) -> Sequence[int]:
    able = [i for i in values if i in free]
    for percentile in PERCENTILES if able else ():
        threshold = np.percentile(list(values.values()), percentile)
        chosen = [i for i in able if values[i] >= threshold]
        if chosen:
            return chosen
    return sorted(free)


def _milliseconds(run: Callable[[], object]) -> float:
    """Median of repeated runs, at least 3 and as many as fit a second (200 at most), after one to warm up."""
    run()
    times: list[float] = []
    while len(times) < 3 or (len(times) < 200 and sum(times) < 1):
        begin = perf_counter()
        run()
        times.append(perf_counter() - begin)
    return median(times) * 1e3


def main(arguments: Sequence[str] | None = None) -> int:
    """Check, time, print; returns the exit code."""
    smoke = parser(__doc__).parse_args(arguments).smoke
    print(describe("numpy", "scipy", "torch", "torch-geometric", "networkx"), f"seed {SEED}", sep=", ")
    rows: list[dict[str, Any]] = [gcn_branch_speed(*case) for case in CASES[: 1 if smoke else None]]
    print("     N     links  gcn_branch ms  random_branch  gcn_rank   rendering (times ours)  its conversion")
    for row in rows:
        print(
            f"{row['n_devices']:6d} {row['links']:9d} {row['gcn_branch_ms']:14.2f} {row['random_branch_ms']:14.2f} "
            f"{row['gcn_rank_ms']:9.1f} {row['rival_ms']:11.1f} ({row['times_faster']:.1f}×) "
            f"{row['rival_conversion_ms']:17.1f}"
        )
    print(json.dumps({"gcn_branch": rows}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
