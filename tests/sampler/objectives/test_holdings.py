import numpy as np
import pytest

from sampler.base import SamplingProblem
from sampler.kernels.pool import pool
from sampler.objectives.holdings import Holdings
from solver import plan_sets
from solver.instances import BUDGETS, random_network
from solver.network import Network
from tests.support.sampling import network, problem


def held_by_definition(task: SamplingProblem, sampled: list[int]) -> np.ndarray:
    """h_k step by step, as the module's text says."""
    net = task.schedule.network
    devices, links = net.devices, net.links
    held = np.zeros(len(net))
    held[sampled] = devices.data[sampled]
    T = task.horizon
    steps = np.arange(1, T + 1)
    columns = (links.source, links.target, links.similarity, links.transmit_cost)
    arriving_over = [(int(k), int(i), *rest) for k, i, *rest in zip(*columns, strict=True)]
    arriving_over = [link for link in arriving_over if link[1] in sampled and link[0] not in sampled]
    share = {(k, i): min(1.0, devices.transmit_budget[k] / (devices.data[k] * cost)) for k, i, _, cost in arriving_over}
    weight = {(k, i): ((1 - similarity) * share[k, i]) ** 2 for k, i, similarity, _ in arriving_over}
    for i in sampled:
        arriving = {}
        for k, target, similarity, _ in arriving_over:
            if target == i:
                part = weight[k, i] / sum(w for (sender, _), w in weight.items() if sender == k)
                slope, whole = share[k, i] * (T + 1) / 2, (1 - (1 - share[k, i]) ** steps).mean()
                reach = slope * part / (1 + (slope / whole - 1) * part)
                arriving[k] = devices.data[k] * (1 - similarity) * reach
        ceiling = devices.processing_capacity[i] / devices.processing_cost[i] - devices.data[i]
        room = np.minimum(steps * devices.receive_capacity[i], ceiling).mean()
        fits = min(1.0, room / max(sum(arriving.values()), 1e-300))
        for k, amount in arriving.items():
            held[k] += fits * amount
    return held


@pytest.mark.parametrize("seed", range(4))
def test_the_kernel_does_what_the_text_says(seed: int) -> None:
    net = network(seed=seed)
    task = problem(net, 4, horizon=9)
    features = np.random.default_rng(seed).normal(size=(12, 3))
    weight = np.random.default_rng(seed + 1).random(12)
    holdings = Holdings.of(task, features, weight)
    sets = np.array([np.random.default_rng(s).choice(12, 4, replace=False) for s in range(20)])
    pooled = holdings.pool(sets)
    for j, row in enumerate(sets):
        held = held_by_definition(task, row.tolist())
        assert pooled.amount[j] == pytest.approx(held.sum())
        np.testing.assert_allclose(pooled.sums[j], held @ features)
        assert pooled.squares[j] == pytest.approx(weight @ held**2)


def test_without_offloading_a_set_holds_its_own() -> None:
    net = network()
    pooled = Holdings.of(problem(net, 3, horizon=9, offloading=False), np.eye(12)).pool(np.array([[1, 5, 7]]))
    expected = np.zeros(12)
    expected[[1, 5, 7]] = net.devices.data[[1, 5, 7]]
    np.testing.assert_allclose(pooled.sums[0], expected)


def test_the_estimate_stands_near_what_the_solver_plans() -> None:
    """Where two receivers do not compete and nothing binds but budgets, both say the same."""
    net: Network = network(receive_capacity=np.full(12, 1e6), processing_capacity=np.full(12, 1e9))
    sets = np.arange(12)[:, None]
    pooled = Holdings.of(problem(net, 1, horizon=6), np.ones((12, 1))).pool(sets)
    plans = plan_sets(net, sets, horizon=6, transfer="redraw")
    for b in range(12):
        own = slice(plans.starts[b], plans.starts[b + 1])
        unsent = np.cumprod(1 - plans.fractions[:, own], axis=0)
        place = {
            (k, i): lam for k, i, lam in zip(net.links.source, net.links.target, net.links.similarity, strict=True)
        }
        fresh = np.array([net.devices.data[k] * (1 - place[k, b]) for k in plans.source[own]])
        mean = net.devices.data[b] + ((1 - unsent) * fresh).sum(axis=1).mean()
        assert pooled.amount[b] == pytest.approx(mean, rel=1e-4)


@pytest.mark.parametrize("budgets", ["tight", "scarce"])
def test_tight_budgets_are_spent_as_plans_spend_them(budgets: str) -> None:
    """Equal shares to all receivers would fall short by a fifth."""
    receive, transmit = BUDGETS[budgets]
    estimate = planned = 0.0
    for seed in range(4):
        generator = np.random.default_rng([7, seed])
        net = random_network(generator, 10, link_probability=0.35, receive=receive, transmit=transmit)
        sets = np.array([generator.choice(10, 4, replace=False) for _ in range(10)])
        own = net.devices.data[sets].sum()
        estimate += Holdings.of(problem(net, 4, horizon=20), np.zeros((10, 1))).pool(sets).amount.sum() - own
        plans = plan_sets(net, sets, horizon=20)
        place = np.searchsorted(net.links.target * 10 + net.links.source, plans.target * 10 + plans.source)
        fresh = net.devices.data[plans.source] * (1 - net.links.similarity[place])
        planned += ((1 - np.cumprod(1 - plans.fractions, axis=0)).mean(axis=0) * fresh).sum()
    assert estimate == pytest.approx(planned, rel=0.06)


def test_the_kernel_is_compiled_for_one_kind_of_arrays_only() -> None:
    for size in (2, 3):
        task = problem(network(), size, horizon=3)
        Holdings.of(task, np.ones((12, 2))).pool(np.arange(size)[None])
        Holdings.of(task, np.ones((12, 2))[::-1], np.ones(12)).pool(np.arange(2 * size)[None, ::2])
    assert len(pool.signatures) == 1  # type: ignore[attr-defined]
