"""The energy of a plan, by its own transfers."""

import numpy as np
import pytest

from solver import plan_offloading
from solver.errors import InvalidInputError
from solver.instances import random_network
from solver.network.energy import Energy


def test_joules_of_what_is_sent_and_processed() -> None:
    network = random_network(np.random.default_rng(0), 12, link_probability=0.4)
    plan = plan_offloading(network, sampled=[3, 5], horizon=4)
    links, rng = network.links, np.random.default_rng(1)
    transmit, processing = rng.random(len(links)), rng.random(12)
    shuffled = rng.permutation(len(links))
    energy = Energy(processing, links.source[shuffled], links.target[shuffled], transmit[shuffled])
    price = {(int(s), int(t)): float(e) for s, t, e in zip(links.source, links.target, transmit, strict=True)}
    sent = sum(
        price[int(s), int(t)] * float(d)
        for step in plan.steps
        for s, t, d in zip(step.source, step.target, step.datapoints, strict=True)
    )
    processed = sum(processing[3] * step.sampled_data[0] + processing[5] * step.sampled_data[1] for step in plan.steps)
    assert sent > 0
    np.testing.assert_allclose(energy.of(plan), [sent, processed])
    some = Energy(processing, links.source[:0], links.target[:0], transmit[:0])
    np.testing.assert_allclose(some.of(plan), [0.0, processed])


def test_bad_columns_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="energy.transmit"):
        Energy(np.ones(2), np.array([0]), np.array([1]), np.ones(2))
