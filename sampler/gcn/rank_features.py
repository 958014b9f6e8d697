"""The ranking network's features of a device, given the devices picked so far.

Beyond the paper's features they describe how much data a device could hold after offloading, its similarity to the
devices picked so far along its links, the senders it shares with them, and, if label counts are known, what it would
add to the mixture. All are relative to the network's other devices, so weights transfer across sizes and units.
"""

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem
from sampler.gcn.features import standardised
from sampler.histograms import class_counts
from sampler.objectives.reach import attainable_counts, link_reach

__all__ = ["RANK_FEATURES", "RankView"]

FloatArray = NDArray[np.float64]

_RELATIVE = (
    "data",
    "attainable",
    "growth",
    "covered_elsewhere",
    "covered_here",
    "in_links",
    "gain",
    "own_gain",
    "mixture_match",
    "overlap",
    "own_overlap",
)
_PLAIN = (
    "similarity_to_picked",
    "similarity_of_picked",
    "linked_to_picked",
    "inflow_from_picked",
    "inflow_contested",
    "outflow_to_picked",
    "picked",
    "offloading",
    "labels_known",
    "sampled_share",
    "progress",
)
RANK_FEATURES = (*_RELATIVE, *_PLAIN)


class RankView:
    """The features of a sampling problem for the ranking network; `pick` moves on to the next step.

    It looks at the problem's clock in between, since at 10⁵ devices its parts take tens of milliseconds each.
    """

    def __init__(self, problem: SamplingProblem) -> None:
        network = problem.conditions
        devices, links = network.devices, network.links
        n = len(network)
        horizon = problem.horizon if problem.offloading else 0
        self._problem = problem
        known = class_counts(devices)
        self._labels = known is not None
        held = devices.data[:, None] if known is None else known
        self._own = held / max(held.sum() / n, 1e-300)
        problem.look()
        self._counts = attainable_counts(network, horizon) / max(held.sum() / n, 1e-300)
        problem.look()
        self._share = held.sum(axis=0) / max(held.sum(), 1e-300)
        self._flow = link_reach(network, horizon) * devices.data[links.source]
        problem.look()
        self._inflow = _sums(links.target, self._flow, n)
        self._outflow = _sums(links.source, self._flow, n)
        attainable = self._counts.sum(axis=1)
        in_links = np.diff(network.incoming).astype(np.float64)
        covered_here = _sums(links.target, links.similarity, n)
        # What no pick changes is standardised once.
        static = (
            devices.data,
            attainable,
            attainable / np.maximum(self._own.sum(axis=1), 1e-300),
            _sums(links.source, links.similarity, n),
            covered_here / np.maximum(in_links, 1),
            in_links,
        )
        problem.look()
        self._features = np.zeros((n, len(RANK_FEATURES)))
        self._features[:, : len(static)] = standardised(np.stack(static, axis=1))
        self._features[:, -4:-1] = (problem.offloading, self._labels, problem.sample_size / n)
        self._mixture = self._features[:, len(static) : len(_RELATIVE)]
        self._dynamic = self._features[:, len(_RELATIVE) : -4]
        self.free = np.zeros(n, np.bool_)
        self.free[problem.candidates] = True
        self.picked: list[int] = []
        self._busy = np.zeros(n, np.bool_)
        self._total = np.zeros(self._counts.shape[1])
        self._own_total = np.zeros(self._counts.shape[1])

    def pick(self, device: int) -> None:
        """Add a device to the set."""
        network = self._problem.conditions
        links = network.links
        into = slice(network.incoming[device], network.incoming[device + 1])
        senders = links.source[into]
        out = np.flatnonzero(links.source == device)
        receivers = links.target[out]
        dynamic = self._dynamic
        dynamic[senders, 0] = np.maximum(dynamic[senders, 0], links.similarity[into])
        dynamic[receivers, 1] = np.maximum(dynamic[receivers, 1], links.similarity[out])
        dynamic[senders, 2] = 1.0
        dynamic[receivers, 2] = 1.0
        dynamic[receivers, 3] += _ratio(self._flow[out], self._inflow[receivers])
        self._busy[senders] = True
        contested = _sums(links.target, self._flow * self._busy[links.source], len(network))
        dynamic[:, 4] = _ratio(contested, self._inflow)
        dynamic[senders, 5] += _ratio(self._flow[into], self._outflow[senders])
        dynamic[device, 6] = 1.0
        self._total = self._total + self._counts[device]
        self._own_total = self._own_total + self._own[device]
        self.free[device] = False
        self.picked.append(device)

    def features(self) -> FloatArray:
        """Return the current features, (N, U), in the order of `RANK_FEATURES`. The next pick writes to this array."""
        if self._labels:
            mixed = self._mixed()
            self._problem.look()
            self._mixture[:] = standardised(mixed)
        self._features[:, -1] = len(self.picked) / self._problem.sample_size
        return self._features

    def _mixed(self) -> FloatArray:
        """Return what each device would make of the mixture of the picked devices, before standardisation."""
        mixture = np.empty((len(self.free), 5))
        after = self._total + self._counts
        amount = after.sum(axis=1)
        mixture[:, 3] = _overlap(after, amount, self._share)
        mixture[:, 0] = np.sqrt(after, out=after) @ np.sqrt(self._share)
        mixture[:, 2] = mixture[:, 0] / np.sqrt(np.maximum(amount, 1e-300))
        after = np.add(self._own_total, self._own, out=after)
        mixture[:, 4] = _overlap(after, after.sum(axis=1), self._share)
        mixture[:, 1] = np.sqrt(after, out=after) @ np.sqrt(self._share)
        return mixture


def _overlap(counts: FloatArray, amount: FloatArray, share: FloatArray) -> FloatArray:
    """Return Σ_c min(mixture_c, π_c): 1 minus the total variation distance between a row of counts and π."""
    mixture = counts / np.maximum(amount, 1e-300)[:, None]
    overlap: FloatArray = np.minimum(mixture, share, out=mixture).sum(axis=1)
    return overlap


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


def _sums(index: NDArray[np.int64], values: FloatArray, n: int) -> FloatArray:
    """Sum values by index."""
    return np.bincount(index, values, minlength=n).astype(np.float64, copy=False)
