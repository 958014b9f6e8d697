"""The plan for a horizon: the transfers of each step, their objective and their certificate."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.errors import FalseProofError
from solver.horizon.transfer import DEFAULT_TRANSFER
from solver.horizon.weights import NO_WEIGHTS, Weights
from solver.network.eligibility import Obstacle
from solver.step.solution import OPTIMALITY_GAP, Status, proven_gap

__all__ = ["Plan", "StepPlan"]


@dataclass(frozen=True, eq=False)
class StepPlan:
    """One step of a plan.

    Attributes:
        step: t, from 1.
        source, target, fraction: transfer j moves the share fraction[j] = Φ of source[j]'s data to target[j].
        datapoints: D_k·Φ, how many the source draws and sends.
        useful: how many of them the target is expected to keep: D_k·Φ·(1 − Λ) if senders redraw, D_k·Φ·(1 − λ) if not.
        received: R_i of each sampled device, in the order they were sampled in.
        sampled_data: D_i(t) of each sampled device, after this step.
        gradient_norm: ‖∇F̄(t)‖ that the step assumed.
        sampling_term, statistical_term: (a) and (b) of eq. (26).
        relative_gap: certified distance from this step's optimum; of a plan made over the whole horizon, from that.
        max_violation: worst relative breach of a constraint.
        status: see `solver.step.solution.Status`.
        iterations: of the solver.
        receiver_prices: μ_i, what one datapoint more of capacity would take off the objective.
        transmit_cost: Σ ψ_ki·D_k·Φ of what is sent.
        processing_cost: Σ p_i·D_i(t) of what the sampled devices hold after this step.
        energy_cost: joules of sending and processing, if they have a weight.
        weights: what these costs add to the objective, see `solver.horizon.weights`.
    """

    step: int
    source: IntArray
    target: IntArray
    fraction: FloatArray
    datapoints: FloatArray
    useful: FloatArray
    received: FloatArray
    sampled_data: FloatArray
    gradient_norm: float
    sampling_term: float
    statistical_term: float
    relative_gap: float
    max_violation: float
    status: Status
    iterations: int
    receiver_prices: FloatArray
    transmit_cost: float
    processing_cost: float
    energy_cost: float = 0.0
    weights: Weights = NO_WEIGHTS

    @property
    def transmit_term(self) -> float:
        """The weight of the transmit cost times this cost."""
        return self.weights.transmit * self.transmit_cost

    @property
    def processing_term(self) -> float:
        """The weight of the processing cost times this cost."""
        return self.weights.processing * self.processing_cost

    @property
    def energy_term(self) -> float:
        """The weight of a joule times the joules."""
        return self.weights.energy * self.energy_cost

    @property
    def objective(self) -> float:
        """Terms (a) + (b) of eq. (26), and the weighted costs."""
        costs = self.transmit_term + self.processing_term + self.energy_term
        return self.sampling_term + self.statistical_term + costs

    def matrix(self, n_devices: int) -> FloatArray:
        """Φ(t) as a dense N×N matrix."""
        phi = np.zeros((n_devices, n_devices))
        phi[self.source, self.target] = self.fraction
        return phi


@dataclass(frozen=True, eq=False)
class Plan:
    """Offloading for a horizon.

    Attributes:
        n_devices: N.
        sampled: the sampled devices, in the order of choice.
        steps: one entry for each t; empty if infeasible.
        obstacles: why it is infeasible, device by device; empty otherwise.
        seconds: wall time.
        unsampled_data: D_Ŝ.
        gradient_noise: γ.
        transfer: what senders send over a link that they have used before, see `solver.horizon.transfer`.
        planning: whether steps were planned one after another, or as one problem (`solver.whole.whole_horizon`).
        horizon_bound: no plan for these devices over the whole horizon has a lower mean objective (None: infeasible).
    """

    n_devices: int
    sampled: IntArray
    steps: Sequence[StepPlan]
    obstacles: tuple[Obstacle, ...]
    seconds: float
    unsampled_data: float
    gradient_noise: float
    transfer: str = DEFAULT_TRANSFER
    planning: str = "step"
    horizon_bound: float | None = None

    @property
    def status(self) -> Status:
        """The weakest status among the steps; `optimal` only if the whole plan is proven to be."""
        if self.obstacles:
            return Status.INFEASIBLE
        found = {step.status for step in self.steps}
        for status in (Status.TIME_LIMIT, Status.FEASIBLE):
            if status in found:
                return status
        try:
            gap = self.horizon_gap
        except FalseProofError:  # then nothing is proven of all steps together
            gap = None
        return Status.OPTIMAL if gap is not None and gap <= OPTIMALITY_GAP else Status.STEP_OPTIMAL

    @property
    def objective(self) -> float | None:
        """Eq. (26) and the weighted costs: the mean over steps; None if infeasible."""
        return _mean([step.objective for step in self.steps])

    @property
    def sampling_term(self) -> float | None:
        """Term (a), mean over steps: the loss from not training on the unsampled devices' data."""
        return _mean([step.sampling_term for step in self.steps])

    @property
    def statistical_term(self) -> float | None:
        """Term (b), mean over steps: the statistical error of the sampled devices' finite data."""
        return _mean([step.statistical_term for step in self.steps])

    @property
    def transmit_term(self) -> float | None:
        """The weighted transmit cost, mean over steps."""
        return _mean([step.transmit_term for step in self.steps])

    @property
    def processing_term(self) -> float | None:
        """The weighted processing cost, mean over steps."""
        return _mean([step.processing_term for step in self.steps])

    @property
    def energy_term(self) -> float | None:
        """The weighted joules, mean over steps."""
        return _mean([step.energy_term for step in self.steps])

    @property
    def transmit_cost(self) -> float:
        """Σ ψ_ki·D_k·Φ over all steps."""
        return float(sum(step.transmit_cost for step in self.steps))

    @property
    def processing_cost(self) -> float:
        """Σ p_i·D_i(t) over all steps."""
        return float(sum(step.processing_cost for step in self.steps))

    @property
    def relative_gap(self) -> float | None:
        """The worst over steps; None if infeasible."""
        return max((step.relative_gap for step in self.steps), default=None)

    @property
    def horizon_gap(self) -> float | None:
        """(objective − horizon bound) / objective; None if infeasible.

        Raises:
            FalseProofError: the objective is below the bound.
        """
        if self.objective is None or self.horizon_bound is None:
            return None
        return proven_gap(self.objective, self.horizon_bound, self.max_violation or 0.0)

    @property
    def max_violation(self) -> float | None:
        """The worst over steps; None if infeasible."""
        return max((step.max_violation for step in self.steps), default=None)

    @property
    def datapoints_moved(self) -> float:
        """All datapoints sent over D2D links."""
        return float(sum(step.datapoints.sum() for step in self.steps))


def _mean(values: list[float]) -> float | None:
    return float(np.mean(values)) if values else None
