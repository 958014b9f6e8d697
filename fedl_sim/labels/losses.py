"""The loss of FedL on every candidate set of a realisation; the training targets come from it (Sec. IV-B)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fedl_sim.data.datasets import DataSet
from fedl_sim.engines.base import Engine
from fedl_sim.engines.compiled.engine import CompiledEngine
from fedl_sim.engines.compiled.moves import move_set
from fedl_sim.engines.models import Cnn, FloatArray
from fedl_sim.labels.settings import Family
from fedl_sim.loop.devices import LocalUpdate
from fedl_sim.loop.server import aggregate
from fedl_sim.network.realisation import Realisation
from fedl_sim.network.similarity import nearest_same_label
from fedl_sim.randomness import stream
from solver.horizon.batch import SetPlans

__all__ = ["CommonNumbers", "SetTrainer"]


@dataclass(frozen=True, eq=False)
class CommonNumbers:
    """The random numbers of a realisation's trainings, shared by all its candidate sets.

    With common random numbers two sets differ only by the devices that train, not by the order of the data or by the
    datapoints that a link carries.

    Attributes:
        parameters: w(0).
        turn: (T, links, D_max) the order in which a link's sender would send its datapoints at step t.
        rounding: (T, links) how a fraction of a datapoint is rounded.
        priority: (T, datapoints) datapoints are trained on in ascending order of this.
        keys: (T, N) dropout of each device's epoch.
    """

    parameters: FloatArray
    turn: NDArray[np.int64]
    rounding: NDArray[np.float64]
    priority: NDArray[np.float64]
    keys: NDArray[np.int64]

    @classmethod
    def of(cls, realisation: Realisation, engine: Engine, horizon: int, seed: int, draw: int) -> "CommonNumbers":
        """Draw all of them from (seed, draw), but w(0) from the seed alone."""
        sizes = realisation.partition.sizes
        links = realisation.network.links
        generator = stream(seed, "luck", draw)
        turn = np.zeros((horizon, len(links), int(sizes.max())), np.int64)
        for t in range(horizon):
            for link, k in enumerate(links.source):
                turn[t, link, : sizes[k]] = generator.permutation(sizes[k])
        return cls(
            engine.initial_parameters(stream(seed, "parameters")),
            turn,
            generator.random((horizon, len(links))),
            generator.random((horizon, int(sizes.sum()))),
            generator.integers(2**63, size=(horizon, len(sizes))),
        )


@dataclass(frozen=True, eq=False)
class SetTrainer:
    """Trains candidate sets of a realisation.

    Attributes:
        family: how long and how fast to train.
        realisation: the network and the data behind it.
        engine: trains the model.
        covered: (links, D_max) which of a link's sender's datapoints its target would drop at the start.
    """

    family: Family
    realisation: Realisation
    engine: Engine
    covered: NDArray[np.bool_]

    @classmethod
    def of(cls, family: Family, realisation: Realisation, data: DataSet, engine: Engine) -> "SetTrainer":
        """Compute what receivers would drop."""
        partition, links = realisation.partition, realisation.network.links
        covered = np.zeros((len(links), int(partition.sizes.max())), np.bool_)
        for link, (k, i) in enumerate(zip(links.source, links.target, strict=True)):
            near = nearest_same_label(data.train, partition.of(k), partition.of(i)) <= realisation.radius
            covered[link, : len(near)] = near
        return cls(family, realisation, engine, covered)

    def train_sets(self, plans: SetPlans, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return test loss and accuracy of each planned set after the last aggregation, means over the draws."""
        results = np.zeros((len(plans.sets), 2))
        for draw in range(self.family.draws):
            numbers = CommonNumbers.of(self.realisation, self.engine, self.family.horizon, seed, draw)
            for b in range(len(plans.sets)):
                seen = self.engine.evaluate(self.train(plans, b, numbers))
                results[b] += seen.loss, seen.accuracy
        results /= self.family.draws
        return results[:, 0], results[:, 1]

    def train(self, plans: SetPlans, b: int, numbers: CommonNumbers) -> FloatArray:
        """Return w of set b after K aggregations of training on what its plan moves."""
        slots, held = self._moved(plans, b, numbers)
        engine, family = self.engine, self.family
        if isinstance(engine, CompiledEngine) and not isinstance(engine.model, Cnn):
            return engine.train_rounds(
                numbers.parameters,
                self.realisation.partition.indices,
                slots,
                held,
                numbers.priority,
                period=family.aggregation_period,
                batch_size=family.batch_size,
                learning_rate=family.learning_rate,
            )
        return self._rounds(plans.sets[b], slots, held, numbers)

    def _moved(self, plans: SetPlans, b: int, numbers: CommonNumbers) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Carry out the plan of set b; return each device's slots by arrival, and their number at each step."""
        network = self.realisation.network
        n = len(network)
        own = slice(plans.starts[b], plans.starts[b + 1])
        # A network's links are sorted by target, then source, so a pair is found by bisection.
        key = network.links.target * n + network.links.source
        link = np.searchsorted(key, plans.target[own] * n + plans.source[own])
        place = np.zeros(n, np.int64)
        place[plans.sets[b]] = np.arange(plans.sets.shape[1])
        moved: tuple[NDArray[np.int64], NDArray[np.int64]] = move_set(
            self.realisation.partition.starts,
            plans.sets[b],
            link,
            place[plans.target[own]],
            np.ascontiguousarray(plans.fractions[:, own]),
            network.links.source,
            numbers.turn,
            numbers.rounding,
            self.covered,
        )
        return moved

    def _rounds(
        self, sampled: NDArray[np.int64], slots: NDArray[np.int64], held: NDArray[np.int64], numbers: CommonNumbers
    ) -> FloatArray:
        """Local epochs and aggregations through any engine: what `CompiledEngine.train_rounds` does in one call."""
        family, indices = self.family, self.realisation.partition.indices
        w = numbers.parameters
        for first in range(0, family.horizon, family.aggregation_period):
            steps = range(first, first + family.aggregation_period)
            updates = []
            for s, device in enumerate(sampled):
                local = w
                for t in steps:
                    mine = slots[s, : held[t, s]]
                    local = self.engine.train_epoch(
                        local,
                        indices[mine[np.argsort(numbers.priority[t, mine])]],
                        batch_size=family.batch_size,
                        learning_rate=family.learning_rate,
                        key=int(numbers.keys[t, device]),
                    )
                updates.append(LocalUpdate(int(device), local, int(held[steps.start : steps.stop, s].sum())))
            w = aggregate(updates)
        return w
