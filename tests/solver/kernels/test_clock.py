"""How much work lies between two looks at the clock, and what a look that says "over" leaves."""

import math
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from solver import advance, plan_offloading, start
from solver.instances import BUDGETS, random_network
from solver.kernels import newton
from solver.kernels.clock import deadline_in, is_over, now
from solver.step.fast import TOLERANCE, effort_for
from solver.step.solution import Status

SCRIPT = """
from solver.step.fast import effort_for
from solver.kernels.clock import is_over
print(is_over(effort_for(1e-8, 1000.0)), is_over(effort_for(1e-8, 0.0)), is_over(effort_for(1e-8)))
"""


def test_the_clock_works_without_compiled_code() -> None:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "True", "False"]


class Looks:
    """In place of `is_over`: counts looks, and says "over" from the given one on."""

    def __init__(self, over_at: float = math.inf) -> None:
        self.count = 0
        self.over_at = over_at

    def __call__(self, _: object) -> bool:
        self.count += 1
        return self.count >= self.over_at


def interpreted(kernel: Any) -> Callable[..., bool]:
    """The kernel without compilation, so that it calls what this test puts in the place of `is_over`."""
    return cast("Callable[..., bool]", getattr(kernel, "py_func", kernel))


def positive_definite(n: int) -> np.ndarray:
    half = np.random.default_rng(n).normal(size=(n, n))
    return half @ half.T + n * np.eye(n)


def test_the_clock_is_the_one_deadlines_are_told_by() -> None:
    assert deadline_in(0.0) <= now() <= deadline_in(0.0)
    assert is_over(effort_for(TOLERANCE, 0.0))
    assert not is_over(effort_for(TOLERANCE, 60.0))
    assert not is_over(effort_for(TOLERANCE))
    assert is_over(effort_for(TOLERANCE, cancel=np.ones(1, np.uint8)))


def test_factoring_looks_at_the_clock_after_a_fixed_amount_of_work(monkeypatch: pytest.MonkeyPatch) -> None:
    n = 40
    looks = Looks()
    monkeypatch.setattr(newton, "is_over", looks)
    monkeypatch.setattr(newton, "_WORK_BETWEEN_LOOKS", 1_000)
    matrix = positive_definite(n)
    factor = matrix.copy()
    assert interpreted(newton._factor)(factor, None)
    np.testing.assert_allclose(np.tril(factor) @ np.tril(factor).T, matrix)
    multiplications = n**3 // 6
    most_in_a_column = n**2 // 4
    assert looks.count >= multiplications // (1_000 + most_in_a_column)
    monkeypatch.setattr(newton, "is_over", over := Looks(2))
    assert not interpreted(newton._factor)(matrix.copy(), None)
    assert over.count == 2


def test_a_large_step_ends_within_its_factorisation() -> None:
    """One iteration for 1,500 sampled devices takes half a second and more."""
    net = random_network(np.random.default_rng(1), 3_000, link_probability=0.003, receive=BUDGETS["tight"][0])
    able = np.flatnonzero(net.devices.processing_capacity >= net.devices.processing_cost * net.devices.data)
    state = start(net, able[:1_500])
    plan = advance(net, state, [1.0], time_limit=0.05)
    step = plan.steps[0]
    assert step.status is Status.TIME_LIMIT
    assert step.iterations <= 1
    assert step.max_violation <= 1e-9
    assert math.isfinite(step.relative_gap)


def test_time_that_is_over_leaves_a_bound_on_the_whole_horizon() -> None:
    net = random_network(np.random.default_rng(2), 60, link_probability=0.3)
    hasty = plan_offloading(net, range(10), horizon=6, time_limit=0.0)
    best = plan_offloading(net, range(10), horizon=6)
    assert hasty.horizon_bound is not None
    assert best.objective is not None
    assert 0.0 < hasty.horizon_bound <= best.objective * (1 + 1e-9)
