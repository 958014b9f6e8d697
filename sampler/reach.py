"""What data a device would come to hold if it were sampled: its own, and what neighbours can send it."""

import numpy as np
from numpy.typing import NDArray

from solver.network import Network

__all__ = ["attainable_counts", "link_reach"]


def link_reach(network: Network, horizon: int) -> NDArray[np.float64]:
    """Return for each link k → i the share of k's data that is new to i and can be sent there in T steps.

    A step can send the share s = min(1, Ψ_k / (D_k ψ_ki)) if k serves nobody else; unseen data shrinks by
    1 − s each step (eq. 8), so the reach is (1 − λ_ki)·(1 − (1 − s)^T).
    """
    devices, links = network.devices, network.links
    needed = devices.data[links.source] * links.transmit_cost
    budget = devices.transmit_budget[links.source]
    share = np.divide(budget, needed, out=np.ones(len(links)), where=needed > budget)
    reach: NDArray[np.float64] = (1 - links.similarity) * (1 - (1 - share) ** horizon)
    return reach


def attainable_counts(network: Network, horizon: int) -> NDArray[np.float64]:
    """Return (N, C): datapoints of each class that each device would hold at the end if sampled alone.

    Without label counts all data is one class. What arrives is scaled down to what the device can take:
    T·θ_i received in all, and P_i/p_i held at the end (eqs. 9 and 10). With T = 0 that is its own data.
    """
    devices, links = network.devices, network.links
    counts = devices.data[:, None] if devices.label_counts is None else np.asarray(devices.label_counts)
    received = np.zeros(counts.shape)
    np.add.at(received, links.target, link_reach(network, horizon)[:, None] * counts[links.source])
    total = received.sum(axis=1)
    ceiling = np.full(len(network), np.inf)
    cost = devices.processing_cost
    np.divide(devices.processing_capacity, cost, out=ceiling, where=cost > 0)
    room = np.maximum(np.minimum(horizon * devices.receive_capacity, ceiling - devices.data), 0)
    fits = np.divide(room, total, out=np.ones(len(network)), where=total > room)
    attainable: NDArray[np.float64] = counts + received * fits[:, None]
    return attainable
