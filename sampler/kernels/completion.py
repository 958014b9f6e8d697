"""Alternating least squares for a symmetric matrix with few known entries (see `sampler.objectives.similarity`)."""

import numpy as np

from sampler.kernels.compile import compiled
from solver.arrays import FloatArray, IntArray
from solver.kernels.clock import is_over
from solver.kernels.layout import Effort

__all__ = ["refine"]

# Rows between two looks at the clock.
_AT_ONCE = 256


@compiled
def refine(
    U: FloatArray, incoming: IntArray, source: IntArray, y: FloatArray, ridge: float, rounds: int, effort: Effort
) -> None:
    """Fit y_ki ≈ u_k·u_i over the links, row by row: u_i ← (Σ_k u_k u_kᵀ + ridge·I)⁻¹ Σ_k y_ki u_k.

    Each row uses the rows that were already updated (Gauss–Seidel), so that the symmetric problem converges. The r×r
    systems are solved by Cholesky's method in place. If time is over, the rows stay as they are.
    """
    n, r = U.shape
    A = np.empty((r, r))
    x = np.empty(r)
    for _ in range(rounds):
        for i in range(n):
            if i % _AT_ONCE == 0 and is_over(effort):
                return
            A[:, :] = 0.0
            x[:] = 0.0
            for l in range(incoming[i], incoming[i + 1]):
                k = source[l]
                for a in range(r):
                    x[a] += y[l] * U[k, a]
                    for b in range(a + 1):
                        A[a, b] += U[k, a] * U[k, b]
            for a in range(r):
                A[a, a] += ridge
            for a in range(r):
                for b in range(a + 1):
                    s = A[a, b]
                    for c in range(b):
                        s -= A[a, c] * A[b, c]
                    A[a, b] = np.sqrt(s) if a == b else s / A[b, b]
            for a in range(r):
                for c in range(a):
                    x[a] -= A[a, c] * x[c]
                x[a] /= A[a, a]
            for back in range(r):
                a = r - 1 - back
                for c in range(a + 1, r):
                    x[a] -= A[c, a] * x[c]
                x[a] /= A[a, a]
            for a in range(r):
                U[i, a] = x[a]
