"""The step objective and its derivatives, eq. (26) for one t and a fixed sampled set.

f(R) = G · D_Ŝ / (D_Ŝ + Σ_i x_i) + (γ/S) Σ_i x_i^(−1/2),   x_i = D_i + R_i,   G = ‖∇F̄(t)‖.

The Hessian is diagonal plus rank one, ∇²f = diag(h) + e·11ᵀ. The interior-point step relies on that.
"""

import math

from solver.arrays import FloatArray
from solver.kernels.compile import lean

__all__ = ["curvature", "gradient", "terms"]


@lean
def terms(x: FloatArray, D_hat: float, G: float, gamma: float) -> tuple[float, float]:
    """Terms (a) and (b) of eq. (26) at the data x_i held by the sampled devices."""
    total = D_hat
    roots = 0.0
    for i in range(x.size):
        total += x[i]
        roots += 1.0 / math.sqrt(x[i])
    sampling = G * (D_hat / total) if D_hat > 0.0 else 0.0
    return sampling, gamma / x.size * roots


@lean
def gradient(x: FloatArray, D_hat: float, G: float, gamma: float, g: FloatArray) -> None:
    """Write ∂f/∂R_i = −G·D_Ŝ/(ΣD)² − (γ/2S)·x_i^(−3/2) into g."""
    total = D_hat
    for i in range(x.size):
        total += x[i]
    common = G * (D_hat / total) / total if D_hat > 0.0 else 0.0
    for i in range(x.size):
        g[i] = -common - 0.5 * gamma / x.size / (x[i] * math.sqrt(x[i]))


@lean
def curvature(x: FloatArray, D_hat: float, G: float, gamma: float, h: FloatArray) -> float:
    """Write the Hessian's diagonal part into h and return the weight e of its rank-one part."""
    total = D_hat
    for i in range(x.size):
        total += x[i]
        h[i] = 0.75 * gamma / x.size / (x[i] * x[i] * math.sqrt(x[i]))
    return 2.0 * G * (D_hat / total) / total / total if D_hat > 0.0 else 0.0
