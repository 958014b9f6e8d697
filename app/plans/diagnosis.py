"""A diagnosis of a network without solving: eligible devices, connectivity, tight budgets."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.plans.planning import PlanQuery, check_choice, sampling_memory
from app.wire.fleet import Translation
from app.wire.ids import DeviceIds
from app.wire.network import SimilarityOrigin
from solver import Network, Obstacle, eligible_devices, obstacles

__all__ = ["TIGHT", "Diagnosis", "component_sizes", "diagnose"]

# A budget that moves less than this share of a device's data in a step is called tight.
TIGHT = 0.01


@dataclass(frozen=True)
class Diagnosis:
    """The findings; conditions are those of the first step, eligibility is for the whole horizon."""

    feasible: bool
    n_devices: int
    n_links: int
    eligible: int
    obstacles: tuple[Obstacle, ...]
    components: int
    largest_component: int
    isolated: list[int]
    tight_processing: list[int]
    tight_receiving: list[int]
    tight_transmitting: list[int]
    network: Network
    ids: DeviceIds | None = None
    fleet: Translation | None = None
    similarity: SimilarityOrigin | None = None
    stored: tuple[str, int] | None = None


def diagnose(query: PlanQuery) -> Diagnosis:
    """Diagnose a query's network in O(devices + links).

    Raises:
        InvalidRequestError: callers are not offered the query's sampler, or `sampled` names devices beside `eligible`.
    """
    check_choice(query)
    with sampling_memory(query):
        return _findings(query)


def _findings(query: PlanQuery) -> Diagnosis:
    network = query.schedule.segments[0].network
    devices, links, n = network.devices, network.links, len(network)
    able = eligible_devices(query.schedule, query.horizon)
    eligible = able if query.eligible is None else able & np.isin(np.arange(n), query.eligible)
    sizes = component_sizes(n, links.source, links.target)
    linked = np.bincount(links.source, minlength=n) + np.bincount(links.target, minlength=n) > 0

    headroom = devices.processing_capacity - devices.processing_cost * devices.data
    cheapest = np.full(n, np.inf)
    np.minimum.at(cheapest, links.source, links.transmit_cost)
    sends = np.isfinite(cheapest) & (devices.data > 0)
    cannot_pay = devices.transmit_budget < TIGHT * devices.data * np.where(sends, cheapest, 0.0)
    fixed = query.sampled
    return Diagnosis(
        feasible=bool(eligible.sum() >= query.sample_size if fixed is None else eligible[fixed].all()),
        n_devices=n,
        n_links=len(links),
        eligible=int(eligible.sum()),
        obstacles=obstacles(query.schedule, query.horizon),
        components=len(sizes),
        largest_component=int(sizes.max()),
        isolated=np.flatnonzero(~linked).tolist(),
        tight_processing=np.flatnonzero(able & (headroom < TIGHT * devices.processing_cost * devices.data)).tolist(),
        tight_receiving=np.flatnonzero(able & (devices.receive_capacity < TIGHT * devices.data)).tolist(),
        tight_transmitting=np.flatnonzero(sends & cannot_pay).tolist(),
        network=network,
        ids=query.ids,
        fleet=query.fleet,
        stored=query.stored,
        similarity=query.similarity,
    )


def component_sizes(n: int, source: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many devices each component has, whichever way its links lead.

    Every device points to a device of its component, in the end to the first of it. In each round a component is hooked
    to its neighbour that comes first, and all pointers are shortened, so few rounds suffice. SciPy's function would
    take a third of a second to load.
    """
    first = np.arange(n)
    while True:
        one, other = first[source], first[target]
        apart = one != other
        if not apart.any():
            return np.unique(first, return_counts=True)[1]
        source, target, one, other = source[apart], target[apart], one[apart], other[apart]
        least = np.minimum(one, other)
        np.minimum.at(first, one, least)
        np.minimum.at(first, other, least)
        while not np.array_equal(first, shorter := first[first]):
            first = shorter
