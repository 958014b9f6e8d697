"""Data coverage of many sets, Σ_k D_k max_{i∈𝒮} Λ_ki."""

import numpy as np

from sampler.kernels.compile import compiled
from solver.arrays import FloatArray, IntArray

__all__ = ["covered_data"]


@compiled
def covered_data(sets: IntArray, starts: IntArray, row: IntArray, value: FloatArray, data: FloatArray) -> FloatArray:
    """Coverage of each set; column i of Λ has the entries starts[i]:starts[i + 1]."""
    total = np.zeros(sets.shape[0])
    covered = np.zeros(data.size)
    for j in range(sets.shape[0]):
        for i in sets[j]:
            for e in range(starts[i], starts[i + 1]):
                k = row[e]
                if value[e] > covered[k]:
                    total[j] += data[k] * (value[e] - covered[k])
                    covered[k] = value[e]
        for i in sets[j]:
            for e in range(starts[i], starts[i + 1]):
                covered[row[e]] = 0.0
    return total
