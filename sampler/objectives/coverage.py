"""Data coverage: how much of the network's data is similar to data of the sampled devices.

    f(𝒮) = Σ_k D_k max_{i∈𝒮} Λ_ki,   Λ_ii = 1,

which is facility location: monotone and submodular, so greedy attains at least 1 − 1/e of the optimum.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem
from sampler.errors import SamplingError
from sampler.kernels.coverage import covered_data
from sampler.objectives.base import Objective
from sampler.objectives.lazy import lazy_values
from sampler.objectives.similarity import along_links, along_paths, low_rank
from sampler.objectives.standing import Looked, Standing
from solver.validation import frozen

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["Coverage"]

# The most devices for which all pairs are estimated, because the matrix is dense.
_MOST_DENSE = 3000


class Coverage(Objective):
    """Σ_k D_k max_{i∈𝒮} Λ_ki for a given Λ, rows being k."""

    submodular = True

    def __init__(self, problem: SamplingProblem, similarity: "sparse.csc_array") -> None:
        self._data = problem.conditions.devices.data
        # One integer type for all: numba would compile the kernel anew for each.
        self._similarity = similarity
        self._similarity.indptr = similarity.indptr.astype(np.int64)
        self._similarity.indices = similarity.indices.astype(np.int64)

    @classmethod
    def along_links(cls, problem: SamplingProblem) -> "Coverage":
        """Return coverage with the measured similarities; unlinked pairs have similarity 0."""
        return cls(problem, along_links(problem.conditions))

    @classmethod
    def along_paths(cls, problem: SamplingProblem) -> "Coverage":
        """Return coverage with the similarity of unlinked pairs estimated along paths of two links."""
        return cls(problem, along_paths(problem.conditions))

    @classmethod
    def by_low_rank(cls, problem: SamplingProblem) -> "Coverage":
        """Return coverage with the similarity of unlinked pairs estimated by low-rank completion.

        Raises:
            SamplingError: the network is too large for all its pairs.
        """
        from scipy import sparse  # noqa: PLC0415 — see `solver.network`

        network = problem.conditions
        if len(network) > _MOST_DENSE:
            raise SamplingError(f"coverage of all pairs takes at most {_MOST_DENSE} devices, here are {len(network)}")
        full = low_rank(network, effort=problem.effort).matrix()
        full[network.links.source, network.links.target] = network.links.similarity
        return cls(problem, sparse.csc_array(full))

    def values(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return f of each set."""
        matrix = self._similarity
        value: NDArray[np.float64] = covered_data(
            frozen(sets), frozen(matrix.indptr), frozen(matrix.indices), frozen(matrix.data), self._data
        )
        return value

    def standing(self) -> Standing:
        """Return the empty set; a device is added in O(links into it)."""
        return _CoverageStanding(self._data, self._similarity)


class _CoverageStanding(Standing):
    """A set with max_{i∈𝒮} Λ_ki of each k. Gains of a submodular objective never grow (Minoux 1978)."""

    def __init__(self, data: NDArray[np.float64], similarity: "sparse.csc_array") -> None:
        self._data, self._similarity = data, similarity
        self._members: list[int] = []
        self._covered = np.zeros(len(data))
        # The gain of each device when it was last computed.
        self._last = np.full(len(data), np.inf)

    @property
    def members(self) -> NDArray[np.int64]:
        """The devices of the set."""
        return np.array(self._members, np.int64)

    def value(self) -> float:
        """Return Σ_k D_k max_{i∈𝒮} Λ_ki."""
        return float(self._data @ self._covered)

    def values(self, devices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return f with each device added, in O(links into those devices)."""
        columns = self._similarity[:, devices]
        k, place = columns.indices, np.repeat(np.arange(len(devices)), np.diff(columns.indptr))
        gain = self._data[k] * np.maximum(columns.data - self._covered[k], 0.0)
        self._last[devices] = np.bincount(place, gain, len(devices))
        value: NDArray[np.float64] = self.value() + self._last[devices]
        return value

    def bounds(self, devices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the value and the gain that was last computed."""
        if np.isinf(self._last[devices]).any():
            return self.values(devices)
        value: NDArray[np.float64] = self.value() + self._last[devices]
        return value

    def look(self, devices: NDArray[np.int64]) -> Looked:
        """Find the best of `devices` by the bounds."""
        bounds = self.bounds(devices)
        return Looked(bounds, *lazy_values(bounds, lambda places: self.values(devices[places])))

    def add(self, device: int) -> None:
        """Add a device."""
        self._members.append(device)
        self._cover(device)

    def remove(self, device: int) -> None:
        """Remove a device; what the others cover is computed anew."""
        self._members.remove(device)
        self._covered[:] = 0.0
        self._last[:] = np.inf
        for other in self._members:
            self._cover(other)

    def _cover(self, device: int) -> None:
        column = slice(self._similarity.indptr[device], self._similarity.indptr[device + 1])
        k = self._similarity.indices[column]
        self._covered[k] = np.maximum(self._covered[k], self._similarity.data[column])
