"""What must hold for every network, searched for counterexamples by Hypothesis."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from solver import Devices, Links, Network, Status, StepProblem, plan_offloading, solve_fast
from solver.network import DEVICE_COLUMNS
from tests.support.instances import FAMILIES, random_problem

# Compiled code and a reference behind it: the first example of a run may take seconds.
relaxed = settings(deadline=None, max_examples=60)

problems = st.builds(
    random_problem,
    st.sampled_from(sorted(FAMILIES)),
    st.integers(0, 10**6),
    st.integers(6, 60),
    st.integers(1, 6),
)


@relaxed
@given(problems)
def test_every_answer_is_feasible_and_proven(problem: StepProblem) -> None:
    answer = solve_fast(problem)
    assert answer.status is Status.OPTIMAL
    assert answer.max_violation <= 1e-8
    assert answer.relative_gap <= 1e-6


@relaxed
@given(problems, st.floats(1.0, 10.0), st.sampled_from(["budget", "receive_capacity", "data_ceiling"]))
def test_relaxing_a_constraint_never_worsens_the_optimum(problem: StepProblem, factor: float, column: str) -> None:
    relaxed_problem = StepProblem(**(problem.columns() | {column: getattr(problem, column) * factor}))
    before, after = solve_fast(problem), solve_fast(relaxed_problem)
    assert after.lower_bound <= before.objective
    assert after.objective <= before.objective * (1 + 2e-6)


@relaxed
@given(problems, st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_units_do_not_matter(problem: StepProblem, data_unit: float, cost_unit: float) -> None:
    """Counting data in other units (γ in their root) and costs in another currency leaves the objective alone."""
    scaled = StepProblem(
        **(
            problem.columns()
            | {
                name: getattr(problem, name) * data_unit
                for name in ("useful", "receive_capacity", "data_ceiling", "data")
            }
            | {"unsampled_data": problem.unsampled_data * data_unit}
            | {"gradient_noise": problem.gradient_noise * np.sqrt(data_unit)}
            | {"cost": problem.cost * cost_unit, "budget": problem.budget * cost_unit}
        )
    )
    assert_allclose(solve_fast(scaled).objective, solve_fast(problem).objective, rtol=1e-6)


def small_network(seed: int, n: int) -> Network:
    generator = np.random.default_rng(seed)
    data = generator.integers(20, 200, n).astype(float)
    A = (generator.random((n, n)) < 0.5) & ~np.eye(n, dtype=bool)
    devices = Devices(
        data=data,
        processing_capacity=data * generator.uniform(1.05, 2.0, n),
        processing_cost=np.ones(n),
        receive_capacity=data * generator.uniform(0.01, 0.3, n),
        transmit_budget=data * generator.uniform(0.01, 0.2, n),
    )
    return Network.from_dense(devices, A.astype(int), generator.random((n, n)), generator.uniform(0.1, 2.0, (n, n)))


@relaxed
@given(st.integers(0, 10**6), st.integers(4, 12))
def test_relabelling_devices_relabels_the_plan(seed: int, n: int) -> None:
    net = small_network(seed, n)
    new_name = np.random.default_rng(seed + 1).permutation(n)
    old_name = np.argsort(new_name)
    renamed = Network(
        Devices(**{name: getattr(net.devices, name)[old_name] for name in DEVICE_COLUMNS}),
        replace(net.links, source=new_name[net.links.source], target=new_name[net.links.target]),
    )
    plan = plan_offloading(net, [0, 1], horizon=1)
    other = plan_offloading(renamed, new_name[[0, 1]], horizon=1)
    assert_allclose(plan.steps[0].objective, other.steps[0].objective, rtol=2e-7)
    # What each sampled device receives is unique, since term (b) is strictly convex; which sender it comes from is not.
    assert_allclose(plan.steps[0].received, other.steps[0].received, rtol=1e-2, atol=1e-2)


@relaxed
@given(st.integers(0, 10**6), st.integers(3, 10))
def test_sparse_and_dense_networks_give_the_same_plan(seed: int, n: int) -> None:
    net = small_network(seed, n)
    shuffled = np.random.default_rng(seed).permutation(len(net.links))
    columns = ("source", "target", "similarity", "transmit_cost")
    again = Network(net.devices, Links(**{name: getattr(net.links, name)[shuffled] for name in columns}))
    one, other = (plan_offloading(each, [0, 2], horizon=3) for each in (net, again))
    for step, same in zip(one.steps, other.steps, strict=True):
        assert_array_equal(step.matrix(n), same.matrix(n))
