"""Patches: what they change, beside the same network made anew."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from solver import Change, Devices, InvalidInputError, Links, Network, Schedule
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS
from solver.network.patch import DeviceRows, LinkRows, LinkSet, NetworkPatch
from tests.support.solving import network

NAN = float("nan")
WEIGHTS = LINK_COLUMNS[2:]


def rows(**columns: list[float]) -> dict[str, Any]:
    return {name: np.array(values, np.float64) for name, values in columns.items()}


def ends(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


def test_links_are_changed_added_and_removed() -> None:
    net = network(4, (1, 0), (2, 0), (3, 1))
    links = LinkRows(ends(2, 0), ends(0, 3), rows(similarity=[NAN, 0.9], transmit_cost=[7, 8]), ends(3), ends(1))
    made = NetworkPatch(links=links).applied(net).links
    assert list(zip(made.source.tolist(), made.target.tolist(), strict=True)) == [(1, 0), (2, 0), (0, 3)]
    assert_array_equal(made.similarity, [0.5, 0.5, 0.9])
    assert_array_equal(made.transmit_cost, [1, 7, 8])


def test_a_patch_leaves_the_network_before_as_it_was() -> None:
    net = network(3, (1, 0))
    patch = NetworkPatch(
        DeviceRows(ends(2), rows(data=[5.0])),
        links=LinkRows(ends(1), ends(0), rows(similarity=[0.1], transmit_cost=[NAN])),
    )
    made = patch.applied(net)
    assert net.devices.data[2] == 100
    assert net.links.similarity[0] == 0.5
    assert made.devices.data[2] == 5
    assert made.links.similarity[0] == 0.1


def test_links_in_any_order_are_changed_alike() -> None:
    have = LinkSet(ends(3, 1, 2), ends(1, 0, 0), rows(mbps=[1, 2, 3]))
    change = LinkRows(ends(2, 0), ends(0, 1), rows(mbps=[30, 40]), ends(3), ends(1))
    made = change.applied(have, 4, ("mbps",), "")
    found = dict(zip(zip(made.source.tolist(), made.target.tolist(), strict=True), made.columns["mbps"], strict=True))
    assert found == {(1, 0): 2, (2, 0): 30, (0, 1): 40}


@pytest.mark.parametrize(
    ("links", "message"),
    [
        (LinkRows(removed_source=ends(0), removed_target=ends(1)), "remove_links.0: is no link of this network"),
        (
            LinkRows(ends(1, 0), ends(0, 1), rows(similarity=[0.1, NAN], transmit_cost=[1, 1])),
            "links.1.similarity: is missing: the link is new",
        ),
    ],
)
def test_what_does_not_fit_is_named(links: LinkRows, message: str) -> None:
    links_of_none = {name: np.empty(0) for name in WEIGHTS} | dict(links.columns)
    links = LinkRows(links.source, links.target, links_of_none, links.removed_source, links.removed_target)
    with pytest.raises(InvalidInputError, match=f"^schedule.2.patch.{message}$"):
        NetworkPatch(links=links, place="schedule.2.patch.").applied(network(2, (1, 0)))


def test_a_patched_network_is_the_network_made_anew() -> None:
    """Against dictionaries: 200 random patches of random networks."""
    for seed in range(200):
        draw = np.random.default_rng(seed)
        n, more = int(draw.integers(1, 7)), int(draw.integers(0, 4))
        pairs = [(s, t) for s in range(n + more) for t in range(n + more) if s != t]
        devices = draw.random((n + more, len(DEVICE_COLUMNS)))
        have = {p: draw.random(2) for p in pairs if max(p) < n and draw.random() < 0.5}
        before = _network(devices[:n], have)

        told = {p: draw.random(2) for p in pairs if draw.random() < 0.3}
        for p in told.keys() & have.keys():
            told[p][draw.random(2) < 0.5] = np.nan
        gone = [p for p in have if p not in told and draw.random() < 0.3]
        changes = np.where(draw.random((n, len(DEVICE_COLUMNS))) < 0.3, draw.random((n, len(DEVICE_COLUMNS))), np.nan)
        removed = [i for i in range(n - 1) if draw.random() < 0.3]
        patch = NetworkPatch(
            DeviceRows(np.arange(n), _columns(DEVICE_COLUMNS, changes)),
            DeviceRows(np.arange(more), _columns(DEVICE_COLUMNS, devices[n:])),
            ends(*removed),
            LinkRows(*_ends(told), _columns(WEIGHTS, list(told.values())), *_ends(gone)),
        )

        after = {p: v for p, v in have.items() if p not in gone}
        after |= {p: np.where(np.isnan(v), after.get(p, v), v) for p, v in told.items()}
        devices[:n] = np.where(np.isnan(changes), devices[:n], changes)
        left = [i for i in range(n + more) if i not in removed]
        number = {old: new for new, old in enumerate(left)}
        kept = {(number[s], number[t]): v for (s, t), v in after.items() if s in number and t in number}
        _assert_same(patch.applied(before), _network(devices[left], kept))


def _network(devices: Any, links: dict[tuple[int, int], Any]) -> Network:
    columns = _columns(WEIGHTS, list(links.values()))
    return Network(Devices(**_columns(DEVICE_COLUMNS, devices)), Links(*_ends(links), *columns.values()))


def _columns(names: tuple[str, ...], values: Any) -> dict[str, Any]:
    table = np.array(values, np.float64).reshape(-1, len(names))
    return {name: table[:, j] for j, name in enumerate(names)}


def _ends(pairs: Iterable[tuple[int, int]]) -> tuple[Any, Any]:
    numbers = np.array(list(pairs), np.int64).reshape(-1, 2)
    return numbers[:, 0], numbers[:, 1]


def _assert_same(one: Network, other: Network) -> None:
    for name in DEVICE_COLUMNS:
        assert_array_equal(getattr(one.devices, name), getattr(other.devices, name))
    for name in LINK_COLUMNS:
        assert_array_equal(getattr(one.links, name), getattr(other.links, name))
    assert_array_equal(one.incoming, other.incoming)


def test_label_counts_are_replaced_by_rows() -> None:
    net = network(2, label_counts=[[1, 2], [3, 4]])
    patch = NetworkPatch(
        DeviceRows(ends(1), rows(data=[NAN]), ends(1), np.array([[5.0, 6.0]])),
        DeviceRows(ends(0), rows(**{name: [1.0] for name in DEVICE_COLUMNS}), ends(0), np.array([[7.0, 8.0]])),
        ends(0),
    )
    assert_array_equal(patch.applied(net).devices.label_counts, [[5, 6], [7, 8]])


def test_a_schedule_takes_patches_one_after_the_other() -> None:
    net = network(3, (1, 0))

    def budget(step: int, device: int, value: float) -> Change:
        return Change(step, patch=NetworkPatch(DeviceRows(ends(device), rows(transmit_budget=[value]))))

    schedule = Schedule(
        net, (budget(4, 1, 7.0), budget(2, 0, 5.0), Change(4, {"transmit_budget": [1, 2, 3]}), budget(4, 2, 9))
    )
    assert_array_equal(schedule.at(3).devices.transmit_budget, [5, 20, 20])
    assert_array_equal(schedule.at(4).devices.transmit_budget, [1, 2, 9])
    whole = Schedule(net, schedule.whole_changes())
    assert [change.step for change in whole.changes] == [2, 4]
    for step in (1, 2, 4):
        _assert_same(whole.at(step), schedule.at(step))


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (NetworkPatch(removed=ends(0)), "devices: cannot come or go in time"),
        (NetworkPatch(DeviceRows(ends(0), rows(data=[1.0]))), "devices.data: cannot change in time"),
    ],
)
def test_a_schedule_changes_no_data_and_no_set_of_devices(patch: NetworkPatch, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Change(2, patch=patch)
