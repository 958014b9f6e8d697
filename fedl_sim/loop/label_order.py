"""Which datapoints a sender sends first: of the labels that the receiver lacks."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["scarce_first"]


def scarce_first(labels: NDArray[np.int64], held: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return places of `labels` with the next `count` to send in front, each of the label that is the scarcest then.

    The receiver tells how many datapoints of each label it holds, and the sender counts what it sends. Datapoints of
    one label keep their order, and so do all after the first `count`.

    >>> scarce_first(np.array([0, 0, 1, 1, 1]), np.array([1, 0]), 3).tolist()
    [2, 0, 3, 1, 4]
    """
    tally = held.copy()
    queues = {int(label): np.flatnonzero(labels == label).tolist()[::-1] for label in np.unique(labels)}
    front: list[int] = []
    for _ in range(min(count, len(labels))):
        label = min((one for one, queue in queues.items() if queue), key=lambda one: (tally[one], one))
        front.append(queues[label].pop())
        tally[label] += 1
    rest = np.setdiff1d(np.arange(len(labels)), front)
    return np.concatenate([np.array(front, np.int64), rest])
