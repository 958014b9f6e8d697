"""How much of its data a sender can bring to a device, and how much a device can take, by closed forms."""

import numpy as np
from numpy.typing import NDArray

from sampler.kernels.pool import mean_reaches
from solver.network import Devices, Network
from solver.validation import frozen

__all__ = ["mean_reach", "mean_room", "sendable_share"]


def sendable_share(network: Network) -> NDArray[np.float64]:
    """Return min(1, Ψ_k/(D_k ψ_ki)) of each link: the share of its sender's data a step can send, eqs. (11), (12)."""
    devices, links = network.devices, network.links
    needed = devices.data[links.source] * links.transmit_cost
    budget = devices.transmit_budget[links.source]
    share: NDArray[np.float64] = np.divide(budget, needed, out=np.ones(len(links)), where=needed > budget)
    return share


def mean_reach(share: NDArray[np.float64], horizon: int) -> NDArray[np.float64]:
    """Return the mean over t = 1..T of 1 − (1 − s)^t: how much of what is unsent at first has been sent, eq. (8)."""
    if horizon == 0:
        return np.zeros(share.shape)
    return mean_reaches(frozen(share), horizon)


def mean_room(devices: Devices, horizon: int) -> NDArray[np.float64]:
    """Return the mean over t = 1..T of min(t·θ_i, P_i/p_i − D_i): the useful data a device can have taken by then."""
    if horizon == 0:
        return np.zeros(len(devices))
    ceiling = np.full(len(devices), np.inf)
    with np.errstate(over="ignore"):
        np.divide(devices.processing_capacity, devices.processing_cost, out=ceiling, where=devices.processing_cost > 0)
    room = np.minimum(np.maximum(ceiling - devices.data, 0.0), horizon * devices.receive_capacity)
    theta = devices.receive_capacity
    # Full after h steps; until then it fills up by θ a step.
    h = np.floor(np.divide(room, theta, out=np.zeros(len(devices)), where=theta > 0))
    h = np.minimum(h, horizon)
    mean: NDArray[np.float64] = (theta * h * (h + 1) / 2 + (horizon - h) * room) / horizon
    return mean
