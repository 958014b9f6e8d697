"""Loops over the complementary pairs of an iterate: s·z of links, w·λ of rows, q·μ of receivers and t·y of limits.

Steps are relative. For a pair x·z, ρ = dx/x, and `own` is the product aimed at over the present one. The linearised
equation x·dz + z·dx = own·x·z − x·z gives dz/z = own − 1 − ρ.

All pairs lie in one flat array (`layout.Pairs`), so that a loop over them is vectorised. Senders without a second row
leave a gap in it, from `missing[0]` to `missing[1]`. There the product and ρ stay 0, and `own` is 1.

Receivers have weights: the product of such a pair is kept divided by its weight, and all of them aim at one target.
"""

from pathlib import Path

import numpy as np

from solver.arrays import FloatArray
from solver.kernels.compile import compiled, compiler
from solver.kernels.layout import Pairs, Point

__all__ = ["affine_target", "aim", "aim_back", "as_pairs", "as_point", "move", "multiply", "step_lengths"]

# Sums, minima and maxima may be taken in any order, and of numbers only: where an iterate has something else, its gap
# is not a number either, which ends the iterations.
_vectorised = compiler(Path(__file__).parent, counted=False, fastmath=frozenset({"contract", "nnan", "nsz", "reassoc"}))

# A step goes this share of the way to the boundary at the most.
_BACK_OFF = 0.995
# The product of a missing row is 0.
_TINY = 1e-200


@compiled
def as_pairs(flat: FloatArray, n_links: int, n_senders: int, n_receivers: int) -> Pairs:
    """Name the parts of a flat array."""
    end = n_receivers + n_links + 2 * n_senders
    rows = flat[n_receivers + n_links : end].reshape(2, n_senders)
    return Pairs(flat, flat[n_receivers : n_receivers + n_links], rows, flat[:n_receivers], flat[end:])


@compiled
def as_point(n_links: int, n_senders: int, n_receivers: int, n_limits: int) -> Point:
    """Room for an iterate, with all numbers zero."""
    block = np.zeros((2, n_receivers + n_links + 2 * n_senders + n_limits))
    primal, s, w, q, t = as_pairs(block[0], n_links, n_senders, n_receivers)
    dual, z, lam, mu, y = as_pairs(block[1], n_links, n_senders, n_receivers)
    return Point(primal, dual, s, z, w, lam, q, mu, t, y)


@_vectorised
def multiply(primal: FloatArray, dual: FloatArray, weight: FloatArray, products: FloatArray) -> float:
    """Write the product of each pair over its weight, and return the sum of the products.

    A second row that is missing adds nothing, since λ = 0.
    """
    total = 0.0
    for l in range(products.size):
        products[l] = primal[l] * dual[l]
        total += products[l]
    for i in range(weight.size):
        products[i] /= weight[i]
    return total


@_vectorised
def affine_target(products: FloatArray, rho: FloatArray, weight: FloatArray, mean: float, n_pairs: float) -> float:
    """Mehrotra's target for the corrector: the mean product, times (predicted mean/mean)³ of the predictor step.

    The predicted mean is that of (x + α dx)(z + α' dz) with dz/z = −(1 + dx/x).
    """
    low = 0.0
    high = 0.0
    for l in range(rho.size):
        low = min(low, rho[l])
        high = max(high, rho[l])
    primal = 1.0 / max(1.0, -low)
    dual = 1.0 / (1.0 + high)
    predicted = 0.0
    for l in range(products.size):
        predicted += products[l] * (1.0 + primal * rho[l]) * (1.0 - dual * (1.0 + rho[l]))
    for i in range(weight.size):
        more = (weight[i] - 1.0) * products[i]
        predicted += more * (1.0 + primal * rho[i]) * (1.0 - dual * (1.0 + rho[i]))
    ratio = predicted / n_pairs / mean
    return mean * ratio * ratio * ratio


@_vectorised
def aim(products: FloatArray, rho: FloatArray, target: float, missing: tuple[int, int], own: FloatArray) -> None:
    """Write (target − dx·dz)/(x·z): the target less the second-order products of the predictor step ρ."""
    for l in range(products.size):
        own[l] = target / max(products[l], _TINY) + rho[l] * (1.0 + rho[l])
    for l in range(missing[0], missing[1]):
        own[l] = 1.0


@_vectorised
def aim_back(
    products: FloatArray,
    rho: FloatArray,
    own: FloatArray,
    primal: float,
    dual: float,
    target: float,
    missing: tuple[int, int],
    out: FloatArray,
) -> None:
    """Write `own` with Gondzio's correction: it moves outlying products of this longer step towards the target."""
    for l in range(products.size):
        trial = products[l] * (1.0 + primal * rho[l]) * (1.0 + dual * (own[l] - 1.0 - rho[l]))
        change = 0.0
        if trial < 0.1 * target:
            change = 0.1 * target - trial
        elif trial > 10.0 * target:
            change = max(10.0 * target - trial, -10.0 * target)
        out[l] = own[l] + change / max(products[l], _TINY)
    for l in range(missing[0], missing[1]):
        out[l] = 1.0


@_vectorised
def step_lengths(rho: FloatArray, own: FloatArray) -> tuple[float, float]:
    """How far the primal and the dual iterate may move and stay strictly inside."""
    primal = 1e-300
    dual = 1e-300
    for l in range(rho.size):
        primal = max(primal, -rho[l])
        dual = max(dual, 1.0 + rho[l] - own[l])
    return min(1.0, _BACK_OFF / primal), min(1.0, _BACK_OFF / dual)


@_vectorised
def move(x: FloatArray, z: FloatArray, rho: FloatArray, own: FloatArray, primal: float, dual: float) -> None:
    """Take a step of these lengths, in place."""
    for l in range(x.size):
        x[l] *= 1.0 + primal * rho[l]
        z[l] *= 1.0 + dual * (own[l] - 1.0 - rho[l])
