"""From the arrays of a compiled horizon to the steps of a plan, for all steps at once."""

import numpy as np

from solver.arrays import FloatArray
from solver.kernels.layout import Course
from solver.plan import StepPlan
from solver.solution import status_of
from solver.subgraph import Subgraph

__all__ = ["course_steps"]


def course_steps(first: int, last: int, subgraph: Subgraph, course: Course, norms: FloatArray) -> list[StepPlan]:
    """Steps first..last of a plan, from a course of one horizon along the subgraph."""
    fractions = course.steps.phi[: last - first + 1]
    row, link = np.nonzero(fractions)
    ends = np.searchsorted(row, np.arange(len(fractions) + 1)).tolist()
    fraction = fractions[row, link]
    source, target, useful = subgraph.source[link], subgraph.target[link], course.useful[row, link]
    datapoints = fraction * subgraph.held[link]
    received, prices, held = course.steps.R, course.steps.mu, course.held
    steps = []
    for t, figures in enumerate(course.steps.figures[: len(fractions), 0].tolist()):
        iterations, sampling, statistical, price, gap, violation, in_time = figures
        objective = sampling + statistical + price
        own = slice(ends[t], ends[t + 1])
        steps.append(
            StepPlan(
                step=first + t,
                source=source[own],
                target=target[own],
                fraction=fraction[own],
                datapoints=datapoints[own],
                useful=useful[own],
                received=received[t],
                sampled_data=held[t],
                gradient_norm=float(norms[t]),
                sampling_term=sampling,
                statistical_term=statistical,
                relative_gap=0.0 if gap == 0 else gap / objective,
                max_violation=violation,
                status=status_of(gap, objective, violation, out_of_time=not in_time),
                iterations=int(iterations),
                receiver_prices=prices[t],
            )
        )
    return steps
