"""Small random schedules in which everything changes that a schedule can change."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sampler import SamplingProblem
from solver import Change, GradientModel, Links, Schedule, plan_offloading
from solver.arrays import FloatArray, IntArray
from solver.horizon.transfer import TRANSFERS
from solver.instances import BUDGETS, random_network
from solver.network import Devices, Network
from solver.network.eligibility import eligible_devices

__all__ = ["Case", "planned", "random_schedule", "the_load_ends"]

_MOST_SAMPLED = 3


def random_schedule(generator: np.random.Generator, n_devices: int, steps: int) -> Schedule:
    """A small network, and one to three changes of some of its columns and links within the steps.

    Loads, costs and budgets rise and fall; links come and go, and cost or repeat more or less than before. Many devices
    have hardly any room at first, or hardly any later.
    """
    receive, transmit = [*BUDGETS.values(), ((0.2, 20.0), (0.1, 2.0))][generator.integers(len(BUDGETS) + 1)]
    probability = float(generator.choice([0.2, 0.5, 1.0]))
    net = random_network(generator, n_devices, link_probability=probability, receive=receive, transmit=transmit)
    devices = net.devices
    room = generator.choice([1.0, 1.02, 1.3, 3.0, 50.0], n_devices)
    columns = {
        "data": np.where(generator.random(n_devices) < 0.05, 0.0, devices.data * generator.uniform(0.2, 2, n_devices)),
        "receive_capacity": devices.receive_capacity * generator.choice([0.0, 1.0, 1.0, 5.0], n_devices),
    }
    columns["processing_capacity"] = columns["data"] * devices.processing_cost * room + 1e-6
    net = net.with_columns(columns)
    count = int(generator.integers(1, 4))
    starts = generator.integers(1, steps + 2, count).tolist()
    return Schedule(net, tuple(_change(generator, net, step) for step in starts))


def _change(generator: np.random.Generator, net: Network, step: int) -> Change:
    n, devices = len(net), net.devices
    factors = {
        "processing_capacity": np.array([1.0, 1.0, 1.5, 20.0]),
        "processing_cost": np.array([0.0, 0.02, 0.7, 1.0]),
        "receive_capacity": np.array([0.0, 0.1, 1.0, 10.0]),
        "transmit_budget": np.array([0.0, 0.1, 1.0, 10.0]),
    }
    columns = {
        name: getattr(devices, name) * generator.choice(among, n)
        for name, among in factors.items()
        if generator.random() < 0.5
    }
    return Change(step, columns, _links(generator, net) if generator.random() < 0.5 else None)


def _links(generator: np.random.Generator, net: Network) -> Links:
    """Some links are gone, some are new, some are others."""
    n, old = len(net), net.links
    adjacent, similarity, cost = np.zeros((3, n, n))
    adjacent[old.source, old.target] = generator.random(len(old)) < generator.choice([0.3, 0.8, 1.0])
    similarity[old.source, old.target], cost[old.source, old.target] = old.similarity, old.transmit_cost
    new = (generator.random((n, n)) < generator.choice([0.0, 0.2])) & (adjacent == 0)
    np.fill_diagonal(new, val=False)
    others = new | (generator.random((n, n)) < generator.choice([0.0, 0.3]))
    similarity[others], cost[others] = generator.random((2, int(others.sum())))
    return Links.from_dense(np.where(new, 1.0, adjacent), similarity, cost, n_devices=n)


def the_load_ends(n_devices: int = 3) -> Schedule:
    """Until step 2 the first device has room for nothing beside its other work, and the others never have."""
    data = np.full(n_devices, 110.0)
    data[0] = 100.0
    roomy, loaded = data.copy(), data.copy()
    roomy[0] = 5000.0
    devices = Devices(data, loaded, np.ones(n_devices), np.full(n_devices, 100.0), np.full(n_devices, 100.0))
    links = Links(np.array([1, 2, 0, 2]), np.array([0, 0, 1, 1]), np.zeros(4), np.ones(4))
    return Schedule(Network(devices, links), (Change(2, {"processing_capacity": roomy}),))


@dataclass(frozen=True, eq=False)
class Case:
    """A problem whose conditions change, all sets, and the objective of each set's plan, one step after another."""

    problem: SamplingProblem
    sets: IntArray
    objectives: FloatArray

    @classmethod
    def draw(cls, seed: int) -> "Case":
        """A case of up to eight devices."""
        generator = np.random.default_rng([32, seed])
        problem = None
        while problem is None:
            n, horizon = int(generator.integers(6, 9)), int(generator.integers(2, 8))
            schedule = random_schedule(generator, n, horizon)
            if eligible_devices(schedule, horizon).sum() > _MOST_SAMPLED:
                problem = SamplingProblem.of(
                    schedule,
                    int(generator.integers(1, _MOST_SAMPLED + 1)),
                    horizon=horizon,
                    gradient=GradientModel(float(generator.exponential()), 1.0 + float(generator.random()) / 5),
                    gradient_noise=float(generator.exponential(3.0)),
                    transfer=TRANSFERS[seed % len(TRANSFERS)],
                )
        sets = np.array(list(combinations(problem.candidates.tolist(), problem.sample_size)))
        return cls(problem, sets, np.array([planned(problem, row) for row in sets]))


def planned(problem: SamplingProblem, sampled: IntArray, planning: str = "step") -> float:
    """The objective of the plan for these devices."""
    objective = plan_offloading(
        problem.schedule,
        sampled,
        horizon=problem.horizon,
        gradient=problem.gradient,
        gradient_noise=problem.gradient_noise,
        transfer=problem.transfer,
        planning=planning,
    ).objective
    assert objective is not None
    return objective
