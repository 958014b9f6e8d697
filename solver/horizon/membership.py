"""The state of a horizon when devices are lost or join, when data did not arrive, and when devices' own data changes.

A device that leaves the sampled set keeps nothing of what it received: it holds D_i(0) if it is sampled again, and its
senders may send it all of their data once more. A device that joins holds D_i(0). Receivers keep what they have, also
if its sender is lost.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from solver.arrays import BoolArray, FloatArray, IntArray
from solver.errors import InvalidInputError
from solver.horizon.plan import StepPlan
from solver.horizon.state import HorizonState
from solver.horizon.transfer import DEFAULT_TRANSFER, Transfer, transfer_named
from solver.network import Links, Network
from solver.network.schedule import Schedule
from solver.network.subgraph import pair_keys
from solver.validation import as_column, as_device_set, as_indices

__all__ = [
    "NOBODY",
    "Moved",
    "as_it_stands",
    "exchange",
    "schedule_as_it_stands",
    "with_changed_data",
    "without_arrivals",
]

NOBODY = np.empty(0, np.int64)


def exchange(
    network: Network | Schedule, state: HorizonState, sampled: npt.ArrayLike, *, lost: npt.ArrayLike = NOBODY
) -> HorizonState:
    """The state with these sampled devices instead. Those that are in both sets, and not `lost`, keep what they hold.

    Raises:
        InvalidInputError: `sampled` is empty, or names a device twice or one that the network does not have.
    """
    own = Schedule.of(network).network.devices.data
    devices = as_device_set(sampled, "sampled", n_devices=own.size)
    stays = _stays(state, lost)
    data = own.copy()
    data[state.sampled[stays]] = state.data[stays]
    kept = np.isin(state.target, np.intersect1d(state.sampled[stays], devices))
    return HorizonState(state.step, devices, data[devices], state.source[kept], state.target[kept], state.unsent[kept])


def as_it_stands(
    network: Network,
    state: HorizonState,
    *,
    transfer: str = DEFAULT_TRANSFER,
    lost: npt.ArrayLike = NOBODY,
) -> Network:
    """The network as a sampler should see it now: sampled devices hold what they have received too.

    With u_ki the share that k has not sent to i, D_i is D_i(t), and λ_ki is 1 − (1 − λ_ki)·u_ki, so that D_k(1 − λ_ki)
    is what is still new to i. If senders send once, all of that costs ψ_ki·u_ki·D_k. Label counts grow by those of the
    data received, unless they have noise.
    """
    once = transfer_named(transfer) is Transfer.SEND_ONCE
    stays = _stays(state, lost)
    members = state.sampled[stays]
    devices, links = network.devices, network.links
    data = devices.data.copy()
    data[members] = state.data[stays]
    into = np.flatnonzero(np.isin(links.target, members))
    source, target, similarity = links.source[into], links.target[into], links.similarity.copy()
    unsent = state.unsent_of(source, target)
    columns: dict[str, Any] = {"data": data}
    if devices.label_counts is not None and devices.label_epsilon is None:
        counts = devices.label_counts.copy()
        share = (1.0 - similarity[into]) * (1.0 - unsent)
        np.add.at(counts, target, share[:, None] * devices.label_counts[source])
        columns["label_counts"] = counts
    similarity[into] = 1.0 - (1.0 - similarity[into]) * unsent
    cost = links.transmit_cost.copy()
    cost[into] *= unsent if once else 1.0
    return network.with_columns(columns, Links(links.source, links.target, similarity, cost))


def schedule_as_it_stands(
    schedule: Schedule, state: HorizonState, *, transfer: str = DEFAULT_TRANSFER, lost: npt.ArrayLike = NOBODY
) -> Schedule:
    """`as_it_stands` of the network, and of the links that its changes bring; step 1 is the step after the state."""

    def now(network: Network) -> Network:
        return as_it_stands(network, state, transfer=transfer, lost=lost)

    changes = (
        change if change.links is None else replace(change, links=now(schedule.at(change.step)).links)
        for change in schedule.whole_changes()
    )
    return Schedule(now(schedule.network), tuple(changes))


def with_changed_data(state: HorizonState, before: FloatArray, now: FloatArray) -> HorizonState:
    """The state when devices' own data has changed from D(0) = `before` to `now`.

    Sampled devices gain or lose the difference. What was sent before is a smaller share of more data: a sender has
    (1 − unsent)·D_before datapoints behind it.
    """
    held = np.maximum(state.data + now[state.sampled] - before[state.sampled], 0.0)
    sent = (1.0 - state.unsent) * before[state.source]
    share = np.divide(sent, now[state.source], out=np.ones(sent.size), where=now[state.source] > 0)
    return HorizonState(state.step, state.sampled, held, state.source, state.target, 1.0 - np.minimum(share, 1.0))


@dataclass(frozen=True, eq=False)
class Moved:
    """What some steps move, by ordered pair.

    Attributes:
        source, target: the pairs, each once.
        datapoints: how many the source sends.
        share: by how much the unsent share of the pair falls.
        useful: how many of them the target keeps.
    """

    source: IntArray
    target: IntArray
    datapoints: FloatArray
    share: FloatArray
    useful: FloatArray

    def __post_init__(self) -> None:
        source, target = as_indices(self.source, "moved.source"), as_indices(self.target, "moved.target")
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "target", target)
        if target.size != source.size:
            raise InvalidInputError("moved.target", f"must have {source.size} entries, has {target.size}")
        for name in ("datapoints", "share", "useful"):
            object.__setattr__(self, name, as_column(getattr(self, name), f"moved.{name}", length=source.size))

    @classmethod
    def by(cls, steps: Sequence[StepPlan], before: HorizonState, after: HorizonState) -> "Moved":
        """What these steps move, which lead from one state to another."""
        columns = ("source", "target", "datapoints", "useful")
        source, target, datapoints, useful = (
            np.concatenate([getattr(step, name) for step in steps]) if steps else np.empty(0) for name in columns
        )
        source, target = source.astype(np.int64), target.astype(np.int64)
        pairs, place = np.unique(np.stack((source, target)), axis=1, return_inverse=True)
        place = place.reshape(-1)
        count = pairs.shape[1]
        all_sent: FloatArray = np.bincount(place, datapoints, count).astype(np.float64)
        all_useful: FloatArray = np.bincount(place, useful, count).astype(np.float64)
        share = before.unsent_of(pairs[0], pairs[1]) - after.unsent_of(pairs[0], pairs[1])
        return cls(
            pairs[0],
            pairs[1],
            all_sent,
            np.maximum(share, 0.0),
            all_useful,
        )

    def to_lists(self) -> dict[str, Any]:
        """Plain lists for JSON; floats keep their exact value."""
        return {field.name: getattr(self, field.name).tolist() for field in fields(self)}

    def places_of(self, source: IntArray, target: IntArray) -> IntArray:
        """Where each of these pairs stands; −1 if nothing was moved between them."""
        if not self.source.size or not source.size:
            return np.full(source.size, -1)
        n = 1 + max(int(one.max()) for one in (self.source, self.target, source, target))
        known, wanted = pair_keys(self.source, self.target, n), pair_keys(source, target, n)
        order = np.argsort(known)
        place = order[np.minimum(np.searchsorted(known, wanted, sorter=order), known.size - 1)]
        return np.where(known[place] == wanted, place, -1)


def without_arrivals(state: HorizonState, moved: Moved, missing: FloatArray) -> HorizonState:
    """The state if of what each pair moved the share `missing` (0..1) did not arrive: it counts as never sent."""
    unsent = state.unsent_of(moved.source, moved.target) + moved.share * missing
    others = moved.places_of(state.source, state.target) < 0
    less = np.zeros(1 + max(state.sampled.max(), moved.target.max(initial=0)))
    np.add.at(less, moved.target, moved.useful * missing)
    data = state.data - less[state.sampled]
    return HorizonState(
        state.step,
        state.sampled,
        np.maximum(data, 0.0),
        np.concatenate((state.source[others], moved.source)),
        np.concatenate((state.target[others], moved.target)),
        np.minimum(np.concatenate((state.unsent[others], unsent)), 1.0),
    )


def _stays(state: HorizonState, lost: npt.ArrayLike) -> BoolArray:
    stays: BoolArray = ~np.isin(state.sampled, as_indices(lost, "lost"))
    return stays
