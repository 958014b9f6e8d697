"""The network of those who are present."""

import numpy as np

from fedl_sim.churn.presence import present_network
from solver.instances import random_network

NETWORK = random_network(np.random.default_rng(0), 12, link_probability=0.4)


def test_links_of_absent_devices_are_gone_and_nothing_else() -> None:
    present = np.arange(12) != 4
    there = present_network(NETWORK, present).links
    pairs = set(zip(NETWORK.links.source.tolist(), NETWORK.links.target.tolist(), strict=True))
    assert (
        set(zip(there.source.tolist(), there.target.tolist(), strict=True)) == {p for p in pairs if 4 not in p} < pairs
    )
    assert present_network(NETWORK, present).devices is NETWORK.devices
    assert present_network(NETWORK, np.ones(12, np.bool_)) is NETWORK
