"""A set under an objective that is a function of the data that the set holds (`sampler.objectives.holdings`).

What each further device would add to the pooled sums is kept, and computed anew only for devices near the last change,
so that the hundredth device costs little more than one look at all sums.
"""

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from sampler.kernels.pool import Claims, Sums
from sampler.kernels.standing import Features, Scratch, State, receivers_of, renew, tangents, toggle
from sampler.objectives.base import Objective
from sampler.objectives.holdings import Holdings, Pooled
from sampler.objectives.lazy import lazy_values
from sampler.objectives.standing import Looked, Standing
from sampler.threads import THREADS, in_threads
from solver.kernels.layout import Effort
from solver.validation import frozen

__all__ = ["PooledObjective"]

# Fewer devices are not worth a second thread.
_LEAST_FORTHREADS = 512
_FIRST_LOOK = 64


class PooledObjective(Objective):
    """An objective that is a function of the pooled sums of what a set holds."""

    def __init__(self, holdings: Holdings, effort: Effort) -> None:
        self._holdings = holdings
        self._effort = effort

    @abstractmethod
    def score(self, pooled: Pooled, size: int) -> NDArray[np.float64]:
        """Return the value of sets of `size` devices that hold this."""

    def slope(self, pooled: Pooled, size: int) -> NDArray[np.float64] | None:
        """Return the derivative of the score by the sums of one set, if it is concave in them and in nothing else."""
        del pooled, size
        return None

    def values(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the value of each set."""
        return self.score(self._holdings.pool(sets), sets.shape[1])

    def standing(self) -> Standing:
        """Return the empty set."""
        return _PooledStanding(self, self._holdings, self._effort)


class _PooledStanding(Standing):
    """The set, what it holds, and what each device would add to that."""

    def __init__(self, objective: PooledObjective, holdings: Holdings, effort: Effort) -> None:
        self._objective, self._effort = objective, effort
        n, width = holdings.features.shape
        weighted = bool(holdings.weight.any())
        self._flows = holdings.flows
        self._features = Features(frozen(holdings.features), frozen(holdings.weight if weighted else np.empty(0)))
        self._state = _empty_state(holdings)
        self._scratch = tuple(_scratch(n) for _ in range(THREADS))
        self._gains = Sums(np.zeros(n), np.zeros((n, width)), np.zeros(n))
        self._total = Pooled(np.zeros(1), np.zeros((1, width)), np.zeros(1))
        self._size = 0

    @property
    def members(self) -> NDArray[np.int64]:
        """The devices of the set."""
        return np.flatnonzero(self._state.member)

    def value(self) -> float:
        """Return the value of the set; 0 if it is empty."""
        return float(self._objective.score(self._total, self._size)[0]) if self._size else 0.0

    def values(self, devices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the value with each device added."""
        self._renew(devices, self._effort._replace(deadline=np.inf, cancel=_NEVER))
        return self._score(devices)

    def bounds(self, devices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return an upper bound on the value with each device; −∞ for devices that there was no time for."""
        self._renew(devices, self._effort)
        after = self._size + 1
        slope = self._objective.slope(self._total, after)
        bounds = np.full(len(devices), -np.inf)
        known = ~self._state.stale[devices]
        if slope is None:
            bounds[known] = self._score(devices[known])
        else:
            base = float(self._objective.score(self._total, after)[0])
            bounds[known] = tangents(base, frozen(slope), self._gains.sums)[devices[known]]
        return bounds

    def look(self, devices: NDArray[np.int64]) -> Looked:
        """Find the best of `devices`, of those that there was time for."""
        bounds = self.bounds(devices)
        if self._objective.slope(self._total, self._size + 1) is None:
            known = np.flatnonzero(bounds > -np.inf)
            return Looked(bounds, known, bounds[known]) if len(known) else Looked(bounds, np.arange(1), bounds[:1])
        return Looked(bounds, *lazy_values(bounds, lambda places: self._score(devices[places]), first=_FIRST_LOOK))

    def add(self, device: int) -> None:
        """Add a device."""
        self._count(device, 1)
        toggle(device, self._flows, self._state, self._features, self._scratch[0])
        self._size += 1

    def remove(self, device: int) -> None:
        """Remove a device."""
        toggle(device, self._flows, self._state, self._features, self._scratch[0])
        self._size -= 1
        self._count(device, -1)

    def _count(self, device: int, sign: int) -> None:
        """Add what a device would bring, or take it away."""
        self._renew(np.array([device]), self._effort._replace(deadline=np.inf, cancel=_NEVER))
        for total, gain in zip(self._totals(), self._gains, strict=True):
            total[0] += sign * gain[device]

    def _totals(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        return self._total.amount, self._total.sums, self._total.squares

    def _score(self, devices: NDArray[np.int64]) -> NDArray[np.float64]:
        after = Pooled(*(total + gain[devices] for total, gain in zip(self._totals(), self._gains, strict=True)))
        return self._objective.score(after, self._size + 1)

    def _renew(self, devices: NDArray[np.int64], effort: Effort) -> None:
        """Compute the gains that are stale, in several threads if there are many."""
        stale = devices[self._state.stale[devices]]
        if len(stale) == 0:
            return  # a call of compiled code with so many arrays takes longer than most looks at small networks
        parts = np.array_split(stale, THREADS) if len(stale) >= _LEAST_FORTHREADS else [stale]

        def work(place: int) -> None:
            part = frozen(parts[place])
            renew(part, self._flows, self._state, self._features, self._scratch[place], self._gains, effort)

        in_threads(work, range(len(parts)))


_NEVER = np.zeros(1, np.uint8)


def _empty_state(holdings: Holdings) -> State:
    flows = holdings.flows
    n, links = flows.data.size, flows.source.size
    outgoing, receivers = np.zeros(n + 1, np.int64), np.empty(links, np.int64)
    receivers_of(flows.source, flows.target, outgoing, receivers)
    return State(
        member=np.zeros(n, np.bool_),
        head=np.full(n, -1),
        claims=Claims(np.zeros(n), np.zeros(n)),
        held=np.zeros(n),
        received=np.zeros(n),
        fits=np.ones(n),
        following=np.full(links, -1),
        arrived=np.zeros(links),
        stale=np.ones(n, np.bool_),
        outgoing=outgoing,
        receivers=receivers,
    )


def _scratch(n: int) -> Scratch:
    return Scratch(
        change=np.zeros(n),
        fit=np.zeros(n),
        is_listed=np.zeros(n, np.bool_),
        listed=np.empty(n, np.int64),
        gain=np.zeros(n),
        is_touched=np.zeros(n, np.bool_),
        touched=np.empty(n, np.int64),
    )
