"""Rows of a comparison against single plans, with its time limit, its end and its memory."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from app.comparisons.request import ComparisonRequest
from app.comparisons.rows import Cell, Comparison, coverage, make_rows, with_budgets
from app.http.problems import OverloadedError
from app.plans.planning import make_plan
from app.settings import Settings
from app.wire.budget import MemoryBudget
from app.wire.effort import Work, WorkUnderWay
from sampler import SamplingProblem
from sampler.objectives.coverage import Coverage
from solver import Change, Schedule
from solver.instances import random_network
from tests.support.requests import random_request


def comparison(n_devices: int = 20, **lists: Any) -> Comparison:
    # Enough time also for a busy machine that compiles kernels in the first row.
    request = {**random_request(1, n_devices), "sample_sizes": [2], "time_limit": 1e5, **lists}
    del request["sample_size"]
    return ComparisonRequest.model_validate(request).to_domain(Settings(max_time_limit=1e5))


def test_every_row_is_the_plan_that_would_be_made_alone() -> None:
    asked = comparison(samplers=["greedy", "random"], sample_sizes=[2, 4], budget_scales=[1.0, 0.5], seeds=[0, 1])
    rows = make_rows(asked)
    assert [row.cell for row in rows] == list(asked.cells)
    assert len(rows) == 16
    for row in rows:
        cell, found = row.cell, row.figures
        alone = make_plan(
            replace(
                asked.common,
                schedule=with_budgets(asked.common.schedule, cell.budget_scale),
                sampler=cell.sampler,
                sample_size=cell.sample_size,
                seed=cell.seed,
            )
        )
        plan = alone.plan
        assert found is not None
        assert found.sampled.tolist() == plan.sampled.tolist()
        told = (found.objective, found.sent, found.transmit_cost, found.processing_cost, found.horizon_bound)
        expected = (
            plan.objective,
            plan.datapoints_moved,
            plan.transmit_cost,
            plan.processing_cost,
            plan.horizon_bound,
        )
        np.testing.assert_allclose(told, np.array(expected, float), rtol=1e-12)
        assert alone.choice is not None
        assert found.set_bound == alone.choice.set_bound
        assert found.useful == pytest.approx(sum(step.useful.sum() for step in plan.steps))


def test_budgets_are_scaled_at_every_step() -> None:
    network = random_network(np.random.default_rng(1), 8, link_probability=0.5)
    changed = {"transmit_budget": np.arange(8.0), "processing_capacity": np.full(8, 9e3)}
    scaled = with_budgets(Schedule(network, (Change(3, changed),)), 0.5)
    first, later = scaled.at(1).devices, scaled.at(3).devices
    np.testing.assert_array_equal(first.transmit_budget, 0.5 * network.devices.transmit_budget)
    np.testing.assert_array_equal(first.receive_capacity, 0.5 * network.devices.receive_capacity)
    np.testing.assert_array_equal(first.processing_capacity, network.devices.processing_capacity)
    np.testing.assert_array_equal(later.transmit_budget, 0.5 * np.arange(8.0))
    np.testing.assert_array_equal(later.receive_capacity, first.receive_capacity)
    np.testing.assert_array_equal(later.processing_capacity, np.full(8, 9e3))


def test_coverage_is_the_samplers_coverage() -> None:
    network = random_network(np.random.default_rng(2), 15, link_probability=0.3)
    sampled = np.array([3, 7, 11])
    problem = SamplingProblem.of(Schedule(network), 3)
    value = Coverage.along_links(problem).values(sampled[None, :])[0]
    assert coverage(network, sampled) == pytest.approx(value / network.total_data)


def test_rows_without_a_plan_say_why() -> None:
    asked = comparison(samplers=["exhaustive", "random"], sample_sizes=[2, 18], eligible=[0, 1, 2, 3])
    states = {(row.cell.sampler, row.cell.sample_size): (row.state, row.reason) for row in make_rows(asked)}
    assert states["exhaustive", 2] == ("planned", None)
    reason = "18 devices are to be sampled, 4 can be"
    assert states["random", 18] == ("infeasible", reason)
    many = comparison(40, samplers=["exhaustive"], sample_sizes=[10])
    (row,) = make_rows(many)
    assert row.state == "refused"
    assert row.reason is not None
    assert "an exhaustive search takes at most" in row.reason


def test_rows_that_are_not_reached_in_time_say_so() -> None:
    asked = comparison(samplers=["greedy", "random"])
    asked = replace(asked, common=replace(asked.common, time_limit=0.0))
    assert [(row.state, row.figures) for row in make_rows(asked)] == [("not_reached", None)] * 2


class EndsWork(tuple[Cell, ...]):
    """Cells during the third of which the client leaves."""

    work: Work

    def __iter__(self) -> Iterator[Cell]:
        for place, cell in enumerate(super().__iter__()):
            if place == 2:
                self.work.end()
            yield cell


def test_a_comparison_ends_when_its_client_leaves() -> None:
    asked = comparison(samplers=["random"], seeds=[0, 1, 2, 3])
    cells = EndsWork(asked.cells)
    with WorkUnderWay().work() as cells.work:
        cells.work.begin()
        with pytest.raises(OverloadedError):
            make_rows(replace(asked, cells=cells))


def test_rows_give_their_memory_back() -> None:
    asked = comparison(samplers=["random"], seeds=list(range(8)))
    memory = MemoryBudget(100_000_000, 1)
    held = []
    for cells in (asked.cells[:1], asked.cells):
        with memory.account():
            make_rows(replace(asked, cells=cells))
            held.append(memory.held)
    assert held[0] == held[1] > 0
    assert memory.held == 0
