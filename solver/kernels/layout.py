"""The arrays a step is handed around in; numba compiles named tuples to plain arguments."""

from typing import NamedTuple

from solver.arrays import BoolArray, FloatArray, IntArray

__all__ = ["Reduced", "Step"]


class Step(NamedTuple):
    """One step problem, in the letters of the paper (`solver.problem.StepProblem` has the words).

    Sender k's links are offsets[k]:offsets[k + 1], ascending in `receiver`. Link l turns a fraction Φ_l into
    a_l·Φ_l useful datapoints at a cost of ψ_l·Φ_l out of B_k.
    """

    offsets: IntArray
    receiver: IntArray
    a: FloatArray
    psi: FloatArray
    B: FloatArray
    cap: FloatArray
    data: FloatArray
    D_hat: float
    G: float
    gamma: float


class Reduced(NamedTuple):
    """What presolve leaves of a step, laid out for `interior_point` (its docstring explains the layout).

    `role`, `most`, `free` and `full` are presolve's findings in the original order; `links` maps reduced links
    to original ones; `room` and `base` are the receivers' caps and data beyond what is pooled.
    """

    role: IntArray
    most: FloatArray
    free: FloatArray
    full: BoolArray
    links: IntArray
    groups: IntArray
    receiver: IntArray
    u: FloatArray
    c: FloatArray
    d: FloatArray
    room: FloatArray
    base: FloatArray
