"""Tables on sampling: what chosen sets gain under each condition, and what each part of a method does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fedl_sim.paired import Clustered, clustered, holm
from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.cell_folder import Results
from fedl_sim.reproduce.compared import AGAIN, Arm, cells_of, label_of
from fedl_sim.reproduce.measures import final, runs_by_seed, spread
from fedl_sim.reproduce.tables import NOT_RUN, Table

__all__ = [
    "CHOSEN",
    "OFFLOADED",
    "RANDOM",
    "Condition",
    "ablation_table",
    "map_table",
    "runs_table",
]

_AGAIN_STILL = Arm("ours (A/A)", "ours, other random numbers (A/A)", "ours", luck=1)
# The same sets without and with offloading, in the same order.
CHOSEN: tuple[str | Arm, ...] = ("gcn_branch", "random_branch", "heuristic", "ours", _AGAIN_STILL)
OFFLOADED = ("gcn_branch+fast", "random_branch+fast", "heuristic+fast", "ours-offload", AGAIN)
RANDOM = {"none": "random", "optimised": "random+fast"}

Row = dict[str, str | int | float | None]


@dataclass(frozen=True)
class Condition:
    """One changed setting.

    Attributes:
        axis: which setting.
        value: its value; empty if schemes alone differ.
        realisation: how the network is drawn then.
        run: how it is trained then.
        schemes: what runs under it.
        against: what an ablation is compared with: another value of the axis, or without values another scheme.
    """

    axis: str
    value: str
    realisation: Mapping[str, Any]
    run: Mapping[str, Any]
    schemes: tuple[str | Arm, ...]
    against: str = ""

    def cells(self, template: Cell, seeds: tuple[int, ...]) -> tuple[Cell, ...]:
        """Return the runs with this setting."""
        changed = replace(
            template,
            realisation=replace(template.realisation, **self.realisation),
            run=replace(template.run, **self.run),
        )
        return cells_of(changed, schemes=self.schemes, seeds=seeds)


def map_table(conditions: Sequence[Condition], base: Cell, seeds: tuple[int, ...], results: Results) -> Table:
    """Return what chosen sets gain over random ones on the same networks, by condition."""
    rows = []
    for condition in conditions:
        cells = condition.cells(base, seeds)
        for (offloading, ground), chosen in zip(RANDOM.items(), (CHOSEN, OFFLOADED), strict=True):
            row: Row = {
                "condition": condition.axis,
                "value": condition.value,
                "offloading": offloading,
                "random": spread(final(runs_by_seed(results, cells, ground))).text(),
            }
            for scheme, heading in zip(chosen, _HEADINGS, strict=True):
                gain = _difference(results, cells, _name(scheme), cells, ground)
                row[heading] = _gain_text(gain)
            rows.append(row)
    return Table(
        "sampling",
        f"Final accuracy of random sets, and what chosen ones gain on the same {len(seeds)} networks (± 95 % interval)",
        ("condition", "value", "offloading", "random", *_HEADINGS),
        tuple(rows),
        ("Random is the mean of five draws a network, ± its deviation. Intervals are by Student's t over networks. "
         f"Each row changes one setting of the base: {_describe(base)}.",),
    )  # fmt: skip


def ablation_table(parts: Sequence[Condition], base: Cell, seeds: tuple[int, ...], results: Results) -> Table:
    """Return the final accuracy with one part changed, each beside what it is compared with."""
    rows: list[Row] = []
    for axis in dict.fromkeys(part.axis for part in parts):
        rows += _ablation_rows([part for part in parts if part.axis == axis], base, seeds, results)
    return Table(
        "ablations",
        f"Final accuracy with one part changed, mean ± deviation over {len(seeds)} networks",
        tuple(rows[0]),
        tuple(rows),
        ("Difference: points of final accuracy, this row minus the one it is compared with, paired by network, with "
         "the 95 % interval by Student's t; p by Holm's method over the part.",),
    )  # fmt: skip


def _ablation_rows(parts: Sequence[Condition], base: Cell, seeds: tuple[int, ...], results: Results) -> list[Row]:
    cells = {part.value: part.cells(base, seeds) for part in parts}
    rows: list[Row] = []
    found: list[tuple[Row, Clustered]] = []
    for part in parts:
        for scheme in map(_name, part.schemes):
            runs = runs_by_seed(results, cells[part.value], scheme)
            value, other = (part.against, scheme) if part.value else ("", part.against)
            row: Row = {
                "part": part.axis,
                "value": part.value or None,
                "scheme": label_of(scheme),
                "accuracy": spread(final(runs)).text(),
                "compared with": None,
                "difference": None,
                "p": None,
                "datapoints moved": float(final(runs, "moved").mean()) if runs else None,
            }
            rows.append(row)
            if (value, other) == (part.value, scheme):
                continue
            row["compared with"] = value or label_of(other)
            one = _difference(results, cells[part.value], scheme, cells[value], other)
            if one is not None:
                found.append((row, one))
    for (row, one), p in zip(found, holm([one.p_value for _, one in found]), strict=True):
        ends = (100 * number for number in (one.mean, one.low, one.high))
        row |= {"difference": "{:+.1f} [{:+.1f}, {:+.1f}]".format(*ends), "p": f"{p:.2g}"}
    return rows


def runs_table(cells: Sequence[Cell], results: Results) -> Table:
    """Return every run's settings and where it ended."""
    settings = ("budget", "link_probability", "labels_per_device", "capacity_spread", "similarity_quantile")
    more = ("broadcast_size", "reveal_labels")
    rows: list[Row] = []
    for cell in cells:
        if cell not in results:
            continue
        last = results[cell].aggregations[-1]
        rows.append(
            {name: getattr(cell.realisation, name) for name in (*settings, *more)}
            | {
                "sample_size": cell.run.sample_size,
                "batch_size": cell.run.training.batch_size,
                "closed_loop": cell.run.closed_loop,
                "scheme": cell.name,
                "seed": cell.seed,
                "draw": cell.draw,
                "accuracy": round(last.accuracy, 4),
                "loss": round(last.loss, 4),
                "processed": last.processed,
                "moved": last.moved,
            }
        )
    return Table("runs", "Every run", tuple(rows[0]) if rows else (), tuple(rows), bulk=True)


def _name(scheme: str | Arm) -> str:
    return scheme if isinstance(scheme, str) else scheme.name


def _heading(scheme: str | Arm) -> str:
    return f"gain of {label_of(scheme) if isinstance(scheme, str) else scheme.label}"


_HEADINGS = tuple(map(_heading, CHOSEN))


def _difference(
    results: Results, cells: Sequence[Cell], scheme: str, others: Sequence[Cell], other: str
) -> Clustered | None:
    """Compare two schemes on the networks where both ran; None if there are none."""
    mine, ground = runs_by_seed(results, cells, scheme), runs_by_seed(results, others, other)
    both = {
        seed: [float(np.subtract(final({seed: mine[seed]}), final({seed: ground[seed]}))[0])]
        for seed in mine
        if seed in ground
    }
    return clustered(both) if both else None


def _gain_text(gain: Clustered | None) -> str:
    if gain is None:
        return NOT_RUN
    mean = f"{gain.mean:+.3f}"
    return mean if gain.clusters == 1 else f"{mean} ± {(gain.high - gain.low) / 2:.3f}"


def _describe(base: Cell) -> str:
    r, run = base.realisation, base.run
    return (
        f"{base.data_set}, N = {r.n_devices}, p = {r.link_probability:g}, {r.labels_per_device} labels, "
        f"{r.budget} budgets, S = {run.sample_size}, K = {run.aggregations}"
    )
