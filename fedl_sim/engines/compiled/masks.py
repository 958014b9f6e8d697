"""Dropout masks inside kernels: the same function as `fedl_sim.engines.dropout.keep_mask`."""

import numpy as np

from fedl_sim.engines.compiled.options import inlined

__all__ = ["kept"]


@inlined
def kept(key, position, channels, channel, rate):  # type: ignore[no-untyped-def]
    """Return whether this channel of the datapoint at this position of the epoch is kept."""
    z = (key + np.uint64(position) * np.uint64(channels) + np.uint64(channel)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.float64(z >> np.uint64(11)) * 2.0**-53 >= rate
