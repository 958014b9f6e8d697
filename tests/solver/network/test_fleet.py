"""Fleets: the paper's quantities by hand, and what is refused."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from solver import Fleet, InvalidInputError

FLEET = Fleet(
    step_seconds=60,
    datapoint_bytes=3000,
    epochs_per_step=2,
    datapoints=np.array([600.0, 500.0, 0.0, 100.0]),
    samples_per_second=np.array([40.0, 100.0, 10.0, 50.0]),
    load=np.array([0.5, 0.0, 0.25, 0.0]),
    storage_datapoints=np.array([4000.0, 700.0, np.inf, np.inf]),
    airtime_seconds=np.array([6.0, 3.0, 60.0, 0.0]),
    may_train=np.array([True, True, True, False]),
    may_send=np.array([True, True, False, True]),
    group=np.array([-1, -1, -1, -1]),
    source=np.array([0, 1, 3, 2, 0]),
    target=np.array([1, 0, 0, 0, 3]),
    mbps=np.array([6.0, 2.0, 1.0, 1.0, 1.0]),
    loss=np.array([0.0, 0.5, 0.2, 0.0, 0.0]),
)


def test_the_quantities_of_the_paper_by_hand() -> None:
    devices = FLEET.devices()
    network = FLEET.network(devices, np.array([0.1, 0.2, 0.3]))
    # A datapoint has 24,000 bits: 4 ms at 6 Mbps; 24 ms at 2 Mbps with half lost; 30 ms at 1 Mbps with a fifth lost.
    assert network.links.source.tolist() == [1, 3, 0]
    assert network.links.target.tolist() == [0, 0, 1]
    np.testing.assert_allclose(network.links.transmit_cost, [0.024, 0.03, 0.004])
    assert network.links.similarity.tolist() == [0.2, 0.3, 0.1]
    np.testing.assert_allclose(devices.processing_cost, [0.05, 0.02, 0.2, 0.04])
    # 30 s; 60 s would be 3,000 datapoints, where 700 fit; 45 s; none for a device that may not train.
    np.testing.assert_allclose(devices.processing_capacity, [30.0, 14.0, 45.0, 0.0])
    # 6 s at 27 ms a datapoint; 200 fit, though 750 could arrive; no link.
    np.testing.assert_allclose(devices.receive_capacity, [6 / 0.027, 200.0, 0.0, 0.0])
    assert devices.transmit_budget.tolist() == [6.0, 3.0, 60.0, 0.0]
    assert FLEET.unwilling.tolist() == [False, False, False, True, True]


def test_what_is_sent_again_takes_joules_again() -> None:
    # Half of what the second link sends is lost, so 6,000 bytes go out for a datapoint of 3,000.
    joules = FLEET.joules_per_datapoint(np.array([500.0, 500.0, 100.0, 0.0, 100.0]))
    np.testing.assert_allclose(joules, [1.5, 3.0, 0.375, 0.0, 0.3])


def test_data_stays_within_a_trust_group() -> None:
    grouped = replace(FLEET, group=np.array([0, 0, -1, -1]))
    assert grouped.across_groups.tolist() == [False, False, True, True, True]
    assert grouped.usable.tolist() == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("change", "field", "index", "reason"),
    [
        ({"step_seconds": 0.0}, "fleet.step_seconds", None, "must be above 0, is 0"),
        ({"load": np.array([0, 0, 0, 1.5])}, "devices.load", 3, "must be at most 1"),
        ({"airtime_seconds": np.array([0, 61, 0, 0])}, "devices.airtime_seconds", 1, "must be at most 60"),
        ({"samples_per_second": np.array([1, 0, 1, 1])}, "devices.samples_per_second", 1, "must be above 0"),
        (
            {"storage_datapoints": np.array([599.0, 700, 1, 100])},
            "devices.storage_datapoints",
            0,
            "must be at least the datapoints that it holds",
        ),
        ({"may_send": np.array([True])}, "devices.may_send", None, "must have 4 entries"),
        ({"mbps": np.array([1, 1, 0, 1, 1])}, "links.mbps", 2, "must be above 0"),
        ({"loss": np.array([0, 0, 0, 0, 1])}, "links.loss", 4, "must be below 1"),
        ({"source": np.array([0, 1, 3, 2, 4])}, "links.source", 4, "must be below the number of devices, 4"),
    ],
)
def test_a_bad_number_is_named(change: dict[str, Any], field: str, index: int | None, reason: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        replace(FLEET, **change)
    assert (refused.value.field, refused.value.index, refused.value.reason) == (field, index, reason)
