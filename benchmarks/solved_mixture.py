"""The objective `mixture` with every step of the offloading solved: what the closed form is held to."""

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem
from sampler.objectives.base import Objective
from sampler.objectives.mixture import aimed_at, class_shares
from solver.horizon.batch import plan_sets
from solver.horizon.transfer import Transfer
from solver.network.subgraph import pair_keys

__all__ = ["SolvedMixture", "arrived_part"]


def arrived_part(fractions: NDArray[np.float64], transfer: str) -> NDArray[np.float64]:
    """The part of each link's data that has arrived, as a mean over the steps of a plan with these fractions."""
    arrived = 1 - np.cumprod(1 - fractions, axis=0) if transfer == Transfer.REDRAW else np.cumsum(fractions, axis=0)
    part: NDArray[np.float64] = arrived.mean(axis=0)
    return part


class SolvedMixture(Objective):
    """Σ_c w_c log(ε + m_c/(w_c D_N)) with m_c the mean over the steps of what the plan moves."""

    def __init__(self, problem: SamplingProblem, *, epsilon: float = 0.01) -> None:
        self._problem = problem
        self._shares, self._whole = class_shares(problem)
        self._epsilon = epsilon * problem.sample_size / len(problem.schedule.network)

    def values(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the value of each set."""
        network = self._problem.schedule.network
        held = (network.devices.data[sets][:, :, None] * self._shares[sets]).sum(axis=1)
        if self._problem.offloading:
            plans = plan_sets(network, sets, horizon=self._problem.horizon, transfer=self._problem.transfer)
            links = network.links
            keys = pair_keys(links.source, links.target, len(network))
            link = np.searchsorted(keys, pair_keys(plans.source, plans.target, len(network)))
            fresh = network.devices.data[plans.source] * (1 - links.similarity[link])
            arrived = fresh * arrived_part(plans.fractions, self._problem.transfer)
            owner = np.repeat(np.arange(len(sets)), np.diff(plans.starts))
            np.add.at(held, owner, arrived[:, None] * self._shares[plans.source])
        present = self._whole > 0
        aim = aimed_at(self._whole[present])
        value: NDArray[np.float64] = np.log(self._epsilon + held[:, present] / (aim * network.total_data)) @ aim
        return value
