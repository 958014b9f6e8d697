from itertools import combinations

import numpy as np
import pytest

from sampler.errors import TooMuchWorkError
from sampler.objectives.surrogate import Surrogate
from solver import Change, GradientModel, Schedule, plan_offloading
from solver.horizon.transfer import TRANSFERS
from solver.instances import random_network
from solver.network import Devices, Links, Network
from tests.support.instances import FAMILIES
from tests.support.sampling import network, problem

SETS = np.array(list(combinations(range(12), 3)))[::17]


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_it_is_what_the_plan_of_each_set_comes_to(transfer: str) -> None:
    net = network()
    options = {"gradient": GradientModel(2.0, 1.1), "gradient_noise": 3.0, "transfer": transfer}
    values = Surrogate(problem(net, 3, horizon=6, **options)).values(SETS)
    for row, value in zip(SETS, values, strict=True):
        plan = plan_offloading(net, row, horizon=6, **options)  # type: ignore[arg-type]
        assert -value == pytest.approx(plan.objective, rel=1e-6)


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_conditions_that_change_on_the_way_count(transfer: str) -> None:
    net = network()
    schedule = Schedule(net, (Change(3, {"transmit_budget": np.zeros(12)}),))
    task = problem(schedule, 3, horizon=6, transfer=transfer)  # type: ignore[arg-type]
    objective = Surrogate(task)
    values = objective.values(SETS[:4])
    for row, value in zip(SETS, values, strict=False):
        assert -value == pytest.approx(plan_offloading(schedule, row, horizon=6, transfer=transfer).objective, rel=1e-6)
    assert np.all(objective.bounds(SETS[:4]) >= values)


@pytest.mark.parametrize("transfer", TRANSFERS)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_bound_is_never_below_the_value(family: str, transfer: str) -> None:
    net = FAMILIES[family](np.random.default_rng(7), 14)
    task = problem(net, 3, horizon=40, gradient_noise=5.0, transfer=transfer)
    objective = Surrogate(task)
    generator = np.random.default_rng(0)
    sets = np.array([generator.choice(task.candidates, 3, replace=False) for _ in range(12)])
    values = objective.values(sets)
    assert np.all(objective.bounds(sets) >= values - 1e-9 * np.abs(values))
    assert np.all(objective.tight_bounds(sets) >= values - 1e-9 * np.abs(values))


@pytest.mark.parametrize("transfer", TRANSFERS)
@pytest.mark.parametrize("gradient", [GradientModel(), GradientModel(2.0, 1.03)])
def test_the_bounds_hold_if_steps_are_taken_together(
    transfer: str, gradient: GradientModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = random_network(np.random.default_rng(5), 20, link_probability=0.4)
    task = problem(net, 4, horizon=90, gradient=gradient, gradient_noise=5.0, transfer=transfer)
    sets = np.array([np.random.default_rng(seed).choice(task.candidates, 4, replace=False) for seed in range(8)])
    values = Surrogate(task).values(sets)
    before = np.full(8, np.inf)
    for moments in (3, 12, 64, 90):
        monkeypatch.setattr("sampler.objectives.surrogate._MOMENTS", moments)
        objective = Surrogate(task)
        bounds, tight = objective.bounds(sets), objective.tight_bounds(sets)
        assert np.all(tight >= values - 1e-9)
        assert np.all(bounds >= values - 1e-9)
        assert np.all(bounds <= before + 1e-9)
        before = bounds


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_a_bound_knows_the_senders_that_devices_share(transfer: str) -> None:
    # Device 0 is the only one that sends, to 1 and 2, and has a budget for half of its data a step.
    devices = Devices([100, 20, 20], [9e9] * 3, [1] * 3, [1e6] * 3, [50] * 3)  # type: ignore[arg-type]
    links = Links(np.array([0, 0]), np.array([1, 2]), np.array([0.1, 0.2]), np.ones(2))
    task = problem(Network(devices, links), 2, horizon=1, gradient_noise=0.01, transfer=transfer)
    objective = Surrogate(task)
    pair = np.array([[1, 2]])
    value = objective.values(pair)
    assert objective.bounds(pair) > value + 0.01
    assert value <= objective.tight_bounds(pair) + 1e-9
    assert objective.tight_bounds(pair) < value + 0.001
    # A device that is sampled sends nothing.
    alone = np.array([[0, 1]])
    np.testing.assert_allclose(objective.tight_bounds(alone), objective.values(alone), rtol=1e-9)


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_the_bound_is_attained_where_nobody_competes(transfer: str) -> None:
    net = network(receive_capacity=np.full(12, 1e6), processing_capacity=np.full(12, 1e9))
    objective = Surrogate(problem(net, 1, horizon=9, transfer=transfer))
    alone = np.arange(12)[:, None]
    np.testing.assert_allclose(objective.bounds(alone), objective.values(alone), rtol=1e-6)


def test_without_offloading_it_is_closed() -> None:
    net = network()
    value = Surrogate(problem(net, 2, horizon=4, offloading=False)).value(np.array([3, 5]))
    data = net.devices.data
    rest = np.delete(data, [3, 5]).sum()
    assert value == pytest.approx(-(rest / data.sum() + (data[[3, 5]] ** -0.5).mean()))


def test_the_order_of_the_devices_does_not_matter() -> None:
    net = random_network(np.random.default_rng(3), 10, link_probability=0.5)
    objective = Surrogate(problem(net, 5, horizon=20))
    sets = np.array(list(combinations(range(10), 5)))[::9]
    np.testing.assert_array_equal(objective.values(sets), objective.values(sets[:, ::-1]))


def test_a_search_may_not_solve_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sampler.objectives.surrogate._MOST_WORK", 1000)
    objective = Surrogate(problem(network(), 3, horizon=20))
    with pytest.raises(TooMuchWorkError, match="too many solves"):
        objective.values(SETS)
