"""Steps laid end to end, for the kernel that solves many of them in one call."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.kernels.layout import Answers, Packed
from solver.kernels.step import solve_packed
from solver.validation import frozen

__all__ = ["joined", "solve_together", "starts"]

Column = TypeVar("Column", FloatArray, IntArray)


def joined(columns: Sequence[Column]) -> Column:
    """The columns of all steps as one array; read-only, since numba would compile each mixture anew."""
    return frozen(np.concatenate(columns))


def starts(sizes: Sequence[int]) -> IntArray:
    """Where each step's part begins, and where the last one ends."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)))


def solve_together(packed: Packed, tolerance: float, max_iterations: int) -> Answers:
    """Solve the steps in one compiled call."""
    n_links, n_receivers = packed.links[-1], packed.receivers[-1]
    answers = Answers(np.empty(n_links), np.empty(n_receivers), np.empty(n_receivers), np.empty((packed.G.size, 5)))
    solve_packed(packed, tolerance, max_iterations, answers)
    return answers
