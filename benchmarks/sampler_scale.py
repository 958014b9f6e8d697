"""How the time of the searches grows with the network and with the sample size.

Each case is run twice and the second run is timed: `ms` by the clock on the wall, `cpu_ms` of the process, which a
loaded machine stretches less. Random links, T = 50. `labels` is a column of its own, since `greedy` works differently
without label counts.

    python -m benchmarks.sampler_scale [--quick]
"""

import argparse
import json
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.machine import describe
from benchmarks.sampler_speed import random_links
from sampler import SamplingProblem, find_sampler
from solver.network import Network
from solver.network.schedule import Schedule

__all__ = ["labelled_links", "scale"]

HORIZON = 50
# Sampler, whether it sees label counts, devices, links, sample size.
_SMALL = (
    ("greedy", True, 2_000, 20_000, 1_000),
    ("greedy", False, 2_000, 20_000, 1_000),
    ("greedy:surrogate", True, 800, 8_000, 6),
)
_LARGE = tuple(
    (sampler, labels, 100_000, 1_000_000, size)
    for sampler, labels in (("greedy", True), ("greedy", False), ("greedy:coverage", True), ("local_search", True))
    for size in (6, 100)
)


def labelled_links(n_devices: int, n_links: int) -> Network:
    """Random links between devices that hold three of ten classes each."""
    bare = random_links(n_devices, n_links)
    counts = np.zeros((n_devices, 10))
    generator = np.random.default_rng(0)
    for _ in range(3):
        counts[np.arange(n_devices), generator.integers(10, size=n_devices)] += bare.devices.data / 3
    return bare.with_columns({"label_counts": counts})


def scale(*, quick: bool = False) -> list[dict[str, Any]]:
    """Time every case."""
    print(f"\n{'':18} {'labels':>6} {'devices':>8} {'links':>9} {'S':>5} {'ms':>9} {'CPU ms':>9}")
    rows = []
    for sampler, labels, n, n_links, size in _SMALL if quick else (*_SMALL, *_LARGE):
        network = labelled_links(n, n_links) if labels else random_links(n, n_links)
        problem = SamplingProblem.of(Schedule.of(network), size, horizon=HORIZON)
        search = find_sampler(sampler)
        search(problem, np.random.default_rng(0))
        wall, cpu = perf_counter(), process_time()
        search(problem, np.random.default_rng(0))
        wall, cpu = (perf_counter() - wall) * 1e3, (process_time() - cpu) * 1e3
        links = len(network.links)
        print(f"{sampler:18} {labels!s:>6} {n:8} {links:9} {size:5} {wall:9.1f} {cpu:9.1f}", flush=True)
        row = {"sampler": sampler, "labels": labels, "n_devices": n, "links": links, "sample_size": size}
        rows.append({**row, "ms": round(wall, 1), "cpu_ms": round(cpu, 1)})
    return rows


def main() -> None:
    """Print the table and a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="skip 100,000 devices")
    quick = parser.parse_args().quick
    print(describe("numpy", "numba"))
    print(json.dumps({"scale": scale(quick=quick)}))


if __name__ == "__main__":
    main()
