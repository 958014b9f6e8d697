"""The fast solver: it solves one step problem, or hundreds at once, in compiled code."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np

from solver.arrays import FloatArray
from solver.kernels.finish import finish, finish_clean
from solver.kernels.interior_point import iterate
from solver.kernels.layout import Packed, Step
from solver.kernels.prepare import prepare
from solver.kernels.starting_point import starting_point
from solver.kernels.step import attempt_full, solve_step, target_gap
from solver.packing import joined, solve_together, starts
from solver.problem import StepProblem, room_for
from solver.reference import MISSING, is_installed, solve_reference
from solver.solution import Status, StepSolution, certified, status_of
from solver.validation import as_number, frozen

__all__ = ["MAX_ITERATIONS", "TOLERANCE", "solve_fast", "solve_many"]

# The relative gap to stop at: a hundred times stricter than what may be called optimal.
TOLERANCE = 1e-8
MAX_ITERATIONS = 200

# Between two looks at the clock the kernel does about this many links × iterations, and at least one iteration.
_LINK_ITERATIONS = 100_000


def solve_fast(problem: StepProblem, *, tolerance: float = TOLERANCE, time_limit: float | None = None) -> StepSolution:
    """Solve the step to the given relative gap, or as far as the time limit (seconds) allows.

    The answer is feasible and carries its certificate. If the certificate falls short of optimality and no time limit
    is given, the reference solver solves the step too, and the better answer is returned with the better bound.
    """
    start = perf_counter()
    tolerance = as_number(tolerance, "tolerance", strict=True)
    if not problem.is_plain:
        # The kernels know neither limits nor prices yet.
        return solve_reference(problem, time_limit=time_limit)
    fractions = np.empty(problem.n_links)
    received = np.empty(problem.n_receivers)
    prices = np.empty(problem.n_receivers)
    if time_limit is not None:
        # The last steps of a plan may start after its time limit: their own limit is zero.
        deadline = start + as_number(max(time_limit, 0.0), "time_limit")
        iterations, in_time = _solve_within(problem.arrays, tolerance, deadline, fractions, received, prices)
        seconds = perf_counter() - start
        return certified(problem, fractions, prices, iterations=iterations, seconds=seconds, out_of_time=not in_time)
    figures = solve_step(
        problem.arrays,
        frozen(problem.receive_capacity),
        frozen(problem.data_ceiling),
        tolerance,
        MAX_ITERATIONS,
        fractions,
        received,
        prices,
    )
    return _checked(problem, fractions, prices, received, figures, perf_counter() - start, tolerance)


def _second_opinion(answer: StepSolution) -> StepSolution:
    """The better of this answer and the reference solver's, certified by the better of their two lower bounds.

    Without CVXPY the answer stays as it is, `feasible` and with its own gap, and a warning names what to install.
    """
    if not is_installed():
        warnings.warn(f"a step could not be certified as optimal; {MISSING}", RuntimeWarning, stacklevel=2)
        return answer
    other = solve_reference(answer.problem)
    better = min(answer, other, key=lambda one: one.objective)
    gap = max(better.objective - max(answer.lower_bound, other.lower_bound), 0.0)
    return replace(better, gap=gap, status=status_of(gap, better.objective, better.max_violation))


def solve_many(problems: Sequence[StepProblem], *, tolerance: float = TOLERANCE) -> list[StepSolution]:
    """Solve many (small) problems in one compiled call: the batched form of `solve_fast`."""
    if not all(problem.is_plain for problem in problems):
        return [solve_fast(problem, tolerance=tolerance) for problem in problems]
    if not problems:
        return []
    start = perf_counter()
    tolerance = as_number(tolerance, "tolerance", strict=True)
    receive = joined([problem.receive_capacity for problem in problems])
    ceiling = joined([problem.data_ceiling for problem in problems])
    data = joined([problem.data for problem in problems])
    columns = Step(
        joined([problem.offsets for problem in problems]),
        joined([problem.receiver for problem in problems]),
        joined([problem.useful for problem in problems]),
        joined([problem.cost for problem in problems]),
        joined([problem.budget for problem in problems]),
        frozen(room_for(receive, ceiling, data)),
        data,
        0.0,
        0.0,
        0.0,
    )
    packed = Packed(
        starts([problem.n_senders for problem in problems]),
        starts([problem.n_links for problem in problems]),
        starts([problem.n_receivers for problem in problems]),
        columns,
        np.array([problem.unsampled_data for problem in problems]),
        np.array([problem.gradient_norm for problem in problems]),
        np.array([problem.gradient_noise for problem in problems]),
        receive,
        ceiling,
    )
    answers = solve_together(packed, tolerance, MAX_ITERATIONS)
    links, receivers = packed.links, packed.receivers
    seconds = (perf_counter() - start) / len(problems)
    return [
        _checked(
            problem,
            answers.phi[links[j] : links[j + 1]],
            answers.mu[receivers[j] : receivers[j + 1]],
            answers.R[receivers[j] : receivers[j + 1]],
            answers.figures[j].tolist(),
            seconds,
            tolerance,
        )
        for j, problem in enumerate(problems)
    ]


def _checked(
    problem: StepProblem,
    fractions: FloatArray,
    prices: FloatArray,
    received: FloatArray,
    figures: Sequence[float],
    seconds: float,
    tolerance: float,
) -> StepSolution:
    """The kernel's answer with its certificate; if that misses both tolerance and optimality, with a second opinion."""
    iterations, sampling, statistical, gap, violation = figures
    status = status_of(gap, sampling + statistical, violation)
    answer = StepSolution(
        problem,
        fractions,
        prices,
        received,
        sampling,
        statistical,
        gap,
        violation,
        status,
        int(iterations),
        seconds,
    )
    satisfied = status is Status.OPTIMAL or gap <= tolerance * answer.objective
    return answer if satisfied else _second_opinion(answer)


def _solve_within(
    step: Step,
    tolerance: float,
    deadline: float,
    phi: FloatArray,
    R: FloatArray,
    mu: FloatArray,
) -> tuple[int, bool]:
    """`solve_step`, looking at the clock every few iterations; returns (iterations, whether it was in time)."""
    mu[:] = 0.0
    found, reduced = prepare(step)
    n_links = reduced.u.size
    s = np.empty(n_links)
    if n_links == 0 or attempt_full(reduced, s):
        finish(step, found, reduced, s, mu, phi, R)
        return 0, True
    point = starting_point(step, reduced)
    s[:] = point.s
    target = target_gap(step, reduced, tolerance)
    portion = max(1, _LINK_ITERATIONS // n_links)
    progress = np.array([np.inf, 0.0])
    done, more = 0, True
    while more and done < MAX_ITERATIONS:
        if perf_counter() >= deadline:
            finish(step, found, reduced, s, mu, phi, R)
            return done, False
        iterations, more = iterate(step, reduced, point, target, portion, progress, s, mu)
        done += iterations
    finish_clean(step, found, reduced, point, s, target, mu, phi, R)
    return done, True
