"""Numbers of several processes: they add up, limits hold for their sum, and a killed process leaves nothing behind."""

import subprocess
import sys

import pytest

from app.ledger import Kind, Ledger
from tests.support.waiting import PATIENCE

LOCKED = """
import os, time
from app.ledger import Kind, Ledger

ledger = Ledger(2)
room, callers = ledger.tally("room"), ledger.callers()
read, write = os.pipe()
if os.fork() == 0:
    ledger.column = 1
    with ledger.locked():
        os.write(write, b"x")
        time.sleep(0.5)
        room.add(1)
        time.sleep(0.5)
        callers.take("key", Kind.BYTES, 5, 5)
    os._exit(0)
os.read(read, 1)
print(room.take(1, 1), callers.take("key", Kind.BYTES, 1, 5), room.take(1, 2), callers.take("key", Kind.BYTES, 1, 6))
"""
KILLED = """
import os, signal
from app.ledger import Ledger

ledger = Ledger(2)
room = ledger.tally("room")
child = os.fork()
if child == 0:
    ledger.column = 1
    room.add(5)
    with ledger.locked():
        os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(child, 0)
print(room.total, room.take(6, 10))
ledger.clear(1)
print(room.total, room.take(6, 10))
"""


def run(script: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_process_waits_while_another_counts_and_then_sees_what_it_counted() -> None:
    assert run(LOCKED) == ["False False True True"]


def test_a_process_killed_with_the_lock_blocks_nobody_and_its_numbers_can_be_cleared() -> None:
    assert run(KILLED) == ["5 False", "0 True"]


def test_a_first_one_may_pass_the_limit_alone() -> None:
    tally = Ledger().tally("answers")
    assert tally.take(50, 10, alone=True)
    assert not tally.take(1, 10, alone=True)


def test_counts_belong_to_one_caller_and_one_kind() -> None:
    callers = Ledger().callers()
    assert callers.take("one", Kind.REQUESTS, 2, 2)
    assert not callers.take("one", Kind.REQUESTS, 1, 2)
    assert callers.take("one", Kind.BODIES, 1, 2)
    assert callers.take("two", Kind.REQUESTS, 1, 2)
    callers.give("one", Kind.REQUESTS, 1)
    assert callers.take("one", Kind.REQUESTS, 1, 2)


def test_thousands_of_callers_at_work_each_have_counts_of_their_own() -> None:
    callers = Ledger(2).callers()
    names = [f"10.0.{number // 256}.{number % 256}" for number in range(2000)]
    assert all(callers.take(name, Kind.BODIES, 1, 1) for name in names)
    assert not any(callers.take(name, Kind.BODIES, 1, 1) for name in names)
    for name in names:
        callers.give(name, Kind.BODIES, 1)
    assert all(callers.take(name, Kind.BODIES, 1, 1) for name in names)


@pytest.mark.parametrize("first", [0, 1])
def test_a_caller_keeps_its_rows_when_each_process_was_replaced_once(first: int) -> None:
    ledger = Ledger(2)
    callers = ledger.callers()
    assert callers.take("key", Kind.REQUESTS, 1, 9)
    for column in (first, 1 - first):
        ledger.column = column
        assert callers.take("key", Kind.REQUESTS, 1, 9)
        ledger.clear(1 - column)
    assert not callers.take("key", Kind.REQUESTS, 9, 9)
    callers.give("key", Kind.REQUESTS, 1)
    assert callers.take("key", Kind.REQUESTS, 9, 9)
