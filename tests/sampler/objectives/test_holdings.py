import numpy as np
import pytest

from sampler.base import SamplingProblem
from sampler.kernels.pool import pool
from sampler.objectives.holdings import Holdings
from solver import Change, Schedule, plan_sets
from solver.horizon.transfer import TRANSFERS
from solver.instances import BUDGETS, random_network
from solver.network import Network
from tests.support.sampling import network, problem


def arrived_by_definition(task: SamplingProblem, share: float, pace: float, part: float, last: float) -> float:
    """The mean over the steps of the part of a link's data that has arrived, as the module's text says."""
    T = task.horizon
    if task.transfer == "redraw":
        slope, whole = share * (T + 1) / 2, (1 - (1 - share) ** np.arange(1, T + 1)).mean()
        return float(slope * part / (1 + (slope / whole - 1) * part))
    # Between two steps what arrives is interpolated, so that the mean is smooth.
    done = min(max(min(pace / part, last), 1.0), T + 1.0)
    return float((done * (done - 1) / 2 * part / pace + T + 1 - done) / T)


def held_by_definition(task: SamplingProblem, sampled: list[int]) -> np.ndarray:
    """h_k step by step, as the module's text says."""
    net = task.schedule.network
    devices, links = net.devices, net.links
    held = np.zeros(len(net))
    held[sampled] = devices.data[sampled]
    steps = np.arange(1, task.horizon + 1)
    pace, share, fresh = {}, {}, {}
    for k, i, similarity, cost in zip(
        links.source.tolist(), links.target.tolist(), links.similarity, links.transmit_cost, strict=True
    ):
        pace[k, i] = devices.data[k] * cost / devices.transmit_budget[k]
        share[k, i] = min(1.0, 1 / pace[k, i])
        fresh[k, i] = devices.data[k] * (1 - similarity)
    ceiling = devices.processing_capacity / devices.processing_cost - devices.data
    room = [np.minimum(steps * devices.receive_capacity[i], ceiling[i]).mean() for i in range(len(net))]
    alone = np.zeros(len(net))
    for (k, i), needed in pace.items():
        alone[i] += fresh[k, i] * arrived_by_definition(task, share[k, i], needed, 1.0, needed)
    weight = {(k, i): (fresh[k, i] / devices.data[k] * share[k, i]) ** 2 * min(1, room[i] / alone[i]) for k, i in pace}
    open_links = [(k, i) for k, i in pace if i in sampled and k not in sampled]
    for i in sampled:
        arriving = {}
        for k, target in open_links:
            if target == i:
                part = weight[k, i] / sum(weight[link] for link in open_links if link[0] == k)
                last = sum(pace[link] for link in open_links if link[0] == k)
                arriving[k] = fresh[k, i] * arrived_by_definition(task, share[k, i], pace[k, i], part, last)
        fits = min(1.0, room[i] / max(sum(arriving.values()), 1e-300))
        for k, amount in arriving.items():
            held[k] += fits * amount
    return held


@pytest.mark.parametrize("transfer", TRANSFERS)
@pytest.mark.parametrize("seed", range(4))
def test_the_kernel_does_what_the_text_says(seed: int, transfer: str) -> None:
    net = network(seed=seed)
    task = problem(net, 4, horizon=9, transfer=transfer)
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


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_the_estimate_stands_near_what_the_solver_plans(transfer: str) -> None:
    """Where two receivers do not compete and nothing binds but budgets, both say the same."""
    net: Network = network(receive_capacity=np.full(12, 1e6), processing_capacity=np.full(12, 1e9))
    sets = np.arange(12)[:, None]
    pooled = Holdings.of(problem(net, 1, horizon=6, transfer=transfer), np.ones((12, 1))).pool(sets)
    # A link of one and a half steps is done after two, and by the estimate halfway between them.
    tolerance = 1e-4 if transfer == "redraw" else 0.02
    np.testing.assert_allclose(pooled.amount - net.devices.data, planned(net, sets, 6, transfer), rtol=tolerance)


@pytest.mark.parametrize(
    ("transfer", "budgets", "tolerance"),
    [
        ("redraw", "tight", 0.06),
        ("redraw", "scarce", 0.06),
        ("send_once", "tight", 0.06),
        ("send_once", "scarce", 0.06),
        # With the closed form of redrawing senders a seventh would be missing.
        ("send_once", "loose", 0.06),
        ("send_once", "full", 0.03),
    ],
)
def test_budgets_are_spent_as_plans_spend_them(transfer: str, budgets: str, tolerance: float) -> None:
    """Equal shares to all receivers would fall short by a fifth under tight budgets."""
    receive, transmit = BUDGETS["loose" if budgets == "full" else budgets]
    estimate = real = 0.0
    for seed in range(4):
        generator = np.random.default_rng([7, seed])
        net = random_network(generator, 10, link_probability=0.35, receive=receive, transmit=transmit)
        if budgets == "full":
            net = net.with_columns({"receive_capacity": net.devices.receive_capacity / 10})
        sets = np.array([generator.choice(10, 4, replace=False) for _ in range(10)])
        task = problem(net, 4, horizon=20, transfer=transfer)
        estimate += Holdings.of(task, np.zeros((10, 1))).pool(sets).amount.sum() - net.devices.data[sets].sum()
        real += planned(net, sets, 20, transfer).sum()
    assert estimate == pytest.approx(real, rel=tolerance)


def planned(net: Network, sets: np.ndarray, horizon: int, transfer: str) -> np.ndarray:
    """What each set receives by its plan, on the mean over the steps."""
    plans = plan_sets(net, sets, horizon=horizon, transfer=transfer)
    n = len(net)
    place = np.searchsorted(net.links.target * n + net.links.source, plans.target * n + plans.source)
    fresh = net.devices.data[plans.source] * (1 - net.links.similarity[place])
    once = np.cumsum(plans.fractions, axis=0)
    arrived = once if transfer == "send_once" else 1 - np.cumprod(1 - plans.fractions, axis=0)
    owner = np.repeat(np.arange(len(sets)), np.diff(plans.starts))
    return np.bincount(owner, arrived.mean(axis=0) * fresh, minlength=len(sets))


def test_the_kernel_is_compiled_for_one_kind_of_arrays_only() -> None:
    for size in (2, 3):
        task = problem(network(), size, horizon=3)
        Holdings.of(task, np.ones((12, 2))).pool(np.arange(size)[None])
        Holdings.of(task, np.ones((12, 2))[::-1], np.ones(12)).pool(np.arange(2 * size)[None, ::2])
        Holdings.of(problem(network(), size, horizon=3, transfer="redraw"), np.ones((12, 2))).pool(
            np.arange(size)[None]
        )
        changing = Schedule(network(), (Change(2, {"transmit_budget": np.ones(12)}),))
        Holdings.of(problem(changing, size, horizon=3), np.ones((12, 2))).pool(np.arange(size)[None])  # type: ignore[arg-type]
    assert len(pool.signatures) == 1  # type: ignore[attr-defined]
