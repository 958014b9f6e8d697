"""Values in spare memory: those used last stay, within a limit, and are given up when a request needs the bytes."""

from dataclasses import dataclass

import pytest

from app.http.problems import OverloadedError
from app.ledger import Ledger
from app.recent import Recent
from app.wire.budget import MemoryBudget, charge
from tests.support.waiting import until


@dataclass
class Value:
    size: int


def made(limit: int = 100, total: int = 1000, seconds: float = 60.0) -> tuple[Recent[str, Value], MemoryBudget]:
    ledger = Ledger()
    memory = MemoryBudget(total, 1, ledger)
    recent: Recent[str, Value] = Recent(limit, ledger.tally("networks"), memory.borrow, memory.free, seconds)
    memory.spare = recent.clear
    return recent, memory


def test_those_used_last_stay() -> None:
    recent, memory = made()
    for name in "abc":
        recent.put(name, Value(40))
        recent.get("a")
    assert [recent.get(name) is not None for name in "abc"] == [True, False, True]
    assert recent.held == memory.held == 80
    recent.put("large", Value(101))
    assert recent.get("large") is None


def test_a_request_gets_the_memory_that_values_hold() -> None:
    recent, memory = made()
    recent.put("a", Value(60))
    with memory.account():
        charge(950, "a request")
        assert recent.get("a") is None
        assert memory.held == 950
        recent.put("b", Value(60))
        assert recent.get("b") is None
        with pytest.raises(OverloadedError), memory.account():
            charge(100, "another request")
    assert memory.held == recent.held == 0


def test_a_value_that_nobody_uses_is_given_up() -> None:
    recent, memory = made(seconds=0.05)
    recent.put("a", Value(60))
    until(lambda: not memory.held)
    assert memory.held == recent.held == 0
    assert recent.get("a") is None
