"""How good samplers are, and how fast: `make bench-sampler`.

Ten devices: on networks that nothing was trained or tuned on, every one of the C(10, S) sets is planned and trained; a
sampler's set is ranked among them by the surrogate and by the test loss of FedL (percentile: 0 the best set, 50 what
random sets get). `gap_to_optimum` is how far its set is from the best one by its own objective (the surrogate, for
samplers that state none), as a share of how far the average set is; `optimum_found` the share of networks where it is
the best. A hundred and more devices: the surrogate and the coverage of its set, relative to the best that any sampler
found, and milliseconds. Then latency: `gcn_branch` beside torch-geometric and networkx, `greedy` beside networkx, each
checked to pick the same devices first. Last, how the searches' time grows with network and sample size
(`benchmarks.sampler_scale`).

    make bench-sampler                                  quick: under ten minutes on two cores
    python -m benchmarks.sampler_quality --full         more networks, all budgets at every size: about an hour

One thread; a loaded machine stretches times alike, so look at ratios. The last line is one JSON object.
"""

import argparse
import json
from collections.abc import Callable
from functools import lru_cache
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.greedy_rendering import GreedyRendering
from benchmarks.machine import describe
from benchmarks.sampler_contenders import LARGE, TEN_DEVICES, Contender
from benchmarks.sampler_scale import labelled_links, scale
from benchmarks.sampler_speed import gcn_branch_speed, random_links
from fedl_sim.data.datasets import load_data_set
from fedl_sim.engines.base import Engine
from fedl_sim.engines.factory import make_engine
from fedl_sim.labels.evaluation import HELD_OUT_SEED, problem_of
from fedl_sim.labels.label import label, realisation_of
from fedl_sim.labels.record import LabelledRealisation
from fedl_sim.labels.settings import Family
from fedl_sim.network.realisation import Realisation, RealisationSettings, realise
from sampler import SamplingProblem, find_objective, find_sampler
from sampler.rivals.model_based import RIVALS
from solver.horizon import plan_offloading
from solver.schedule import Schedule

# Away from every seed that constants were chosen on, also by hand while this was written.
FIRST_SEED = HELD_OUT_SEED + 10_000_000
SIZES = (3, 4, 5, 6)
LARGE_SIZES = (100, 200, 400, 800)
LARGE_SAMPLE = 6
LARGE_HORIZON = 50


def ten_devices(networks: int) -> list[dict[str, Any]]:
    """Rank every contender's sets among all, for each sample size."""
    rows = []
    for size in SIZES:
        records = [label(Family(), FIRST_SEED + seed, size) for seed in range(networks)]
        print(f"\nten devices, S = {size}, {networks} networks")
        print(f"{'':34} {'surrogate %':>12} {'FedL %':>8} {'gap':>7} {'optimum':>8}")
        for contender in TEN_DEVICES:
            figures = np.mean([_place(contender, record) for record in records], axis=0)
            surrogate, fedl, gap, found, excess = (round(float(x), 4) for x in figures)
            print(f"{contender.name:34} {surrogate:12.1f} {fedl:8.1f} {gap:7.3f} {found:8.1%}", flush=True)
            rows.append(
                {
                    "sampler": contender.name,
                    "sample_size": size,
                    "surrogate_percentile": surrogate,
                    "fedl_percentile": fedl,
                    "gap_to_optimum": gap,
                    "optimum_found": found,
                    "surrogate_excess": excess,
                    "objective": contender.objective,
                    "networks": networks,
                }
            )
    return rows


def _place(contender: Contender, record: LabelledRealisation) -> NDArray[np.float64]:
    """Percentiles, gap, whether it is the optimum, and the surrogate's excess over the least; mean over the draws."""
    problem = problem_of(record)
    aim = _values(contender, problem, record)
    best, average = aim.max(), aim.mean()
    figures = np.zeros(5)
    for draw in range(contender.draws):
        chosen = _sample(contender, problem, record, draw)
        place = int(np.flatnonzero(np.all(record.sets == np.sort(chosen), axis=1))[0])
        surrogate = record.surrogate[place]
        figures += (
            100 * record.percentile(chosen, "surrogate"),
            100 * record.percentile(chosen, "fedl"),
            (best - aim[place]) / max(best - average, 1e-300),
            aim[place] >= best - 1e-9 * abs(best),
            surrogate / record.surrogate.min() - 1,
        )
    mean: NDArray[np.float64] = figures / contender.draws
    return mean


def _values(contender: Contender, problem: SamplingProblem, record: LabelledRealisation) -> NDArray[np.float64]:
    """What it aims at, of every set; the surrogate's are known already."""
    if contender.objective == "surrogate":
        return -record.surrogate
    return find_objective(contender.objective)(contender.seen(problem)).values(record.sets)


def _sample(
    contender: Contender, problem: SamplingProblem, record: LabelledRealisation, draw: int
) -> NDArray[np.int64]:
    if contender.sampler not in RIVALS:
        return contender.sample(problem, record.seed, draw).sampled
    family = record.family
    realisation = _realisation(family, record.seed)
    engine = _engine(family.model, family.data_set)
    return contender.sample_by_rival(problem, realisation, engine, family, seed=record.seed, draw=draw).sampled


@lru_cache(maxsize=1)
def _engine(model: str, data_set: str) -> Engine:
    return make_engine("compiled", model, load_data_set(data_set))


@lru_cache(maxsize=500)
def _realisation(family: Family, seed: int) -> Realisation:
    return realisation_of(family, seed)[1]


def large(budgets: tuple[str, ...], networks: int) -> list[dict[str, Any]]:
    """Surrogate, coverage and time on larger networks, relative to the best found."""
    rows = []
    for budget in budgets:
        for n in LARGE_SIZES:
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


def speed() -> dict[str, Any]:
    """Latency of gcn_branch and greedy beside renderings with common libraries."""
    print("\nlatency")
    gcn = [gcn_branch_speed(*case) for case in ((800, 63_920), (100_000, 1_000_000))]
    for row in gcn:
        print({name: round(value, 2) for name, value in row.items()}, flush=True)
    greedy = [greedy_speed(800, 63_920, with_rendering=True), greedy_speed(100_000, 1_000_000, with_rendering=False)]
    return {"gcn_branch": gcn, "greedy": greedy}


def main() -> None:
    """Print the tables and the JSON line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="more networks and all budgets")
    parser.add_argument("--only", choices=("ten", "large", "speed", "scale"), help="one of the four parts")
    arguments = parser.parse_args()
    full, only = arguments.full, arguments.only
    print(describe("numpy", "numba", "torch", "torch-geometric", "networkx"), f"seeds from {FIRST_SEED}", sep=", ")
    latency = speed() if only in {None, "speed"} else {}
    small = ten_devices(250 if full else 25) if only in {None, "ten"} else []
    budgets = ("loose", "tight", "scarce") if full else ("tight",)
    many = large(budgets, 3 if full else 1) if only in {None, "large"} else []
    growth = scale() if only in {None, "scale"} else []
    note = "percentiles: 0 the best of all sets, 50 chance; large: relative to the best found"
    print(json.dumps({"ten_devices": small, "large": many, "speed": latency, "scale": growth, "note": note}))


if __name__ == "__main__":
    main()
