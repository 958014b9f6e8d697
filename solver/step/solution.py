"""Solutions with a certificate: objective, gap and violation are recomputed from the problem."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

import numpy as np

from solver.arrays import FloatArray
from solver.errors import FalseProofError
from solver.kernels.certificate import certify
from solver.step.problem import StepProblem
from solver.validation import frozen

__all__ = ["FEASIBILITY", "OPTIMALITY_GAP", "Status", "StepSolution", "certified", "proven_gap", "status_of"]

# The relative gap up to which an answer may be called optimal.
OPTIMALITY_GAP = 1e-6

# The relative violation up to which an answer keeps its constraints.
FEASIBILITY = 1e-8


class Status(StrEnum):
    """How good an answer is: a step, or a plan of all its steps together.

    `optimal`: the certificate shows a relative gap of at most `OPTIMALITY_GAP`. `step_optimal`, of plans only: each
    step by itself is optimal, but a larger gap is left to what all steps together could reach. `feasible`: every
    constraint holds, but without that proof (a baseline's offloading, for example). `time_limit`: the best found within
    the time limit, and feasible. `infeasible`: a constraint is broken, or no plan exists; a plan then names the devices
    and the reasons.
    """

    OPTIMAL = "optimal"
    STEP_OPTIMAL = "step_optimal"
    FEASIBLE = "feasible"
    TIME_LIMIT = "time_limit"
    INFEASIBLE = "infeasible"


@dataclass(frozen=True, eq=False)
class StepSolution:
    """Fractions for one step, with their certificate.

    Attributes:
        problem: what was solved.
        fractions: Φ_l of each link of the problem.
        receiver_prices: μ_i ≥ 0, the worth of one more datapoint of capacity; the lower bound is computed from them.
        received: R_i, useful datapoints each sampled device receives.
        sampling_term: term (a) of eq. (26).
        statistical_term: term (b) of eq. (26).
        gap: how far the objective can lie above the optimum, absolute.
        max_violation: worst relative breach of a constraint.
        status: see `Status`.
        iterations: of the solver; 0 if presolve decided everything.
        seconds: wall time.
        price_term: Σ price·Φ, if the links have prices.
    """

    problem: StepProblem
    fractions: FloatArray
    receiver_prices: FloatArray
    received: FloatArray
    sampling_term: float
    statistical_term: float
    gap: float
    max_violation: float
    status: Status
    iterations: int
    seconds: float
    price_term: float = 0.0

    @classmethod
    def trusted(cls, **values: Any) -> Self:
        """Build in a third of the time: a small step is solved in tens of microseconds."""
        solution = object.__new__(cls)
        solution.__dict__.update(values)
        return solution

    @property
    def objective(self) -> float:
        """Terms (a) + (b) of eq. (26), and the links' prices if there are any."""
        return self.sampling_term + self.statistical_term + self.price_term

    @property
    def lower_bound(self) -> float:
        """No plan for this step has a smaller objective."""
        return self.objective - self.gap

    @property
    def relative_gap(self) -> float:
        """(objective − lower bound) / objective."""
        return 0.0 if self.gap == 0 else self.gap / self.objective


def certified(
    problem: StepProblem,
    fractions: FloatArray,
    receiver_prices: FloatArray,
    *,
    iterations: int = 0,
    seconds: float = 0.0,
    out_of_time: bool = False,
    heuristic: bool = False,
) -> StepSolution:
    """Certify any solver's answer; the status follows from the certificate, not from what the solver reports.

    A `heuristic` answer is called feasible even if it happens to be optimal.
    """
    received = np.empty(problem.n_receivers)
    sampling, statistical, gap, violation = certify(
        problem.arrays,
        frozen(problem.receive_capacity),
        frozen(problem.data_ceiling),
        fractions,
        receiver_prices,
        received,
    )
    price = float(problem.link_price @ fractions)
    return StepSolution(
        problem,
        fractions,
        receiver_prices,
        received,
        sampling,
        statistical,
        gap,
        violation,
        status_of(gap, sampling + statistical + price, violation, out_of_time=out_of_time, heuristic=heuristic),
        iterations,
        seconds,
        price,
    )


def status_of(
    gap: float, objective: float, violation: float, *, out_of_time: bool = False, heuristic: bool = False
) -> Status:
    """What an answer with this certified gap and violation may be called."""
    if not violation <= FEASIBILITY:
        return Status.INFEASIBLE
    if gap <= OPTIMALITY_GAP * objective and not heuristic:
        return Status.OPTIMAL
    return Status.TIME_LIMIT if out_of_time else Status.FEASIBLE


def proven_gap(objective: float, bound: float, violation: float = 0.0) -> float:
    """(objective − bound) / objective: how far an objective can lie above an optimum that is at least `bound`.

    An answer may break its constraints by `FEASIBILITY`, and says so if it breaks them by more. It then holds more data
    than an allowed one, by that share at most. Terms (a) and (b) fall by no larger share than the data grows, so it may
    lie this much below a true bound, and no more.

    Raises:
        FalseProofError: it lies further below.
    """
    if bound - objective > max(violation, FEASIBILITY) * abs(objective):
        raise FalseProofError(f"an objective of {objective!r} was reached, which is below its bound of {bound!r}")
    return 0.0 if objective == 0 else max(objective - bound, 0.0) / objective
