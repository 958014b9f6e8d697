"""Estimates of the similarity of unlinked devices from that of linked devices.

λ_ki is measured along links only (Sec. II-B). For other pairs there are two estimates.

- Along paths: data that k shares with j, and j with i, k may share with i, so Λ̂_ki = max_j λ_kj·λ_ji.
- By low rank: devices' data are mixtures of few kinds, so λ_ki ≈ λ̄ + u_k·u_i with short vectors u, fitted to the links.
  In large networks with few links for each device such vectors do not improve the choice; there λ_ki ≈ λ̄ (ADR 0058).

`docs/sampling.md` compares both with the true similarity in simulation.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sampler.errors import SamplingError
from sampler.kernels.completion import refine
from solver.kernels.layout import Effort
from solver.network import Network
from solver.network.subgraph import pair_keys
from solver.step.fast import TOLERANCE, effort_for
from solver.validation import frozen

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["LowRank", "along_links", "along_paths", "low_rank"]

_RANK = 10
_RIDGE = 1.0
_ROUNDS = 12
# Networks of more devices than this, with fewer links for each, are not fitted.
_LARGE, _LEAST_LINKS = 5_000, 15
_MOST_PATHS = 20_000_000


@dataclass(frozen=True, eq=False)
class LowRank:
    """λ_ki ≈ mean + factors_k·factors_i for k ≠ i.

    Attributes:
        mean: λ̄ over the links.
        factors: (N, r), or (N, 0) if nothing was fitted.
        ceiling: the similarity of devices that hold the same mixture, estimated by the 95 % quantile over the links.
    """

    mean: float
    factors: NDArray[np.float64]
    ceiling: float

    def matrix(self) -> NDArray[np.float64]:
        """Return the dense N×N estimate with ones on the diagonal, for small networks."""
        full = np.clip(self.mean + self.factors @ self.factors.T, 0.0, 1.0)
        np.fill_diagonal(full, 1.0)
        return full


def along_links(network: Network) -> "sparse.csc_array":
    """Return Λ with Λ_ki = λ_ki for links, 1 on the diagonal, 0 elsewhere; rows are k."""
    from scipy import sparse  # noqa: PLC0415 — see `solver.network`

    n = len(network)
    links = network.links
    everyone = np.arange(n)
    rows = np.concatenate((links.source, everyone))
    columns = np.concatenate((links.target, everyone))
    values = np.concatenate((links.similarity, np.ones(n)))
    return sparse.csc_array((values, (rows, columns)), shape=(n, n))


def along_paths(network: Network) -> "sparse.csc_array":
    """Return Λ along links, and for other pairs the largest product over the paths of two links.

    Raises:
        SamplingError: there are more such paths than fit in memory.
    """
    from scipy import sparse  # noqa: PLC0415 — see `solver.network`

    n = len(network)
    links = network.links
    # For each link j → i: all links into j. Links are sorted by target, so these are adjacent.
    degree = np.diff(network.incoming)
    length = degree[links.source]
    if length.sum() > _MOST_PATHS:
        raise SamplingError(f"the network has {length.sum()} paths of two links; at most {_MOST_PATHS} can be followed")
    second = np.repeat(np.arange(len(links)), length)
    within = np.arange(second.size) - np.repeat(np.cumsum(length) - length, length)
    first = network.incoming[links.source[second]] + within
    # Measured similarities come last.
    key = np.concatenate(
        (pair_keys(links.source[first], links.target[second], n), pair_keys(links.source, links.target, n))
    )
    product = links.similarity[first] * links.similarity[second]
    value = np.concatenate((product, 2.0 + links.similarity))
    order = np.argsort(key, kind="stable")
    key, value = key[order], value[order]
    begin = np.flatnonzero(np.diff(key, prepend=-1))
    # 2 was added to measured similarities, so the maximum prefers them to estimates.
    best = np.maximum.reduceat(value, begin) if begin.size else value
    best = np.where(best >= 2.0, best - 2.0, best)
    target, source = np.divmod(key[begin], n)
    other = source != target
    everyone = np.arange(n)
    rows = np.concatenate((source[other], everyone))
    columns = np.concatenate((target[other], everyone))
    return sparse.csc_array((np.concatenate((best[other], np.ones(n))), (rows, columns)), shape=(n, n))


def low_rank(
    network: Network,
    *,
    rank: int = _RANK,
    ridge: float = _RIDGE,
    rounds: int = _ROUNDS,
    least_links: int = _LEAST_LINKS,
    effort: Effort | None = None,
) -> LowRank:
    """Fit λ̄ and u to the links, with the mean of both directions of a pair, by ridge regression row by row.

    If the time of `effort` is over, the fit ends as it is. A large network with fewer than `least_links` links for each
    device is not fitted: the mean alone chooses as well or better (`python -m benchmarks.similarity_fit`).
    """
    n = len(network)
    links = network.links
    if len(links) == 0:
        return LowRank(0.0, np.zeros((n, rank)), 0.0)
    mean = float(links.similarity.mean())
    ceiling = float(np.quantile(links.similarity, 0.95))
    if n > _LARGE and len(links) < least_links * n:
        return LowRank(mean, np.zeros((n, 0)), ceiling)
    centred = _both_ways(network) - mean
    spread = float(centred.std())
    if spread == 0:
        return LowRank(mean, np.zeros((n, rank)), ceiling)
    # A fixed seed: the fit starts at the same point for every network of this size.
    until = effort_for(TOLERANCE) if effort is None else effort
    factors = np.random.default_rng(0).normal(0.0, rank**-0.5, (n, rank))
    refine(factors, network.incoming, links.source, frozen(centred / spread), ridge, rounds, until)
    return LowRank(mean, factors * np.sqrt(spread), ceiling)


def _both_ways(network: Network) -> NDArray[np.float64]:
    """Return for each link the mean of λ_ki and λ_ik, or λ_ki if there is no link back."""
    links = network.links
    n = len(network)
    there = pair_keys(links.source, links.target, n)
    back = pair_keys(links.target, links.source, n)
    # Looked for in order: of ten million links in any order, each search would miss the cache a dozen times.
    order = np.argsort(back)
    wanted = back[order]
    place = np.minimum(np.searchsorted(there, wanted), there.size - 1)
    found = there[place] == wanted
    returned = links.similarity.copy()
    returned[order[found]] = links.similarity[place[found]]
    both: NDArray[np.float64] = 0.5 * (links.similarity + returned)
    return both
