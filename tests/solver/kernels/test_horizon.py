"""Whole horizons in one compiled call: against steps one by one, with a deadline, and cancelled by another thread."""

import threading
from time import sleep

import numpy as np
import pytest
from numpy.testing import assert_allclose

import solver.step.fast
from solver import Change, GradientModel, Network, Schedule, Status, advance, plan_offloading, start
from solver.horizon.sequence import step_problem
from solver.horizon.state import HorizonState
from solver.horizon.transfer import Transfer
from solver.instances import BUDGETS, random_network
from solver.network.subgraph import Subgraph
from solver.step.fast import solve_fast


def drawn(budgets: str, seed: int, n_devices: int = 40) -> Network:
    receive, transmit = BUDGETS[budgets]
    return random_network(
        np.random.default_rng(seed), n_devices, link_probability=0.3, receive=receive, transmit=transmit
    )


def contested(n_devices: int) -> Network:
    """Receivers with about as much room as senders can give: every step takes iterations."""
    room = 6e-5 * n_devices
    generator = np.random.default_rng(5)
    return random_network(
        generator,
        n_devices,
        link_probability=0.2,
        receive=(room, 4 * room),
        transmit=BUDGETS["scarce"][1],
        only_into=20,
    )


@pytest.mark.parametrize("transfer", list(Transfer))
@pytest.mark.parametrize("budgets", BUDGETS)
def test_one_call_plans_as_steps_one_by_one(budgets: str, transfer: Transfer) -> None:
    net = drawn(budgets, 3)
    schedule = Schedule(net, (Change(4, {"transmit_budget": net.devices.transmit_budget * 3}),))
    norms = GradientModel(2.0, 1.1).norms(1, 9)
    plan = advance(schedule, start(schedule, [1, 2, 3, 4]), norms, horizon=9, transfer=transfer)
    state = start(schedule, [1, 2, 3, 4])
    for t, step in enumerate(plan.steps):
        problem = step_problem(schedule, state, gradient_norm=float(norms[t]), horizon=9, transfer=transfer)
        answer = solve_fast(problem)
        subgraph = Subgraph.of(schedule.at(t + 1), state.sampled)
        left = transfer.left(state.unsent_along(subgraph), answer.fractions)
        state = state.after(t + 1, state.data + answer.received, subgraph, left)
        assert step.status is answer.status is Status.OPTIMAL
        assert step.iterations == answer.iterations
        assert_allclose(step.fraction, answer.fractions[answer.fractions > 0], rtol=1e-12, atol=1e-15)
        assert_allclose(step.received, answer.received, rtol=1e-12, atol=1e-12)
        assert_allclose(step.sampled_data, state.data, rtol=1e-13)
        assert_allclose(step.useful.sum(), answer.received.sum(), rtol=1e-12)
        assert step.objective == pytest.approx(answer.objective, rel=1e-14)
        assert step.relative_gap == pytest.approx(answer.relative_gap, abs=1e-12)
        assert step.max_violation == pytest.approx(answer.max_violation, abs=1e-14)
    same_state(plan.state, state)


def same_state(one: HorizonState, other: HorizonState) -> None:
    assert one.step == other.step
    assert one.source.tolist() == other.source.tolist()
    assert_allclose(one.unsent, other.unsent, rtol=1e-12, atol=1e-15)


def test_a_step_without_a_proof_is_solved_again_and_the_horizon_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    net = drawn("scarce", 4)
    proven = plan_offloading(net, [0, 1, 2], horizon=4)
    assert sum(step.iterations > 1 for step in proven.steps) > 1
    monkeypatch.setattr(solver.step.fast, "MAX_ITERATIONS", 1)
    plan = plan_offloading(net, [0, 1, 2], horizon=4)
    assert plan.status is Status.OPTIMAL
    assert_allclose([s.objective for s in plan.steps], [s.objective for s in proven.steps], rtol=1e-6)
    assert_allclose(plan.steps[-1].sampled_data, plan.steps[0].sampled_data + sum(s.received for s in plan.steps[1:]))


def test_many_links_are_planned_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    net = drawn("tight", 6)
    whole = plan_offloading(net, [0, 1, 2], horizon=7)
    monkeypatch.setattr("solver.horizon.sequence._COURSE", 70)
    parts = plan_offloading(net, [0, 1, 2], horizon=7)
    for one, other in zip(whole.steps, parts.steps, strict=True):
        assert one.step == other.step
        assert_allclose(one.fraction, other.fraction, rtol=1e-12)


def test_another_thread_cancels_the_work_between_two_steps() -> None:
    net = contested(3000)
    cancel = np.zeros(1, np.uint8)
    plan_offloading(net, range(20), horizon=1)

    def stop() -> None:
        sleep(0.2)
        cancel[0] = 1

    thread = threading.Thread(target=stop)
    thread.start()
    # Minutes of work: only a thread that runs meanwhile can end it.
    period = advance(net, start(net, range(20)), np.ones(100_000), cancel=cancel)
    thread.join()
    assert 0 <= len(period.steps) < 50_000
    assert period.state.step == len(period.steps)
    assert all(step.status is Status.OPTIMAL for step in period.steps)


def test_cancelled_before_it_begins_there_are_no_steps() -> None:
    net = drawn("tight", 1)
    period = advance(net, start(net, [0, 1]), [1.0, 1.0], cancel=np.ones(1, np.uint8))
    assert period.steps == ()
    assert period.state.step == 0


def test_a_deadline_is_kept_within_one_call_and_later_steps_stay_feasible() -> None:
    net = contested(3000)
    plan = plan_offloading(net, range(20), horizon=1)
    assert plan.steps[0].iterations > 3
    plan = plan_offloading(net, range(20), horizon=60, time_limit=20 * plan.seconds / 60)
    assert plan.status is Status.TIME_LIMIT
    assert len(plan.steps) == 60
    assert plan.steps[-1].iterations == 0
    assert plan.max_violation is not None
    assert plan.max_violation <= 1e-9
