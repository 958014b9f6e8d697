"""A plan over the whole horizon, from one that was made step by step.

A step-by-step plan does not know what later steps need: that a link will vanish, or that a sender's data is worth more
elsewhere. Here all steps are one convex problem, the one that `solver.whole.horizon_bound` states, and an
interior-point method solves it (`solver.kernels.joint_interior_point`). It starts where the step-by-step plan is not
certified to be within the tolerance of the whole horizon's optimum, and its plan is taken only if it is better.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from solver.arrays import FloatArray
from solver.horizon.course import CourseSteps
from solver.horizon.plan import StepPlan
from solver.horizon.state import HorizonState
from solver.horizon.weights import Weights
from solver.kernels.joint_interior_point import iterate_jointly
from solver.kernels.joint_plan import JointAnswer, finish_jointly
from solver.kernels.joint_rows import find_rows
from solver.kernels.layout import Answer, Course, Effort
from solver.step.solution import proven_gap, status_of
from solver.validation import frozen
from solver.whole.horizon_bound import PlannedSegment
from solver.whole.joint import Stacked, stack

__all__ = ["HORIZON_TOLERANCE", "WholePlan", "plan_whole"]

# The relative gap to stop at: ten times stricter than what may be called optimal.
HORIZON_TOLERANCE = 1e-7

# The method needs a matrix with a row for each sampled device and step, and for each sender and step a matrix with a
# row for each of its links. Beyond these sizes a plan stays as it is.
_MOST_ROWS = 1000
_MOST_BLOCKS = 1_000_000


class WholePlan(NamedTuple):
    """The steps of a plan, the state after them, and the bound on the whole horizon."""

    steps: Sequence[StepPlan]
    state: HorizonState
    bound: float


def plan_whole(
    plan: WholePlan,
    segments: Sequence[PlannedSegment],
    begin: HorizonState,
    noise: float,
    weights: Weights,
    effort: Effort,
) -> WholePlan:
    """Improve a plan that sends once until its certified gap is small, or as far as the effort goes.

    `begin` is the state before the plan's first step. The gap and the status of every step become those of the whole
    horizon.
    """
    effort = effort._replace(tolerance=max(effort.tolerance, HORIZON_TOLERANCE))
    objective = _mean_objective(plan.steps)
    in_time = True
    if objective - plan.bound > effort.tolerance * objective:
        stacked = stack(segments, begin.data, weights)
        if _fits(stacked):
            answer = _solve(stacked, segments, begin, noise, effort)
            _, total, gap, _, finished = answer.figures.tolist()
            in_time = finished > 0
            plan = plan._replace(bound=max(plan.bound, (total - gap) / len(plan.steps)))
            if total / len(plan.steps) < objective:
                plan = _written(plan.bound, stacked, segments, begin, noise, weights, answer)
                objective = _mean_objective(plan.steps)
    violation = max(step.max_violation for step in plan.steps)
    relative = proven_gap(objective, plan.bound, violation)
    status = status_of(relative * objective, objective, violation, out_of_time=not in_time)
    return plan._replace(steps=tuple(replace(step, relative_gap=relative, status=status) for step in plan.steps))


def _mean_objective(steps: Sequence[StepPlan]) -> float:
    return float(np.mean([step.objective for step in steps]))


def _fits(stacked: Stacked) -> bool:
    joint = stacked.joint
    n_steps = joint.segment.size
    blocks = n_steps * int((np.diff(joint.offsets) ** 2).sum())
    return n_steps * joint.theta.shape[1] <= _MOST_ROWS and blocks <= _MOST_BLOCKS


def _solve(
    stacked: Stacked, segments: Sequence[PlannedSegment], begin: HorizonState, noise: float, effort: Effort
) -> JointAnswer:
    n_steps, n_pairs = stacked.joint.segment.size, stacked.joint.limit.size
    shape = (n_steps, begin.data.size)
    answer = JointAnswer(np.empty((n_steps, n_pairs)), np.empty(shape), np.empty(shape), np.empty(5))
    norms = frozen(np.concatenate([segment.gradient_norms for segment in segments]))
    unsampled = segments[0].subgraph.unsampled_data
    # Two calls, since compiling both as one would compile the iterations twice.
    rows = find_rows(stacked.joint)
    problem = (stacked.joint, rows, frozen(begin.data), unsampled, norms, noise)
    size = rows.most.size + rows.kinds.size + n_pairs + rows.theta.size + rows.room.size
    x, z = np.zeros(size), np.zeros(size)
    iterations, in_time = iterate_jointly(*problem, effort, x, z)
    finish_jointly(*problem, effort.tolerance, x, z, answer)
    answer.figures[0], answer.figures[4] = iterations, in_time
    return answer


def _written(
    bound: float,
    stacked: Stacked,
    segments: Sequence[PlannedSegment],
    begin: HorizonState,
    noise: float,
    weights: Weights,
    answer: JointAnswer,
) -> WholePlan:
    """The answer as steps, segment by segment."""
    state = begin
    steps: list[StepPlan] = []
    for segment, place in zip(segments, stacked.places, strict=True):
        own = slice(len(steps), len(steps) + segment.n_steps)
        graph = segment.subgraph
        fractions = answer.y[own][:, place]
        held = state.data + np.cumsum(answer.R[own], axis=0)
        figures = _figures(held, graph.unsampled_data, segment.gradient_norms, noise, answer.figures)
        course = Course(
            Answer(fractions, answer.R[own], answer.mu[own], figures[:, None]), fractions * graph.fresh, held
        )
        last = state.step + segment.n_steps
        steps += CourseSteps(state.step + 1, last, graph, course, segment.gradient_norms, weights)
        unsent = np.maximum(state.unsent_along(graph) - fractions.sum(axis=0), 0.0)
        state = state.after(last, held[-1], graph, unsent)
    return WholePlan(tuple(steps), state, bound)


def _figures(held: FloatArray, unsampled: float, norms: FloatArray, noise: float, whole: FloatArray) -> FloatArray:
    """The figures of each step, as in `solver.kernels.layout.Answer`."""
    figures = np.zeros((norms.size, 7))
    figures[:, 0] = whole[0]
    figures[:, 1] = norms * (unsampled / (unsampled + held.sum(axis=1)))
    figures[:, 2] = noise / held.shape[1] * (held**-0.5).sum(axis=1)
    figures[:, 5] = whole[3]
    figures[:, 6] = whole[4]
    return figures
