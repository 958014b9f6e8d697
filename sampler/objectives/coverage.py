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
from sampler.objectives.similarity import along_links, along_paths, low_rank
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
        self._data = problem.schedule.network.devices.data
        # One integer type for all: numba would compile the kernel anew for each.
        self._similarity = similarity
        self._similarity.indptr = similarity.indptr.astype(np.int64)
        self._similarity.indices = similarity.indices.astype(np.int64)

    @classmethod
    def along_links(cls, problem: SamplingProblem) -> "Coverage":
        """Return coverage with the measured similarities; unlinked pairs have similarity 0."""
        return cls(problem, along_links(problem.schedule.network))

    @classmethod
    def along_paths(cls, problem: SamplingProblem) -> "Coverage":
        """Return coverage with the similarity of unlinked pairs estimated along paths of two links."""
        return cls(problem, along_paths(problem.schedule.network))

    @classmethod
    def by_low_rank(cls, problem: SamplingProblem) -> "Coverage":
        """Return coverage with the similarity of unlinked pairs estimated by low-rank completion.

        Raises:
            SamplingError: the network is too large for all its pairs.
        """
        from scipy import sparse  # noqa: PLC0415 — see `solver.network`

        network = problem.schedule.network
        if len(network) > _MOST_DENSE:
            raise SamplingError(f"coverage of all pairs takes at most {_MOST_DENSE} devices, here are {len(network)}")
        full = low_rank(network).matrix()
        full[network.links.source, network.links.target] = network.links.similarity
        return cls(problem, sparse.csc_array(full))

    def values(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return f of each set."""
        matrix = self._similarity
        value: NDArray[np.float64] = covered_data(
            frozen(sets), frozen(matrix.indptr), frozen(matrix.indices), frozen(matrix.data), self._data
        )
        return value

    def extended(self, sampled: NDArray[np.int64], devices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return f of `sampled` with each of `devices` added, in O(links into those devices)."""
        covered = self._covered(sampled)
        columns = self._similarity[:, devices]
        k, place = columns.indices, np.repeat(np.arange(len(devices)), np.diff(columns.indptr))
        gain = self._data[k] * np.maximum(columns.data - covered[k], 0.0)
        value: NDArray[np.float64] = self._data @ covered + np.bincount(place, gain, len(devices))
        return value

    def _covered(self, sampled: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return max_{i∈𝒮} Λ_ki of each k."""
        columns = self._similarity[:, sampled]
        covered = np.zeros(len(self._data))
        np.maximum.at(covered, columns.indices, columns.data)
        return covered
