"""The tables of docs/sampling.md and docs/model-card.md, from the results that benchmarks wrote.

`make sampling-tables` keeps the last line of each benchmark as docs/results/samplers/NAME.json. This writes a table
from it and inserts the tables into the documents, so that no number is copied by hand; a test compares all three.

    python -m benchmarks.sampler_tables
"""

import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.gcn_heldout import LABELS, RIVAL
from benchmarks.options import DOCS, parser
from fedl_sim.reproduce.document import filled

__all__ = ["DOCUMENTS", "RESULTS", "TABLES", "rendered"]

DOCUMENTS = (DOCS / "sampling.md", DOCS / "model-card.md")
RESULTS = DOCS / "results" / "samplers"

Rows = list[dict[str, Any]]


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _code(sampler: str) -> str:
    """A sampler's name as code, with what is said of it behind a comma in plain text."""
    name, comma, rest = sampler.partition(",")
    return f"`{name}`{comma}{rest}"


def _distinct(rows: Rows, name: str) -> list[Any]:
    return list(dict.fromkeys(row[name] for row in rows))


def _ten_devices(results: dict[str, Any]) -> str:
    rows: Rows = results["ten_devices"]
    names = ("surrogate_percentile", "fedl_percentile", "gap_to_optimum", "optimum_found")
    lines = []
    for sampler in _distinct(rows, "sampler"):
        mine = [row for row in rows if row["sampler"] == sampler]
        surrogate, fedl, gap, found = (float(np.mean([row[name] for row in mine])) for name in names)
        lines.append([_code(sampler), f"{surrogate:.1f}", f"{fedl:.1f}", f"{gap:.3f}", f"{100 * found:.0f} %"])
    columns = ["sampler", "surrogate percentile", "FedL percentile", "gap to its optimum", "optimum found"]
    return _table(columns, lines)


def _large(results: dict[str, Any]) -> str:
    rows: Rows = results["large"]
    sizes = _distinct(rows, "n_devices")
    cell = {(row["sampler"], row["n_devices"]): f"{row['surrogate']:.3f}, {row['coverage']:.2f}" for row in rows}
    lines = [[_code(one), *(cell[one, n] for n in sizes)] for one in _distinct(rows, "sampler")]
    return _table(["sampler", *(f"N = {n}" for n in sizes)], lines)


def _holdings(results: dict[str, Any]) -> str:
    rows: Rows = results["holdings"]
    cases = list(dict.fromkeys((row["n_devices"], row["sample_size"]) for row in rows))
    found = {(row["budget"], row["n_devices"], row["sample_size"], row["transfer"]): row for row in rows}

    def cell(budget: str, case: tuple[int, int]) -> str:
        once, redraw = (
            f"{100 * row['bias']:+.1f} %, {row['correlation']:.2f}".replace("-", "−")
            for row in (found[budget, *case, kind] for kind in ("send_once", "redraw"))
        )
        return f"{once} ({redraw})"

    lines = [[budget, *(cell(budget, case) for case in cases)] for budget in _distinct(rows, "budget")]
    return _table(["budget", *(f"N = {n}, S = {size}" for n, size in cases)], lines)


def _noisy(results: dict[str, Any]) -> str:
    rows: Rows = results["noisy_histograms"]
    plain = "as if exact"
    found = {(row["datapoints"], row["label_counts"]): row for row in rows}
    sizes = _distinct(rows, "datapoints")

    def cell(row: dict[str, Any]) -> str:
        kept, error = 100 * row["gain_kept"], 100 * row["gain_kept_error"]
        return f"{kept:.0f} ± {error:.0f} %, {row['accuracy']:.3f} ± {row['accuracy_error']:.3f}"

    named = [name for name in _distinct(rows, "label_counts") if plain not in name]
    order = ["exact", *(name for name in named if name.startswith("ε")), "hidden", "random sets"]
    lines = []
    for name in order:
        lines.append([name, *(cell(found[size, name]) for size in sizes)])
        if name.startswith("ε"):
            lines.append([f"{name}, {plain}", *(cell(found[size, f"{name}, {plain}"]) for size in sizes)])
    return _table(["label counts", *(f"{size} datapoints" for size in sizes)], lines)


def _held_out(results: dict[str, Any], *, label: str) -> str:
    rows: Rows = results["held_out"]
    sizes = [size for size in _distinct(rows, "sample_size") if size]  # 0 stands for all sizes together

    def cell(row: dict[str, Any]) -> str:
        difference, error = row[f"{label}_difference"], row[f"{label}_difference_error"]
        own = f"{row[f'{label}_percentile']:.3f}"
        return own if row["sampler"] == RIVAL else f"{own} ({difference:+.3f} ± {error:.3f})".replace("-", "−")

    found = {(row["sampler"], row["label_counts"], row["sample_size"]): row for row in rows}
    lines = [
        [_code(sampler if counts else f"{sampler}, no label counts"), *(cell(found[sampler, counts, n]) for n in sizes)]
        for sampler, counts in dict.fromkeys((row["sampler"], row["label_counts"]) for row in rows)
    ]
    return _table(["sampler", *(f"S = {size}" for size in sizes)], lines)


def _objectives(results: dict[str, Any]) -> str:
    rows: Rows = results["objectives"]
    budgets = _distinct(rows, "budget")

    def cell(chosen: Rows, loss: str = "") -> str:
        rho, place = (float(np.mean([row[loss + name] for row in chosen])) for name in ("spearman", "percentile"))
        return f"{rho:.2f}, {place:.0f}".replace("-", "−")

    lines = []
    for name in _distinct(rows, "objective"):
        mine = [row for row in rows if row["objective"] == name]
        cells = [cell([row for row in mine if row["budget"] == budget]) for budget in budgets]
        star = " *" if mine[0]["label_counts"] else ""
        lines.append([name + star, *cells, cell(mine), cell(mine, "network_")])
    return _table(["objective", *budgets, "mean", "mean, network's loss"], lines)


def _scale(results: dict[str, Any]) -> str:
    rows: Rows = results["scale"]
    cases = list(dict.fromkeys((row["n_devices"], row["links"], row["sample_size"]) for row in rows))
    found = {(row["sampler"], row["labels"], row["n_devices"], row["sample_size"]): row for row in rows}

    def cell(sampler: str, labels: bool, case: tuple[int, int, int]) -> str:  # noqa: FBT001
        row = found.get((sampler, labels, case[0], case[2]))
        return "" if row is None else f"{_digits(row['ms'])} ({_digits(row['cpu_ms'])})"

    lines = [
        [_code(sampler if labels else f"{sampler}, no label counts"), *(cell(sampler, labels, case) for case in cases)]
        for sampler, labels in dict.fromkeys((row["sampler"], row["labels"]) for row in rows)
    ]
    return _table(["sampler", *(f"{n:,} devices, {links:,} links, S = {size:,}" for n, links, size in cases)], lines)


def _digits(value: float) -> str:
    """Two digits, or all before the point."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


# How each table is made. Both tables of held-out networks are of one file of results.
TABLES: dict[str, Callable[[dict[str, Any]], str]] = {
    **{f"held-out-{label}": partial(_held_out, label=label) for label in LABELS},
    "holdings": _holdings,
    "large": _large,
    "noisy-histograms": _noisy,
    "noisy-histograms-mnist": _noisy,
    "objectives-10": _objectives,
    "objectives-100": _objectives,
    "scale": _scale,
    "ten-devices": _ten_devices,
}


def rendered(name: str, folder: Path = RESULTS) -> str:
    """Return a table in Markdown, from the results in the folder."""
    results = "held-out" if name.startswith("held-out") else name
    return TABLES[name](json.loads((folder / f"{results}.json").read_text(encoding="utf-8")))


def main() -> None:
    """Write all tables, and insert them into the documents."""
    docs = parser(__doc__, writes=True).parse_args().docs
    folder = docs / RESULTS.relative_to(DOCS)
    for name in TABLES:
        (folder / f"{name}.md").write_text(rendered(name, folder), encoding="utf-8")
    for document in (docs / path.name for path in DOCUMENTS):
        document.write_text(filled(document), encoding="utf-8")


if __name__ == "__main__":
    main()
