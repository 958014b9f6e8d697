"""The certificate of a step whose links have limits or prices: it extends that of `solver.kernels.certificate`.

With prices the objective is F(y) = f(R) + Σ_l price_l·y_l. f is convex, so for every feasible y

    F(y) ≥ f(R̂) + gᵀ(R − R̂) + priceᵀy,    g = ∇f(R̂),

and with prices μ ≥ 0 of the receivers' caps the minimum of the right side separates by sender. With v = (−g − μ)₊
sender k earns w_l = v_l·a_l − price_l over link l, and at most e_k in all (`solver.kernels.knapsack`). Then
f(R̂) − gᵀR̂ − μᵀcap − Σ_k e_k is a lower bound for every choice of μ ≥ 0.
"""

import numpy as np

from solver.arrays import FloatArray
from solver.kernels.knapsack import all_earnings
from solver.kernels.objective import gradient
from solver.problem import StepProblem
from solver.validation import frozen

__all__ = ["limit_violation", "priced_gap"]


def priced_gap(problem: StepProblem, fractions: FloatArray, receiver_prices: FloatArray, received: FloatArray) -> float:
    """How far F(ŷ) can lie above the optimum: gᵀR̂ + priceᵀŷ + μᵀcap + Σ_k e_k."""
    g = np.empty(problem.n_receivers)
    gradient(problem.data + received, problem.unsampled_data, problem.gradient_norm, problem.gradient_noise, g)
    # A price above −g_i does not lower v_i any more and costs μ_i·cap_i, so it is never better.
    mu = np.minimum(np.maximum(receiver_prices, 0.0), -g)
    earned = (-g - mu)[problem.receiver] * problem.useful - problem.link_price
    step = problem.arrays
    earnings = all_earnings(step.offsets, frozen(earned), step.psi, step.B, frozen(problem.link_limit))
    return float(g @ received + problem.link_price @ fractions + mu @ problem.capacity + earnings)


def limit_violation(problem: StepProblem, fractions: FloatArray) -> float:
    """The worst breach of y ≤ limit, as a share of the sender's data."""
    return float(np.max(fractions - problem.link_limit, initial=0.0))
