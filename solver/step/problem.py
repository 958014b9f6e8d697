"""One step's offloading problem for a fixed sampled set (Sec. III-C), free of device numbers.

minimise   ‖∇F̄(t)‖ · D_Ŝ/(D_Ŝ + Σ_i (D_i + R_i)) + (γ/S) Σ_i (D_i + R_i)^(−1/2),    R_i = Σ_k a_ki Φ_ki
subject to R_i ≤ θ_i,  D_i + R_i ≤ ceiling_i,  Σ_i Φ_ki ≤ 1,  Σ_i ψ_ki Φ_ki ≤ Ψ_k/D_k,  Φ ≥ 0

Two things go beyond the paper, each optional: an upper limit on each link's Φ_ki, and a price of it in the objective.
"""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

import numpy as np

from solver.arrays import FloatArray, IntArray
from solver.errors import InvalidInputError
from solver.kernels.layout import Step
from solver.validation import as_column, as_indices, as_number, frozen, reject_first

__all__ = ["NO_LINKS", "StepProblem", "room_for"]

# A column for the kernels that the step does not have.
NO_LINKS = frozen(np.empty(0))

_NO_CEILING = np.finfo(np.float64).max


def room_for(receive_capacity: FloatArray, data_ceiling: FloatArray, data: FloatArray) -> FloatArray:
    """cap_i = min(θ_i, ceiling_i − D_i), never below zero."""
    cap: FloatArray = np.maximum(np.minimum(receive_capacity, data_ceiling - data), 0.0)
    return cap


@dataclass(frozen=True, eq=False)
class StepProblem:
    """The step problem in sparse columns.

    Attributes:
        offsets: sender k's links are offsets[k]:offsets[k + 1].
        receiver: position of each link's target among the sampled devices, ascending within a sender.
        useful: a_l = D_k(1 − Λ_ki), the useful datapoints of sending everything over the link.
        cost: ψ_l per datapoint.
        budget: B_k = Ψ_k/D_k, the sender's transmit budget per datapoint held.
        receive_capacity: θ_i of each sampled device.
        data_ceiling: the most each sampled device may ever hold, min_{s≥t} P_i(s)/p_i(s); may be infinite.
        data: D_i(t − 1) of each sampled device.
        unsampled_data: D_Ŝ.
        gradient_norm: ‖∇F̄(t)‖.
        gradient_noise: γ.
        limit: the most that Φ_l may be in this step (None: only the sender's Σ Φ ≤ 1).
        price: what Φ_l = 1 adds to the objective (None: nothing).
        load: D_k, the datapoints that Φ_l = 1 sends. Without prices the fast solver then looks for an optimal plan that
            sends little (`solver.kernels.least_sending`; None: any optimal plan will do).
    """

    offsets: IntArray
    receiver: IntArray
    useful: FloatArray
    cost: FloatArray
    budget: FloatArray
    receive_capacity: FloatArray
    data_ceiling: FloatArray
    data: FloatArray
    unsampled_data: float
    gradient_norm: float
    gradient_noise: float
    limit: FloatArray | None = None
    price: FloatArray | None = None
    load: FloatArray | None = None

    def __post_init__(self) -> None:
        data = as_column(self.data, "data")
        if data.size == 0:
            raise InvalidInputError("data", "must name at least one sampled device")
        reject_first(data == 0, data, "data", "a sampled device must hold data")
        receive = as_column(self.receive_capacity, "receive_capacity", length=data.size)
        # An infinite ceiling means no processing limit; the largest float serves as well.
        ceiling = as_column(np.minimum(self.data_ceiling, _NO_CEILING), "data_ceiling", length=data.size)
        reject_first(ceiling < data, ceiling, "data_ceiling", "must be at least the data held")
        budget = as_column(self.budget, "budget")
        offsets = as_indices(self.offsets, "offsets")
        receiver = as_indices(self.receiver, "receiver")
        if offsets.size != budget.size + 1 or offsets[0] != 0 or offsets[-1] != receiver.size:
            raise InvalidInputError(
                "offsets",
                f"must run from 0 to {receiver.size} over {budget.size} senders, one more entry than senders",
            )
        reject_first(np.diff(offsets, prepend=0) < 0, offsets, "offsets", "must not fall")
        reject_first(receiver >= data.size, receiver, "receiver", f"must be below {data.size}")
        falls = np.diff(receiver, prepend=-1) <= 0
        falls[offsets[offsets < receiver.size]] = False
        reject_first(falls, receiver, "receiver", "must ascend within a sender")
        values = {
            "offsets": offsets,
            "receiver": receiver,
            "useful": as_column(self.useful, "useful", length=receiver.size),
            "cost": as_column(self.cost, "cost", length=receiver.size),
            "budget": budget,
            "receive_capacity": receive,
            "data_ceiling": ceiling,
            "data": data,
            "unsampled_data": as_number(self.unsampled_data, "unsampled_data"),
            "gradient_norm": as_number(self.gradient_norm, "gradient_norm"),
            "gradient_noise": as_number(self.gradient_noise, "gradient_noise"),
            "limit": None if self.limit is None else as_column(self.limit, "limit", length=receiver.size, high=1.0),
            "price": None if self.price is None else as_column(self.price, "price", length=receiver.size),
            "load": None if self.load is None else as_column(self.load, "load", length=receiver.size),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def trusted(cls, **values: Any) -> Self:
        """Build from columns known to be valid, without checks: the horizon builds one in each step."""
        problem = object.__new__(cls)
        problem.__dict__.update(values)
        return problem

    @cached_property
    def capacity(self) -> FloatArray:
        """cap_i = min(θ_i, ceiling_i − D_i): what a sampled device can take in this step."""
        return room_for(self.receive_capacity, self.data_ceiling, self.data)

    @cached_property
    def sender(self) -> IntArray:
        """The sender's row of each link."""
        return np.repeat(np.arange(self.n_senders), np.diff(self.offsets))

    @property
    def is_plain(self) -> bool:
        """Whether the links have neither limits nor prices: the paper's problem."""
        return self.limit is None and self.price is None

    @cached_property
    def link_limit(self) -> FloatArray:
        """The limit of each link; 1 where there is none, since a sender has no more."""
        return np.ones(self.n_links) if self.limit is None else self.limit

    @cached_property
    def link_price(self) -> FloatArray:
        """The price of each link; 0 where there is none."""
        return np.zeros(self.n_links) if self.price is None else self.price

    @property
    def n_senders(self) -> int:
        """Unsampled devices with a link into the sampled set."""
        return int(self.budget.size)

    @property
    def n_receivers(self) -> int:
        """S, the sampled devices."""
        return int(self.data.size)

    @property
    def n_links(self) -> int:
        """Links from unsampled to sampled devices."""
        return int(self.receiver.size)

    @cached_property
    def arrays(self) -> Step:
        """The same for the compiled kernels; all read-only, since numba compiles anew for each mixture of flags."""
        return Step(
            frozen(self.offsets),
            frozen(self.receiver),
            frozen(self.useful),
            frozen(self.cost),
            frozen(self.budget),
            frozen(self.capacity),
            frozen(self.data),
            self.unsampled_data,
            self.gradient_norm,
            self.gradient_noise,
            NO_LINKS if self.limit is None else frozen(self.limit),
            NO_LINKS if self.price is None else frozen(self.price),
            NO_LINKS if self.load is None else frozen(self.load),
        )

    def columns(self) -> dict[str, Any]:
        """Every attribute by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}
