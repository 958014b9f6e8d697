"""Dropout masks as a pure function of a key, so that every engine draws the same masks in any order.

The mask of channel c for the datapoint at position s of an epoch is the splitmix64 hash of
key + s·channels + c, read as a uniform number. There is no state.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["keep_mask"]


def keep_mask(key: int, positions: NDArray[np.int64], channels: int, rate: float) -> NDArray[np.bool_]:
    """Return which channels are kept: shape (positions, channels), each True with probability 1 − rate."""
    counters = np.add.outer(positions * channels, np.arange(channels)).astype(np.uint64)
    z = (counters + np.uint64(key)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    uniform = (z >> np.uint64(11)).astype(np.float64) * 2.0**-53
    kept: NDArray[np.bool_] = uniform >= rate
    return kept
