"""From (family, seed, S) to a labelled realisation: a pure function."""

from itertools import combinations

import numpy as np

from fedl_sim.cache import cached_data_set, cached_engine, cached_realisation
from fedl_sim.errors import InvalidSettingError
from fedl_sim.labels.losses import SetTrainer
from fedl_sim.labels.record import LabelledRealisation
from fedl_sim.labels.settings import Family, Kind, kind_of
from fedl_sim.network.realisation import Realisation
from solver.horizon.batch import SetPlans, plan_sets
from solver.network import Links, Network
from solver.network.eligibility import eligible_devices

__all__ = ["candidate_sets", "label", "realisation_of"]


def realisation_of(family: Family, seed: int) -> tuple[Kind, Realisation]:
    """Draw the network of a seed and the data behind it."""
    kind = kind_of(family, seed)
    return kind, cached_realisation(kind.realisation(family), cached_data_set(family.data_set), seed)


def candidate_sets(network: Network, sample_size: int, horizon: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Return all sets of S eligible devices in lexicographic order: C(10, S) rows if all ten are eligible.

    Raises:
        InvalidSettingError: fewer than S devices can be sampled.
    """
    able = np.flatnonzero(eligible_devices(network, horizon))
    if not 1 <= sample_size <= len(able):
        raise InvalidSettingError(
            f"sample_size must lie in 1..{len(able)}, the devices that can be sampled, is {sample_size}"
        )
    return np.array(list(combinations(able.tolist(), sample_size)), np.int64)


def label(family: Family, seed: int, sample_size: int, *, fedl: bool = True) -> LabelledRealisation:
    """Plan, and with `fedl` train, every candidate set of a realisation.

    The surrogate is eq. (26) averaged over the horizon, with ‖∇F̄‖ = γ = 1 as in a plan without observations. FedL
    trains on the data that this plan moves; senders redraw, as in the paper.
    """
    kind, realisation = realisation_of(family, seed)
    network = realisation.network
    sets = candidate_sets(network, sample_size, family.horizon)
    # Without offloading: the same network without its links.
    moving = network if kind.offloading else Network(network.devices, Links.none())
    plans: SetPlans = plan_sets(moving, sets, horizon=family.horizon, transfer="redraw")
    loss = accuracy = None
    if fedl:
        data = cached_data_set(family.data_set)
        trainer = SetTrainer.of(family, realisation, data, cached_engine("compiled", family.model, data))
        loss, accuracy = trainer.train_sets(plans, seed)
    return LabelledRealisation(
        family=family,
        seed=seed,
        kind=kind,
        network=network,
        sets=sets,
        surrogate=plans.objective,
        sampled_data=plans.sampled_data,
        fedl_loss=loss,
        fedl_accuracy=accuracy,
    )
