"""Threads that ask the store: bounded, with a deadline, and none keeps another purpose or the process waiting."""

import asyncio
import subprocess
import sys
import threading
import time

import pytest

from app.http.executors import Executor
from app.store import NoAnswerError
from app.store.deadline import deadline_in
from tests.support.waiting import PATIENCE


def test_a_call_returns_or_raises_what_its_work_does() -> None:
    async def ask() -> None:
        executor = Executor("test", threads=1, queue=4, seconds=60)
        assert await executor.run(divmod, 7, 2) == (3, 1)
        with pytest.raises(ZeroDivisionError):
            await executor.run(divmod, 7, 0)
        assert await executor.run(divmod, 9, 2) == (4, 1)  # the thread is of use again

    asyncio.run(ask())


def test_a_call_that_takes_too_long_is_given_up_and_a_full_queue_refuses() -> None:
    release = threading.Event()
    done: list[int] = []

    async def ask() -> None:
        executor = Executor("test", threads=1, queue=2, seconds=0.3)
        stuck = asyncio.create_task(executor.run(release.wait))
        await asyncio.sleep(0.1)
        waiting = [asyncio.create_task(executor.run(done.append, number)) for number in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(NoAnswerError, match="too many"):
            await executor.run(done.append, 2)
        for task in (stuck, *waiting):
            with pytest.raises(NoAnswerError, match=r"within 0\.3 seconds"):
                await task
        release.set()
        while True:  # the thread returns, and serves again
            try:
                return await executor.run(done.append, 3)
            except NoAnswerError:
                await asyncio.sleep(0.05)

    asyncio.run(asyncio.wait_for(ask(), 60))
    assert done[-1] == 3
    assert not {0, 1, 2} & set(done)  # nobody waited for them any more


def test_the_work_knows_the_deadline() -> None:
    async def ask() -> float:
        return await Executor("test", threads=1, queue=1, seconds=7).run(lambda: deadline_in(60) - time.monotonic())

    assert 0 < asyncio.run(ask()) <= 7


def test_a_thread_that_never_returns_does_not_keep_the_process() -> None:
    program = """
import asyncio, threading
from app.http.executors import Executor
from app.store import NoAnswerError
async def ask():
    try:
        await Executor("test", threads=1, queue=1, seconds=0.1).run(threading.Event().wait)
    except NoAnswerError:
        print("given up")
asyncio.run(ask())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert (done.returncode, done.stdout) == (0, "given up\n"), done.stderr
