"""Loops over complementary pairs x·z: flat, without divisions where they can be avoided, so that they are vectorised.

Steps are relative, ρ = dx/x. From x·dz + z·dx = own·x·z − x·z the other one follows: dz/z = own − 1 − ρ.
"""

from solver.arrays import FloatArray
from solver.kernels.compile import compiled

__all__ = ["aim", "aim_back", "extremes", "longest", "move", "predicted_sum"]


@compiled
def extremes(x: FloatArray, low: float, high: float) -> tuple[float, float]:
    """The smallest of `low` and the entries, the largest of `high` and the entries."""
    for l in range(x.size):
        low = min(low, x[l])
        high = max(high, x[l])
    return low, high


@compiled
def predicted_sum(product: FloatArray, rho: FloatArray, primal: float, dual: float) -> float:
    """Σ (x + α dx)(z + α' dz) for predictor steps, where dz/z = −(1 + dx/x)."""
    total = 0.0
    for l in range(product.size):
        total += product[l] * (1.0 + primal * rho[l]) * (1.0 - dual * (1.0 + rho[l]))
    return total


@compiled
def aim(product: FloatArray, rho: FloatArray, target: float, out: FloatArray) -> None:
    """Write the products to aim at, relative to the present ones: (target − dx·dz)/(x·z) of the predictor."""
    for l in range(product.size):
        out[l] = target / product[l] + rho[l] * (1.0 + rho[l])


@compiled
def aim_back(
    product: FloatArray,
    rho: FloatArray,
    own: FloatArray,
    primal: float,
    dual: float,
    target: float,
    out: FloatArray,
) -> None:
    """Add to `own` what would bring the outlying products of a longer step back towards the target."""
    for l in range(product.size):
        trial = product[l] * (1.0 + primal * rho[l]) * (1.0 + dual * (own[l] - 1.0 - rho[l]))
        if trial < 0.1 * target:
            out[l] = own[l] + (0.1 * target - trial) / product[l]
        elif trial > 10.0 * target:
            out[l] = own[l] + max(10.0 * target - trial, -10.0 * target) / product[l]
        else:
            out[l] = own[l]


@compiled
def longest(rho: FloatArray, own: FloatArray, primal: float, dual: float) -> tuple[float, float]:
    """The largest −dx/x and −dz/z, where dz/z = own − 1 − dx/x."""
    for l in range(rho.size):
        primal = max(primal, -rho[l])
        dual = max(dual, 1.0 + rho[l] - own[l])
    return primal, dual


@compiled
def move(x: FloatArray, z: FloatArray, rho: FloatArray, own: FloatArray, primal: float, dual: float) -> None:
    """Take the step, in place."""
    for l in range(x.size):
        x[l] *= 1.0 + primal * rho[l]
        z[l] *= 1.0 + dual * (own[l] - 1.0 - rho[l])
