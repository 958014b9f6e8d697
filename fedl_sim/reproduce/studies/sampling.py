"""Under which conditions the choice of devices matters, and which part of a method has the effect.

There are two tables (`sampling_tables`). The map changes one condition at a time and shows what chosen sets gain over
random ones, with and without offloading. The ablations change one part of a method at a time.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fedl_sim.loop.devices import TrainingSettings
from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.cell_folder import Results
from fedl_sim.reproduce.compared import AGAIN
from fedl_sim.reproduce.figures.points import sampling_figures
from fedl_sim.reproduce.figures.rows import rows_of
from fedl_sim.reproduce.studies.sampling_tables import (
    CHOSEN,
    OFFLOADED,
    RANDOM,
    Condition,
    ablation_table,
    map_table,
    runs_table,
)
from fedl_sim.reproduce.study import Report, Scope, Study

__all__ = ["sampling_study"]

# The devices are the same, since draws depend on the sampler; only the offloading differs.
OFFLOADINGS = ("random", "random+random", "random+greedy", "random+fast")


def sampling_study(template: Cell, scope: Scope) -> Study:
    """On digits, whose runs take a fraction of a second: many conditions and seeds."""
    base = replace(
        template,
        data_set="digits",
        realisation=replace(template.realisation, n_devices=40 if scope.quick else 100, budget="tight"),
        run=replace(template.run, sample_size=5, aggregations=5 if scope.quick else 10),
    )
    conditions = _map() if not scope.quick else [c for c in _map() if c.axis in {"budget", "labels per device"}]
    parts = _ablations()
    study_cells = tuple(
        dict.fromkeys(cell for condition in (*conditions, *parts) for cell in condition.cells(base, scope.seeds))
    )

    def report(results: Results) -> Report:
        gains = map_table(conditions, base, scope.seeds, results)
        ablations = ablation_table(parts, base, scope.seeds, results)
        return Report((gains, ablations, runs_table(study_cells, results)), sampling_figures(rows_of((gains,))))

    return Study("sampling", study_cells, report)


def _map() -> list[Condition]:
    schemes = (*RANDOM.values(), *CHOSEN, *OFFLOADED)
    axes: Sequence[tuple[str, str, Sequence[Any]]] = (
        ("budget", "budget", ("loose", "tight", "scarce")),
        ("link probability", "link_probability", (0.02, 0.05, 0.1, 0.3)),
        ("labels per device", "labels_per_device", (1, 2, 3, 5)),
        ("spread of capacities", "capacity_spread", (0.0, 1.0, 3.0)),
    )
    found = [Condition(axis, str(v), {name: v}, {}, schemes) for axis, name, values in axes for v in values]
    return found + [Condition("sample size", str(s), {}, {"sample_size": s}, schemes) for s in (3, 5, 10)]


def _ablations() -> list[Condition]:
    chosen = ("gcn_branch+fast", "ours-offload")
    axes: Sequence[tuple[str, str, Sequence[tuple[str, dict[str, Any], dict[str, Any]]]]] = (
        (
            "gradient",
            "closed loop",
            [("closed loop", {}, {"closed_loop": True}), ("open loop", {}, {"closed_loop": False})],
        ),
        ("ε₀ quantile", "0.05", [(f"{q:g}", {"similarity_quantile": q}, {}) for q in (0.01, 0.05, 0.2)]),
        # Devices hold about fourteen datapoints here, so a larger broadcast gives the exact similarity.
        (
            "similarity from",
            "all data",
            [("all data" if n > 1000 else f"{n} samples", {"broadcast_size": n}, {}) for n in (3, 10, 1_000_000)],
        ),
        (
            "batch size",
            "10",
            [(str(size), {}, {"training": TrainingSettings(batch_size=size)}) for size in (5, 10, 20)],
        ),
        (
            "label counts",
            "known",
            [("known" if known else "hidden", {"reveal_labels": known}, {}) for known in (True, False)],
        ),
    )
    return [
        Condition("offloading of the same random sets", "", {}, {}, OFFLOADINGS, against="random+fast"),
        Condition("sampler, optimised offloading", "", {}, {}, _every_sampler(), against="random+fast"),
        Condition("chance alone (A/A)", "", {}, {}, ("ours-offload", AGAIN), against="ours-offload"),
        *(
            Condition(axis, value, network, run, chosen, against=base)
            for axis, base, values in axes
            for value, network, run in values
        ),
    ]


def _every_sampler() -> tuple[str, ...]:
    searches = ("greedy", "greedy:surrogate", "greedy:coverage", "greedy:surrogate_coverage", "local_search")
    names = ("random", "heuristic", "random_branch", "gcn_branch", "gcn_rank", *searches)
    return tuple(f"{name}+fast" for name in names)
