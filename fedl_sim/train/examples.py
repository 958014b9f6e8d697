"""From labelled realisations to training examples."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fedl_sim.labels.evaluation import problem_of
from fedl_sim.labels.record import LabelledRealisation
from fedl_sim.randomness import stream
from sampler.gcn.examples import Example, RankStates
from sampler.gcn.features import FEATURES, GENERAL_FEATURES, device_features
from sampler.gcn.forward import Propagation
from sampler.gcn.rank_features import RankView

__all__ = ["gcn_examples", "gcn_features", "rank_states"]

# The worth of a device as the next pick is the mean rank of the best fifth of the sets that contain it and the picks
# before it; the mean, since a search seldom finds the best set. Rank differences of about a twentieth matter.
_BEST_SHARE = 0.2
_TEMPERATURE = 0.05

# Number of sets built on each realisation; whether the label counts are known is drawn at random.
_WALKS = 3


def gcn_features(*, general: bool) -> tuple[str, ...]:
    """Return the columns that a model for one S, or the general one, sees."""
    return GENERAL_FEATURES if general else FEATURES


def gcn_examples(records: Sequence[LabelledRealisation], label: str, *, general: bool) -> list[Example]:
    """Return one example per realisation; its target is x*/S, the best set by the label (Sec. IV-B)."""
    examples = []
    for record in records:
        target = np.zeros(len(record.network))
        target[record.sets[np.argmin(record.values(label))]] = 1 / record.sample_size
        features = device_features(record.network, record.sample_size, gcn_features(general=general))
        examples.append(Example(record.network, features, target))
    return examples


def rank_states(records: Sequence[LabelledRealisation], surrogate_share: float) -> RankStates:
    """Build good and bad sets device by device on every realisation; return every step with the best next device.

    Sets are ranked by FedL loss and by the surrogate; `surrogate_share` weighs the two ranks.
    """
    rows: list[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]] = []
    for record in records:
        rank = _rank(record, "surrogate")
        if surrogate_share < 1:
            rank = surrogate_share * rank + (1 - surrogate_share) * _rank(record, "fedl")
        members = np.zeros((len(record.sets), len(record.network)), np.bool_)
        np.put_along_axis(members, record.sets, True, axis=1)  # noqa: FBT003 — numpy's signature
        propagation = Propagation(record.network)(np.eye(len(record.network)))
        generator = stream(record.seed, "walk", record.sample_size)
        by_rank = np.argsort(rank, kind="stable")
        for walk in range(_WALKS):
            view = RankView(problem_of(record, reveal_labels=walk % 2 == 0 or generator.random() < 0.5))
            # Mostly good sets, as in a search; sometimes bad ones, so that the model learns to recover.
            goal = record.sets[by_rank[int(len(by_rank) * generator.random() ** 2)]]
            open_sets = np.ones(len(rank), np.bool_)
            for device in generator.permutation(goal):
                target = _target(rank, members, open_sets, view.free)
                rows.append((view.features().copy(), propagation, target, view.free.copy()))
                view.pick(int(device))
                open_sets &= members[:, device]
    features, propagations, targets, free = (np.stack(column) for column in zip(*rows, strict=True))
    return RankStates(features, propagations, targets, free)


def _rank(record: LabelledRealisation, label: str) -> NDArray[np.float64]:
    """0 for the best set, 1 for the worst."""
    order = np.argsort(record.values(label), kind="stable")
    rank = np.empty(len(order))
    rank[order] = np.arange(len(order)) / max(len(order) - 1, 1)
    return rank


def _target(
    rank: NDArray[np.float64], members: NDArray[np.bool_], open_sets: NDArray[np.bool_], free: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Softmax over the free devices of minus their worth."""
    worth = np.full(len(free), np.inf)
    for device in np.flatnonzero(free):
        reachable = np.sort(rank[open_sets & members[:, device]])
        worth[device] = reachable[: max(1, int(len(reachable) * _BEST_SHARE))].mean()
    target = np.exp(-(worth - worth.min()) / _TEMPERATURE)
    normalised: NDArray[np.float64] = target / target.sum()
    return normalised
