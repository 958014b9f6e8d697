"""Do trained scores beat random ones? Samplers on held-out ten-device networks, among all C(10, S) sets.

For each sample size: the mean percentile of a sampler's set among all candidate sets by FedL loss and by the surrogate
(0 is the best set, ½ what random sets get), its difference to the branch search on random scores, and that difference's
standard error. `gcn_rank` and `greedy` appear twice, with the devices' label counts and without. Realisations that are
not labelled yet are labelled first, in seconds each. The last line is one JSON object.

    python -m benchmarks.gcn_heldout [--networks 100] [--sizes 3,4,5,6] [--folder build/labels]
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import describe
from benchmarks.options import parser
from fedl_sim.labels.evaluation import HELD_OUT_SEED, judge, percentiles
from fedl_sim.labels.folder import LabelFolder
from fedl_sim.labels.record import LabelledRealisation
from fedl_sim.labels.settings import Family
from sampler import find_sampler

__all__ = ["main"]

# Percentiles by sampler, whether it was told label counts, and label.
Table = dict[tuple[str, bool, str], NDArray[np.float64]]

LABELS = ("fedl", "surrogate")
RIVAL = "random_branch"
DRAWS = {"random": 10, "random_branch": 20, "gcn_branch": 5, "gcn_branch_fedl": 5}
# Sampler, and whether it is told the label counts that it could use.
ROWS = (
    ("random", True),
    (RIVAL, True),
    ("gcn_branch", True),
    ("gcn_branch_fedl", True),
    ("gcn_rank", True),
    ("gcn_rank", False),
    ("heuristic", True),
    ("greedy", True),
    ("greedy", False),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Label what is missing, judge, print; returns the exit code."""
    command = parser(__doc__)
    command.add_argument("--networks", type=int, default=100, help="held-out realisations for each S")
    command.add_argument("--sizes", default="3,4,5,6", help="sample sizes")
    command.add_argument("--folder", type=Path, default=Path("build/labels"), help="where labels are kept")
    options = command.parse_args(arguments)
    networks = 2 if options.smoke else options.networks
    sizes = [int(size) for size in options.sizes.split(",")][: 1 if options.smoke else None]
    print(describe("numpy"), f"seeds {HELD_OUT_SEED}…{HELD_OUT_SEED + networks - 1}", sep=", ")
    folder = LabelFolder(options.folder, Family())
    tables = []
    rows = []
    for size in sizes:
        jobs = folder.jobs([size], range(HELD_OUT_SEED, HELD_OUT_SEED + networks))
        folder.generate(jobs, "fedl")
        tables.append(_table(folder.load(jobs, "fedl")))
        rows += _judge(tables[-1], size)
    # One value for each network: its percentiles at different S are not independent of each other.
    rows += _judge({key: np.mean([table[key] for table in tables], axis=0) for key in tables[0]}, 0)
    print(json.dumps({"held_out": rows}))
    return 0


def _table(records: Sequence[LabelledRealisation]) -> Table:
    """Every sampler's percentile on every realisation, by each label."""
    return {
        (name, reveal, label): percentiles(
            find_sampler(name), records, label, draws=DRAWS.get(name, 1), reveal_labels=reveal
        )
        for name, reveal in ROWS
        for label in LABELS
    }


def _judge(table: Table, size: int) -> list[dict[str, object]]:
    """Print and return what a table says; size 0 stands for all sizes together."""
    count = len(table[RIVAL, True, LABELS[0]])
    print(f"\n{'all S' if size == 0 else f'S = {size}'}, {count} networks", flush=True)
    print(f"{'sampler':24s} {'FedL':>6s} {'− random_branch':>18s} {'surrogate':>11s} {'− random_branch':>18s}")
    rows = []
    for name, reveal in ROWS:
        row: dict[str, object] = {"sampler": name, "sample_size": size, "label_counts": reveal}
        cells = []
        for label in LABELS:
            own = table[name, reveal, label]
            difference = judge(own - table[RIVAL, True, label])
            row |= {
                f"{label}_percentile": judge(own).mean,
                f"{label}_difference": difference.mean,
                f"{label}_difference_error": difference.error,
            }
            cells.append(f"{judge(own).mean:6.3f} {difference.mean:+10.3f} ± {difference.error:.3f}")
        title = name if reveal or name not in {"gcn_rank", "greedy"} else f"{name}, no labels"
        print(f"{title:24s} {cells[0]} {cells[1]:>29s}")
        rows.append(row)
    return rows


if __name__ == "__main__":
    sys.exit(main())
