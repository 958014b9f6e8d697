"""Seeded random step problems of very different shapes."""

from collections.abc import Callable

import numpy as np

from solver import Links, Network, StepProblem, start, step_problem
from solver.instances import BUDGETS, random_network

__all__ = ["FAMILIES", "limited_problem", "random_problem"]


def random_problem(family: str, seed: int, n_devices: int, sample_size: int) -> StepProblem:
    """The first step of a random sampled set (of devices with data) of a random network of the family."""
    generator = np.random.default_rng([seed, n_devices, sample_size, *family.encode()])
    network = FAMILIES[family](generator, n_devices)
    candidates = generator.permutation(np.flatnonzero(network.devices.data > 0))
    sampled = candidates[:sample_size]
    norm, noise = np.exp(generator.normal(0.0, 1.5, 2))
    # Now and then one of the two terms is absent.
    absent = generator.random()
    norm, noise = (0.0 if absent < 0.08 else norm), (0.0 if absent > 0.92 else noise)
    return step_problem(network, start(network, sampled), gradient_norm=norm, gradient_noise=noise)


def limited_problem(family: str, seed: int, n_devices: int, sample_size: int) -> StepProblem:
    """`random_problem` with limits on its links, prices of them, or both; some of each are zero."""
    plain = random_problem(family, seed, n_devices, sample_size)
    generator = np.random.default_rng([seed, n_devices, sample_size, 1, *family.encode()])
    limit = np.minimum(generator.choice([0.0, 0.05, 0.5, 1.0], plain.n_links) * generator.uniform(0.5, 1.5), 1.0)
    worth = plain.gradient_norm / max(plain.unsampled_data, 1.0) + plain.gradient_noise / plain.data.mean() ** 1.5
    price = generator.exponential(0.3 * worth, plain.n_links) * plain.useful * generator.integers(0, 2, plain.n_links)
    chosen = [{"limit": limit}, {"price": price}, {"limit": limit, "price": price}][seed % 3]
    return StepProblem(**(plain.columns() | chosen))


def _with(network: Network, **columns: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Network:
    return network.with_columns(dict(columns))


def _some(generator: np.random.Generator, n_devices: int, share: float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return generator.random(n_devices) < share


def _loose(generator: np.random.Generator, n: int) -> Network:
    return random_network(generator, n)


def _tight(generator: np.random.Generator, n: int) -> Network:
    return random_network(generator, n, receive=BUDGETS["tight"][0], transmit=BUDGETS["tight"][1])


def _scarce(generator: np.random.Generator, n: int) -> Network:
    return random_network(generator, n, receive=BUDGETS["scarce"][0], transmit=BUDGETS["scarce"][1])


def _dense(generator: np.random.Generator, n: int) -> Network:
    return random_network(generator, n, link_probability=0.6, receive=(0.02, 2.0), transmit=(0.0001, 0.01))


def _spread_costs(generator: np.random.Generator, n: int) -> Network:
    return random_network(
        generator, n, link_probability=0.3, receive=(0.01, 1.0), transmit=(0.001, 0.1), cost_spread=2.3
    )


def _two_rows(generator: np.random.Generator, n: int) -> Network:
    # Budgets near the data's own worth, so that eq. (11) and eq. (12) both bind.
    return random_network(generator, n, link_probability=0.3, receive=(0.5, 20.0), transmit=(0.3, 1.5))


def _zero_budgets(generator: np.random.Generator, n: int) -> Network:
    network = random_network(generator, n, link_probability=0.3, transmit=(0.001, 0.02))
    budget = np.where(_some(generator, n, 0.4), 0.0, network.devices.transmit_budget)
    cost = np.where(generator.random(len(network.links)) < 0.2, 0.0, network.links.transmit_cost)
    links = Links(network.links.source, network.links.target, network.links.similarity, cost)
    return network.with_columns({"transmit_budget": budget}, links)


def _closed_receivers(generator: np.random.Generator, n: int) -> Network:
    network = random_network(generator, n, link_probability=0.3, transmit=(0.001, 0.05))
    receive = np.where(_some(generator, n, 0.5), 0.0, network.devices.receive_capacity)
    # Some are full to the last datapoint: P_i = p_i·D_i.
    full = network.devices.data * network.devices.processing_cost
    capacity = np.where(_some(generator, n, 0.3), full, network.devices.processing_capacity)
    return _with(network, receive_capacity=receive, processing_capacity=np.maximum(capacity, full * (1 + 1e-15)))


def _empty_senders(generator: np.random.Generator, n: int) -> Network:
    network = random_network(generator, n, link_probability=0.3, transmit=(0.001, 0.05))
    empty = _some(generator, n, 0.5)
    empty[0] = False
    return _with(network, data=np.where(empty, 0.0, network.devices.data))


def _no_links(generator: np.random.Generator, n: int) -> Network:
    return random_network(generator, n, link_probability=0.0)


def _covered(generator: np.random.Generator, n: int) -> Network:
    network = random_network(generator, n, link_probability=0.3, transmit=(0.001, 0.02))
    similarity = np.where(generator.random(len(network.links)) < 0.5, 1.0, network.links.similarity)
    links = Links(network.links.source, network.links.target, similarity, network.links.transmit_cost)
    return network.with_columns({}, links)


def _small_receivers(generator: np.random.Generator, n: int) -> Network:
    # Data over three orders of magnitude: receivers that grow many times over in one step.
    network = random_network(generator, n, link_probability=0.3, receive=(1.0, 100.0), transmit=(0.01, 0.5))
    data = np.exp(generator.uniform(0.0, 7.0, n))
    return _with(network, data=data, processing_capacity=1e3 * data)


def _uneven(generator: np.random.Generator, n: int) -> Network:
    # Data over four orders of magnitude among devices that all reach one another.
    network = random_network(generator, n, link_probability=0.5, receive=(0.1, 1.0), transmit=(0.1, 1.0))
    data = np.exp(generator.uniform(0.0, 9.2, n))
    return _with(network, data=data, processing_capacity=1e3 * data, receive_capacity=data)


def _slack_caps(generator: np.random.Generator, n: int) -> Network:
    # "No limit", as people write it.
    network = random_network(generator, n, link_probability=0.3, transmit=(0.001, 0.02))
    return _with(network, receive_capacity=np.full(n, 1e15), processing_capacity=np.full(n, 1e18))


FAMILIES: dict[str, Callable[[np.random.Generator, int], Network]] = {
    "loose": _loose,
    "tight": _tight,
    "scarce": _scarce,
    "dense": _dense,
    "spread_costs": _spread_costs,
    "two_rows": _two_rows,
    "zero_budgets": _zero_budgets,
    "closed_receivers": _closed_receivers,
    "empty_senders": _empty_senders,
    "no_links": _no_links,
    "covered": _covered,
    "slack_caps": _slack_caps,
    "small_receivers": _small_receivers,
    "uneven": _uneven,
}
