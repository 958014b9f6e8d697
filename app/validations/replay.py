"""From the periods of a run to what a validation replays: the conditions of all steps, and what happened in periods.

Devices have numbers in the order in which they joined. One that joined later is part of the network from the start, but
has no links and cannot train until then.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from app.plans.planning import PlanQuery
from app.plans.request import named_devices
from app.runs.history import PastPeriod
from fedl_sim.contract import Delivered, GivenPeriod, OwnData
from sampler.label_counts.histograms import class_counts
from solver import Change, Devices, Network, Schedule
from solver.network.schedule import CHANGEABLE_COLUMNS

__all__ = ["conditions_of", "happened"]

# A device that has not joined yet: with no capacity for any data it cannot be sampled, also by other schemes.
_ABSENT = {"processing_capacity": 0.0, "processing_cost": 1.0, "receive_capacity": 0.0, "transmit_budget": 0.0}


def conditions_of(past: Sequence[PastPeriod]) -> Schedule:
    """The conditions of all steps so far, for all devices that the run has by now."""
    before = past[0].query.schedule.network
    base = _start(past)
    changes = []
    for step, network in _in_force(past):
        if network is not before:
            columns = {name: _padded(network, name, len(base)) for name in CHANGEABLE_COLUMNS}
            changes.append(Change(step, columns, None if network.links is before.links else network.links))
        before = network
    return Schedule(base, tuple(changes))


def _in_force(past: Sequence[PastPeriod]) -> Iterator[tuple[int, Network]]:
    """The networks of a run, and the step that each holds from."""
    period = past[0].query.aggregation_period
    for number, one in enumerate(past):
        first, last = number * period + 1, (number + 1) * period
        yield first, one.query.schedule.at(first)
        for segment in one.query.schedule.segments:
            if first < segment.first <= last:
                yield segment.first, segment.network


def _start(past: Sequence[PastPeriod]) -> Network:
    """The network of the start, with those that joined later: their data is what they joined with."""
    first = past[0].query.schedule.network
    data, counts = first.devices.data, first.devices.label_counts
    for one in past[1:]:
        devices = one.query.schedule.network.devices
        data = np.concatenate((data, devices.data[data.size :]))
        if counts is not None and devices.label_counts is not None:
            counts = np.concatenate((counts, devices.label_counts[len(counts) :]))
    columns = {name: _padded(first, name, data.size) for name in CHANGEABLE_COLUMNS}
    devices = Devices(data, **columns, label_counts=counts, label_epsilon=first.devices.label_epsilon)
    return Network(devices, first.links)


def _padded(network: Network, name: str, n_devices: int) -> NDArray[np.float64]:
    column: NDArray[np.float64] = getattr(network.devices, name)
    return np.concatenate((column, np.full(n_devices - column.size, _ABSENT[name])))


def happened(past: Sequence[PastPeriod], sampled: Sequence[Sequence[int]]) -> tuple[GivenPeriod, ...]:
    """What happened in each period; empty if the same devices trained throughout, with the data they were to get."""
    periods = []
    for number, one in enumerate(past):
        known = past[number + 1].query if number + 1 < len(past) else one.query
        period = GivenPeriod(tuple(sampled[number]), own_data=_own_data(past[number - 1], one) if number else None)
        periods.append(period if one.report is None else _reported(period, one, known))
    as_planned = GivenPeriod(periods[0].sampled)
    return () if all(period == as_planned for period in periods) else tuple(periods)


def _reported(period: GivenPeriod, one: PastPeriod, known: PlanQuery) -> GivenPeriod:
    """With what the report at its end tells; `known` has the devices that this may name."""
    report, n = one.report, len(known.schedule.network)
    if report is None:
        return period
    gone = named_devices(report, "lost", n, known.ids)
    lost = set() if gone is None else set(gone.tolist()) & set(period.sampled)
    delivered = None
    if report.delivered is not None:
        delivered = Delivered(*(tuple(part.tolist()) for part in report.delivered.pairs(n, known.ids)))
    return replace(period, lost=tuple(sorted(lost)), delivered=delivered)


def _own_data(before: PastPeriod, now: PastPeriod) -> OwnData | None:
    """Devices whose own data is not as in the period before; counts of classes only of those that have others."""
    old, new = before.query.schedule.network.devices, now.query.schedule.network.devices
    n = len(old)
    changed = old.data != new.data[:n]
    counts, relabelled = class_counts(new), np.zeros(n, np.bool_)
    if old.label_counts is not None and new.label_counts is not None:
        relabelled = (old.label_counts != new.label_counts[:n]).any(axis=1)
    devices = np.flatnonzero(changed | relabelled)
    if not devices.size:
        return None
    rows = None
    if counts is not None and relabelled.any():
        rows = tuple(map(tuple, np.where(relabelled[devices, None], counts[devices], 0.0).tolist()))
    return OwnData(tuple(devices.tolist()), tuple(new.data[devices].tolist()), rows)
