"""The curves that an experiment wrote (`curves.csv`), by network and arm."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["Curve", "Curves", "Panel", "read_curves"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curve:
    """One arm on one network: accuracy and datapoints processed, a row for each draw, k = 0 first."""

    accuracy: FloatArray
    processed: FloatArray

    @property
    def final(self) -> float:
        """The accuracy after the last aggregation, the mean over draws."""
        return float(self.accuracy[:, -1].mean())

    def costs(self, target: float, measure: str) -> FloatArray:
        """Return each draw's aggregations or datapoints to a target; missed after K, it counts as reached at K + 1."""
        draws, points = self.accuracy.shape
        counted = np.tile(np.arange(points, dtype=np.float64), (draws, 1))
        spent = counted if measure == "aggregations" else self.processed
        hits = self.accuracy >= target
        at_first = spent[np.arange(draws), hits.argmax(axis=1)]
        found: FloatArray = np.where(hits.any(axis=1), at_first, spent[:, -1] * points / (points - 1))
        return found

    def reached(self, targets: Sequence[float]) -> float:
        """Return the share of draws and targets that were reached."""
        best = self.accuracy.max(axis=1)
        return float(np.mean([best >= target for target in targets]))


@dataclass(frozen=True)
class Panel:
    """A data set, N and S."""

    data_set: str
    n_devices: int
    sample_size: int


@dataclass(frozen=True, eq=False)
class Curves:
    """All curves of an experiment: by panel, arm and seed."""

    by_panel: dict[Panel, dict[str, dict[int, Curve]]]

    def only(self, n_devices: int, sample_size: int) -> "Curves":
        """Return the curves of one size."""
        kept = {
            p: arms for p, arms in self.by_panel.items() if (p.n_devices, p.sample_size) == (n_devices, sample_size)
        }
        return Curves(kept)

    def common(
        self, *names: str, data_set: str | None = None, sample_sizes: tuple[int, ...] | None = None
    ) -> Iterator[tuple[Panel, int, tuple[Curve, ...]]]:
        """Yield the arms' curves on every network where all of them ran; of one data set, with some S, if named."""
        for panel, arms in self.by_panel.items():
            if data_set not in {None, panel.data_set} or not all(name in arms for name in names):
                continue
            if sample_sizes is not None and panel.sample_size not in sample_sizes:
                continue
            for seed in arms[names[0]]:
                if all(seed in arms[name] for name in names):
                    yield panel, seed, tuple(arms[name][seed] for name in names)


def read_curves(path: Path) -> Curves:
    """Read a file of curves.

    Raises:
        OSError: there is no such file.
    """
    rows: dict[tuple[Panel, str, int], dict[int, list[tuple[float, float]]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            panel = Panel(row["data_set"], int(row["n_devices"]), int(row["sample_size"]))
            key = panel, row["scheme"], int(row["seed"])
            run = rows.setdefault(key, {}).setdefault(int(row["draw"]), [])
            run.append((float(row["accuracy"]), float(row["processed"])))
    found: dict[Panel, dict[str, dict[int, Curve]]] = {}
    for (panel, arm, seed), draws in rows.items():
        accuracy, processed = np.moveaxis(np.array(list(draws.values())), -1, 0)
        found.setdefault(panel, {}).setdefault(arm, {})[seed] = Curve(accuracy, processed)
    return Curves(found)
