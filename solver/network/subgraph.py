"""The links into a sampled set: the part of a network that a step problem is built from."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.kernels.subgraph import group_by_sender
from solver.network import Network
from solver.validation import frozen

__all__ = ["Subgraph", "data_outside", "pair_keys"]


@dataclass(frozen=True, eq=False)
class Subgraph:
    """Links from unsampled devices with data to sampled ones, grouped by sender, eqs. (13)–(15).

    Attributes:
        network: the network it was taken from.
        sampled: the sampled devices.
        offsets: sender k's links are offsets[k]:offsets[k + 1].
        receiver: position of each link's target in `sampled`.
        source, target: each link's ends.
        held: D_k of each link's sender; constant, since offloading copies data.
        fresh: D_k(1 − λ_ki), the useful datapoints of a link before any offloading.
        cost: ψ of each link.
        budget: Ψ_k/D_k of each sender.
        unsampled_data: D_Ŝ, constant too. It is summed over the unsampled devices: D_N − D_S could lose digits.
    """

    network: Network
    sampled: IntArray
    offsets: IntArray
    receiver: IntArray
    source: IntArray
    target: IntArray
    held: FloatArray
    fresh: FloatArray
    cost: FloatArray
    budget: FloatArray
    unsampled_data: float

    @classmethod
    def of(cls, network: Network, sampled: IntArray, unsampled_data: float | None = None) -> "Subgraph":
        """Gather the links into `sampled`, in O(devices + those links); D_Ŝ is summed up if it is not given."""
        devices, links = network.devices, network.links
        columns = group_by_sender(
            network.incoming,
            links.source,
            links.similarity,
            links.transmit_cost,
            devices.data,
            devices.transmit_budget,
            frozen(sampled),
        )
        outside = data_outside(devices.data, sampled) if unsampled_data is None else unsampled_data
        values: tuple[Any, ...] = (network, sampled, *map(frozen, columns), outside)
        return cls(*values)

    @property
    def processing_cost(self) -> FloatArray:
        """p_i of each sampled device."""
        return self.network.devices.processing_cost[self.sampled]

    @property
    def keys(self) -> IntArray:
        """A number for each link's ordered pair of devices."""
        return pair_keys(self.source, self.target, len(self.network))


def data_outside(data: FloatArray, sampled: IntArray) -> float:
    """D_Ŝ: what all devices but the sampled ones hold."""
    outside = np.ones(data.size, np.bool_)
    outside[sampled] = False
    return float(data[outside].sum())


def pair_keys(source: IntArray, target: IntArray, n_devices: int) -> IntArray:
    """A number for each ordered pair of devices."""
    return target * np.int64(n_devices) + source
