"""The fast solver: it solves one step problem, or hundreds at once, in compiled code."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from solver.arrays import ByteArray, IntArray
from solver.horizon.packing import Part, answer_at, new_course, pack, problem_at
from solver.kernels.clock import deadline_in
from solver.kernels.horizon import carry, solve_packed
from solver.kernels.layout import Answer, Course, Effort, Moving, Packed
from solver.kernels.step import solve_alone
from solver.step.problem import NO_LINKS, StepProblem
from solver.step.reference import MISSING, is_installed, solve_reference
from solver.step.solution import OPTIMALITY_GAP, Status, StepSolution, proven_gap, status_of
from solver.validation import as_number, frozen

__all__ = ["MAX_ITERATIONS", "TOLERANCE", "effort_for", "solve_fast", "solve_horizons", "solve_many", "time_left"]

# The relative gap to stop at: a hundred times stricter than what may be called optimal.
TOLERANCE = 1e-8
MAX_ITERATIONS = 200

_NEVER = np.zeros(1, np.uint8)


def effort_for(tolerance: float, time_limit: float | None = None, cancel: ByteArray | None = None) -> Effort:
    """How far the kernels iterate: to this relative gap, for so many seconds, until another thread sets cancel[0]."""
    # The last steps of a plan may start after its time limit: then they get no time.
    seconds = None if time_limit is None else as_number(max(time_limit, 0.0), "time_limit")
    tolerance = as_number(tolerance, "tolerance", strict=True)
    # Within a time limit there is no time for a second opinion.
    proof = max(tolerance, OPTIMALITY_GAP) if seconds is None else np.inf
    return Effort(tolerance, MAX_ITERATIONS, proof, deadline_in(seconds), _NEVER if cancel is None else cancel)


def time_left(effort: Effort) -> float | None:
    """Seconds until the deadline; None if there is none."""
    return None if np.isinf(effort.deadline) else effort.deadline - deadline_in(0.0)


def solve_fast(problem: StepProblem, *, tolerance: float = TOLERANCE, time_limit: float | None = None) -> StepSolution:
    """Solve the step to the given relative gap, or as far as the time limit (seconds) allows.

    The answer is feasible and carries its certificate. If the certificate falls short of optimality and no time limit
    is given, the reference solver solves the step too, and the better answer is returned with the better bound.
    """
    start = perf_counter()
    effort = effort_for(tolerance, time_limit)
    n_receivers = problem.n_receivers
    answer = Answer(np.empty(problem.n_links), np.empty(n_receivers), np.empty(n_receivers), np.empty(7))
    limits = frozen(problem.receive_capacity), frozen(problem.data_ceiling)
    arguments: tuple[Any, ...] = (*problem.arrays, *limits, *effort, *answer)
    solve_alone(*arguments)
    solution = _solution(problem, answer, perf_counter() - start)
    return solution if time_limit is not None else _checked(solution, effort.tolerance)


def _second_opinion(answer: StepSolution) -> StepSolution:
    """The better of this answer and the reference solver's, certified by the better of their two lower bounds.

    Without CVXPY the answer stays as it is, `feasible` and with its own gap, and a warning names what to install.
    """
    if not is_installed():
        warnings.warn(f"a step could not be certified as optimal; {MISSING}", RuntimeWarning, stacklevel=2)
        return answer
    other = solve_reference(answer.problem)
    better = min(answer, other, key=lambda one: one.objective)
    bound = max(answer.lower_bound, other.lower_bound)
    gap = proven_gap(better.objective, bound, better.max_violation) * better.objective
    return replace(better, gap=gap, status=status_of(gap, better.objective, better.max_violation))


def solve_many(problems: Sequence[StepProblem], *, tolerance: float = TOLERANCE) -> list[StepSolution]:
    """Solve many (small) problems in one compiled call: the batched form of `solve_fast`."""
    loads = [problem.load for problem in problems]
    alike = len({load is None for load in loads}) <= 1
    if not alike or not all(problem.is_plain for problem in problems):
        return [solve_fast(problem, tolerance=tolerance) for problem in problems]
    if not problems:
        return []
    start = perf_counter()
    effort = effort_for(tolerance)
    parts = [
        Part(
            problem.offsets,
            problem.receiver,
            problem.useful,
            problem.cost,
            problem.budget,
            problem.receive_capacity,
            problem.data_ceiling,
            problem.data,
            problem.unsampled_data,
            problem.gradient_noise,
            np.ones(problem.n_links),
            NO_LINKS if load is None else load,
        )
        for problem, load in zip(problems, loads, strict=True)
    ]
    packed, moving = pack(parts, np.array([[problem.gradient_norm for problem in problems]]))
    course = new_course(packed)
    # The answers are judged below, one by one.
    solve_packed(packed, moving, effort._replace(proof=np.inf), course, np.zeros(len(problems), np.int64))
    seconds = (perf_counter() - start) / len(problems)
    return [
        _checked(_solution(problem, answer_at(packed, course, 0, j), seconds), effort.tolerance)
        for j, problem in enumerate(problems)
    ]


def solve_horizons(packed: Packed, moving: Moving, effort: Effort) -> tuple[Course, IntArray]:
    """Solve horizons step after step in compiled code; returns the course, and how many steps of each were solved.

    These are all of them, unless the work was cancelled. At a step without a proof the reference solver is asked too,
    as in `solve_fast`. `moving` ends as the state after the last step.
    """
    n_steps, n_parts = packed.G.shape
    course = new_course(packed)
    done = np.zeros(n_parts, np.int64)
    while True:
        solve_packed(packed, moving, effort, course, done)
        if effort.cancel[0] or done.min() == n_steps:
            return course, done
        for j in np.flatnonzero(done < n_steps).tolist():
            t = int(done[j])
            answer = answer_at(packed, course, t, j)
            better = _second_opinion(_solution(problem_at(packed, t, j), answer, 0.0))
            answer.phi[:], answer.R[:], answer.mu[:] = better.fractions, better.received, better.receiver_prices
            answer.figures[:] = (
                better.iterations,
                better.sampling_term,
                better.statistical_term,
                better.price_term,
                better.gap,
                better.max_violation,
                True,
            )
            carry(packed, moving, course, t, j)
            done[j] = t + 1


def _solution(problem: StepProblem, answer: Answer, seconds: float) -> StepSolution:
    """The kernel's answer with its certificate."""
    iterations, sampling, statistical, price, gap, violation, in_time = answer.figures.tolist()
    status = status_of(gap, sampling + statistical + price, violation, out_of_time=not in_time)
    return StepSolution.trusted(
        problem=problem,
        fractions=answer.phi,
        receiver_prices=answer.mu,
        received=answer.R,
        sampling_term=sampling,
        statistical_term=statistical,
        gap=gap,
        max_violation=violation,
        status=status,
        iterations=int(iterations),
        seconds=seconds,
        price_term=price,
    )


def _checked(answer: StepSolution, tolerance: float) -> StepSolution:
    """The answer; if its certificate misses both tolerance and optimality, with a second opinion."""
    satisfied = answer.status is Status.OPTIMAL or answer.gap <= tolerance * answer.objective
    return answer if satisfied else _second_opinion(answer)
