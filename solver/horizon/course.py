"""From the arrays of a compiled horizon to the steps of a plan, for all steps at once."""

from collections.abc import Sequence
from functools import cached_property
from typing import overload

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.horizon.plan import StepPlan
from solver.horizon.weights import Weights
from solver.kernels.layout import Course
from solver.network.subgraph import Subgraph
from solver.step.solution import status_of

__all__ = ["CourseSteps"]


class CourseSteps(Sequence[StepPlan]):
    """Steps first..last of a plan, from a course of one horizon along the subgraph.

    It keeps only the transfers. The steps are made when one of them is first read, since that takes much longer than
    proving the plan.
    """

    def __init__(
        self, first: int, last: int, subgraph: Subgraph, course: Course, norms: FloatArray, weights: Weights
    ) -> None:
        """Take the transfers out of the course; nothing refers to its fractions afterwards."""
        n_steps = last - first + 1
        fractions, useful = course.steps.phi[:n_steps].ravel(), course.useful[:n_steps].ravel()
        self._cells = np.flatnonzero(fractions)
        self._fraction, self._useful = fractions[self._cells], useful[self._cells]
        self._first = first
        self._subgraph = subgraph
        self._receivers = (course.steps.R[:n_steps], course.held[:n_steps], course.steps.mu[:n_steps])
        self._norms = norms[:n_steps]
        self._figures = course.steps.figures[:n_steps, 0]
        self._weights = weights

    def __len__(self) -> int:
        return len(self._figures)

    @overload
    def __getitem__(self, index: int) -> StepPlan: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[StepPlan]: ...

    def __getitem__(self, index: int | slice) -> StepPlan | Sequence[StepPlan]:
        return self._steps[index]

    @cached_property
    def _steps(self) -> tuple[StepPlan, ...]:
        graph, weights, fraction, useful = self._subgraph, self._weights, self._fraction, self._useful
        row, link = np.divmod(self._cells, max(graph.source.size, 1))
        ends = np.searchsorted(row, np.arange(len(self) + 1)).tolist()
        source, target, datapoints = graph.source[link], graph.target[link], fraction * graph.held[link]
        received, held, prices = self._receivers
        sent = np.bincount(row, weights=datapoints * graph.cost[link], minlength=len(self))
        joules = self._joules(row, link, datapoints, held)
        costs = zip(sent.tolist(), (held @ graph.processing_cost).tolist(), joules.tolist(), strict=True)
        norms = self._norms.tolist()
        steps = []
        for t, (figures, (sending, processing, energy)) in enumerate(zip(self._figures.tolist(), costs, strict=True)):
            iterations, sampling, statistical, _, gap, violation, in_time = figures
            # What the devices held before costs too, so this is more than the prices paid in the step.
            priced = weights.transmit * sending + weights.processing * processing + weights.energy * energy
            objective = sampling + statistical + priced
            own = slice(ends[t], ends[t + 1])
            steps.append(
                StepPlan(
                    step=self._first + t,
                    source=source[own],
                    target=target[own],
                    fraction=fraction[own],
                    datapoints=datapoints[own],
                    useful=useful[own],
                    received=received[t],
                    sampled_data=held[t],
                    gradient_norm=norms[t],
                    sampling_term=sampling,
                    statistical_term=statistical,
                    relative_gap=0.0 if gap == 0 else gap / objective,
                    max_violation=violation,
                    status=status_of(gap, objective, violation, out_of_time=not in_time),
                    iterations=int(iterations),
                    receiver_prices=prices[t],
                    transmit_cost=sending,
                    processing_cost=processing,
                    energy_cost=energy,
                    weights=weights,
                )
            )
        return tuple(steps)

    def _joules(self, row: IntArray, link: IntArray, datapoints: FloatArray, held: FloatArray) -> FloatArray:
        """Of each step, if they count in the objective."""
        joules, graph = self._weights.priced, self._subgraph
        if joules is None:
            return np.zeros(len(self))
        sent = np.bincount(row, weights=datapoints * joules.of_sending(graph)[link], minlength=len(self))
        spent: FloatArray = sent + held @ joules.of_holding(graph)
        return spent
