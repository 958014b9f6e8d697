"""The network of the devices that are present, with the data that they have now."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from solver.network import Links, Network

__all__ = ["present_network"]


def present_network(
    network: Network, present: NDArray[np.bool_], label_counts: NDArray[np.int64] | None = None
) -> Network:
    """Return the network without the links of devices that are down, and with these label counts.

    Label counts that are hidden or noisy stay as they are. The absent devices' data still counts as data of the
    network: the model is to fit it too.
    """
    links, devices = network.links, network.devices
    there = present[links.source] & present[links.target]
    if label_counts is not None and devices.label_counts is not None and devices.label_epsilon is None:
        devices = replace(devices, label_counts=label_counts.astype(np.float64))
    if there.all() and devices is network.devices:
        return network
    kept = Links(links.source[there], links.target[there], links.similarity[there], links.transmit_cost[there])
    return Network(devices, kept)
