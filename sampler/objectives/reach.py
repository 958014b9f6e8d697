"""Closed forms of how much data a sender can send to a device, and how much a device can receive."""

import numpy as np
from numpy.typing import NDArray

from sampler.label_counts.histograms import class_counts
from solver.network import Devices, Network

__all__ = ["attainable_counts", "link_reach", "mean_room", "sendable_share", "steps_needed"]


def steps_needed(network: Network) -> NDArray[np.float64]:
    """Return D_k ψ_ki/Ψ_k of each link: the steps in which its sender can send all its data over it alone, eq. (11)."""
    devices, links = network.devices, network.links
    needed = devices.data[links.source] * links.transmit_cost
    budget = devices.transmit_budget[links.source]
    with np.errstate(over="ignore"):
        steps: NDArray[np.float64] = np.divide(needed, budget, out=np.where(needed > 0, np.inf, 0.0), where=budget > 0)
    return steps


def sendable_share(steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return min(1, Ψ_k/(D_k ψ_ki)) of each link from its `steps_needed`: the share of its data that fits a step."""
    share: NDArray[np.float64] = 1.0 / np.maximum(steps, 1.0)
    return share


def mean_room(devices: Devices, horizon: int) -> NDArray[np.float64]:
    """Return the mean over t = 1..T of min(t·θ_i, P_i/p_i − D_i), the useful data that fits into a device by step t."""
    if horizon == 0:
        return np.zeros(len(devices))
    ceiling = np.full(len(devices), np.inf)
    with np.errstate(over="ignore"):
        np.divide(devices.processing_capacity, devices.processing_cost, out=ceiling, where=devices.processing_cost > 0)
    room = np.minimum(np.maximum(ceiling - devices.data, 0.0), horizon * devices.receive_capacity)
    theta = devices.receive_capacity
    # It fills by θ in each step and is full after h steps.
    h = np.floor(np.divide(room, theta, out=np.zeros(len(devices)), where=theta > 0))
    h = np.minimum(h, horizon)
    mean: NDArray[np.float64] = (theta * h * (h + 1) / 2 + (horizon - h) * room) / horizon
    return mean


def link_reach(network: Network, horizon: int) -> NDArray[np.float64]:
    """Return for each link k → i the share of k's data that is new to i and can be sent to i in T steps.

    A step can send the share s = min(1, Ψ_k / (D_k ψ_ki)) if k sends to no other device. Unsent data shrinks by the
    factor 1 − s in each step (eq. 8), so the result is (1 − λ_ki)·(1 − (1 − s)^T). This is with redrawing senders, as
    in the labels that `gcn_rank` was trained on; it is one of its features.
    """
    share = sendable_share(steps_needed(network))
    reach: NDArray[np.float64] = (1 - network.links.similarity) * (1 - (1 - share) ** horizon)
    return reach


def attainable_counts(network: Network, horizon: int, reach: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return (N, C): the datapoints of each class that each device would hold at the end if it alone were sampled.

    Without label counts all data is one class. Arrivals are scaled down to what the device can take: T·θ_i received in
    all, and P_i/p_i held at the end (eqs. 9 and 10). With T = 0 a device holds its own data. `reach` is that of
    `link_reach`, if it is known already.
    """
    from scipy import sparse  # noqa: PLC0415 — see `solver.network`

    devices, links, n = network.devices, network.links, len(network)
    known = class_counts(devices)
    counts = devices.data[:, None] if known is None else known
    # Links are sorted by target, so the arrays already are a matrix of receivers × senders in compressed sparse rows.
    shares = link_reach(network, horizon) if reach is None else reach
    arriving = sparse.csr_array((shares, links.source, network.incoming), shape=(n, n))
    received = np.asarray(arriving @ counts)
    total = received.sum(axis=1)
    ceiling = np.full(len(network), np.inf)
    cost = devices.processing_cost
    np.divide(devices.processing_capacity, cost, out=ceiling, where=cost > 0)
    room = np.maximum(np.minimum(horizon * devices.receive_capacity, ceiling - devices.data), 0)
    fits = np.divide(room, total, out=np.ones(len(network)), where=total > room)
    attainable: NDArray[np.float64] = counts + received * fits[:, None]
    return attainable
