"""Named tuples of arrays that the kernels pass to each other; numba compiles them to plain arguments."""

from typing import NamedTuple

from solver.arrays import BoolArray, ByteArray, FloatArray, IndexArray, IntArray

__all__ = ["Answer", "Course", "Effort", "Moving", "Packed", "Pairs", "Point", "Presolved", "Reduced", "Step"]


class Step(NamedTuple):
    """One step problem in the letters of the paper (`solver.step.problem.StepProblem` has the words).

    Sender k's links are offsets[k]:offsets[k + 1], ascending in `receiver`. Link l turns a fraction Φ_l into
    a_l·Φ_l useful datapoints, and ψ_l·Φ_l of the budget B_k is spent on it. `limit` and `price` have an upper bound
    on Φ_l and what Φ_l = 1 adds to the objective; each is empty if the step has none. `load` is D_k of each link, what
    Φ_l = 1 sends; it is empty if any optimal plan will do.
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
    limit: FloatArray
    price: FloatArray
    load: FloatArray


class Effort(NamedTuple):
    """How far to iterate: to this relative gap, for so many iterations, and until the deadline or a flag ends it.

    A horizon stops at a step with a larger gap than `proof`, so that another solver can be asked (∞: it never stops).
    `deadline` is a time of `kernels.clock` (∞: none). If `cancel[0]` is not zero any more, the iterations end as at the
    deadline. Another thread may set it, since the kernels run without the interpreter's lock.
    """

    tolerance: float
    max_iterations: int
    proof: float
    deadline: float
    cancel: ByteArray


class Packed(NamedTuple):
    """Horizons of T steps each, laid end to end.

    Horizon j has the links links[j]:links[j + 1] of the arrays in `columns`; likewise for senders and receivers. Its
    offsets are columns.offsets[senders[j] + j : senders[j + 1] + j + 1], since each horizon has one more offset than
    senders, and they count from its first link. The scalars of `columns` are not read: horizon j has D_hat[j],
    gamma[j], and G[t, j] in step t. θ and the ceiling on the data held are those of each receiver, `fresh` has
    D_k(1 − λ_ki) of each link. `sending` and `holding` are what a fraction of 1 over a link and a useful datapoint at a
    receiver cost in the objective; both are empty if nothing costs anything. If `once`, nothing is sent twice.

    `columns` and `highest` show the next step: some of their arrays are read-only views of `Moving`.
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
    highest: FloatArray
    fresh: FloatArray
    sending: FloatArray
    holding: FloatArray
    once: bool


class Moving(NamedTuple):
    """What changes from step to step: a, the cap, the data held, the ceiling raised to it, the share not sent yet.

    So does the price of a link, if there are prices, since receivers pay for useful datapoints.
    """

    a: FloatArray
    cap: FloatArray
    data: FloatArray
    highest: FloatArray
    unsent: FloatArray
    price: FloatArray


class Answer(NamedTuple):
    """The answer to one step: Φ of each link, R and μ of each receiver.

    `figures` are (iterations, term a, term b, prices paid, gap, violation, whether it was in time).
    """

    phi: FloatArray
    R: FloatArray
    mu: FloatArray
    figures: FloatArray


class Course(NamedTuple):
    """The answers to `Packed` horizons, step by step.

    Each array has one row a step. Those of `steps` are Φ of each link, R and μ of each receiver, and the figures of
    each horizon; `useful` and `held` are Φ·a of each link and the data each receiver holds afterwards.
    """

    steps: Answer
    useful: FloatArray
    held: FloatArray


class Presolved(NamedTuple):
    """What presolve found, in the order of the step. `links` maps the links of `Reduced` to those of the step."""

    role: IntArray
    most: FloatArray
    free: FloatArray
    full: BoolArray
    links: IntArray


class Reduced(NamedTuple):
    """What presolve leaves of a step, in the layout that the docstring of `interior_point` explains.

    `room` is what the receivers can take and `base` what they hold, both after the pooled data has come. `pi` is the
    price of s_l = 1 (empty: no prices), `top` the most that s_l may be (empty: no limits), and `weight` the weight of
    each receiver in the barrier.
    """

    groups: IndexArray
    receiver: IndexArray
    u: FloatArray
    c: FloatArray
    d: FloatArray
    room: FloatArray
    base: FloatArray
    pi: FloatArray
    top: FloatArray
    weight: FloatArray


class Point(NamedTuple):
    """An iterate of the interior-point method: complementary pairs s·z of links, w·λ of rows and q·μ of receivers.

    w and λ have the shape (2, senders). If a sender has no second row, its second slack stays 1 and its multiplier 0.
    t = top − s and its multiplier y are empty if the links have no limits.
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
    t: FloatArray
    y: FloatArray


class Pairs(NamedTuple):
    """One number for each complementary pair of a `Point`, named after the primal letter of the pair.

    `flat` is all of them in one array: receivers, links, first rows, second rows, limits.
    """

    flat: FloatArray
    s: FloatArray
    w: FloatArray
    q: FloatArray
    t: FloatArray
