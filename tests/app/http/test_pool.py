"""Who is admitted to work, and what a thread of the pool sees of its request."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from app.http.pool import WorkPool
from app.http.problems import OverloadedError, TooManyRequestsError
from app.telemetry.context import begin_request, request_id


@pytest.fixture
def pool() -> Iterator[WorkPool]:
    """Two at work and one waiting; two for each key."""
    made = WorkPool(2, 1, per_owner=2, retry_after=7)
    yield made
    made.shut_down()


def test_threads_and_queue_are_filled_and_then_nobody_gets_a_place(pool: WorkPool) -> None:
    with ExitStack() as held:
        for waiting in (0, 0, 1):
            held.enter_context(pool.place())
            assert pool.waiting == waiting
        for way_in in (pool.place(), pool.request(None), pool.request("one")):
            with pytest.raises(OverloadedError) as refused, way_in:
                pass
            assert refused.value.headers == {"Retry-After": "7"}
        assert pool.admitted == 3
    assert (pool.admitted, pool.waiting) == (0, 0)
    with pool.request(None), pool.place():
        assert pool.admitted == 1


def test_a_request_takes_no_place_before_its_body_is_complete(pool: WorkPool) -> None:
    with ExitStack() as held:
        for _ in range(100):
            held.enter_context(pool.request(None))
        with pool.place(), pool.place(), pool.place():
            assert pool.admitted == 3


def test_a_key_has_its_share_and_others_theirs(pool: WorkPool) -> None:
    with pool.request("one"):
        with pool.request("one"):
            with pytest.raises(TooManyRequestsError, match="2 requests"), pool.request("one"):
                pass
            with pool.request("two"):
                pass
        with pool.request("one"):
            pass


def test_work_that_fails_gives_its_place_back(pool: WorkPool) -> None:
    for _ in range(5):
        with pytest.raises(KeyError), pool.request("one"), pool.place():
            raise KeyError
    assert pool.admitted == 0


def test_work_runs_in_another_thread_with_the_requests_id(pool: WorkPool) -> None:
    async def ask() -> tuple[str, str]:
        begin_request("from-the-caller")
        return await pool.run(lambda: (request_id(), threading.current_thread().name))

    identity, thread = asyncio.run(ask())
    assert identity == "from-the-caller"
    assert thread.startswith("plan")


def test_a_pool_that_shuts_down_finishes_its_work_and_takes_no_more(pool: WorkPool) -> None:
    done = threading.Event()

    async def ask() -> None:
        begun = threading.Event()

        def work() -> None:
            begun.set()
            threading.Event().wait(0.2)
            done.set()

        under_way = asyncio.ensure_future(pool.run(work))
        await asyncio.to_thread(begun.wait)
        await asyncio.to_thread(pool.shut_down)
        assert done.is_set()
        await under_way

    asyncio.run(ask())
    for way_in in (pool.request(None), pool.place()):
        with pytest.raises(OverloadedError, match="shutting down"), way_in:
            pass
