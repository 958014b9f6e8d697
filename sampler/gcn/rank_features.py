"""The ranking network's features of a device, given the devices picked so far.

Beyond the paper's features they describe how much data a device could hold after offloading, its similarity to the
devices picked so far along its links, the senders it shares with them, and, if label counts are known, what it would
add to the mixture. All are relative to the network's other devices, so weights transfer across sizes and units.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem
from sampler.gcn.features import standardised
from sampler.kernels.rank import list_links, mix
from sampler.label_counts.histograms import class_counts
from sampler.objectives.reach import attainable_counts, link_reach
from sampler.threads import in_threads

__all__ = ["CHANGING", "NEARBY", "RANK_FEATURES", "STATIC", "RankView", "places"]

FloatArray = NDArray[np.float64]

# In the order of the network's input: first the features that are relative to the other devices.
RANK_FEATURES = (
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
# The same in groups: no pick changes the first, a pick changes the second near itself, and the third for all devices.
STATIC = (*RANK_FEATURES[:6], *RANK_FEATURES[-4:-1])
NEARBY = RANK_FEATURES[11:18]
CHANGING = ("gain", "mixture_match", "overlap", "own_gain", "own_overlap", "progress")

# Devices that one thread computes at a time: some milliseconds, between which the clock is looked at.
_AT_ONCE = 8_192


def places(names: tuple[str, ...]) -> list[int]:
    """Return the places of these features among all."""
    return [RANK_FEATURES.index(name) for name in names]


class RankView:
    """The features of a sampling problem for the ranking network; `pick` moves on to the next step.

    It looks at the problem's clock in between, since at 10⁵ devices its parts take tens of milliseconds each.

    Attributes:
        network: the conditions at the first step.
        look: looks at the problem's clock, see `SamplingProblem.look`.
        static: (N, ·) the features of `STATIC`.
        nearby: (N, ·) the current features of `NEARBY`.
        labels: whether there are label counts. If not, all of `CHANGING` but the progress are 0.
        free: the devices that can still be picked.
        picked: the others, in order.
        outgoing: device k's links are links_by_sender[outgoing[k]:outgoing[k + 1]].
    """

    def __init__(self, problem: SamplingProblem) -> None:
        self.network = network = problem.conditions
        devices, links = network.devices, network.links
        n = len(network)
        horizon = problem.horizon if problem.offloading else 0
        self.look = problem.look
        self._sample_size = problem.sample_size
        known = class_counts(devices)
        self.labels = known is not None
        held = devices.data[:, None] if known is None else known
        unit = max(held.sum() / n, 1e-300)
        self.look()
        reach = link_reach(network, horizon)
        self.look()
        counts = attainable_counts(network, horizon, reach) / unit
        self.look()
        # By class, for the kernel.
        self._counts, self._own = np.ascontiguousarray(counts.T), np.ascontiguousarray((held / unit).T)
        self._total, self._own_total = np.zeros(len(self._counts)), np.zeros(len(self._counts))
        self._share = held.sum(axis=0) / max(held.sum(), 1e-300)
        self._flow = reach * devices.data[links.source]
        self.look()
        self._inflow = _sums(links.target, self._flow, n)
        self._outflow = _sums(links.source, self._flow, n)
        self.look()
        self.outgoing, self.links_by_sender = np.zeros(n + 1, np.int64), np.empty(len(links), np.int64)
        list_links(links.source, self.outgoing, self.links_by_sender)
        self.look()
        constants = np.tile([problem.offloading, self.labels, problem.sample_size / n], (n, 1))
        self.static = np.hstack([self._relative(counts.sum(axis=1), self._own.sum(axis=0)), constants])
        self.nearby = np.zeros((n, len(NEARBY)))
        self.free = np.zeros(n, np.bool_)
        self.free[problem.candidates] = True
        self.picked: list[int] = []
        self._busy = np.zeros(n, np.bool_)

    def _relative(self, attainable: FloatArray, own: FloatArray) -> FloatArray:
        """Return the features that no pick changes, but for those that are the same for all devices."""
        network = self.network
        links, n = network.links, len(network)
        in_links = np.diff(network.incoming).astype(np.float64)
        columns = (
            network.devices.data,
            attainable,
            attainable / np.maximum(own, 1e-300),
            _sums(links.source, links.similarity, n),
            _sums(links.target, links.similarity, n) / np.maximum(in_links, 1),
            in_links,
        )
        self.look()
        return standardised(np.stack(columns, axis=1))

    def pick(self, device: int) -> NDArray[np.int64]:
        """Add a device to the set; return the devices whose `nearby` features change."""
        links, nearby = self.network.links, self.nearby
        into = self.links_into(np.array([device]))
        senders = links.source[into]
        out = self.links_by_sender[self.outgoing[device] : self.outgoing[device + 1]]
        receivers = links.target[out]
        nearby[senders, 0] = np.maximum(nearby[senders, 0], links.similarity[into])
        nearby[receivers, 1] = np.maximum(nearby[receivers, 1], links.similarity[out])
        nearby[senders, 2] = 1.0
        nearby[receivers, 2] = 1.0
        nearby[receivers, 3] += _ratio(self._flow[out], self._inflow[receivers])
        contested = self._contest(senders)
        nearby[senders, 5] += _ratio(self._flow[into], self._outflow[senders])
        nearby[device, 6] = 1.0
        self._total = self._total + self._counts[:, device]
        self._own_total = self._own_total + self._own[:, device]
        self.free[device] = False
        self.picked.append(device)
        return self.union(senders, receivers, contested, np.array([device]))

    def _contest(self, senders: NDArray[np.int64]) -> NDArray[np.int64]:
        """Let these devices be busy; return the devices that can get less from them now."""
        links = self.network.links
        new = senders[~self._busy[senders]]
        self._busy[senders] = True
        lost = self.links_by_sender[_spans(self.outgoing[new], self.outgoing[new + 1])]
        devices = self.union(links.target[lost])
        into = self.links_into(devices)
        # Added up anew, and not only what is lost: the sums of equal devices stay equal to the last digit.
        incoming = self.network.incoming
        place = np.repeat(np.arange(len(devices)), incoming[devices + 1] - incoming[devices])
        contested = _sums(place, self._flow[into] * self._busy[links.source[into]], len(devices))
        self.nearby[devices, 4] = _ratio(contested, self._inflow[devices])
        return devices

    def union(self, *devices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return all of these devices once, ascending."""
        there = np.zeros(len(self.free), np.bool_)
        for some in devices:
            there[some] = True
        return np.flatnonzero(there)

    def links_into(self, devices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the links into these devices."""
        incoming = self.network.incoming
        return _spans(incoming[devices], incoming[devices + 1])

    def features(self) -> FloatArray:
        """Return the current features, (N, U), in the order of `RANK_FEATURES`."""
        features = np.empty((len(self.free), len(RANK_FEATURES)))
        for names, columns in ((STATIC, self.static), (NEARBY, self.nearby), (CHANGING, self.changing())):
            features[:, places(names)] = columns
        return features

    def changing(self) -> FloatArray:
        """Return the current features of `CHANGING`, (N, 6): those of the mixture, and progress."""
        n = len(self.free)
        columns = np.zeros((n, len(CHANGING)))
        if self.labels:
            mixture = np.empty((6, n))

            def mixed(part: NDArray[np.int64]) -> None:
                mix(part[0], part[-1] + 1, self._counts, self._total, self._share, mixture[:3])
                mix(part[0], part[-1] + 1, self._own, self._own_total, self._share, mixture[3:])

            def relative(place: int, row: int) -> None:
                self.look()
                columns[:, place] = standardised(mixture[row, :, None])[:, 0]

            self.in_parts(mixed)
            for place, row in enumerate((0, 1, 2, 3, 5)):
                relative(place, row)
        columns[:, -1] = len(self.picked) / self._sample_size
        return columns

    def in_parts(self, work: Callable[[NDArray[np.int64]], None]) -> None:
        """Do the work for all devices, part by part in a few threads, looking at the clock before each part."""
        n = len(self.free)

        def one(first: int) -> None:
            self.look()
            work(np.arange(first, min(first + _AT_ONCE, n)))

        in_threads(one, range(0, n, _AT_ONCE))


def _spans(first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers from each `first` to before its `last`, one after another."""
    sizes = last - first
    begin = np.cumsum(sizes) - sizes
    return np.repeat(first - begin, sizes) + np.arange(sizes.sum())


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


def _sums(index: NDArray[np.int64], values: FloatArray, n: int) -> FloatArray:
    """Sum values by index."""
    return np.bincount(index, values, minlength=n).astype(np.float64, copy=False)
