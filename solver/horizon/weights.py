"""What sending and processing cost in the objective. Eq. (26) alone sends whatever helps, however little.

The objective of step t becomes eq. (26) + w·Σ_l ψ_l D_k Φ_l(t) + v·Σ_i p_i D_i(t): the transmit cost of what is sent
and the processing cost of what the sampled devices hold, each times its weight. In a fleet both are seconds. Where the
joules e_l and e_i for a datapoint are known, u·(Σ_l e_l D_k Φ_l(t) + Σ_i e_i D_i(t)) joins them. All are linear in Φ:
the step stays convex. A fraction of 1 over link l costs (w·ψ_l + u·e_l) D_k for sending, and v·p_i + u·e_i for each of
the a_l useful datapoints.
"""

from dataclasses import dataclass

import numpy as np

from solver.arrays import FloatArray
from solver.errors import InvalidInputError
from solver.network.energy import Energy
from solver.network.subgraph import Subgraph
from solver.validation import as_number, frozen

__all__ = ["NO_WEIGHTS", "Weights"]

_NOTHING = frozen(np.empty(0))


@dataclass(frozen=True)
class Weights:
    """w, v and u: what a unit of transmit cost, of processing cost and a joule add to the objective."""

    transmit: float = 0.0
    processing: float = 0.0
    energy: float = 0.0
    joules: Energy | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "transmit", as_number(self.transmit, "weights.transmit"))
        object.__setattr__(self, "processing", as_number(self.processing, "weights.processing"))
        object.__setattr__(self, "energy", as_number(self.energy, "weights.energy"))
        if self.energy > 0 and self.joules is None:
            raise InvalidInputError("weights.energy", "needs to know the joules of devices and links")

    @property
    def are_zero(self) -> bool:
        """Whether the objective is the paper's."""
        return self.transmit == self.processing == self.energy == 0.0

    @property
    def priced(self) -> Energy | None:
        """The joules, if they count in the objective."""
        return self.joules if self.energy > 0 else None

    def of_sending(self, subgraph: Subgraph) -> FloatArray:
        """(w·ψ_l + u·e_l) D_k of each link."""
        sending = self.transmit * subgraph.cost * subgraph.held
        if self.priced is not None:
            sending += self.energy * self.priced.of_sending(subgraph) * subgraph.held
        return sending

    def of_holding(self, subgraph: Subgraph) -> FloatArray:
        """v·p_i + u·e_i of each sampled device."""
        holding = self.processing * subgraph.processing_cost
        if self.priced is not None:
            holding += self.energy * self.priced.of_holding(subgraph)
        return holding

    def columns(self, subgraph: Subgraph) -> tuple[FloatArray, FloatArray]:
        """Both, for a whole horizon; empty if the objective is the paper's."""
        return (_NOTHING, _NOTHING) if self.are_zero else (self.of_sending(subgraph), self.of_holding(subgraph))

    def load(self, subgraph: Subgraph) -> FloatArray:
        """D_k of each link, if optimal plans are to send little; empty if links have prices, which decide then."""
        return subgraph.held if self.are_zero else _NOTHING

    def prices(self, subgraph: Subgraph, useful: FloatArray) -> FloatArray | None:
        """What Φ_l = 1 costs in a step where it brings so many useful datapoints; None if it costs nothing."""
        if self.are_zero:
            return None
        return self.of_sending(subgraph) + self.of_holding(subgraph)[subgraph.receiver] * useful


NO_WEIGHTS = Weights()
