"""What a device does with its orders, also after a crash; what a receiver keeps."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsift_client import Courier, Inbox, InputError, Order, Shipment
from fedsift_client.courier import shuffled

ORDER = Order(3, (Shipment(2, 0, 40, 10), Shipment(1, 0, 0, 40, "hub"), Shipment(1, 7, 0, 25)), "cam-17")


def test_the_order_of_a_device_is_a_permutation_that_only_its_seed_decides() -> None:
    """The first numbers are written down: another release must shuffle the same way."""
    assert shuffled(10, "cam-17").tolist() == [3, 0, 2, 7, 4, 8, 5, 1, 6, 9]
    assert sorted(shuffled(1000, 5).tolist()) == list(range(1000))
    assert shuffled(1000, 5).tolist() != shuffled(1000, 6).tolist()
    places = np.mean([shuffled(20, seed) for seed in range(2000)], axis=0)
    assert np.abs(places - 9.5).max() < 0.75  # each is uniform on 0 … 19: 5.8/√2000 = 0.13


def test_parcels_come_by_step_with_the_datapoints_of_the_order() -> None:
    courier = Courier(60, seed="cam-17")
    parcels = list(courier.parcels(ORDER))
    assert [(one.shipment.step, one.shipment.to) for one in parcels] == [(1, 0), (1, 7), (2, 0)]
    assert parcels[0].shipment.to_id == "hub"
    assert parcels[0].datapoints.tolist() == courier.order[:40].tolist()
    to_hub = np.concatenate([one.datapoints for one in parcels if one.shipment.to == 0])
    assert len(set(to_hub.tolist())) == 50
    assert [one.shipment.step for one in courier.parcels(ORDER, step=2)] == [2]


def test_a_restarted_device_goes_on_where_it_was(tmp_path: Path) -> None:
    journal = tmp_path / "sent.jsonl"
    first = Courier(60, seed=1, journal=journal)
    one, other, _ = first.parcels(ORDER)
    first.sent(one, 15)
    first.sent(other)
    again = Courier(60, seed=1, journal=journal)
    left = list(again.parcels(ORDER))
    assert [(p.shipment.to, p.shipment.first, p.shipment.count) for p in left] == [(0, 15, 25), (0, 40, 10)]
    assert left[0].datapoints.tolist() == one.datapoints[15:].tolist()
    for parcel in left:
        again.sent(parcel)
    assert list(again.parcels(ORDER)) == list(Courier(60, seed=1, journal=journal).parcels(ORDER)) == []


def test_what_has_arrived_is_counted_without_gaps_and_over_restarts(tmp_path: Path) -> None:
    journal = tmp_path / "sent.jsonl"
    courier = Courier(60, seed=1, journal=journal)
    assert courier.arrived(ORDER) == {0: 0, 7: 0}
    first, other, second = courier.parcels(ORDER)
    courier.sent(first, 15)
    courier.sent(second)
    assert courier.arrived(ORDER) == {0: 15, 7: 0}  # the second send of device 0 comes after a gap
    again = Courier(60, seed=1, journal=journal)
    again.sent(other)
    assert again.arrived(ORDER) == {0: 15, 7: 25}
    for parcel in again.parcels(ORDER):
        again.sent(parcel)
    assert Courier(60, seed=1, journal=journal).arrived(ORDER) == {0: 50, 7: 25}
    assert again.arrived(Order(3, (Shipment(3, 0, 50, 5),))) == {0: 0}


def test_a_line_that_a_crash_cut_short_is_sent_again(tmp_path: Path) -> None:
    journal = tmp_path / "sent.jsonl"
    courier = Courier(60, seed=1, journal=journal)
    one, other, _ = courier.parcels(ORDER)
    courier.sent(one)
    courier.sent(other)
    whole = journal.read_text(encoding="utf-8")
    for missing in (4, 1):  # with 1, only the end of the line is missing
        journal.write_text(whole[:-missing], encoding="utf-8")
        again = Courier(60, seed=1, journal=journal)
        assert [(p.shipment.to, p.shipment.step) for p in again.parcels(ORDER)] == [(7, 1), (0, 2)]
        again.sent(next(again.parcels(ORDER)))
        assert journal.read_text(encoding="utf-8") == whole
    journal.write_text("[1, 0, 1\n[1, 0, 0, 1]\n", encoding="utf-8")
    with pytest.raises(InputError, match="not a journal: line 1"):
        Courier(60, seed=1, journal=journal)


def test_a_receiver_that_lost_everything_is_sent_it_again(tmp_path: Path) -> None:
    """Its orders begin at 0 again, in later steps; what was sent for the earlier ones does not count."""
    journal = tmp_path / "sent.jsonl"
    first = Courier(60, seed=1, journal=journal)
    for parcel in first.parcels(ORDER):
        first.sent(parcel)
    anew = Order(3, (Shipment(3, 0, 0, 30),))
    again = Courier(60, seed=1, journal=journal)
    (parcel,) = again.parcels(anew)
    assert parcel.datapoints.tolist() == again.order[:30].tolist()
    again.sent(parcel)
    assert list(Courier(60, seed=1, journal=journal).parcels(anew)) == []


@given(st.data())
def test_whatever_was_sent_the_rest_is_what_is_left(data: st.DataObject) -> None:
    courier = Courier(30, seed=0)
    order = Order(0, (Shipment(1, 1, 0, 12), Shipment(2, 1, 12, 18)))
    arrived: list[int] = []
    for _ in range(20):
        parcels = list(courier.parcels(order))
        if not parcels:
            break
        parcel = data.draw(st.sampled_from(parcels))
        count = data.draw(st.integers(1, parcel.shipment.count))
        courier.sent(parcel, count)
        arrived += parcel.datapoints[:count].tolist()
    left = [number for parcel in courier.parcels(order) for number in parcel.datapoints.tolist()]
    assert sorted(arrived + left) == list(range(30))


def test_orders_for_more_than_the_device_holds_are_refused() -> None:
    with pytest.raises(InputError, match="names datapoints 40 to 49; this device holds 45"):
        list(Courier(45, seed=0).parcels(ORDER))
    courier = Courier(60, seed=0)
    parcel = next(courier.parcels(ORDER))
    with pytest.raises(InputError, match="has 40 datapoints, not 41"):
        courier.sent(parcel, 41)


def test_a_receiver_drops_copies() -> None:
    inbox = Inbox(np.eye(3))
    arriving = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 0], [-0.0, 0, 1]])
    assert inbox.take(arriving).tolist() == [False, True, False, False]
    assert inbox.take(arriving).tolist() == [False] * 4


def test_a_receiver_drops_what_is_near_and_of_the_same_label() -> None:
    inbox = Inbox(np.array([[0.0, 0], [5, 5]]), np.array([1, 2]), within=1.0)
    arriving = np.array([[0, 0.9], [0, 0.9], [0, 1.1], [0, 2.0], [5, 5.5]])
    assert inbox.take(arriving, np.array([1, 2, 1, 1, 2])).tolist() == [False, True, True, False, False]


def test_many_that_are_kept_are_found_again() -> None:
    inbox = Inbox(np.zeros((0, 1)), within=0.25)
    points = np.arange(1200.0)[:, None]
    assert inbox.take(points).all()
    assert not inbox.take(points + 0.2).any()


def test_datapoints_of_another_shape_are_refused() -> None:
    with pytest.raises(InputError, match="have 3 features"):
        Inbox(np.eye(3)).take(np.eye(2))
    with pytest.raises(InputError, match="one label each"):
        Inbox(np.eye(3), np.array([1, 2]))
