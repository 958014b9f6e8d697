"""The GCN's features of a device: π_i = [D_i(0), P_i(0), p_i(0), θ_i(0)] (Sec. IV-B)."""

import numpy as np
from numpy.typing import NDArray

from solver.network import Network

__all__ = ["FEATURES", "GENERAL_FEATURES", "device_features", "standardised"]

FEATURES = ("data", "processing_capacity", "processing_cost", "receive_capacity")

# The general model, for any S, has the share of devices to be sampled as a further feature.
GENERAL_FEATURES = (*FEATURES, "sampled_share")


def standardised(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give each column mean 0 and deviation 1 over the network's devices; a constant column becomes 0.

    So weights trained on ten devices apply to eight hundred, and to any units.
    """
    # Divide by the largest entry first: budgets that mean "no limit" may be near the largest float.
    largest = np.abs(columns).max(axis=0)
    scaled = columns / np.where(largest > 0, largest, 1.0)
    centred = scaled - scaled.mean(axis=0)
    deviation = np.sqrt((centred**2).mean(axis=0))
    # A deviation this small is a rounding error.
    known = deviation > 1e-12
    features: NDArray[np.float64] = np.where(known, centred / np.where(known, deviation, 1.0), 0.0)
    return features


def device_features(network: Network, sample_size: int, names: tuple[str, ...] = FEATURES) -> NDArray[np.float64]:
    """Return π, shape (N, U), with the named columns; `sampled_share` is S/N for every device."""
    devices = network.devices
    columns = standardised(np.stack([getattr(devices, name) for name in names if name in FEATURES], axis=1))
    if "sampled_share" in names:
        share = np.full((len(network), 1), sample_size / len(network))
        columns = np.concatenate([columns, share], axis=1)
    return columns
