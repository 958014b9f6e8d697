"""Policies: who trains after a device was lost."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fedl_sim.errors import InvalidSettingError
from sampler.base import SamplingProblem
from sampler.healing import heal
from sampler.registry import find_sampler, objective_of
from sampler.rivals.model_based import RIVALS
from sampler.schemes import EVERYONE
from solver.horizon.gradient import GradientModel
from solver.network import Network
from solver.network.eligibility import eligible_devices
from solver.network.schedule import Schedule

__all__ = ["DEFAULT_POLICY", "POLICIES", "Situation", "policy_for", "react"]

# What each does when a device is lost.
POLICIES = {
    "fixed": "the set stays; a lost device is missing until it is back",
    "redraw": "all devices are drawn anew at random",
    "patch": "lost devices are replaced at random",
    "heal": "lost devices are replaced by the sampler's choice",
    "afresh": "all devices are chosen anew by the sampler",
}
DEFAULT_POLICY = "heal"


@dataclass(frozen=True, eq=False)
class Situation:
    """What is known when devices are to be replaced.

    Attributes:
        network: the network of the devices that are present, as it stands (`solver.horizon.membership.as_it_stands`).
        present: devices that are up.
        sample_size: S.
        horizon: how many steps of training are left.
        sampler: the name of the scheme's sampler.
        offloading: whether data will be offloaded.
        transfer: what senders send over a link that they have used before.
        gradient: ‖∇F̄‖ as measured last.
        gradient_noise: γ as measured last.
    """

    network: Network
    present: NDArray[np.bool_]
    sample_size: int
    horizon: int
    sampler: str
    offloading: bool
    transfer: str
    gradient: GradientModel
    gradient_noise: float

    def problem(self, allowed: NDArray[np.bool_], sample_size: int) -> SamplingProblem:
        """Return the problem of choosing so many of these devices now."""
        return SamplingProblem.of(
            Schedule.of(self.network),
            sample_size,
            horizon=self.horizon,
            allowed=allowed,
            offloading=self.offloading,
            transfer=self.transfer,
            gradient=self.gradient,
            gradient_noise=self.gradient_noise,
        )


def policy_for(name: str, sampler: str) -> str:
    """Return the policy of that name for schemes with this sampler.

    Raises:
        InvalidSettingError: there is no such policy, or the sampler needs a round of training to choose.
    """
    if name not in POLICIES:
        raise InvalidSettingError(f"unknown policy {name!r}; known: {', '.join(POLICIES)}")
    if sampler in RIVALS and name in {"heal", "afresh"}:
        raise InvalidSettingError(f"the policy {name} needs a sampler that chooses without training, not {sampler}")
    # Where every device trains, nobody is left to replace a lost one.
    return "fixed" if sampler == EVERYONE else name


def react(
    policy: str, chosen: NDArray[np.int64], lost: NDArray[np.bool_], now: Situation, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return the chosen devices after some were lost; fewer than S if no more can train.

    Args:
        policy: one of `POLICIES`.
        chosen: the devices chosen so far.
        lost: of all devices, those that have gone down; some may be up again.
        now: what is known.
        generator: draws, or breaks ties.
    """
    missing = lost[chosen]
    if policy == "fixed" or (not missing.any() and len(chosen) == now.sample_size):
        return chosen
    able = now.present & eligible_devices(Schedule.of(now.network), now.horizon)
    sampler = now.sampler if policy in {"heal", "afresh"} else "random"
    objective = objective_of(sampler)
    if policy == "heal" and objective is not None and able.any():
        problem = now.problem(able, min(now.sample_size, int(able.sum())))
        return heal(problem, chosen, generator, lost=np.flatnonzero(lost), objective=objective).sampled
    kept = chosen[~missing & able[chosen]] if policy in {"heal", "patch"} else np.empty(0, np.int64)
    able[kept] = False
    wanted = min(now.sample_size - len(kept), int(able.sum()))
    if wanted == 0:
        return kept
    return np.concatenate([kept, find_sampler(sampler)(now.problem(able, wanted), generator).sampled])
