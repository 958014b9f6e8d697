"""How well label counts tell the similarity of links, and what the difference costs.

On networks of 60 devices: the true λ of every link (all of the sender's data compared with the receiver's), λ as a
broadcast of 50 datapoints measures it, and λ derived from label counts with match rates fitted on some of the measured
links, or with the default rate, also for label counts with noise. For each: correlation with the true λ, bias, error,
and by how much the objective of the set that `greedy:surrogate` chooses by it lies above that of the set chosen by the
true λ, both planned with the true λ. With `--trained`, instead: the test accuracy of softmax regression that the set of
the default sampler trains to, chosen and planned by each kind of λ, on that many held-out networks; senders redraw. The
last line is one JSON object.

    python -m benchmarks.derived_similarity [--data digits,mnist,fashion-mnist] [--sizes 20,60,200] [--networks 3]
        [--budget loose] [--trained 12]
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.labelled_sets import HUNDRED
from benchmarks.machine import describe
from fedl_sim.cache import cached_data_set, cached_engine
from fedl_sim.data.datasets import DataSet
from fedl_sim.labels.evaluation import HELD_OUT_SEED, judge
from fedl_sim.labels.label import realisation_of
from fedl_sim.labels.losses import CommonNumbers, SetTrainer
from fedl_sim.network.realisation import Realisation, RealisationSettings, realise
from fedl_sim.network.similarity import estimate_similarity
from fedl_sim.network.topology import Topology
from fedl_sim.randomness import stream
from sampler import DEFAULT_SAMPLER
from sampler.base import SamplingProblem
from sampler.label_counts.derived_similarity import derive_similarity, fit_match_rates
from sampler.label_counts.histograms import class_counts
from sampler.registry import find_sampler
from solver.horizon.batch import plan_sets
from solver.network import Links, Network
from solver.network.schedule import Schedule

__all__ = ["main"]

FloatArray = NDArray[np.float64]

MEASURED = "as a broadcast measures it"
DEVICES, SAMPLE_SIZE, HORIZON, RANDOM_SETS = 60, 5, 10, 10
FITTED_ON = (0, 5, 10, 30, 100)
EPSILONS = (1.0, 0.1)
MEASURES = ("correlation", "bias", "error", "excess")
# Digits has 1,797 images, too few for 60 devices of 200.
LARGEST = {"digits": 60}


def main(arguments: Sequence[str] | None = None) -> int:
    """Derive, compare, print; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="digits,mnist,fashion-mnist", help="data sets")
    parser.add_argument("--sizes", default="20,60,200", help="mean datapoints of a device")
    parser.add_argument("--networks", type=int, default=3, help="networks of each kind")
    parser.add_argument("--budget", default="loose", help="loose, tight or scarce")
    parser.add_argument("--trained", type=int, default=0, help="networks to train on instead")
    options = parser.parse_args(arguments)
    if options.trained:
        return _train(options)
    print(describe("numpy"), f"seeds 0…{options.networks - 1}", sep=", ")
    document = []
    for name in options.data.split(","):
        data = cached_data_set(name)
        for size in map(int, options.sizes.split(",")):
            if size > LARGEST.get(name, size):
                continue
            found = [_network(data, size, options.budget, seed) for seed in range(options.networks)]
            print(f"\n{name}, {size} datapoints a device, {options.budget}, {DEVICES} devices, {len(found)} networks")
            print(f"{'similarity':32s}" + "".join(f"{measure:>13s}" for measure in MEASURES), flush=True)
            for kind in found[0]:
                means = np.mean([one[kind] for one in found], axis=0)
                numbers = f"{means[0]:13.2f}{means[1]:+13.3f}{means[2]:13.3f}{means[3]:+12.2%}"
                print(f"{kind:32s}{numbers}", flush=True)
                row = dict(zip(MEASURES, (round(float(mean), 5) for mean in means), strict=True))
                document.append({"data_set": name, "datapoints": size, "similarity": kind, **row})
    print(json.dumps({"budget": options.budget, "derived_similarity": document}))
    return 0


def _train(options: argparse.Namespace) -> int:
    print(describe("numpy"), f"seeds {HELD_OUT_SEED}…{HELD_OUT_SEED + options.trained - 1}", sep=", ")
    document = []
    for name in options.data.split(","):
        for size in map(int, options.sizes.split(",")):
            if size > LARGEST.get(name, size):
                continue
            seeds = range(HELD_OUT_SEED, HELD_OUT_SEED + options.trained)
            found = [_accuracies(name, size, options.budget, seed) for seed in seeds]
            print(f"\n{name}, {size} datapoints a device, {options.budget}, {DEVICES} devices, {len(found)} networks")
            print(f"{'similarity':32s}{'accuracy':>13s}{'less than measured':>24s}", flush=True)
            measured = np.array([one[MEASURED] for one in found])
            for kind in found[0]:
                reached = np.array([one[kind] for one in found])
                lost = judge(measured - reached)
                print(f"{kind:32s}{reached.mean():13.3f}{lost.mean:16.3f} ± {lost.error:.3f}", flush=True)
                row = {"accuracy": reached.mean(), "lost": lost.mean, "lost_error": lost.error}
                told = {measure: round(float(value), 5) for measure, value in row.items()}
                document.append({"data_set": name, "datapoints": size, "similarity": kind, **told})
    print(json.dumps({"budget": options.budget, "trained": document}))
    return 0


def _accuracies(name: str, size: int, budget: str, seed: int) -> dict[str, float]:
    """Return the test accuracy that each kind of similarity leads to on one network."""
    family = replace(HUNDRED, n_devices=DEVICES, data_set=name, mean_datapoints=float(size), budgets=(budget,))
    data = cached_data_set(name)
    realisation = realisation_of(family, seed)[1]
    network = realisation.network
    engine = cached_engine("compiled", family.model, data)
    trainer = SetTrainer.of(family, realisation, data, engine)
    numbers = CommonNumbers.of(realisation, engine, family.horizon, seed, 0)

    def accuracy(known: Network, sampled: NDArray[np.int64]) -> float:
        plans = plan_sets(known, np.sort(sampled)[None], horizon=family.horizon, transfer="redraw")
        return float(engine.evaluate(trainer.train(plans, 0, numbers)).accuracy)

    kinds = {MEASURED: network.links.similarity, **_derived(network, seed), "0 for all": np.zeros(len(network.links))}
    found = {}
    for kind, similarity in kinds.items():
        known = _with(network, similarity)
        found[kind] = accuracy(known, _choice(known, DEFAULT_SAMPLER, family.horizon))
    generator = stream(seed, "random sets")
    drawn = [generator.choice(DEVICES, SAMPLE_SIZE, replace=False) for _ in range(RANDOM_SETS)]
    found["random sets"] = float(np.mean([accuracy(network, one) for one in drawn]))
    return found


def _network(data: DataSet, size: int, budget: str, seed: int) -> dict[str, tuple[float, float, float, float]]:
    """Return the four measures for every kind of similarity on one network."""
    settings = RealisationSettings(n_devices=DEVICES, mean_datapoints=float(size), budget=budget)
    realisation = realise(settings, data, seed)
    true = _true(realisation, data, seed)
    kinds = {MEASURED: realisation.network.links.similarity, **_derived(realisation.network, seed)}
    kinds["0 for all"] = np.zeros(true.size)
    network = _with(realisation.network, true)
    chosen = [_choice(_with(network, similarity)) for similarity in (true, *kinds.values())]
    generator = stream(seed, "random sets")
    drawn = [generator.choice(DEVICES, SAMPLE_SIZE, replace=False) for _ in range(RANDOM_SETS)]
    objective = plan_sets(network, np.sort([*chosen, *drawn], axis=1), horizon=HORIZON).objective
    excess = objective / objective[0] - 1.0
    found = {}
    for place, (kind, similarity) in enumerate(kinds.items(), start=1):
        gap = similarity - true
        spread = similarity.std() > 0
        correlation = float(np.corrcoef(similarity, true)[0, 1]) if spread else 0.0
        found[kind] = (correlation, float(gap.mean()), float(np.sqrt((gap**2).mean())), float(excess[place]))
    found["random sets"] = (0.0, 0.0, 0.0, float(excess[1 + len(kinds) :].mean()))
    return found


def _true(realisation: Realisation, data: DataSet, seed: int) -> FloatArray:
    """Return λ by all data instead of a sample."""
    links, everything = realisation.network.links, int(realisation.partition.sizes.max())
    topology = Topology(DEVICES, links.source, links.target, np.ones(len(links)))
    return estimate_similarity(
        data.train, realisation.partition, topology, realisation.radius, stream(seed, "all"), sample_size=everything
    )


def _derived(network: Network, seed: int) -> dict[str, FloatArray]:
    """Return the similarity that label counts lead to, for several numbers of measured links and several ε."""
    links = network.links
    order = stream(seed, "measured links").permutation(len(links))
    exact = np.asarray(network.devices.label_counts)
    made = {}
    for count in (*FITTED_ON, len(links)):
        told = "all" if count == len(links) else count
        name = f"derived, fitted on {told} links" if count else "derived, default rate"
        made[name] = _fitted(network, exact, order[:count])
    for epsilon in EPSILONS:
        noise = stream(seed, "label noise").laplace(0.0, 1.0 / epsilon, exact.shape)
        noisy = replace(network.devices, label_counts=exact + noise, label_epsilon=epsilon)
        made[f"the same, ε = {epsilon:g}"] = _fitted(network, np.asarray(class_counts(noisy)), order)
    return made


def _fitted(network: Network, counts: FloatArray, known: NDArray[np.int64]) -> FloatArray:
    links, data = network.links, network.devices.data
    measured = (links.source[known], links.target[known], links.similarity[known])
    rates = fit_match_rates(counts, data, *measured).rates
    return derive_similarity(counts, data, links.source, links.target, rates)


def _with(network: Network, similarity: FloatArray) -> Network:
    links = network.links
    return Network(network.devices, Links(links.source, links.target, similarity, links.transmit_cost))


def _choice(network: Network, sampler: str = "greedy:surrogate", horizon: int = HORIZON) -> NDArray[np.int64]:
    problem = SamplingProblem.of(Schedule.of(network), SAMPLE_SIZE, horizon=horizon)
    return find_sampler(sampler)(problem, np.random.default_rng(0)).sampled


if __name__ == "__main__":
    sys.exit(main())
