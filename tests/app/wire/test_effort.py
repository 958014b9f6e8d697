"""Work ends at its deadline, when its client leaves, and before a shutdown's grace is over."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from app.http.problems import OverloadedError
from app.plans.planning import make_plan
from app.plans.request import PlanRequest
from app.settings import Settings
from app.wire.effort import Deadline, WorkUnderWay
from sampler import served_samplers
from sampler.warm_up import warm_up
from solver.instances import BUDGETS, random_network
from tests.support.requests import as_request, random_request
from tests.support.server import Server, running_server
from tests.support.sockets import endless_plan, several
from tests.support.waiting import PATIENCE, until

# The reference solver would need a minute and more for so many steps.
ENDLESS = random_request(1, 30, horizon=10_000, solver="cvxpy", sampler="random", time_limit=300.0)
QUICK = random_request(2, 20, time_limit=60.0)


def half_of(n_devices: int, n_links: int, **parameters: Any) -> dict[str, Any]:
    """A request to sample half of the devices of a network under tight budgets."""
    receive, transmit = BUDGETS["tight"]
    network = random_network(
        np.random.default_rng(3),
        n_devices,
        link_probability=n_links / n_devices**2,
        receive=receive,
        transmit=transmit,
    )
    return as_request(network, sample_size=n_devices // 2, **({"horizon": 10, "time_limit": 60.0} | parameters))


# Each of the fast solver's iterations takes .15 s here, and each step several.
LARGE = half_of(2_000, 20_000, sampler="random", horizon=200, time_limit=300.0)


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with one thread."""
    with running_server(tmp_path_factory.mktemp("narrow"), threads="1", max_time_limit="300") as server:
        yield server


def under_way(client: httpx.Client, count: int) -> None:
    until(lambda: f"fedsift_admitted {count}.0" in client.get("/metrics").text)


def test_a_deadline_counts_from_when_a_thread_takes_the_request_up() -> None:
    under = WorkUnderWay()
    with under.work() as work:
        made = work.begun
        time.sleep(0.2)
        work.begin()
        assert work.begun >= made + 0.2
        assert Deadline.after(1.0).ends == work.begun + 1.0
    assert Deadline.after(5.0).left > 4


def test_ended_work_does_not_begin_and_does_not_go_on() -> None:
    under = WorkUnderWay()
    with under.work() as one, under.work():
        inner = Deadline.after(1.0)
        inner.check()
        under.end()
        for ended in (one.begin, inner.check):
            with pytest.raises(OverloadedError, match="shutting down"):
                ended()
    with under.work() as work:
        flag = Deadline.after(1.0).flag
        assert flag is work.flag
        assert not flag[0]
    assert flag[0], "a thread that is left behind goes on"


def test_planning_stops_where_it_is() -> None:
    query = PlanRequest.model_validate(ENDLESS).to_domain(Settings(max_time_limit=300))
    under = WorkUnderWay()
    with under.work() as work:
        threading.Timer(0.5, work.end).start()
        with pytest.raises(OverloadedError):
            make_plan(query)


@pytest.mark.parametrize("request_body", [ENDLESS, LARGE], ids=["cvxpy", "fast"])
def test_a_client_that_leaves_frees_its_thread(narrow: Server, request_body: dict[str, Any]) -> None:
    with narrow.client() as client:
        with pytest.raises(httpx.ReadTimeout):
            client.post("/v1/plans", json=request_body, timeout=1.0)
        under_way(client, 0)  # the work had minutes to go
        assert client.post("/v1/plans", json=QUICK).status_code == 200
        assert 'status="499"' in client.get("/metrics").text


def test_a_client_that_leaves_the_queue_is_not_served(narrow: Server) -> None:
    with narrow.client() as client:
        with several(narrow, 3, endless_plan()):
            under_way(client, 3)
        under_way(client, 0)


def test_told_to_stop_it_ends_in_its_grace_and_says_so_to_who_waits(tmp_path: Path) -> None:
    answers: list[httpx.Response] = []
    settings = {"shutdown_grace": "10", "threads": "2", "max_time_limit": "300"}
    with running_server(tmp_path, **settings) as server, server.client() as client:
        assert client.post("/v1/plans", json={**QUICK, "solver": "cvxpy"}).status_code == 200  # CVXPY is loaded

        def ask(body: dict[str, Any]) -> None:
            with server.client() as mine:
                answers.append(mine.post("/v1/plans", json=body))

        threads = [threading.Thread(target=ask, args=(body,)) for body in (ENDLESS, LARGE)]
        for thread in threads:
            thread.start()
        under_way(client, 2)
        server.process.terminate()
        assert server.process.wait(PATIENCE) == 0
        for thread in threads:
            thread.join()
    assert len(answers) == 2
    for answer in answers:
        assert answer.status_code == 503
        assert "shutting down" in answer.json()["detail"]
        assert answer.headers["retry-after"]


def test_one_time_limit_holds_for_sampling_and_solving() -> None:
    # Senders compete for receivers here, so that steps without time are not optimal. After about twelve steps they have
    # sent all, so the limit must be over before.
    changes = {"sample_size": 10, "horizon": 10_000, "solver": "cvxpy", "sampler": "random", "time_limit": 0.01}
    query = PlanRequest.model_validate(random_request(1, 30, budgets="loose", **changes)).to_domain(Settings())
    result = make_plan(query)
    assert result.plan.status.value == "time_limit"
    assert np.isfinite(result.plan.objective or np.nan)


@pytest.fixture(scope="module")
def warm() -> None:
    """All kernels are loaded."""
    warm_up()


@pytest.mark.parametrize("sampler", [name for name in served_samplers() if name != "exhaustive"])
def test_little_work_is_left_when_time_is_over(warm: None, sampler: str) -> None:
    """In seconds of the processor, which other work on the machine does not lengthen."""
    del warm
    make_plan(PlanRequest.model_validate({**QUICK, "sampler": sampler}).to_domain(Settings()))
    query = PlanRequest.model_validate(half_of(2_000, 200_000, sampler=sampler, time_limit=0.2)).to_domain(Settings())
    begin = time.process_time()
    result = make_plan(query)
    # The sampler has two threads. .7 and less on an idle machine; 2.5 if the solver does not look at the clock.
    assert time.process_time() - begin < 1.6
    violation, bound, objective = result.plan.max_violation, result.plan.horizon_bound, result.plan.objective
    assert violation is not None
    assert violation <= 1e-9
    assert bound is not None
    assert objective is not None
    assert 0 < bound <= objective
