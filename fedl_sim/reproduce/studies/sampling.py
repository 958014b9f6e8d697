"""Under which conditions the choice of devices matters, and which part of a method has the effect.

There are two tables. The map changes one condition at a time and shows what chosen sets gain over random ones, with and
without offloading. The ablations change one part of a method at a time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fedl_sim.loop.devices import TrainingSettings
from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.cell_folder import Results
from fedl_sim.reproduce.compared import cells_of, label_of
from fedl_sim.reproduce.figures.points import sampling_figures
from fedl_sim.reproduce.figures.rows import rows_of
from fedl_sim.reproduce.measures import final, runs_by_seed, spread
from fedl_sim.reproduce.study import Report, Scope, Study
from fedl_sim.reproduce.tables import Table

__all__ = ["Condition", "sampling_study"]

CHOSEN = ("gcn_branch", "random_branch", "heuristic", "ours")
# The devices are the same, since draws depend on the sampler; only the offloading differs.
OFFLOADINGS = ("random", "random+random", "random+greedy", "random+fast")


@dataclass(frozen=True)
class Condition:
    """One changed setting."""

    axis: str
    value: str
    realisation: Mapping[str, Any]
    run: Mapping[str, Any]
    schemes: tuple[str, ...]

    def cells(self, template: Cell, seeds: tuple[int, ...]) -> tuple[Cell, ...]:
        """Return the runs with this setting."""
        changed = replace(
            template,
            realisation=replace(template.realisation, **self.realisation),
            run=replace(template.run, **self.run),
        )
        return cells_of(changed, schemes=self.schemes, seeds=seeds)


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
        gains = _map_table(conditions, base, scope.seeds, results)
        ablations = _ablation_table(parts, base, scope.seeds, results)
        return Report((gains, ablations, _runs_table(study_cells, results)), sampling_figures(rows_of((gains,))))

    return Study("sampling", study_cells, report)


def _map() -> list[Condition]:
    schemes = ("random", *CHOSEN, "random+fast", *(f"{name}+fast" for name in CHOSEN[:-1]), "ours-offload")
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
    return [
        Condition("offloading of the same random sets", "", {}, {}, OFFLOADINGS),
        Condition("sampler, optimised offloading", "", {}, {}, _every_sampler()),
        *(
            Condition("gradient", "closed loop" if closed else "open loop", {}, {"closed_loop": closed}, chosen)
            for closed in (True, False)
        ),
        *(Condition("ε₀ quantile", f"{q:g}", {"similarity_quantile": q}, {}, chosen) for q in (0.01, 0.05, 0.2)),
        # Devices hold about fourteen datapoints here, so a larger broadcast gives the exact similarity.
        *(
            Condition("similarity from", "all data" if n > 1000 else f"{n} samples", {"broadcast_size": n}, {}, chosen)
            for n in (3, 10, 1_000_000)
        ),
        *(
            Condition("batch size", str(size), {}, {"training": TrainingSettings(batch_size=size)}, chosen)
            for size in (5, 10, 20)
        ),
        *(
            Condition("label counts", "known" if known else "hidden", {"reveal_labels": known}, {}, chosen)
            for known in (True, False)
        ),
    ]


def _every_sampler() -> tuple[str, ...]:
    searches = ("greedy", "greedy:surrogate", "greedy:coverage", "greedy:surrogate_coverage", "local_search")
    names = ("random", "heuristic", "random_branch", "gcn_branch", "gcn_rank", *searches)
    return tuple(f"{name}+fast" for name in names)


def _map_table(conditions: Sequence[Condition], base: Cell, seeds: tuple[int, ...], results: Results) -> Table:
    rows = []
    for condition in conditions:
        cells = condition.cells(base, seeds)
        for offloading in (False, True):
            ground = final(runs_by_seed(results, cells, "random+fast" if offloading else "random"))
            row: dict[str, str | int | float | None] = {
                "condition": condition.axis,
                "value": condition.value,
                "offloading": "optimised" if offloading else "none",
                "random": spread(ground).text(),
            }
            for name in CHOSEN:
                mean, error = _gain(results, cells, name, offloading=offloading)
                row[_heading(name)] = f"{mean:+.3f} ± {error:.3f}"
            rows.append(row)
    return Table(
        "sampling",
        f"Final accuracy of random sets, and what chosen ones gain on the same {len(seeds)} networks (± error)",
        ("condition", "value", "offloading", "random", *(_heading(name) for name in CHOSEN)),
        tuple(rows),
        ("Random is the mean of five draws a network. Each row changes one setting of the base: "
         f"{_describe(base)}.",),
    )  # fmt: skip


def _ablation_table(parts: Sequence[Condition], base: Cell, seeds: tuple[int, ...], results: Results) -> Table:
    rows: list[dict[str, str | int | float | None]] = []
    for part in parts:
        cells = part.cells(base, seeds)
        rows += [
            {
                "part": part.axis,
                "value": part.value or None,
                "scheme": label_of(scheme),
                "accuracy": spread(final(runs_by_seed(results, cells, scheme))).text(),
                "datapoints moved": float(final(runs_by_seed(results, cells, scheme), "moved").mean()),
            }
            for scheme in part.schemes
        ]
    return Table(
        "ablations",
        f"Final accuracy with one part changed, mean ± deviation over {len(seeds)} networks",
        ("part", "value", "scheme", "accuracy", "datapoints moved"),
        tuple(rows),
    )


def _runs_table(cells: Sequence[Cell], results: Results) -> Table:
    settings = ("budget", "link_probability", "labels_per_device", "capacity_spread", "similarity_quantile")
    more = ("broadcast_size", "reveal_labels")
    rows: list[dict[str, str | int | float | None]] = []
    for cell in cells:
        last = results[cell].aggregations[-1]
        rows.append(
            {name: getattr(cell.realisation, name) for name in (*settings, *more)}
            | {
                "sample_size": cell.run.sample_size,
                "batch_size": cell.run.training.batch_size,
                "closed_loop": cell.run.closed_loop,
                "scheme": cell.scheme,
                "seed": cell.seed,
                "draw": cell.draw,
                "accuracy": round(last.accuracy, 4),
                "loss": round(last.loss, 4),
                "processed": last.processed,
                "moved": last.moved,
            }
        )
    return Table("runs", "Every run", tuple(rows[0]), tuple(rows), bulk=True)


def _heading(name: str) -> str:
    return f"gain of {label_of(name)}"


def _gain(results: Results, cells: Sequence[Cell], name: str, *, offloading: bool) -> tuple[float, float]:
    """What a chosen set gains over random ones on the same networks: the mean and its standard error."""
    ending = "+fast" if offloading else ""
    scheme = "ours-offload" if offloading and name == "ours" else f"{name}{ending}"
    gain = final(runs_by_seed(results, cells, scheme)) - final(runs_by_seed(results, cells, f"random{ending}"))
    error = float(gain.std(ddof=1) / np.sqrt(gain.size)) if gain.size > 1 else 0.0
    return float(gain.mean()), error


def _describe(base: Cell) -> str:
    r, run = base.realisation, base.run
    return (
        f"{base.data_set}, N = {r.n_devices}, p = {r.link_probability:g}, {r.labels_per_device} labels, "
        f"{r.budget} budgets, S = {run.sample_size}, K = {run.aggregations}"
    )
