"""What a report changes in the network of a run: devices that join, and numbers of devices and links.

The rows are those of `PATCH /v1/networks/{id}`, and hold from the next step on. Devices keep their numbers: those that
join follow after the others, and one that is gone for good stays `lost`. A fleet is changed in its own units and
translated anew, so that what is derived from a device's data (θ, similarity) follows it. What was announced for later
steps still holds.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from app.http.problems import InvalidRequestError
from app.networks.fleet_patch import patched_fleet, pointing
from app.networks.patch import DeviceChange, PatchIn
from app.plans.planning import PlanQuery
from app.runs.conditions import Kept, query_for
from app.runs.request import AggregationRequest
from app.settings import Settings
from app.wire.fleet import FleetIn, Translated
from app.wire.ids import DeviceIds
from app.wire.network import charge_network
from app.wire.pointers import located
from app.wire.problem import ErrorItem
from solver import Change, Links, Network
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS
from solver.network.patch import LinkRows, NetworkPatch

__all__ = ["changed"]

_ROW = re.compile(r"/devices/(\d+)(/.*)?")


def changed(kept: Kept, report: AggregationRequest, find_fleet: Callable[[], FleetIn], settings: Settings) -> Kept:
    """The conditions with what a report changes; `find_fleet` has the fleet of a run that is of one.

    Raises:
        InvalidRequestError: the report does not fit the network; it points to the row.
    """
    if not report.changes_network:
        return kept
    query = kept.query
    before = query.schedule.network
    fleet = None if query.fleet is None else kept.fleet or find_fleet()
    patch = _patch(report, query, of_fleet=fleet is not None)
    charge_network(len(before) + len(patch.add_devices), len(before.links) + len(patch.links))
    policy = kept.policy
    with _pointing_at_data(len(report.devices)):
        if fleet is None:
            given = _network(query, patch)
        else:
            after = patched_fleet(fleet, _ids(query), patch)
            policy = policy.in_fleet(fleet.devices, after.devices)
            given, fleet = _translated(query, fleet, after, patch), after
    changes = tuple(_extended(one, given.network, len(before)) for one in query.schedule.changes)
    return Kept(query_for(kept.parameters, given, changes, settings), kept.parameters, policy, fleet)


def _patch(report: AggregationRequest, query: PlanQuery, *, of_fleet: bool) -> PatchIn:
    """All that the report changes; `data` as further rows of devices."""
    rows = list(report.devices)
    if report.data is not None:
        numbers, datapoints = report.data.rows(len(query.schedule.network), query.ids)
        field = "datapoints" if of_fleet else "data"
        pairs = zip(numbers.tolist(), datapoints.tolist(), strict=True)
        rows += [DeviceChange.model_construct({"index", field}, index=one, **{field: count}) for one, count in pairs]
    return PatchIn.model_construct(
        devices=rows,
        add_devices=report.add_devices,
        remove_devices=[],
        links=report.links,
        remove_links=report.remove_links,
    )


@contextmanager
def _pointing_at_data(n_rows: int) -> Iterator[None]:
    """Let errors about rows of devices after the first `n_rows` point to `data`, which they were made of."""
    try:
        yield
    except InvalidRequestError as error:
        items = []
        for one in error.errors:
            found = _ROW.fullmatch(one.pointer or "")
            place = -1 if found is None else int(found[1]) - n_rows
            items.append(one if place < 0 else ErrorItem(pointer=f"/data/datapoints/{place}", detail=one.detail))
        raise InvalidRequestError(items, count=error.count) from error


def _ids(query: PlanQuery) -> DeviceIds:
    return query.ids or DeviceIds(())


def _network(query: PlanQuery, patch: PatchIn) -> Translated:
    """A network in the paper's quantities."""
    network, ids = query.schedule.network, query.ids
    change = patch.to_domain("", network, ids)
    with located({}):
        network = change.applied(network)
    if ids is not None and patch.add_devices:
        ids = DeviceIds((*ids.names, *(str(row.id) for row in patch.add_devices)), ids.unwilling)
    return Translated(network, ids)


def _translated(query: PlanQuery, fleet: FleetIn, after: FleetIn, patch: PatchIn) -> Translated:
    """The fleet after the changes; numbers that these do not concern stay as they are in the run by now."""
    with pointing(patch, _ids(query), after):
        made = after.to_domain("")
    now, before = query.schedule.network, fleet.to_domain("").network
    return replace(made, network=_carried_over(now, before, made.network))


def _carried_over(now: Network, before: Network, after: Network) -> Network:
    """`after` with the numbers of `now` wherever it equals `before`: schedules have changed those."""
    n = len(now)
    columns = {}
    for name in DEVICE_COLUMNS:
        new = getattr(after.devices, name).copy()
        same = new[:n] == getattr(before.devices, name)
        new[:n][same] = getattr(now.devices, name)[same]
        columns[name] = new
    changes = _link_changes(now.links, before.links, after.links, len(after))
    grown = Network(replace(after.devices, **columns), now.links)
    return NetworkPatch(links=changes).applied(grown)


def _link_changes(now: Links, before: Links, after: Links, n_devices: int) -> LinkRows:
    """What `after` has otherwise than `before`, to be applied to `now`."""
    keys = [one.target * np.int64(n_devices) + one.source for one in (now, before, after)]
    order, known = np.argsort(keys[1]), np.flatnonzero(np.isin(keys[2], keys[1]))
    places = order[np.searchsorted(keys[1], keys[2][known], sorter=order)]
    equal = np.ones(known.size, np.bool_)
    for name in LINK_COLUMNS[2:]:
        equal &= getattr(before, name)[places] == getattr(after, name)[known]
    told = np.setdiff1d(np.arange(keys[2].size), known[equal])
    gone = np.flatnonzero(~np.isin(keys[1], keys[2]) & np.isin(keys[1], keys[0]))
    columns = {name: getattr(after, name)[told] for name in LINK_COLUMNS[2:]}
    return LinkRows(after.source[told], after.target[told], columns, before.source[gone], before.target[gone])


def _extended(change: Change, network: Network, n_before: int) -> Change:
    """An announced change, with the devices after the first `n_before` as they are in the network."""
    if n_before == len(network):
        return change
    columns = {
        name: np.concatenate((np.asarray(values, np.float64), getattr(network.devices, name)[n_before:]))
        for name, values in change.columns.items()
    }
    links = None if change.links is None else _joined(change.links, network.links, n_before)
    return replace(change, columns=columns, links=links)


def _joined(links: Links, others: Links, n_before: int) -> Links:
    """The links, and those of the others that lead to or from a device after the first `n_before`."""
    new: NDArray[np.bool_] = (others.source >= n_before) | (others.target >= n_before)
    return Links(*(np.concatenate((getattr(links, name), getattr(others, name)[new])) for name in LINK_COLUMNS))
