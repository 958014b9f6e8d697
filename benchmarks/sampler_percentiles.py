"""Where samplers' sets rank among all sets of ten devices.

On networks that nothing was trained or tuned on, every one of the C(10, S) sets is planned and trained; a sampler's set
is ranked among them by the surrogate and by the test loss of FedL (percentile: 0 the best set, 50 what random sets
get). `gap_to_optimum` is how far its set is from the best one by its own objective (the surrogate, for samplers that
state none), as a share of how far the average set is; `optimum_found` the share of networks where it is the best.
`make bench-sampler` runs it; `tests/docs/test_sampler_tables.py` repeats a part of it.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.sampler_contenders import TEN_DEVICES, Contender
from fedl_sim.data.datasets import load_data_set
from fedl_sim.engines.base import Engine
from fedl_sim.engines.factory import make_engine
from fedl_sim.labels.evaluation import HELD_OUT_SEED, problem_of
from fedl_sim.labels.label import label, realisation_of
from fedl_sim.labels.record import LabelledRealisation
from fedl_sim.labels.settings import Family
from fedl_sim.network.realisation import Realisation
from sampler import SamplingProblem, find_objective
from sampler.rivals.model_based import RIVALS

__all__ = ["CHECKED", "FIRST_SEED", "SIZES", "chosen", "ten_devices"]

# Away from every seed that constants were chosen on, also by hand while this was written.
FIRST_SEED = HELD_OUT_SEED + 10_000_000
SIZES = (3, 4, 5, 6)
# Networks whose chosen sets are told, so that a test can repeat them.
CHECKED = 2


def ten_devices(networks: int, sizes: tuple[int, ...]) -> dict[str, list[dict[str, Any]]]:
    """Rank every contender's sets among all, for each sample size, and tell the sets of the first networks."""
    rows, sets = [], []
    for size in sizes:
        records = [label(Family(), FIRST_SEED + seed, size) for seed in range(networks)]
        sets += [row for record in records[:CHECKED] for row in chosen(record)]
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
    return {"ten_devices": rows, "chosen": sets}


def chosen(record: LabelledRealisation) -> list[dict[str, Any]]:
    """What the samplers of the service, and the GCN on FedL loss, choose on one network, and its percentiles."""
    rows = []
    for contender in TEN_DEVICES:
        if contender.sampler in RIVALS:
            continue
        sampled = np.sort(_sample(contender, problem_of(record), record, 0))
        row: dict[str, Any] = {"sampler": contender.name, "seed": record.seed, "sample_size": record.sample_size}
        row["sampled"] = sampled.tolist()
        for kind in ("surrogate", "fedl"):
            row[f"{kind}_percentile"] = round(100 * record.percentile(sampled, kind), 4)
        rows.append(row)
    return rows


def _place(contender: Contender, record: LabelledRealisation) -> NDArray[np.float64]:
    """Percentiles, gap, whether it is the optimum, and the surrogate's excess over the least; mean over the draws."""
    problem = problem_of(record)
    aim = _values(contender, problem, record)
    best, average = aim.max(), aim.mean()
    figures = np.zeros(5)
    for draw in range(contender.draws):
        sampled = _sample(contender, problem, record, draw)
        place = int(np.flatnonzero(np.all(record.sets == np.sort(sampled), axis=1))[0])
        surrogate = record.surrogate[place]
        figures += (
            100 * record.percentile(sampled, "surrogate"),
            100 * record.percentile(sampled, "fedl"),
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
