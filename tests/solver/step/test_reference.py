"""The reference solver in many threads, and where its optional dependencies are missing."""

import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import solver.step.fast
from solver import MissingExtraError, Status, certified, plan_offloading, solve_fast
from solver.step.reference import solve_reference
from tests.support.solving import network, problem


@pytest.fixture(params=["cvxpy", "clarabel"])
def missing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, request.param, None)


def test_the_package_is_imported_without_cvxpy() -> None:
    script = "import sys; sys.modules['cvxpy'] = sys.modules['clarabel'] = None; import solver, solver.step.reference"
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.usefixtures("missing")
def test_asking_for_it_names_what_to_install() -> None:
    with pytest.raises(MissingExtraError, match=r"install fedsift\[reference\]"):
        solve_reference(problem())
    with pytest.raises(MissingExtraError, match=r"install fedsift\[reference\]"):
        plan_offloading(network(3, (2, 0)), [0], horizon=1, method="cvxpy")


@pytest.mark.usefixtures("missing")
def test_the_fast_solver_does_without_it() -> None:
    assert solve_fast(problem()).status is Status.OPTIMAL


@pytest.mark.usefixtures("missing")
def test_without_a_second_opinion_the_answer_stays_and_a_warning_says_why() -> None:
    step = problem()
    unproven = certified(step, np.zeros(step.n_links), np.zeros(step.n_receivers))
    assert unproven.status is Status.FEASIBLE
    with pytest.warns(RuntimeWarning, match=r"install fedsift\[reference\]"):
        assert solver.step.fast._second_opinion(unproven) is unproven


def test_second_opinions_in_many_threads_do_not_disturb_each_other() -> None:
    """CVXPY is not safe in two threads at once: interleaved solves would leave its warning filter behind."""
    step = problem()
    unproven = certified(step, np.zeros(step.n_links), np.zeros(step.n_receivers))
    alone = solver.step.fast._second_opinion(unproven)
    filters, interval = list(warnings.filters), sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as threads:
            together = list(threads.map(solver.step.fast._second_opinion, [unproven] * 24))
        assert list(warnings.filters) == filters
    finally:
        sys.setswitchinterval(interval)
    assert all(np.array_equal(one.fractions, alone.fractions) for one in together)
