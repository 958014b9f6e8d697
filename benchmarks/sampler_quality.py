"""How good samplers are, and how fast: `make bench-sampler`.

Ten devices: `benchmarks.sampler_percentiles`. A hundred and more devices: the surrogate and the coverage of its set,
relative to the best that any sampler found, and milliseconds. Then latency: `gcn_branch` beside torch-geometric and
networkx, `greedy` beside networkx, each checked to pick the same devices first. Last, how the searches' time grows with
network and sample size (`benchmarks.sampler_scale`).

    make bench-sampler                                  quick: under ten minutes on two cores
    python -m benchmarks.sampler_quality --full         more networks, all budgets at every size: about an hour

One thread; a loaded machine stretches times alike, so look at ratios. The last line is one JSON object.
"""

import json
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.greedy_rendering import GreedyRendering
from benchmarks.machine import describe
from benchmarks.options import parser
from benchmarks.sampler_contenders import LARGE, Contender
from benchmarks.sampler_percentiles import FIRST_SEED, SIZES, ten_devices
from benchmarks.sampler_scale import labelled_links, scale
from benchmarks.sampler_speed import gcn_branch_speed, random_links
from fedl_sim.data.datasets import load_data_set
from fedl_sim.network.realisation import RealisationSettings, realise
from sampler import SamplingProblem, find_objective, find_sampler
from solver.horizon.sequence import plan_offloading
from solver.network.schedule import Schedule

LARGE_SIZES = (100, 200, 400, 800)
LARGE_SAMPLE = 6
LARGE_HORIZON = 50


def large(budgets: tuple[str, ...], networks: int, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Surrogate, coverage and time on larger networks, relative to the best found."""
    rows = []
    for budget in budgets:
        for n in sizes:
            problems = [_large_problem(n, budget, seed) for seed in range(networks)]
            figures = {one.name: [_measure(one, each) for each in problems] for one in LARGE}
            table = np.array(list(figures.values()))
            least = table[:, :, 0].min(axis=0)
            most = table[:, :, 1].max(axis=0)
            print(f"\nN = {n}, S = {LARGE_SAMPLE}, {budget} budgets, {networks} networks: relative to the best found")
            print(f"{'':34} {'surrogate':>10} {'coverage':>9} {'ms':>9}")
            for contender, own in zip(LARGE, table, strict=True):
                surrogate, coverage = float((own[:, 0] / least).mean()), float((own[:, 1] / most).mean())
                milliseconds = float(np.median(own[:, 2]))
                print(f"{contender.name:34} {surrogate:10.4f} {coverage:9.3f} {milliseconds:9.1f}", flush=True)
                rows.append(
                    {
                        "sampler": contender.name,
                        "n_devices": n,
                        "sample_size": LARGE_SAMPLE,
                        "budget": budget,
                        "surrogate": round(surrogate, 5),
                        "coverage": round(coverage, 4),
                        "ms": round(milliseconds, 3),
                        "surrogate_value": round(float(own[:, 0].mean()), 6),
                        "coverage_value": round(float(own[:, 1].mean()), 1),
                    }
                )
    return rows


def _large_problem(n: int, budget: str, seed: int) -> SamplingProblem:
    settings = RealisationSettings(n_devices=n, mean_datapoints=25.0, budget=budget, broadcast_size=25)
    network = realise(settings, load_data_set("digits"), FIRST_SEED + seed).network
    return SamplingProblem.of(Schedule.of(network), LARGE_SAMPLE, horizon=LARGE_HORIZON)


def _measure(contender: Contender, problem: SamplingProblem) -> tuple[float, float, float]:
    """Surrogate and coverage of its sets, mean over the draws, and the time of one."""
    coverage = find_objective("coverage")(problem)
    found = []
    for draw in range(contender.draws):
        sampled = contender.sample(problem, FIRST_SEED, draw).sampled
        plan = plan_offloading(problem.schedule, sampled, horizon=problem.horizon)
        found.append((plan.objective or np.nan, coverage.value(sampled)))
    surrogate, covered = np.mean(found, axis=0)
    return float(surrogate), float(covered), milliseconds(lambda: contender.sample(problem, FIRST_SEED))


def milliseconds(run: Callable[[], object]) -> float:
    """Median of the runs that fit half a second, three at least (one, if it takes seconds), after one to warm up."""
    begin = perf_counter()
    run()
    least = 3 if perf_counter() - begin < 2 else 1
    times: list[float] = []
    while len(times) < least or (len(times) < 50 and sum(times) < 0.5):
        begin = perf_counter()
        run()
        times.append(perf_counter() - begin)
    return median(times) * 1e3


def greedy_speed(n: int, n_links: int, *, with_rendering: bool) -> dict[str, Any]:
    """Time greedy with and without label counts, beside networkx after checking that both pick the same devices."""
    bare = random_links(n, n_links)
    problem = SamplingProblem.of(Schedule.of(labelled_links(n, n_links)), LARGE_SAMPLE, horizon=LARGE_HORIZON)
    blind = SamplingProblem.of(Schedule.of(bare), LARGE_SAMPLE, horizon=LARGE_HORIZON)
    greedy = find_sampler("greedy")
    row: dict[str, Any] = {"n_devices": n, "links": len(bare.links), "sample_size": LARGE_SAMPLE}
    row["greedy_ms"] = milliseconds(lambda: greedy(problem, np.random.default_rng(0)))
    row["greedy_without_labels_ms"] = milliseconds(lambda: greedy(blind, np.random.default_rng(0)))
    if with_rendering:
        rendering = GreedyRendering(problem)
        begin = perf_counter()
        theirs = rendering.sample()
        row["rendering_ms"] = (perf_counter() - begin) * 1e3
        row["times_faster"] = row["rendering_ms"] / row["greedy_ms"]
        ours = greedy(problem, np.random.default_rng(0)).sampled.tolist()
        if ours != theirs:
            raise SystemExit(f"N = {n}: greedy picks {ours}, its rendering {theirs}")
    print({name: round(value, 2) for name, value in row.items()}, flush=True)
    return row


def speed(*, smoke: bool) -> dict[str, Any]:
    """Latency of gcn_branch and greedy beside renderings with common libraries."""
    print("\nlatency")
    small, city = (800, 63_920), (100_000, 1_000_000)
    gcn = [gcn_branch_speed(*case) for case in ((small,) if smoke else (small, city))]
    for row in gcn:
        print({name: round(value, 2) for name, value in row.items()}, flush=True)
    greedy = [greedy_speed(*small, with_rendering=True)]
    if not smoke:
        greedy.append(greedy_speed(*city, with_rendering=False))
    return {"gcn_branch": gcn, "greedy": greedy}


def main() -> None:
    """Print the tables and the JSON line."""
    command = parser(__doc__)
    command.add_argument("--full", action="store_true", help="more networks and all budgets")
    command.add_argument("--only", choices=("ten", "large", "speed", "scale"), help="one of the four parts")
    arguments = command.parse_args()
    full, only, smoke = arguments.full, arguments.only, arguments.smoke
    print(describe("numpy", "numba", "torch", "torch-geometric", "networkx"), f"seeds from {FIRST_SEED}", sep=", ")
    latency = speed(smoke=smoke) if only in {None, "speed"} else {}
    few = 1 if smoke else 25
    small = ten_devices(250 if full else few, SIZES[: 1 if smoke else None]) if only in {None, "ten"} else {}
    budgets = ("loose", "tight", "scarce") if full else ("tight",)
    many = large(budgets, 3 if full else 1, LARGE_SIZES[: 1 if smoke else None]) if only in {None, "large"} else []
    growth = scale(smoke=smoke) if only in {None, "scale"} else []
    note = "percentiles: 0 the best of all sets, 50 chance; large: relative to the best found"
    print(json.dumps({**small, "large": many, "speed": latency, "scale": growth, "note": note}))


if __name__ == "__main__":
    main()
