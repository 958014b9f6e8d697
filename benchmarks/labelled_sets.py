"""Networks some of whose sets have been trained for real: what objectives are judged on."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fedl_sim.data.datasets import DataSet, load_data_set
from fedl_sim.data.images import Images
from fedl_sim.engines.compiled.engine import CompiledEngine
from fedl_sim.engines.models import model_for
from fedl_sim.labels.label import candidate_sets, realisation_of
from fedl_sim.labels.losses import CommonNumbers, SetTrainer
from fedl_sim.labels.settings import NO_OFFLOADING, Family
from sampler.base import SamplingProblem
from solver.horizon.batch import plan_sets
from solver.network import Links, Network
from solver.network.schedule import Schedule

__all__ = ["BUDGETS", "HUNDRED", "TEN", "LabelledSets", "label_some", "without_labels"]

BUDGETS = (NO_OFFLOADING, "loose", "tight", "scarce")

# Ten devices of every kind that label generation knows; a hundred devices as in the paper (Sec. V-A).
TEN = Family()
HUNDRED = Family(
    n_devices=100,
    mean_datapoints=60.0,
    topologies=("erdos-renyi",),
    link_probabilities=(0.1,),
    labels_per_device=(3,),
    aggregations=5,
)

# Test images: a tenth of MNIST's costs a tenth of the time, and ranks sets the same but for a little noise.
_TEST_IMAGES = 1000
_SOME_DATA = 2000


@dataclass(frozen=True, eq=False)
class LabelledSets:
    """A sampling problem and how FedL fared on some of its sets, after their optimised offloading.

    Attributes:
        problem: the network.
        sets: those trained.
        test_loss: on the test split, whose classes are equally frequent.
        network_loss: on all data of the network, F of eq. (1), whose classes are as frequent as the network has them.
    """

    problem: SamplingProblem
    sets: NDArray[np.int64]
    test_loss: NDArray[np.float64]
    network_loss: NDArray[np.float64]


def label_some(family: Family, budget: str, seed: int, sample_size: int, most: int) -> LabelledSets:
    """Train `most` sets of a seed's network, drawn at random; all of them if there are no more."""
    family = replace(family, budgets=(budget,))
    kind, realisation = realisation_of(family, seed)
    network = realisation.network
    generator = np.random.default_rng([seed, sample_size])
    if len(network) <= 12:
        sets = candidate_sets(network, sample_size, family.horizon)
        sets = sets[np.sort(generator.permutation(len(sets))[:most])]
    else:
        sets = np.array([generator.choice(len(network), sample_size, replace=False) for _ in range(most)])
    moving = network if kind.offloading else Network(network.devices, Links.none())
    plans = plan_sets(moving, sets, horizon=family.horizon, transfer="redraw")
    engine = _engine(family.model, family.data_set)
    trainer = SetTrainer.of(family, realisation, _data_set(family.data_set), engine)
    numbers = CommonNumbers.of(realisation, engine, family.horizon, seed, 0)
    models = [trainer.train(plans, b, numbers) for b in range(len(sets))]
    held = realisation.partition.indices
    # Of a large network a part will do.
    some = held if len(held) <= _SOME_DATA else generator.choice(held, _SOME_DATA, replace=False)
    test = np.array([engine.evaluate(w).loss for w in models])
    whole = np.array([engine.gradient(w, some).loss for w in models])
    problem = SamplingProblem.of(
        Schedule.of(network),
        sample_size,
        horizon=family.horizon,
        offloading=kind.offloading,
        transfer="redraw",
    )
    return LabelledSets(problem, sets, test, whole)


def without_labels(problem: SamplingProblem) -> SamplingProblem:
    """The same problem on a network that does not tell its label counts."""
    network = problem.schedule.network
    bare = Network(replace(network.devices, label_counts=None, label_epsilon=None), network.links)
    return replace(problem, schedule=Schedule.of(bare))


@lru_cache(maxsize=3)
def _data_set(name: str) -> DataSet:
    data = load_data_set(name)
    if len(data.test) <= _TEST_IMAGES:
        return data
    test = data.test
    some = Images(
        test.pixels[:_TEST_IMAGES], test.labels[:_TEST_IMAGES], test.side, test.classes, test.scale, test.shift
    )
    return DataSet(data.name, data.train, some)


@lru_cache(maxsize=3)
def _engine(model: str, data_set: str) -> CompiledEngine:
    data = _data_set(data_set)
    return CompiledEngine(model_for(model, data.train.side, data.train.classes), data.train, data.test)
