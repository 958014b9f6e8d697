"""What differential-privacy noise on label counts costs: the chosen sets, and the accuracy that they train to.

On held-out digits networks of 100 devices, `greedy` chooses S = 5 devices by label counts that are exact, have Laplace
noise of scale 1/ε, or are hidden. For each: the share of the gain over random sets that is kept, by the mixture
objective on the exact counts, and the test accuracy after training on what the sets' optimised plans move. `as if
exact` takes noisy counts for exact ones, negative ones as zero. The last line is one JSON object.

    python -m benchmarks.noisy_histograms [--networks 12] [--sizes 20,60,200] [--budget tight]
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.labelled_sets import HUNDRED, without_labels
from benchmarks.machine import describe
from fedl_sim.cache import cached_data_set, cached_engine
from fedl_sim.labels.evaluation import HELD_OUT_SEED, judge
from fedl_sim.labels.label import realisation_of
from fedl_sim.labels.losses import CommonNumbers, SetTrainer
from fedl_sim.randomness import stream
from sampler.base import SamplingProblem
from sampler.objectives.mixture import Mixture
from sampler.registry import find_sampler
from solver.batch import plan_sets
from solver.network import Network
from solver.schedule import Schedule

__all__ = ["main"]

EPSILONS = (1.0, 0.3, 0.1, 0.03)
SAMPLE_SIZE = 5
RANDOM_SETS = 20


@dataclass(frozen=True)
class Row:
    """What a kind of counts led to on each network: the gain that is kept, and the accuracy."""

    counts: str
    kept: NDArray[np.float64]
    accuracy: NDArray[np.float64]


def main(arguments: Sequence[str] | None = None) -> int:
    """Choose, train, print; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=int, default=12, help="held-out networks of each size")
    parser.add_argument("--sizes", default="20,60,200", help="mean datapoints of a device")
    parser.add_argument("--budget", default="tight", help="loose, tight or scarce")
    options = parser.parse_args(arguments)
    print(describe("numpy"), f"seeds {HELD_OUT_SEED}…{HELD_OUT_SEED + options.networks - 1}", sep=", ")
    document = []
    for size in map(int, options.sizes.split(",")):
        print(f"\n{size} datapoints a device, {options.budget}, {options.networks} networks")
        print(f"{'label counts':24s} {'gain kept':>10s} {'accuracy':>16s}", flush=True)
        for row in _rows(size, options.budget, options.networks):
            accuracy = judge(row.accuracy)
            print(f"{row.counts:24s} {row.kept.mean():9.0%} {accuracy.mean:9.3f} ± {accuracy.error:.3f}", flush=True)
            document.append(
                {
                    "datapoints": size,
                    "label_counts": row.counts,
                    "gain_kept": row.kept.mean(),
                    "accuracy": accuracy.mean,
                    "accuracy_error": accuracy.error,
                }
            )
    print(json.dumps({"budget": options.budget, "noisy_histograms": document}))
    return 0


def _rows(size: int, budget: str, networks: int) -> list[Row]:
    found = [_network(size, budget, seed) for seed in range(HELD_OUT_SEED, HELD_OUT_SEED + networks)]
    return [
        Row(name, np.array([one[name][0] for one in found]), np.array([one[name][1] for one in found]))
        for name in found[0]
    ]


def _network(size: int, budget: str, seed: int) -> dict[str, tuple[float, float]]:
    """Return the gain kept and the accuracy for every kind of counts on one network."""
    family = replace(HUNDRED, mean_datapoints=float(size), budgets=(budget,))
    _, realisation = realisation_of(family, seed)
    network = realisation.network
    exact = SamplingProblem.of(Schedule.of(network), SAMPLE_SIZE, horizon=family.horizon)
    problems = {"exact": exact, "hidden": without_labels(exact)}
    for epsilon in EPSILONS:
        noisy = _noisy(network, epsilon, seed)
        problems[f"ε = {epsilon:g}"] = replace(exact, schedule=Schedule.of(noisy))
        plain = np.maximum(np.asarray(noisy.devices.label_counts), 0.0)
        taken = network.with_columns({"label_counts": plain})
        problems[f"ε = {epsilon:g}, as if exact"] = replace(exact, schedule=Schedule.of(taken))
    greedy = find_sampler("greedy")
    generator = stream(seed, "random sets")
    chosen = [np.sort(greedy(problem, np.random.default_rng(0)).sampled) for problem in problems.values()]
    random = [np.sort(generator.choice(exact.candidates, SAMPLE_SIZE, replace=False)) for _ in range(RANDOM_SETS)]
    sets = np.array([*chosen, *random])
    value = Mixture(exact).values(sets)
    data = cached_data_set(family.data_set)
    engine = cached_engine("compiled", family.model, data)
    trainer = SetTrainer.of(family, realisation, data, engine)
    numbers = CommonNumbers.of(realisation, engine, family.horizon, seed, 0)
    plans = plan_sets(network, sets, horizon=family.horizon)
    accuracy = np.array([engine.evaluate(trainer.train(plans, b, numbers)).accuracy for b in range(len(sets))])
    drawn = slice(len(chosen), None)
    kept = (value - value[drawn].mean()) / (value[0] - value[drawn].mean())
    found = {name: (float(kept[b]), float(accuracy[b])) for b, name in enumerate(problems)}
    return found | {"random sets": (float(kept[drawn].mean()), float(accuracy[drawn].mean()))}


def _noisy(network: Network, epsilon: float, seed: int) -> Network:
    counts = np.asarray(network.devices.label_counts)
    noise = stream(seed, "label noise").laplace(0.0, 1.0 / epsilon, counts.shape)
    return network.with_columns({"label_counts": counts + noise, "label_epsilon": epsilon})


if __name__ == "__main__":
    sys.exit(main())
