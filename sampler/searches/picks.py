"""Why a search picked a device: its gain beside that of the others."""

import numpy as np
from numpy.typing import NDArray

from sampler.objectives.standing import Standing
from sampler.trace import SHOWN_CANDIDATES, Pick

__all__ = ["LARGEST_GAIN", "LARGEST_LOSS", "gains_of", "pick_of"]

# Greedy: the largest gain over the devices picked before.
LARGEST_GAIN = "largest gain"
# Sets found as a whole: the gain over all other devices of the set, which is what the set would lose without it.
LARGEST_LOSS = "gain over the rest of the set"


def pick_of(
    rule: str,
    device: int,
    gain: float,
    known: tuple[NDArray[np.int64], NDArray[np.float64]],
    n_candidates: int,
    explained: dict[int, float],
) -> Pick:
    """Return the record of a pick.

    Args:
        rule: `LARGEST_GAIN` or `LARGEST_LOSS`.
        device: the device picked.
        gain: its gain.
        known: devices that could have been picked and whose gain is known, and their gains.
        n_candidates: how many could have been picked.
        explained: the gains of the devices to explain.
    """
    devices, gains = known
    if len(devices) > SHOWN_CANDIDATES:
        best = np.argpartition(-gains, SHOWN_CANDIDATES)[:SHOWN_CANDIDATES]
        devices, gains = devices[best], gains[best]
    order = np.lexsort((devices, devices != device, -gains))
    return Pick(
        device=device,
        score=gain,
        rule=rule,
        previous=None,
        percentile=None,
        threshold=None,
        n_candidates=n_candidates,
        candidates=tuple(devices[order].tolist()),
        candidate_scores=tuple(gains[order].tolist()),
        gains=explained,
    )


def gains_of(
    standing: Standing, value: float, explained: NDArray[np.int64], able: NDArray[np.int64]
) -> dict[int, float]:
    """Return the gain over the set's value of each device to explain that is able to join it."""
    devices = explained[np.isin(explained, able)] if len(explained) else explained
    if len(devices) == 0:
        return {}
    gains: list[float] = (standing.values(devices) - value).tolist()
    return dict(zip(devices.tolist(), gains, strict=True))
