"""Loops over the complementary pairs of an iterate: s·z of links, w·λ of rows and q·μ of receivers.

Steps are relative. For a pair x·z, ρ = dx/x, and `own` is the product aimed at over the present one. The linearised
equation x·dz + z·dx = own·x·z − x·z gives dz/z = own − 1 − ρ.

The inner loops run over one flat array and avoid divisions, so that they are vectorised. `two_from` is the first
sender with a second row.
"""

import numpy as np

from solver.arrays import FloatArray
from solver.kernels.compile import compiled
from solver.kernels.layout import Pairs, Point

__all__ = ["affine_target", "aim", "aim_at_zero", "aim_back", "move", "multiply", "new_pairs", "step_lengths"]

# A step goes this share of the way to the boundary at the most.
_BACK_OFF = 0.995


@compiled
def new_pairs(n_links: int, n_senders: int, n_receivers: int) -> Pairs:
    """Room for one number per pair; the rows are zero, also the second rows that some senders do not have."""
    return Pairs(np.empty(n_links), np.zeros((2, n_senders)), np.empty(n_receivers))


@compiled
def aim_at_zero(own: Pairs) -> None:
    """Aim at zero products, as the predictor does."""
    own.s[:] = 0.0
    own.w[:] = 0.0
    own.q[:] = 0.0


@compiled
def multiply(point: Point, products: Pairs) -> float:
    """Write the product of each pair and return their sum."""
    s, z, w, lam, q, mu = point
    for l in range(s.size):
        products.s[l] = s[l] * z[l]
    for r in range(2):
        for k in range(w.shape[1]):
            products.w[r, k] = w[r, k] * lam[r, k]
    for i in range(q.size):
        products.q[i] = q[i] * mu[i]
    total: float = products.s.sum() + products.w.sum() + products.q.sum()
    return total


@compiled
def _extremes(x: FloatArray, low: float, high: float) -> tuple[float, float]:
    """The smallest of `low` and the entries, the largest of `high` and the entries."""
    for l in range(x.size):
        low = min(low, x[l])
        high = max(high, x[l])
    return low, high


@compiled
def _predicted_sum(product: FloatArray, rho: FloatArray, primal: float, dual: float) -> float:
    """Σ (x + α dx)(z + α' dz) for predictor steps, where dz/z = −(1 + dx/x)."""
    total = 0.0
    for l in range(product.size):
        total += product[l] * (1.0 + primal * rho[l]) * (1.0 - dual * (1.0 + rho[l]))
    return total


@compiled
def affine_target(products: Pairs, rho: Pairs, mean: float, n_pairs: int) -> float:
    """Mehrotra's target for the corrector: the mean product, times (predicted mean/mean)³ of the predictor step."""
    low, high = _extremes(rho.s, 0.0, 0.0)
    low, high = _extremes(rho.w[0], low, high)
    low, high = _extremes(rho.w[1], low, high)
    low, high = _extremes(rho.q, low, high)
    primal = 1.0 / max(1.0, -low)
    dual = 1.0 / (1.0 + high)
    predicted = (
        _predicted_sum(products.s, rho.s, primal, dual)
        + _predicted_sum(products.w[0], rho.w[0], primal, dual)
        + _predicted_sum(products.w[1], rho.w[1], primal, dual)
        + _predicted_sum(products.q, rho.q, primal, dual)
    )
    ratio = predicted / n_pairs / mean
    return mean * ratio * ratio * ratio


@compiled
def _aim(product: FloatArray, rho: FloatArray, target: float, out: FloatArray) -> None:
    for l in range(product.size):
        out[l] = target / product[l] + rho[l] * (1.0 + rho[l])


@compiled
def aim(products: Pairs, rho: Pairs, target: float, two_from: int, own: Pairs) -> None:
    """Write (target − dx·dz)/(x·z): the target less the second-order products of the predictor step ρ."""
    own.w[1, :two_from] = 1.0
    _aim(products.s, rho.s, target, own.s)
    _aim(products.w[0], rho.w[0], target, own.w[0])
    _aim(products.w[1, two_from:], rho.w[1, two_from:], target, own.w[1, two_from:])
    _aim(products.q, rho.q, target, own.q)


@compiled
def _aim_back(
    product: FloatArray,
    rho: FloatArray,
    own: FloatArray,
    primal: float,
    dual: float,
    target: float,
    out: FloatArray,
) -> None:
    for l in range(product.size):
        trial = product[l] * (1.0 + primal * rho[l]) * (1.0 + dual * (own[l] - 1.0 - rho[l]))
        if trial < 0.1 * target:
            out[l] = own[l] + (0.1 * target - trial) / product[l]
        elif trial > 10.0 * target:
            out[l] = own[l] + max(10.0 * target - trial, -10.0 * target) / product[l]
        else:
            out[l] = own[l]


@compiled
def aim_back(
    products: Pairs, rho: Pairs, own: Pairs, primal: float, dual: float, target: float, two_from: int, out: Pairs
) -> None:
    """Write `own` with Gondzio's correction: it moves outlying products of this longer step towards the target."""
    two = slice(two_from, own.w.shape[1])
    out.w[1, :two_from] = 1.0
    _aim_back(products.s, rho.s, own.s, primal, dual, target, out.s)
    _aim_back(products.w[0], rho.w[0], own.w[0], primal, dual, target, out.w[0])
    _aim_back(products.w[1, two], rho.w[1, two], own.w[1, two], primal, dual, target, out.w[1, two])
    _aim_back(products.q, rho.q, own.q, primal, dual, target, out.q)


@compiled
def _longest(rho: FloatArray, own: FloatArray, primal: float, dual: float) -> tuple[float, float]:
    """The largest of `primal` and −dx/x, and of `dual` and −dz/z."""
    for l in range(rho.size):
        primal = max(primal, -rho[l])
        dual = max(dual, 1.0 + rho[l] - own[l])
    return primal, dual


@compiled
def step_lengths(rho: Pairs, own: Pairs) -> tuple[float, float]:
    """How far the primal and the dual iterate may move and stay strictly inside."""
    primal, dual = _longest(rho.s, own.s, 1e-300, 1e-300)
    primal, dual = _longest(rho.w[0], own.w[0], primal, dual)
    primal, dual = _longest(rho.w[1], own.w[1], primal, dual)
    primal, dual = _longest(rho.q, own.q, primal, dual)
    return min(1.0, _BACK_OFF / primal), min(1.0, _BACK_OFF / dual)


@compiled
def _move(x: FloatArray, z: FloatArray, rho: FloatArray, own: FloatArray, primal: float, dual: float) -> None:
    for l in range(x.size):
        x[l] *= 1.0 + primal * rho[l]
        z[l] *= 1.0 + dual * (own[l] - 1.0 - rho[l])


@compiled
def move(point: Point, rho: Pairs, own: Pairs, primal: float, dual: float) -> None:
    """Take a step of these lengths, in place."""
    s, z, w, lam, q, mu = point
    _move(s, z, rho.s, own.s, primal, dual)
    _move(w[0], lam[0], rho.w[0], own.w[0], primal, dual)
    _move(w[1], lam[1], rho.w[1], own.w[1], primal, dual)
    _move(q, mu, rho.q, own.q, primal, dual)
