"""All steps of a horizon as one problem, over the pairs of devices that have a link in any of them.

`solver.whole.horizon_bound` states the problem. Steps under the same conditions form a segment.
"""

from typing import NamedTuple

from solver.arrays import FloatArray, IntArray

__all__ = ["Joint"]


class Joint(NamedTuple):
    """A whole horizon of T steps in G segments, with P pairs of K senders and S receivers.

    Sender k's pairs are offsets[k]:offsets[k + 1]. `limit` is u of each pair, `segment` the segment of each step. In
    each segment, a is D_k(1 − λ_ki) of each pair (0 where its link is absent), ψ its cost, B each sender's budget,
    θ what a receiver takes in a step, and `room` what it may take from the horizon's start to the segment's end.
    Weights add `price` times a pair's share, and `hold` times the data that a receiver holds, to the objective of
    each step.
    """

    offsets: IntArray
    receiver: IntArray
    limit: FloatArray
    segment: IntArray
    a: FloatArray
    psi: FloatArray
    B: FloatArray
    theta: FloatArray
    room: FloatArray
    price: FloatArray
    hold: FloatArray
