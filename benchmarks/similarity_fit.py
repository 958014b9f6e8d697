"""What fitting the similarity of unlinked devices is worth in large networks with few links.

Devices hold one of ten kinds of data, drawn with unequal chances. λ_ki is .6 within a kind and 0 across, measured with
noise of .04 along random links. `correlation` is that of the fit with the truth over unlinked pairs. `greedy` picks S
devices without label counts, with the fit and with the mean similarity alone. Its sets are valued by `mixture`, which
knows all label counts: the columns are shares of what greedy with label counts gains over random sets, with the
standard error over the networks. The last line is JSON.

    python -m benchmarks.similarity_fit [--quick]
"""

import argparse
import json
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import describe
from sampler import SamplingProblem
from sampler.objectives.mixture import Mixture
from sampler.objectives.resemblance import Resemblance
from sampler.objectives.similarity import LowRank, low_rank
from sampler.searches.greedy import sample_greedily
from solver.network import Devices, Links, Network
from solver.network.schedule import Schedule

__all__: list[str] = []

KINDS = 10
HORIZON = 20
PAIRS = 200_000
RANDOM_SETS = 40
# Devices, links for each, sample size, networks.
CASES = (
    (3_000, 10, 20, 12),
    (10_000, 10, 6, 12),
    (10_000, 10, 20, 12),
    (10_000, 14, 20, 12),
    (10_000, 19, 20, 12),
    (10_000, 40, 20, 8),
)


def planted(n: int, degree: int, seed: int) -> tuple[Network, NDArray[np.int64]]:
    """A network with label counts, and the kind of each device."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(KINDS, n, p=rng.dirichlet(np.full(KINDS, 3.0)))
    target = np.repeat(np.arange(n), degree)
    source = rng.integers(0, n - 1, n * degree)
    source += source >= target
    target, source = np.divmod(np.unique(target * n + source), n)
    similarity = 0.6 * (kind[source] == kind[target]) + rng.normal(0, 0.04, len(source))
    data = rng.uniform(300, 900, n)
    devices = Devices(
        data=data,
        processing_capacity=rng.uniform(1500, 6000, n),
        processing_cost=np.ones(n),
        receive_capacity=rng.uniform(20, 100, n),
        transmit_budget=rng.uniform(0.1, 0.5, n),
        label_counts=np.eye(KINDS)[kind] * data[:, None],
    )
    links = Links(source, target, np.clip(similarity, 0, 0.99), rng.uniform(0.004, 0.06, len(source)))
    return Network(devices, links), kind


def compare(n: int, degree: int, size: int, seed: int) -> tuple[float, float, float]:
    """The fit's correlation with the truth, and the share of the gain with the fit and without."""
    network, kind = planted(n, degree, seed)
    known = SamplingProblem.of(Schedule.of(network), size, horizon=HORIZON)
    unlabelled = Network(replace(network.devices, label_counts=None), network.links)
    hidden = SamplingProblem.of(Schedule.of(unlabelled), size, horizon=HORIZON)
    truth = Mixture(known)
    rng = np.random.default_rng(seed)
    chance = truth.values(
        np.array([rng.choice(known.candidates, size, replace=False) for _ in range(RANDOM_SETS)])
    ).mean()
    most = truth.value(sample_greedily(truth, known, np.random.default_rng(0)).sampled) - chance
    fit = low_rank(hidden.conditions, least_links=0)
    k, i = rng.integers(0, n, (2, PAIRS))
    correlation = float(np.corrcoef((fit.factors[k] * fit.factors[i]).sum(axis=1), kind[k] == kind[i])[0, 1])
    shares = [
        (truth.value(sample_greedily(objective, hidden, np.random.default_rng(0)).sampled) - chance) / most
        for objective in (
            Resemblance(hidden, similarity=one) for one in (fit, LowRank(fit.mean, np.zeros((n, 0)), fit.ceiling))
        )
    ]
    return correlation, float(shares[0]), float(shares[1])


def main() -> None:
    """Print a row for each case, and the JSON line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two networks of each case")
    quick = parser.parse_args().quick
    print(describe("numpy", "numba"))
    rows: list[dict[str, Any]] = []
    for n, degree, size, networks in CASES:
        found = np.array([compare(n, degree, size, seed) for seed in range(2 if quick else networks)])
        mean, error = found.mean(axis=0), found.std(axis=0) / np.sqrt(len(found))
        row: dict[str, Any] = {"n_devices": n, "links_each": degree, "sample_size": size, "networks": len(found)}
        names = ("correlation", "fitted", "mean_only")
        row |= {name: round(float(value), 3) for name, value in zip(names, mean, strict=True)}
        row |= {f"{name}_error": round(float(value), 3) for name, value in zip(names[1:], error[1:], strict=True)}
        rows.append(row)
        print(row, flush=True)
    print(json.dumps({"fit": rows}))


if __name__ == "__main__":
    main()
