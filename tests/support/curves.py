"""Curves of experiments made by hand."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

COLUMNS = ("data_set", "n_devices", "sample_size", "scheme", "seed", "draw", "aggregation", "accuracy", "processed")


def write_curves(
    results: Path, folder: str, finals: Mapping[str, Mapping[tuple[int, int], float]], sizes: tuple[int, ...] = (100,)
) -> None:
    """Curves of two aggregations that end at these accuracies, by arm and (seed, S), the same for every N."""
    rows = [
        ("mnist", n, size, arm, seed, 0, k, accuracy, 10 * k)
        for arm, runs in finals.items()
        for (seed, size), final in runs.items()
        for n in sizes
        for k, accuracy in enumerate((0.1, final / 2, final))
    ]
    write_curve_rows(results, folder, rows)


def write_curve_rows(results: Path, folder: str, rows: Sequence[tuple[object, ...]]) -> None:
    path = results / folder / "curves.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
