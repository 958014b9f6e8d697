"""What differential-privacy noise on label counts costs: the chosen sets, and the accuracy that they train to.

On held-out networks of 100 devices, `greedy` chooses S = 5 devices by label counts that are exact, have Laplace
noise of scale 1/ε, or are hidden. For each: the share of the gain over random sets that is kept, by the mixture
objective on the exact counts, and the test accuracy after training on what the sets' optimised plans move; senders
redraw. `as if exact` takes noisy counts for exact ones, negative ones as zero. The last line is one JSON object.

    python -m benchmarks.noisy_histograms [--networks 24] [--data digits] [--sizes 60,200,600] [--budget tight]
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.labelled_sets import HUNDRED, without_labels
from benchmarks.machine import describe
from benchmarks.options import parser
from fedl_sim.cache import cached_data_set, cached_engine
from fedl_sim.labels.evaluation import HELD_OUT_SEED, judge
from fedl_sim.labels.label import realisation_of
from fedl_sim.labels.losses import CommonNumbers, SetTrainer
from fedl_sim.labels.settings import Family
from fedl_sim.network.realisation import Realisation
from fedl_sim.randomness import stream
from sampler.base import SamplingProblem
from sampler.objectives.mixture import Mixture
from sampler.registry import find_sampler
from solver.horizon.batch import plan_sets
from solver.network import Network
from solver.network.schedule import Schedule

__all__ = ["main"]

EPSILONS = (1.0, 0.3, 0.1, 0.03)
SAMPLE_SIZE = 5
RANDOM_SETS = 20


@dataclass(frozen=True)
class Row:
    """What a kind of counts led to: the gain kept and the accuracy on each network."""

    counts: str
    kept: NDArray[np.float64]
    accuracy: NDArray[np.float64]


def main(arguments: Sequence[str] | None = None) -> int:
    """Choose, train, print; returns the exit code."""
    command = parser(__doc__)
    command.add_argument("--networks", type=int, default=24, help="held-out networks of each size")
    command.add_argument("--data", default="digits", help="data set")
    command.add_argument("--sizes", default="60,200,600", help="mean datapoints of a device")
    command.add_argument("--budget", default="tight", help="loose, tight or scarce")
    options = command.parse_args(arguments)
    networks = 2 if options.smoke else options.networks
    print(describe("numpy"), f"seeds {HELD_OUT_SEED}…{HELD_OUT_SEED + networks - 1}", sep=", ")
    document = []
    for size in list(map(int, options.sizes.split(",")))[: 1 if options.smoke else None]:
        print(f"\n{options.data}, {size} datapoints a device, {options.budget}, {networks} networks")
        print(f"{'label counts':24s} {'gain kept':>16s} {'accuracy':>16s}", flush=True)
        family = replace(HUNDRED, data_set=options.data, mean_datapoints=float(size), budgets=(options.budget,))
        if options.smoke:
            family = replace(family, aggregations=1)
        for row in _rows(family, networks):
            kept, accuracy = judge(row.kept), judge(row.accuracy)
            told = {
                "data_set": options.data,
                "datapoints": size,
                "label_counts": row.counts,
                "networks": networks,
                "gain_kept": round(kept.mean, 4),
                "gain_kept_error": round(kept.error, 4),
                "accuracy": round(accuracy.mean, 4),
                "accuracy_error": round(accuracy.error, 4),
            }
            print(f"{row.counts:24s} {kept.mean:9.0%} ± {kept.error:4.0%} {accuracy.mean:9.3f} ± {accuracy.error:.3f}")
            document.append(told)
        sys.stdout.flush()
    print(json.dumps({"budget": options.budget, "noisy_histograms": document}))
    return 0


def _rows(family: Family, networks: int) -> list[Row]:
    kept, accuracy = [], []
    for seed in range(HELD_OUT_SEED, HELD_OUT_SEED + networks):
        realisation = realisation_of(family, seed)[1]
        names, sets, values = _chosen(family, realisation.network, seed)
        reached = _accuracy(family, realisation, sets, seed)
        # The random sets come last; together they are one row.
        chosen, drawn = slice(0, len(names)), slice(len(names), None)
        by_chance = values[drawn].mean()
        kept.append([*(values[chosen] - by_chance) / (values[0] - by_chance), 0.0])
        accuracy.append([*reached[chosen], reached[drawn].mean()])
    columns = zip([*names, "random sets"], np.array(kept).T, np.array(accuracy).T, strict=True)
    return [Row(*column) for column in columns]


def _chosen(family: Family, network: Network, seed: int) -> tuple[list[str], NDArray[np.int64], NDArray[np.float64]]:
    """Return the kinds of counts, the sets chosen by them followed by random sets, and the mixture of every set."""
    exact = SamplingProblem.of(Schedule.of(network), SAMPLE_SIZE, horizon=family.horizon, transfer="redraw")
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
    return list(problems), sets, Mixture(exact).values(sets)


def _accuracy(family: Family, realisation: Realisation, sets: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """Return the test accuracy of each set after training on what its plan moves."""
    data = cached_data_set(family.data_set)
    engine = cached_engine("compiled", family.model, data)
    trainer = SetTrainer.of(family, realisation, data, engine)
    numbers = CommonNumbers.of(realisation, engine, family.horizon, seed, 0)
    plans = plan_sets(realisation.network, sets, horizon=family.horizon, transfer="redraw")
    return np.array([engine.evaluate(trainer.train(plans, b, numbers)).accuracy for b in range(len(sets))])


def _noisy(network: Network, epsilon: float, seed: int) -> Network:
    counts = np.asarray(network.devices.label_counts)
    noise = stream(seed, "label noise").laplace(0.0, 1.0 / epsilon, counts.shape)
    return network.with_columns({"label_counts": counts + noise, "label_epsilon": epsilon})


if __name__ == "__main__":
    sys.exit(main())
