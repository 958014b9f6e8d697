"""From the arrays of a compiled horizon to the steps of a plan, for all steps at once."""

import numpy as np

from solver.arrays import FloatArray
from solver.kernels.layout import Course
from solver.plan import StepPlan
from solver.solution import status_of
from solver.subgraph import Subgraph
from solver.weights import Weights

__all__ = ["course_steps"]


def course_steps(
    first: int, last: int, subgraph: Subgraph, course: Course, norms: FloatArray, weights: Weights
) -> list[StepPlan]:
    """Steps first..last of a plan, from a course of one horizon along the subgraph."""
    fractions = course.steps.phi[: last - first + 1]
    row, link = np.nonzero(fractions)
    ends = np.searchsorted(row, np.arange(len(fractions) + 1)).tolist()
    fraction = fractions[row, link]
    source, target, useful = subgraph.source[link], subgraph.target[link], course.useful[row, link]
    datapoints = fraction * subgraph.held[link]
    received, prices, held = course.steps.R, course.steps.mu, course.held
    sending = np.bincount(row, weights=datapoints * subgraph.cost[link], minlength=len(fractions)).tolist()
    processing = (held[: len(fractions)] @ subgraph.processing_cost).tolist()
    steps = []
    for t, figures in enumerate(course.steps.figures[: len(fractions), 0].tolist()):
        iterations, sampling, statistical, _, gap, violation, in_time = figures
        # What the devices held before costs too, so this is more than the prices paid in the step.
        costs = weights.transmit * sending[t] + weights.processing * processing[t]
        objective = sampling + statistical + costs
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
                transmit_cost=sending[t],
                processing_cost=processing[t],
                weights=weights,
            )
        )
    return steps
