"""Named tuples of arrays that the kernels pass to each other; numba compiles them to plain arguments."""

from typing import NamedTuple

from solver.arrays import BoolArray, FloatArray, IntArray

__all__ = ["Answers", "Packed", "Pairs", "Point", "Presolved", "Reduced", "Step"]


class Step(NamedTuple):
    """One step problem in the letters of the paper (`solver.problem.StepProblem` has the words).

    Sender k's links are offsets[k]:offsets[k + 1], ascending in `receiver`. Link l turns a fraction Φ_l into
    a_l·Φ_l useful datapoints, and ψ_l·Φ_l of the budget B_k is spent on it.
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


class Packed(NamedTuple):
    """Many steps laid end to end.

    Step j has the links links[j]:links[j + 1] of the arrays in `columns`; likewise for senders and receivers. Its
    offsets are columns.offsets[senders[j] + j : senders[j + 1] + j + 1], since each step has one more offset than
    senders, and they count from its first link. The scalars of `columns` are not read: step j has D_hat[j], G[j] and
    gamma[j]. θ and the ceiling on the data held are those of each receiver.
    """

    senders: IntArray
    links: IntArray
    receivers: IntArray
    columns: Step
    D_hat: FloatArray
    G: FloatArray
    gamma: FloatArray
    theta: FloatArray
    ceiling: FloatArray


class Answers(NamedTuple):
    """The answers to `Packed` steps: Φ of each link, R and μ of each receiver.

    Row j of `figures` is (iterations, term a, term b, gap, violation) of step j.
    """

    phi: FloatArray
    R: FloatArray
    mu: FloatArray
    figures: FloatArray


class Presolved(NamedTuple):
    """What presolve found, in the order of the step. `links` maps the links of `Reduced` to those of the step."""

    role: IntArray
    most: FloatArray
    free: FloatArray
    full: BoolArray
    links: IntArray


class Reduced(NamedTuple):
    """What presolve leaves of a step, in the layout that the docstring of `interior_point` explains.

    `room` is what the receivers can take and `base` what they hold, both after the pooled data has come. The tuple has
    only what every iteration reads: a call counts references to each of its arrays.
    """

    groups: IntArray
    receiver: IntArray
    u: FloatArray
    c: FloatArray
    d: FloatArray
    room: FloatArray
    base: FloatArray


class Point(NamedTuple):
    """An iterate of the interior-point method: complementary pairs s·z of links, w·λ of rows and q·μ of receivers.

    w and λ have the shape (2, senders). If a sender has no second row, its second slack stays 1 and its multiplier 0.
    `primal` and `dual` are all of them in one array each, laid out as in `Pairs`.
    """

    primal: FloatArray
    dual: FloatArray
    s: FloatArray
    z: FloatArray
    w: FloatArray
    lam: FloatArray
    q: FloatArray
    mu: FloatArray


class Pairs(NamedTuple):
    """One number for each complementary pair of a `Point`, named after the primal letter of the pair.

    `flat` is all of them in one array: receivers, links, first rows, second rows.
    """

    flat: FloatArray
    s: FloatArray
    w: FloatArray
    q: FloatArray
