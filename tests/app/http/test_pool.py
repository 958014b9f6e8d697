"""Who is admitted to work, and what a thread of the pool sees of its request."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from app.http.context import begin_request, request_id
from app.http.pool import WorkPool
from app.http.problems import OverloadedError, TooManyRequestsError


@pytest.fixture
def pool() -> Iterator[WorkPool]:
    """Two at work and one waiting; two for each key, and 100 bytes in all."""
    made = WorkPool(2, 1, per_owner=2, budget=100, retry_after=7)
    yield made
    made.shut_down()


def test_threads_and_queue_are_filled_and_then_nobody_is_admitted(pool: WorkPool) -> None:
    with ExitStack() as held:
        for waiting in (0, 0, 1):
            held.enter_context(pool.admit(None, 1))
            assert pool.waiting == waiting
        with pytest.raises(OverloadedError) as refused, pool.admit(None, 1):
            pass
        assert refused.value.headers == {"Retry-After": "7"}
        assert pool.admitted == 3
    assert (pool.admitted, pool.waiting) == (0, 0)
    with pool.admit(None, 1):
        assert pool.admitted == 1


def test_a_key_has_its_share_and_others_theirs(pool: WorkPool) -> None:
    with pool.admit("one", 1):
        with pool.admit("one", 1):
            with pytest.raises(TooManyRequestsError, match="2 requests"), pool.admit("one", 1):
                pass
            with pool.admit("two", 1):
                pass
        with pool.admit("one", 1):
            pass


def test_bytes_are_budgeted_but_one_body_is_always_admitted(pool: WorkPool) -> None:
    with pool.admit(None, 1000), pytest.raises(OverloadedError, match="bytes"), pool.admit(None, 1):
        pass
    with pool.admit(None, 60), pool.admit(None, 40):
        pass


def test_work_that_fails_gives_its_place_back(pool: WorkPool) -> None:
    for _ in range(5):
        with pytest.raises(KeyError), pool.admit("one", 100):
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
    with pytest.raises(OverloadedError, match="shutting down"), pool.admit(None, 1):
        pass
