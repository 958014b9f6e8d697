"""`make bench-solver`: the fast solver against raw Clarabel and CVXPY on the same instances, in one run.

Correctness first: every answer is checked against CVXPY's objective, its own certificate and the constraints, and the
run ends with an error if one fails. Then time: the solvers of a step take turns, and the medians of repeated solves
count. Clarabel is timed from its own matrices (set-up and solve); CVXPY "reused" puts new numbers into a problem built
once; CVXPY "new" builds and solves. Times are those of the processor, in the thread that calls, so that other work on
the machine does not change the ratios. `--only` runs some parts. The last line is one JSON object.

Limits: one process, one thread; random networks of `solver.instances`, not recorded ones. The fast solver stops at a
relative gap of 1e-8, Clarabel and CVXPY reused at Clarabel's defaults (1e-8), CVXPY new is the reference solver
(1e-12). Clarabel gets the problem as the paper writes it, with both rows of every sender; its status and how far its
objective is from the fast one's are printed beside its time. Where `iterations` is 0, presolve had settled everything.
"""

import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import partial
from time import thread_time
from typing import Any

import numpy as np

from benchmarks.certificate_cost import certificate_cost
from benchmarks.horizon_overhead import horizon_overhead
from benchmarks.machine import describe
from benchmarks.options import parser
from benchmarks.rivals import ClarabelStep, ReusedStep
from benchmarks.send_once import compare_plans
from benchmarks.timing import in_turn, milliseconds
from benchmarks.whole_horizon import whole_horizon
from solver import StepProblem, StepSolution, plan_offloading, solve_fast, solve_many, start, step_problem
from solver.instances import BUDGETS, random_network
from solver.step.reference import solve_reference

CASES = [(100, 3), (100, 10), (800, 6), (800, 20), (3000, 20), (3000, 50), (100_000, 50)]
GROWTH = [1_000, 10_000, 100_000, 1_000_000]
SEED = 7


def main() -> int:
    """Check, time, print; returns the exit code."""
    command = parser(__doc__)
    command.add_argument("--only", nargs="+", choices=sorted(PARTS), default=list(PARTS), help="run only these parts")
    options = command.parse_args()
    # CVXPY warns where Clarabel stops short of its tolerance; the checks below judge the answers.
    warnings.simplefilter("ignore", UserWarning)
    print(describe("clarabel", "cvxpy-base", "numba", "numpy"), f"seed {SEED}", sep=", ")
    report = {name: PARTS[name](options.smoke) for name in PARTS if name in options.only}
    _print_table(report)
    print(json.dumps(report))
    return 0


def _star(
    budgets: str,
    seed: int,
    n_devices: int,
    sample_size: int,
    link_probability: float,
    *,
    receive: tuple[float, float] | None = None,
) -> StepProblem:
    """The first step with devices 0..S−1 sampled; only the links into them are drawn, so that N may be large."""
    generator = np.random.default_rng([seed, n_devices, sample_size, *budgets.encode()])
    network = random_network(
        generator,
        n_devices,
        link_probability=link_probability,
        receive=BUDGETS[budgets][0] if receive is None else receive,
        transmit=BUDGETS[budgets][1],
        only_into=sample_size,
    )
    return step_problem(network, start(network, np.arange(sample_size)))


def _case(n_devices: int, sample_size: int, budgets: str) -> dict[str, object]:
    # Erdős–Rényi with p = 0.1 as in the paper; at 100,000 devices each one knows about ten others.
    probability = 0.1 if n_devices <= 3000 else 10 / n_devices
    problem = _star(budgets, SEED, n_devices, sample_size, probability)
    answer, reference = solve_fast(problem), solve_reference(problem)
    clarabel_step, reused = ClarabelStep.of(problem), ReusedStep(problem)
    objective, status = clarabel_step.solve()
    difference = _check(f"N={n_devices} S={sample_size} {budgets}", answer, reference.objective)
    solvers = (
        lambda: solve_fast(problem),
        clarabel_step.solve,
        lambda: reused.solve(problem),
        lambda: solve_reference(problem),
    )
    taken = in_turn(solvers, thread_time)
    return {
        "n_devices": n_devices,
        "sample_size": sample_size,
        "links": problem.n_links,
        "budgets": budgets,
        **dict(zip(("fast_ms", "clarabel_ms", "cvxpy_reused_ms", "cvxpy_new_ms"), taken, strict=True)),
        "relative_gap": answer.relative_gap,
        "objective_difference": difference,
        "iterations": answer.iterations,
        "clarabel_status": status,
        "clarabel_difference": objective / answer.objective - 1.0,
        "cvxpy_reused_difference": reused.solve(problem) / answer.objective - 1.0,
    }


def _horizon(steps: int) -> dict[str, object]:
    """A whole plan, N=800, S=6: the fast solver against CVXPY, a new problem each step as the paper has it."""
    results = {}
    for budgets, (receive, transmit) in BUDGETS.items():
        network = random_network(np.random.default_rng(SEED), 800, receive=receive, transmit=transmit)
        sampled = np.random.default_rng(SEED).permutation(800)[:6]
        fast = plan_offloading(network, sampled, horizon=steps, transfer="redraw")
        begin = thread_time()
        slow = plan_offloading(network, sampled, horizon=steps, method="cvxpy", transfer="redraw")
        cvxpy_ms = (thread_time() - begin) * 1e3
        if fast.max_violation > 1e-8 or fast.relative_gap > 1e-6:  # type: ignore[operator]
            sys.exit(f"horizon {budgets}: gap {fast.relative_gap}, violation {fast.max_violation}")
        # Ties between optimal steps lead the two apart a little; the first step starts from the same state.
        if abs(fast.steps[0].objective / slow.steps[0].objective - 1.0) > 1e-6:
            sys.exit(f"horizon {budgets}: first steps differ, {fast.steps[0].objective} and {slow.steps[0].objective}")
        results[budgets] = {
            "fast_ms": _processor_ms(partial(plan_offloading, network, sampled, horizon=steps, transfer="redraw")),
            "cvxpy_ms": cvxpy_ms,
            "fast_objective": fast.objective,
            "cvxpy_objective": slow.objective,
        }
    worst = min(results.values(), key=lambda r: r["cvxpy_ms"] / r["fast_ms"])  # type: ignore[operator]
    return {
        "n_devices": 800,
        "sample_size": 6,
        "steps": steps,
        "fast_ms": worst["fast_ms"],
        "cvxpy_ms": worst["cvxpy_ms"],
        "by_budgets": results,
    }


def _batch() -> dict[str, float]:
    """As many ten-device problems as there are sets of five: one call against one after another."""
    problems = [_star("tight", seed, 10, 5, 0.5) for seed in range(252)]
    together, apart = solve_many(problems), [solve_fast(problem) for problem in problems]
    for j, (one, other) in enumerate(zip(together, apart, strict=True)):
        _check(f"batch {j}", one, other.objective)
    return {
        "problems": len(problems),
        "batched_ms": _processor_ms(lambda: solve_many(problems)),
        "one_by_one_ms": _processor_ms(lambda: [solve_fast(problem) for problem in problems]),
    }


def _growth(links: int) -> dict[str, float]:
    """Time against links, S = 50, receivers with about as much room as senders have to give: nothing is easy."""
    probability = 0.2
    n_devices = max(int(links / (50 * probability)), 60)
    supply = 3e-6 * n_devices
    problem = _star("scarce", SEED, n_devices, 50, probability, receive=(2 * supply, 8 * supply))
    answer = solve_fast(problem)
    _check(f"{problem.n_links} links", answer, None)
    fast_ms = _processor_ms(lambda: solve_fast(problem))
    return {
        "links": problem.n_links,
        "fast_ms": fast_ms,
        "iterations": answer.iterations,
        "ns_per_link": fast_ms * 1e6 / problem.n_links,
    }


def _processor_ms(run: Callable[[], object]) -> float:
    return milliseconds(run, thread_time)


def _cold_start() -> float:
    """Seconds for a new process to import the solver and solve its first step, compiled code cached; best of three."""
    script = (
        "from time import perf_counter; begin = perf_counter()\n"
        "import numpy as np; from solver import Devices, Links, Network, plan_offloading\n"
        "devices = Devices([60, 50, 40], [900] * 3, [1] * 3, [20] * 3, [9] * 3)\n"
        "links = Links(np.array([2, 2]), np.array([0, 1]), [0.1, 0.2], [1.0, 2.0])\n"
        "plan_offloading(Network(devices, links), [0, 1], horizon=1)\n"
        "print(perf_counter() - begin)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True) for _ in range(3)
    ]
    return min(float(run.stdout) for run in runs)


def _check(name: str, answer: StepSolution, objective: float | None) -> float:
    """End the run unless the answer is feasible, certified and no worse than the rival's."""
    gap, violation = answer.relative_gap, answer.max_violation
    difference = 0.0 if objective is None else (answer.objective - objective) / objective
    if not (gap <= 1e-6 and violation <= 1e-8 and difference <= 1e-6):
        sys.exit(f"{name}: gap {gap}, violation {violation}, objective above the rival's by {difference}")
    return difference


def _print_table(report: dict[str, Any]) -> None:
    print(
        "\n     N   S   links  budgets     fast ms   Clarabel     reused        new  (times the fast one)  iterations"
    )
    for case in report.get("cases", ()):
        fast = case["fast_ms"]
        ratios = [case[name] / fast for name in ("clarabel_ms", "cvxpy_reused_ms", "cvxpy_new_ms")]
        print(
            f"{case['n_devices']:6d} {case['sample_size']:3d} {case['links']:7d}  {case['budgets']:8s} {fast:10.3f}"
            + "".join(f" {ratio:9.1f}×" for ratio in ratios)
            + f" {case['iterations']:31d}   {case['clarabel_status']}, off by {case['clarabel_difference']:.0e}"
        )
    for name, part in report.items():
        if name != "cases":
            print(f"{name}: {json.dumps(part)}")


# Each part of the report, from whether it is to be as small as possible.
PARTS: dict[str, Callable[[bool], Any]] = {
    "cases": lambda smoke: [_case(n, s, b) for n, s in CASES[: 1 if smoke else None] for b in BUDGETS],
    "horizon": lambda smoke: _horizon(steps=2 if smoke else 75),
    "horizon_overhead": lambda smoke: horizon_overhead(SEED, smoke=smoke),
    "send_once": lambda smoke: compare_plans(SEED, smoke=smoke),
    "whole_horizon": lambda smoke: whole_horizon(SEED, smoke=smoke),
    "certificate": lambda smoke: certificate_cost(SEED, smoke=smoke),
    "batch": lambda _: _batch(),
    "growth": lambda smoke: [_growth(links) for links in GROWTH[: 1 if smoke else None]],
    "cold_start_s": lambda _: _cold_start(),
}


if __name__ == "__main__":
    sys.exit(main())
