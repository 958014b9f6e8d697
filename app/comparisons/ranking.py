"""Which of several rows are better: ranks with ties, and the rows that no other row beats."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["ranks", "undominated"]


def ranks(values: Sequence[float], widths: Sequence[float]) -> NDArray[np.int64]:
    """The rank of each value, 1 for the smallest; values that are not told apart have the same rank.

    Two values are tied if they differ by no more than the larger of their widths. A run of ties counts from its
    smallest value, so that a long chain of small differences does not make one tie of everything.
    """
    order = np.argsort(values, kind="stable")
    found = np.zeros(len(values), np.int64)
    first = -1
    for place, row in enumerate(order.tolist()):
        tied = first >= 0 and values[row] - values[first] <= max(widths[row], widths[first])
        if not tied:
            first, rank = row, place + 1
        found[row] = rank
    return found


def undominated(costs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The rows, (rows, measures), that no other row beats.

    A row beats another if it is nowhere worse and somewhere better. Costs are ranks, so that ties count as equal.
    """
    no_worse = np.ones((len(costs), len(costs)), np.bool_)
    better = np.zeros_like(no_worse)
    for column in costs.T:
        no_worse &= column[:, None] <= column
        better |= column[:, None] < column
    beaten: NDArray[np.bool_] = np.logical_or.reduce(no_worse & better, axis=0)
    return ~beaten
