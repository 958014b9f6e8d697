"""No set of S devices, whatever it plans, has a lower objective than the bound; good sets come close to it."""

from itertools import combinations

import numpy as np
import pytest

from sampler.base import SamplingProblem
from sampler.kernels.set_bound import least_objective
from sampler.registry import find_sampler
from sampler.set_bound import set_bound
from solver import Change, GradientModel, Network, Schedule, plan_offloading, proven_gap, start
from solver.instances import BUDGETS, random_network
from solver.step.fast import TOLERANCE, effort_for
from solver.validation import frozen
from solver.whole.reference_horizon import solve_jointly
from tests.support.instances import FAMILIES

pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
HORIZON = 3


def changing(net: Network, generator: np.random.Generator) -> Schedule:
    """Other budgets from step 2 on, other links from step 3 on."""
    few = np.flatnonzero(generator.random(len(net.links)) < 0.7)
    links = net.links
    rest = type(links)(links.source[few], links.target[few], links.similarity[few], links.transmit_cost[few])
    budget = net.devices.transmit_budget * generator.uniform(0, 2, len(net))
    return Schedule(net, (Change(2, {"transmit_budget": budget}), Change(3, links=rest)))


@pytest.mark.parametrize(
    ("family", "moving"), [*((family, False) for family in FAMILIES), ("loose", True), ("tight", True), ("dense", True)]
)
def test_no_set_has_a_plan_below_the_bound(family: str, *, moving: bool) -> None:
    generator = np.random.default_rng([7, moving, *family.encode()])
    net = FAMILIES[family](generator, 5)
    schedule = changing(net, generator) if moving else Schedule(net)
    gradient = GradientModel(float(generator.exponential()), 1.0 + float(generator.random()) / 5)
    noise = float(generator.exponential())
    problem = SamplingProblem.of(schedule, 2, horizon=HORIZON, gradient=gradient, gradient_noise=noise)
    bound = set_bound(problem, HORIZON)
    assert bound >= 0
    for pair in combinations(problem.candidates.tolist(), 2):
        state = start(schedule, np.array(pair))
        joint = solve_jointly(schedule, state, gradient.norms(1, HORIZON), gradient_noise=noise)
        plan = plan_offloading(schedule, pair, horizon=HORIZON, gradient=gradient, gradient_noise=noise)
        assert plan.objective is not None
        assert bound <= joint.objective * (1 + 1e-6)
        assert bound <= plan.objective


def test_it_holds_where_the_sampled_devices_hold_nearly_all_data_whatever_the_units() -> None:
    """Term (a) is then a small difference of large numbers."""
    for seed in range(400):
        generator = np.random.default_rng([8, seed])
        norm, noise = 10.0 ** generator.uniform(-9.0, 9.0, 2)
        n = int(generator.integers(2, 8))
        net = random_network(generator, n, link_probability=0.5)
        size = int(generator.integers(max(1, n - 2), n + 1))
        gradient = GradientModel(float(norm))
        problem = SamplingProblem.of(Schedule(net), size, horizon=2, gradient=gradient, gradient_noise=float(noise))
        plan = plan_offloading(
            net, problem.candidates[:size], horizon=2, gradient=gradient, gradient_noise=problem.gradient_noise
        )
        assert plan.objective is not None
        assert proven_gap(plan.objective, set_bound(problem, 2)) >= 0.0  # raises if the bound is false


@pytest.mark.parametrize(("budgets", "gap"), [("loose", 0.01), ("tight", 0.001), ("scarce", 0.0005)])
def test_it_proves_good_sets_good_and_tells_poor_ones_apart(budgets: str, gap: float) -> None:
    receive, transmit = BUDGETS[budgets]
    net = random_network(np.random.default_rng(1), 100, link_probability=0.1, receive=receive, transmit=transmit)
    problem = SamplingProblem.of(Schedule(net), 5, horizon=10)
    bound = set_bound(problem, 10)
    gaps = {}
    for name in ("greedy:surrogate", "random"):
        sampled = find_sampler(name)(problem, np.random.default_rng(0)).sampled
        objective = plan_offloading(net, sampled, horizon=10, transfer="send_once").objective
        assert objective is not None
        gaps[name] = (objective - bound) / objective
    assert 0 <= gaps["greedy:surrogate"] <= gap
    assert gaps["random"] > 3 * gaps["greedy:surrogate"]


def test_it_is_exact_where_nothing_can_move() -> None:
    net = random_network(np.random.default_rng(2), 12, link_probability=0.5)
    everyone = plan_offloading(net, range(12), horizon=4).objective
    assert everyone is not None
    assert set_bound(SamplingProblem.of(Schedule(net), 12, horizon=4), 4) == pytest.approx(everyone, rel=1e-6)
    alone = random_network(np.random.default_rng(2), 12, link_probability=0.0)
    problem = SamplingProblem.of(Schedule(alone), 1, horizon=4)
    best = min(plan_offloading(alone, [i], horizon=4).objective or np.inf for i in range(12))
    assert set_bound(problem, 4) == pytest.approx(best, rel=1e-6)


def test_senders_together_limit_large_sets() -> None:
    # One sender for nine receivers: each alone could get all of its data.
    net = random_network(np.random.default_rng(3), 10, link_probability=1.0, receive=(1e6, 1e6), transmit=(1e6, 1e6))
    problem = SamplingProblem.of(Schedule(net), 9, horizon=2)
    plans = [plan_offloading(net, np.delete(np.arange(10), k), horizon=2, transfer="send_once") for k in range(10)]
    best = min(plan.objective or np.inf for plan in plans)
    assert 0.95 * best <= set_bound(problem, 2) <= best


def test_without_time_it_is_weaker_and_still_a_bound() -> None:
    net = random_network(np.random.default_rng(4), 60, link_probability=0.2)
    whole = SamplingProblem.of(Schedule(net), 4, horizon=6)
    hurried = SamplingProblem.of(Schedule(net), 4, horizon=6, effort=effort_for(TOLERANCE, 0.0))
    assert 0 < set_bound(hurried, 6) < set_bound(whole, 6)


def test_more_moments_than_steps_or_fewer_both_bound() -> None:
    net = random_network(np.random.default_rng(5), 30, link_probability=0.3)
    problem = SamplingProblem.of(Schedule(net), 3, horizon=100)
    sampled = find_sampler("greedy:surrogate")(problem, np.random.default_rng(0)).sampled
    for steps in (1, 5, 100):
        plan = plan_offloading(net, sampled, horizon=steps, transfer="send_once")
        assert plan.objective is not None
        assert 0.9 * plan.objective < set_bound(problem, steps) <= plan.objective


@pytest.mark.parametrize("size", [1, 7, 300, 1999, 2000])
def test_the_top_is_found_among_many_devices_of_which_some_are_alike(size: int) -> None:
    generator = np.random.default_rng(size)
    data = generator.integers(1, 30, 2000).astype(np.float64)
    # Without links, gradient and noise of 1: the mean of 1 − D_S/W and of D_i^(−1/2)/S are both least for the top.
    nothing = np.zeros((2000, 1))
    bound = least_objective(
        frozen(data),
        frozen(nothing),
        frozen(np.zeros(1)),
        data.sum(),
        frozen(np.ones(1)),
        frozen(np.ones(1) / size),
        size,
    )
    top = np.sort(data)[-size:]
    assert bound == pytest.approx(1.0 - top.sum() / data.sum() + np.mean(top**-0.5), rel=1e-12)
