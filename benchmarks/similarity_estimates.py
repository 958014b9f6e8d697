"""How well is the similarity of unlinked devices estimated from that of linked ones?

Truth is λ_ki counted over all of k's datapoints, for every pair of a simulated network; the estimates see what devices
measure along links with a broadcast sample. Correlation (Pearson) over the unlinked pairs, and over linked ones for
comparison. The last line is JSON.
"""

import json

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import describe
from fedl_sim.data.datasets import DataSet, load_data_set
from fedl_sim.network.realisation import Realisation, RealisationSettings, realise
from fedl_sim.network.similarity import estimate_similarity
from fedl_sim.network.topology import Topology
from sampler.objectives.similarity import along_paths, low_rank

CASES = ((10, 0.35, 60.0, 20), (100, 0.1, 60.0, 5), (400, 0.1, 60.0, 2))


def true_similarity(data: DataSet, realisation: Realisation) -> NDArray[np.float64]:
    """λ_ki of every ordered pair, each device showing all its data."""
    n = len(realisation.network)
    source, target = np.nonzero(~np.eye(n, dtype=bool))
    everyone = Topology(n, source, target, np.ones(len(source)))
    most = int(realisation.partition.sizes.max())
    found = estimate_similarity(
        data.train, realisation.partition, everyone, realisation.radius, np.random.default_rng(0), sample_size=most
    )
    full = np.ones((n, n))
    full[source, target] = found
    return full


def correlations(data: DataSet, realisation: Realisation) -> dict[str, float]:
    """Correlation of each estimate with the truth."""
    network = realisation.network
    n = len(network)
    truth = true_similarity(data, realisation)
    links = network.links
    unlinked = ~np.eye(n, dtype=bool)
    unlinked[links.source, links.target] = False
    estimates = {"paths": along_paths(network).toarray(), "low rank": low_rank(network).matrix()}
    found = {"measured along links": _correlation(links.similarity, truth[links.source, links.target])}
    return found | {name: _correlation(one[unlinked], truth[unlinked]) for name, one in estimates.items()}


def _correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return float(np.corrcoef(one, other)[0, 1]) if one.std() > 0 and other.std() > 0 else 0.0


def main() -> None:
    """Print a row for each size, and the JSON line."""
    print(describe("numpy"))
    data = load_data_set("digits")
    rows = []
    for n, probability, mean, networks in CASES:
        settings = RealisationSettings(n_devices=n, link_probability=probability, mean_datapoints=mean)
        found = [correlations(data, realise(settings, data, 5_000_000 + seed)) for seed in range(networks)]
        row = {name: round(float(np.mean([one[name] for one in found])), 2) for name in found[0]}
        rows.append({"n_devices": n, "link_probability": probability, "networks": networks} | row)
        print(rows[-1], flush=True)
    print(json.dumps({"similarity": rows}))


if __name__ == "__main__":
    main()
