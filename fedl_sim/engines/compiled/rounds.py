"""A whole small FedL run in one call: an epoch of 25 datapoints takes less time than a call from Python."""

import numpy as np

from fedl_sim.engines.compiled.feedforward import feedforward_epoch
from fedl_sim.engines.compiled.options import kernel

__all__ = ["feedforward_rounds"]


@kernel
def feedforward_rounds(  # type: ignore[no-untyped-def]
    parameters, dims, pixels, scale, shift, labels, indices, slots, held, priority, period, batch_size, learning_rate
):
    """Return w after every aggregation period (eqs. 2 and 3).

    Args:
        parameters: w(0).
        dims: the model's layers, as `feedforward_epoch` takes them.
        pixels: of the training split.
        scale: with `shift`, what makes features of pixels.
        shift: see `scale`.
        labels: of the training split.
        indices: row of the training split behind each slot.
        slots: (S, ·) the slots a device comes to hold, in order of arrival.
        held: (T, S) how many of them it holds at each step.
        priority: (T, slots) a step goes through its datapoints in ascending order of this.
        period: τ.
        batch_size: datapoints of a mini-batch.
        learning_rate: η.
    """
    w = parameters.copy()
    for first in range(0, held.shape[0], period):
        last = min(first + period, held.shape[0])
        total = held[first:last].sum()
        mean = np.zeros(w.size, np.float64)
        for s in range(held.shape[1]):
            local = w
            for t in range(first, last):
                mine = slots[s, : held[t, s]]
                order = indices[mine[np.argsort(priority[t][mine])]]
                local = feedforward_epoch(local, dims, pixels, scale, shift, labels, order, batch_size, learning_rate)
            share = held[first:last, s].sum() / total
            for j in range(mean.size):
                mean[j] += share * local[j]
        for j in range(mean.size):
            w[j] = mean[j]
    return w
