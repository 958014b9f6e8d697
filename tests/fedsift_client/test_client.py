"""Plans, runs and restarts with a live service."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedsift_client import AsyncClient, Client, InputError, InvalidRequestError, NotFoundError, Order, ProtocolError
from fedsift_client.answers import Plan
from tests.support.fleets import FLEET
from tests.support.requests import check_plan, random_request
from tests.support.server import Server, free_port, start_server
from tests.support.waiting import PATIENCE

REQUEST = random_request(3, 10)
NETWORK = REQUEST["network"]
NAMED = {**NETWORK, "devices": {**NETWORK["devices"], "id": [f"d{i}" for i in range(10)]}}


@pytest.fixture
def client(server: Server) -> Any:
    with Client(server.url) as made:
        yield made


def test_a_plan_comes_as_arrays_that_keep_every_budget(client: Client, server: Server) -> None:
    plan = client.plan(NETWORK, sample_size=3, horizon=6)
    with server.client() as http:
        told = http.post("/v1/plans", json={**REQUEST, "output": "matrix"}).json()
    assert plan.sampled.tolist() == told["sampled"]
    assert plan.matrices().shape == (6, 10, 10)
    assert plan.matrices() == pytest.approx(np.array([step["matrix"] for step in told["steps"]]), abs=1e-12)
    assert (plan.status, plan.horizon_gap) == (told["status"], told["horizon_gap"])
    assert (plan.n_devices, plan.id) == (10, None)
    assert plan.objective == pytest.approx(told["objective"])
    step = plan.steps[0]
    assert step.datapoints == pytest.approx(step.fraction * np.array(NETWORK["devices"]["data"])[step.source])
    assert step.answer["relative_gap"] <= 1e-6
    check_plan(REQUEST, told)


def test_devices_of_a_fleet_have_names(client: Client) -> None:
    plan = client.plan(FLEET, sample_size=1, horizon=3, sampled_ids=["hub"])
    assert plan.sampled_ids == ["hub"]
    assert plan.number_of("cam-1") == 1
    with pytest.raises(InputError, match="no device has the id 'nobody'"):
        plan.number_of("nobody")
    told = client.diagnose(FLEET, sample_size=1, horizon=3)
    assert told["kind"] == "diagnosis"
    assert told["feasible"]


def test_problems_point_to_their_place(client: Client) -> None:
    devices = [*FLEET["devices"][:2], {**FLEET["devices"][2], "load": 1.5}, *FLEET["devices"][3:]]
    with pytest.raises(InvalidRequestError) as caught:
        client.plan({**FLEET, "devices": devices}, sample_size=1, horizon=3)
    assert [fault.pointer for fault in caught.value.faults] == ["/fleet/devices/2/load"]


def test_a_plan_can_be_kept(client: Client) -> None:
    plan = client.plan(NETWORK, sample_size=3, horizon=2, keep=True)
    assert plan.id is not None
    assert np.array_equal(client.kept_plan(plan.id).matrices(), plan.matrices())
    client.delete_plan(plan.id)
    with pytest.raises(NotFoundError):
        client.kept_plan(plan.id)


def test_matrices_are_made_here(client: Client) -> None:
    with pytest.raises(InputError, match="leave `output` out"):
        client.plan(NETWORK, sample_size=3, horizon=2, output="matrix")
    with pytest.raises(ProtocolError, match="not a plan"):
        Plan.of({"steps": []})


def test_a_run_goes_on_in_another_process(client: Client, server: Server) -> None:
    run = client.start_run(NETWORK, sample_size=3, horizon=12, aggregation_period=4)
    assert [step.step for step in run.period.steps] == [1, 2, 3, 4]
    second = run.aggregate(0.7, gradient_noise=0.5)
    with Client(server.url) as other:
        again = other.run(run.id)
        assert (again.aggregation, again.is_finished) == (1, False)
        assert np.array_equal(again.period.matrices(), second.matrices())
        last = again.aggregate(0.6)
    assert again.is_finished
    assert last.steps[-1].step == 12
    assert np.array_equal(run.earlier(2).matrices(), last.matrices())
    assert last.replaced == []


def test_a_lost_device_is_replaced(client: Client) -> None:
    run = client.start_run(NAMED, sample_size=2, horizon=4, aggregation_period=2)
    gone, stays = run.period.sampled.tolist()
    period = run.aggregate(0.5, lost=[f"d{gone}"])
    assert [(one["lost"], one["lost_id"]) for one in period.replaced] == [(gone, f"d{gone}")]
    assert stays in period.sampled.tolist()
    again = client.start_run(NAMED, sample_size=2, horizon=4, aggregation_period=2)
    other = next(device for device in range(10) if device not in again.period.sampled)
    both = again.aggregate(0.5, lost=[f"d{gone}", other])  # ids and numbers may be mixed
    assert [one["lost"] for one in both.replaced] == [gone]


def test_a_device_that_comes_back_is_planned_with_again(client: Client) -> None:
    run = client.start_run(NAMED, sample_size=2, horizon=6, aggregation_period=2)
    others = [f"d{device}" for device in range(10) if device not in run.period.sampled]
    alone = run.aggregate(0.5, lost=others)
    assert sum(step.source.size for step in alone.steps) == 0
    back = run.aggregate(0.5, joined=others)
    assert sum(step.source.size for step in back.steps) > 0


def test_orders_come_for_all_devices_or_for_one(client: Client, server: Server) -> None:
    plan = client.plan(NAMED, sample_size=2, horizon=3, orders=True)
    sender = plan.orders[0]
    assert sender.id == f"d{sender.device}"
    assert plan.order_of(sender.device) == plan.order_of(str(sender.id)) == sender
    with server.client() as http:
        told = http.post("/v1/plans", json={"network": NAMED, "sample_size": 2, "horizon": 3, "orders": True}).json()
    assert [order.told() for order in plan.orders] == told["orders"]
    run = client.start_run(NAMED, sample_size=2, horizon=3, aggregation_period=3, orders=True)
    assert run.orders() == run.period.orders == plan.orders
    assert run.orders(sender.device) == run.orders(str(sender.id)) == (sender,)
    with pytest.raises(InputError, match="without orders=True"):
        _ = client.plan(NAMED, sample_size=2, horizon=3).orders


def test_all_of_it_with_asyncio(server: Server) -> None:
    async def loop() -> None:
        async with AsyncClient(server.url) as client:
            plans = await asyncio.gather(*(client.plan(NETWORK, sample_size=3, horizon=n) for n in (1, 2, 3)))
            assert [len(plan.steps) for plan in plans] == [1, 2, 3]
            kept = await client.plan(NETWORK, sample_size=3, horizon=1, keep=True)
            assert kept.id is not None
            assert (await client.kept_plan(kept.id)).objective == kept.objective
            await client.delete_plan(kept.id)
            assert (await client.diagnose(NETWORK, sample_size=3, horizon=1))["feasible"]
            assert (await client.samplers())["samplers"]
            run = await client.start_run(NETWORK, sample_size=3, horizon=2, aggregation_period=1, orders=True)
            assert await run.orders() == run.period.orders
            await run.aggregate(0.5, lost=[int(run.period.sampled[0])])
            again = await client.run(run.id)
            assert again.is_finished
            assert (await again.earlier(0)).aggregation == 0
            await again.delete()
            with pytest.raises(NotFoundError):
                await client.run(run.id)

    asyncio.run(loop())


def test_a_run_outlives_a_restart_of_the_service(tmp_path: Path) -> None:
    """The service is killed between two aggregations and comes back while the client is already asking."""
    port = str(free_port())
    first = start_server(tmp_path, port=port)
    second: list[Server] = []
    with Client(first.url, patience=PATIENCE) as client:
        try:
            run = client.start_run(NETWORK, sample_size=3, horizon=4, aggregation_period=2)
            first.process.kill()
            first.process.wait()
            restart = threading.Timer(0.5, lambda: second.append(start_server(tmp_path, port=port)))
            restart.start()
            period = run.aggregate(0.5)
            restart.join()
        finally:
            for server in (first, *second):
                server.process.kill()
                server.process.wait()
    assert period.aggregation == 1
    assert run.is_finished


def test_a_device_asks_for_its_own_order(client: Client, server: Server) -> None:
    plan = client.plan(NAMED, sample_size=3, horizon=2, orders=True, keep=True)
    run = client.start_run(NAMED, sample_size=3, horizon=4, aggregation_period=2, orders=True)
    run.aggregate(0.7)
    assert plan.id is not None
    assert any(order.sends for order in run.period.orders)

    async def asked(made: str) -> list[Order]:
        async with AsyncClient(server.url) as other:
            return [await other.order(made, f"d{device}") for device in range(10)]

    for made, planned in ((plan.id, plan), (run.id, run.period)):
        orders = [client.order(made, device) for device in range(10)]
        assert orders == [planned.order_of(device) for device in range(10)]
        assert asyncio.run(asked(made)) == orders
    with pytest.raises(NotFoundError, match="planned without orders"):
        client.order(client.start_run(NAMED, sample_size=3, horizon=2).id, 0)


def test_a_run_can_be_followed(client: Client, server: Server) -> None:
    run = client.start_run(NETWORK, sample_size=3, horizon=6, aggregation_period=2)
    looks_on = client.run(run.id).events()
    assert next(looks_on).body["aggregation"] == 0
    run.aggregate(0.7)
    run.aggregate(0.6)
    assert [(event.number, event.kind, event.body["aggregation"]) for event in looks_on] == [
        (2, "plan", 1),
        (3, "plan", 2),
    ]

    async def again() -> list[int]:
        async with AsyncClient(server.url) as other:
            assert {one["name"] for one in (await other.datasets())["data_sets"]} >= {"digits"}
            return [event.number async for event in (await other.run(run.id)).events(after=1)]

    assert asyncio.run(again()) == [2, 3]
    assert client.datasets()["data_sets"]
