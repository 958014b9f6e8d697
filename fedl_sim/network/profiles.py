"""Device profiles and budgets: from boards, loads and link rates to P, p, θ, Ψ and ψ (Sec. V-A).

The paper measured Jetson Nano, Coral Dev Board and UP Squared boards, loaded them to 25–75 % and limited
links to 1, 6 or 9 of 12 Mbps, but its GPEF values are not published. The figures below are therefore
assumptions, relative to a Jetson Nano, and only their ratios matter. With μ the mean number of
datapoints per device, s the board's relative speed, w its relative power, ℓ its load:

    p_i  = w_i / s_i                         relative energy per datapoint
    P_i  = p_i · headroom · s_i · μ          so P_i / p_i = headroom · s_i · μ datapoints fit at full load
    θ_i  = receive_share · (1 − ℓ_i) · s_i · μ   the remaining capacity is the receive buffer
    ψ_ij = 12 Mbps / (rate_ij · quality_ij)  latency of a datapoint, relative to an idle perfect link
    Ψ_i  = transmit_share · (1 − ℓ_i) · μ    datapoints that an idle perfect link would carry in a step
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BUDGETS",
    "LINK_RATES_MBPS",
    "PROFILES",
    "Budget",
    "DeviceColumns",
    "Profile",
    "device_columns",
    "link_cost",
]

LINK_RATES_MBPS = (1.0, 6.0, 9.0)
FULL_RATE_MBPS = 12.0
LOAD_RANGE = (0.25, 0.75)


@dataclass(frozen=True)
class Profile:
    """A board, relative to the Jetson Nano."""

    name: str
    speed: float
    power: float

    def __post_init__(self) -> None:
        if self.speed <= 0 or self.power <= 0:
            raise ValueError("a profile's speed and power must be positive")

    def spread(self, exponent: float) -> "Profile":
        """Return the board with its speed and power raised to this exponent: boards differ less below 1, more above."""
        return Profile(self.name, self.speed**exponent, self.power**exponent)


PROFILES = (
    Profile("Jetson Nano", speed=1.0, power=1.0),
    Profile("Coral Dev Board", speed=0.5, power=0.4),
    Profile("UP Squared", speed=0.75, power=1.2),
)


@dataclass(frozen=True)
class Budget:
    """How much a step allows, as shares of the mean device's data (see the module's formulas)."""

    receive_share: float
    transmit_share: float
    headroom: float = 20.0

    def __post_init__(self) -> None:
        if min(self.receive_share, self.transmit_share, self.headroom) <= 0:
            raise ValueError("a budget's shares and headroom must be positive")


# A step's receive limit is 7.5–45 % of μ (loose) or 0.75–4.5 % (tight, scarce). Its send limit is 1–28 % (loose),
# 0.02–0.56 % (tight) or 0.002–0.056 % (scarce).
BUDGETS = {
    "loose": Budget(receive_share=0.6, transmit_share=0.5),
    "tight": Budget(receive_share=0.06, transmit_share=0.01),
    "scarce": Budget(receive_share=0.06, transmit_share=0.001),
}


@dataclass(frozen=True)
class DeviceColumns:
    """P, p, θ and Ψ of every device, and which profile and load they come from."""

    profile: NDArray[np.int64]
    load: NDArray[np.float64]
    processing_capacity: NDArray[np.float64]
    processing_cost: NDArray[np.float64]
    receive_capacity: NDArray[np.float64]
    transmit_budget: NDArray[np.float64]


def device_columns(
    n_devices: int,
    mean_datapoints: float,
    budget: Budget,
    generator: np.random.Generator,
    profiles: tuple[Profile, ...] = PROFILES,
) -> DeviceColumns:
    """Give every device a profile and a load, both uniformly, and derive its columns."""
    if n_devices < 1 or mean_datapoints <= 0 or not profiles:
        raise ValueError("devices, datapoints and profiles are needed")
    profile = generator.integers(len(profiles), size=n_devices)
    load = generator.uniform(*LOAD_RANGE, n_devices)
    speed = np.array([p.speed for p in profiles])[profile]
    cost = np.array([p.power for p in profiles])[profile] / speed
    spare = (1 - load) * mean_datapoints
    return DeviceColumns(
        profile=profile,
        load=load,
        processing_capacity=cost * budget.headroom * speed * mean_datapoints,
        processing_cost=cost,
        receive_capacity=budget.receive_share * spare * speed,
        transmit_budget=budget.transmit_share * spare,
    )


def link_cost(quality: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
    """Draw each link's rate among 1, 6 and 9 Mbps and return ψ; a lossy link takes 1/quality tries."""
    rate = np.array(LINK_RATES_MBPS)[generator.integers(len(LINK_RATES_MBPS), size=len(quality))]
    cost: NDArray[np.float64] = FULL_RATE_MBPS / (rate * quality)
    return cost
