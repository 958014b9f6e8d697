"""Theorem 1, measured: the gap between sampled FedL and centralised learning, and the paper's bound on it.

The theory's own setting: convex loss, full-batch gradient descent (eq. 2), D_i(t) given for every step.
In each period v_k starts at w_S((k−1)τ) and descends on all data. Then for t in the period (eq. 20)

    ‖w_S(t) − v_k(t)‖ ≤ 1/β · Σ_y δ_S(y)·(2^(y−1−(k−1)τ) − 1) + ‖ζ(w_S(y−1))‖,  y = (k−1)τ+1 … t.

ζ and δ_i are measured along the run, and ζ(w_S(y−1)) is taken with the data of step y, as the proof's first line does.
As printed, δ_i(y) may be the deviation of Def. 2 at w_S(y) itself, the least that the definition allows. Then the
theorem is false. It holds with the supremum of δ_S over the steps of the period up to y (`solver.bound` says why).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fedl_sim.data.images import Images
from fedl_sim.engines.base import Indices

__all__ = ["GapAndBound", "measure_theorem_1", "softmax_smoothness"]

Vector = NDArray[np.float64]
Gradient = Callable[[Vector, Indices], Vector]


@dataclass(frozen=True)
class GapAndBound:
    """‖w_S(t) − v_k(t)‖ and Theorem 1's right-hand side, at every step t = 1..T.

    `bound` has the supremum of δ_S over the period, `printed` δ_S(y) at w_S(y) alone.
    """

    gap: Vector
    bound: Vector
    printed: Vector


def softmax_smoothness(images: Images, indices: Indices) -> float:
    """Return β for softmax regression on these datapoints.

    The Hessian of one datapoint is (diag(s) − s sᵀ) ⊗ x̃ x̃ᵀ with x̃ = (x, 1), and the first factor's largest
    eigenvalue is at most 1/2; so β = max ‖x̃‖²/2 serves F on every subset of the data.
    """
    x = images.features(indices, np.float64)
    return float((np.einsum("ij,ij->i", x, x) + 1).max() / 2)


def measure_theorem_1(
    gradient: Gradient,
    parameters: Vector,
    sampled_data: Sequence[Sequence[Indices]],
    unsampled_data: Sequence[Indices],
    *,
    learning_rate: float,
    smoothness: float,
    aggregation_period: int,
) -> GapAndBound:
    """Run sampled FedL and centralised learning side by side.

    Args:
        gradient: ∇F(w|D) of a convex loss, in float64.
        parameters: w_S(0).
        sampled_data: D_i(t) of each sampled device, outer index t = 1..T.
        unsampled_data: D_i of each other device, constant.
        learning_rate: η ≤ 1/β.
        smoothness: β.
        aggregation_period: τ.
    """
    if not 0 < learning_rate <= 1 / smoothness:
        raise ValueError("Theorem 1 assumes 0 < η ≤ 1/β")
    rest = np.concatenate(unsampled_data) if unsampled_data else np.zeros(0, np.int64)
    rows: list[tuple[float, float, float]] = []
    w = parameters.astype(np.float64)
    local, v, weights = [w] * len(sampled_data[0]), w, np.zeros(len(sampled_data[0]))
    bound = printed = highest = 0.0
    for t, data in enumerate(sampled_data, start=1):
        into_period = (t - 1) % aggregation_period
        if into_period == 0:
            local, v, weights = [w] * len(data), w, np.zeros(len(data))
            bound = printed = highest = 0.0
        everything = np.concatenate([*data, rest])
        zeta, before = _deviations(gradient, w, data, everything)

        v = v - learning_rate * gradient(v, everything)
        local = [w_i - learning_rate * gradient(w_i, d) for w_i, d in zip(local, data, strict=True)]
        weights = weights + np.array([len(d) for d in data], np.float64)
        w = np.tensordot(weights / weights.sum(), np.stack(local), 1)

        _, after = _deviations(gradient, w, data, everything)
        highest = max(highest, before, after)
        growth = 2.0**into_period - 1
        bound += (zeta + highest * growth) / smoothness
        printed += (zeta + after * growth) / smoothness
        rows.append((float(np.linalg.norm(w - v)), bound, printed))
    gap, bounds, as_printed = np.array(rows).T
    return GapAndBound(gap, bounds, as_printed)


def _deviations(gradient: Gradient, w: Vector, data: Sequence[Indices], everything: Indices) -> tuple[float, float]:
    """Return ‖ζ(w)‖ (Def. 1), and δ_S of the ‖∇F(w|D_i) − ∇F(w|D_N) − ζ(w)‖ (Def. 2), eq. (21)."""
    own = np.stack([gradient(w, d) for d in data])
    sizes = np.array([len(d) for d in data], np.float64)
    sampled = sizes @ own / sizes.sum()
    zeta = sampled - gradient(w, everything)
    return float(np.linalg.norm(zeta)), float(sizes @ np.linalg.norm(own - sampled, axis=1) / sizes.sum())
