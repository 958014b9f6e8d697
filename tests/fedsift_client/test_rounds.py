"""Rounds of training: planned, reported, and taken up again after a restart of the server."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedsift_client import Client, Courier, InputError, Period
from fedsift_client.rounds import Rounds, gradient_norm, weighted_mean
from tests.support.requests import random_request
from tests.support.server import Server
from tests.support.unruly import Lose, unruly_service

NETWORK = random_request(3, 10, budgets="loose")["network"]
MODEL = {"weights": np.arange(6.0).reshape(2, 3), "bias": np.zeros(2)}
ASKED: dict[str, Any] = {"sample_size": 3, "rounds": 4, "steps_per_round": 2}


@pytest.fixture
def client(server: Server) -> Any:
    with Client(server.url) as made:
        yield made


def arrived(period: Any) -> dict[tuple[int, int], int]:
    """All that was ordered."""
    found: dict[tuple[int, int], int] = {}
    for order in period.orders:
        for one in order.sends:
            found[order.device, one.to] = found.get((order.device, one.to), 0) + one.count
    return found


def test_rounds_follow_each_other(client: Client) -> None:
    rounds = Rounds(client, NETWORK, **ASKED)
    steps = []
    for k in range(4):
        period = rounds.begin()
        assert rounds.begin() is period
        steps += [step.step for step in period.steps]
        rounds.finish(MODEL, gradient_norm=0.9**k, arrived=arrived(period))
    assert steps == list(range(1, 9))
    assert rounds.done == 4
    with pytest.raises(InputError, match="all rounds are done"):
        rounds.begin()


def test_a_lost_device_is_replaced(client: Client) -> None:
    rounds = Rounds(client, NETWORK, **ASKED)
    gone = int(rounds.begin().sampled[0])
    rounds.finish(MODEL, gradient_norm=None, lost=[gone])
    period = rounds.begin()
    assert gone not in period.sampled.tolist()
    assert [one["lost"] for one in period.replaced] == [gone]
    assert all(order.device != gone for order in period.orders)


def test_a_device_that_comes_back_is_reported(client: Client, tmp_path: Path) -> None:
    rounds = Rounds(client, NETWORK, checkpoint=tmp_path, **ASKED)
    gone = int(rounds.begin().sampled[0])
    rounds.finish(MODEL, gradient_norm=1.0, lost=[gone])
    again = Rounds(client, NETWORK, checkpoint=tmp_path, **ASKED)  # a restarted server knows who is lost
    assert again.lost == {gone}
    assert not any(gone in [order.device, *order.sends] for order in again.begin().orders)
    again.finish(MODEL, gradient_norm=1.0, lost=[gone], joined=[gone, 9])  # 9 was never lost
    assert again.lost == set()
    assert gone in {int(k) for step in again.begin().steps for k in step.source}
    restarted = int(again.begin().sampled[0])
    again.finish(MODEL, gradient_norm=1.0, lost=[restarted], joined=[restarted])
    assert again.lost == set()


def test_what_did_not_arrive_is_reported(client: Client) -> None:
    """Half of what each pair was to send arrives, so receivers hold less than if all had."""
    holds = []
    for share in (1.0, 0.5, 0.0):
        rounds = Rounds(client, NETWORK, **ASKED)
        period = rounds.begin()
        all_of_it = arrived(period)
        assert sum(all_of_it.values()) > 10
        some = {pair: int(share * count) for pair, count in all_of_it.items() if share}
        rounds.finish(MODEL, gradient_norm=1.0, arrived=some)
        holds.append(rounds.begin().steps[0].sampled_data.sum() - rounds.begin().steps[0].received.sum())
    assert holds[0] > holds[1] > holds[2]


def test_a_restarted_server_goes_on_where_it_was(client: Client, tmp_path: Path) -> None:
    first = Rounds(client, NETWORK, checkpoint=tmp_path, **ASKED)
    assert first.model() is None
    first.begin()
    first.finish(MODEL, gradient_norm=0.8)
    reported = Rounds(client, NETWORK, checkpoint=tmp_path, **ASKED)
    assert (reported.done, reported.run_id) == (1, first.run_id)
    found = reported.model()
    assert found is not None
    assert np.array_equal(found["weights"], MODEL["weights"])
    period = reported.begin()  # it died before this report, or
    again = Rounds(client, NETWORK, checkpoint=tmp_path, **ASKED)  # after it: both get the same plan
    assert np.array_equal(again.begin().matrices(), period.matrices())
    assert again.begin().aggregation == 1
    again.finish({"weights": MODEL["weights"] + 1, "bias": MODEL["bias"]}, gradient_norm=0.7)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model-2.npz", "rounds.json"]


def test_a_server_that_dies_before_it_has_the_run_finds_it(server: Server, tmp_path: Path) -> None:
    """The run is made, its answer lost, and the server dies: there is one run, not two."""
    asked = {**ASKED, "labels": {"test": "found-again"}}
    with unruly_service(Lose(), behind=server.url) as service, Client(service.url, patience=0) as client:
        with pytest.raises(ConnectionError):
            Rounds(client, NETWORK, checkpoint=tmp_path, **asked).begin()
        second = Rounds(client, NETWORK, checkpoint=tmp_path, **asked)
        second.begin()
    with server.client() as http:
        runs = http.get("/v1/runs", params={"label": "test:found-again"}).json()["runs"]
    assert [run["id"] for run in runs] == [second.run_id]


def carried_out(period: Period, folder: Path, devices: set[int]) -> int:
    """Let these devices carry out their orders; how many datapoints they send for it."""
    moved = 0
    for order in period.orders:
        if order.device in devices:
            courier = Courier(10_000, seed=order.device, journal=folder / f"sent-{order.device}.jsonl")
            for parcel in courier.parcels(order):
                moved += parcel.datapoints.size
                courier.sent(parcel)
            told = {(order.device, to): count for to, count in courier.arrived(order).items()}
            assert told == {pair: count for pair, count in arrived(period).items() if pair[0] == order.device}
    return moved


def test_orders_that_a_failing_server_had_handed_out_are_carried_out_once(client: Client, tmp_path: Path) -> None:
    """The server dies when some devices have sent: with the next one all orders are handed out again."""
    devices = set(range(10))
    ordered = moved = 0
    for k in range(4):
        period = Rounds(client, NETWORK, checkpoint=tmp_path / "server", **ASKED).begin()
        before = carried_out(period, tmp_path, set(list(devices)[:5]))
        rounds = Rounds(client, NETWORK, checkpoint=tmp_path / "server", **ASKED)
        again = rounds.begin()
        assert [order.told() for order in again.orders] == [order.told() for order in period.orders]
        after = carried_out(again, tmp_path, devices)
        assert before > 0
        assert after > 0
        moved += before + after
        ordered += sum(arrived(again).values())
        rounds.finish(MODEL, gradient_norm=0.9**k, arrived=arrived(again))
    assert moved == ordered


def test_what_a_device_had_received_is_sent_again_when_it_is_back(client: Client, tmp_path: Path) -> None:
    rounds = Rounds(client, NETWORK, **ASKED)
    period = rounds.begin()
    carried_out(period, tmp_path, set(range(10)))
    restarted = period.orders[0].sends[0].to
    rounds.finish(MODEL, gradient_norm=1.0, lost=[restarted], joined=[restarted], arrived=arrived(period))
    period = rounds.begin()
    pairs = {(order.device, one.to): one.first for order in reversed(period.orders) for one in reversed(order.sends)}
    assert 0 in {first for (_, to), first in pairs.items() if to == restarted}
    assert carried_out(period, tmp_path, set(range(10))) == sum(arrived(period).values())


def test_the_mean_of_models_is_weighted() -> None:
    models = [{"a": np.array([0, 4], np.float32)}, {"a": np.array([4, 8], np.float32)}]
    mean = weighted_mean(models, [3, 1])
    assert mean["a"].tolist() == [1, 5]
    assert mean["a"].dtype == np.float32
    with pytest.raises(InputError, match="add up to nothing"):
        weighted_mean(models, [0, 0])


def test_the_gradient_is_read_off_the_change_of_the_model() -> None:
    after = {"weights": MODEL["weights"] - 0.1 * 5 * 2.0, "bias": MODEL["bias"]}
    assert gradient_norm(MODEL, after, learning_rate=0.1, steps=5) == pytest.approx(2 * np.sqrt(6))


def test_what_is_out_of_order_is_refused(client: Client) -> None:
    with pytest.raises(InputError, match="at least one round"):
        Rounds(client, NETWORK, sample_size=1, rounds=0)
    with pytest.raises(InputError, match="has not begun"):
        Rounds(client, NETWORK, **ASKED).finish(MODEL, gradient_norm=1.0)
