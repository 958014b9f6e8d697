"""Figures from stored tables: what they show is what the tables have, and a missed target is marked."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from fedl_sim.errors import InvalidSettingError
from fedl_sim.reproduce.figures.__main__ import FIGURES, redraw
from fedl_sim.reproduce.figures.rows import Measured, measured, read_tables
from sampler.scheme_styles import style_of

RESULTS = Path(__file__).parents[4] / "docs" / "results"


def drawn(folder: str, study: str, name: str) -> Figure:
    drawing = FIGURES[study](read_tables(RESULTS / folder))[name]
    figure = Figure(figsize=(drawing.width, drawing.height))
    drawing.draw(figure)
    return figure


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("40783 ± 8975", Measured(40783, 8975)),
        ("0.906", Measured(0.906)),
        ("+0.025 ± 0.030", Measured(0.025, 0.03)),
        ("– 67%", Measured(None, share=0.67)),
    ],
)
def test_cells_are_read(cell: str, found: Measured) -> None:
    assert measured(cell) == found


def test_targets_that_were_missed_are_marked() -> None:
    rows = read_tables(RESULTS / "resources-tight")["resources"]
    missed = [cell for row in rows for cell in row.values() if str(cell).startswith("–")]
    figure = drawn("resources-tight", "resources", "resources")
    crosses = [line for axes in figure.axes for line in axes.get_lines() if line.get_marker() == "x"]
    shares = [text.get_text().strip() for axes in figure.axes for text in axes.texts]
    assert len(crosses) == len(missed) > 0
    assert sorted(shares) == sorted(str(cell).removeprefix("– ") for cell in missed)


def test_curves_are_test_errors_in_the_colours_of_their_schemes() -> None:
    rows = read_tables(RESULTS / "accuracy-tight")["curves"]
    last = max(int(str(row["aggregation"])) for row in rows)
    ends = [
        float(str(row["accuracy"]))
        for row in rows
        if (row["data_set"], row["n_devices"], row["sample_size"], row["scheme"], row["aggregation"])
        == ("mnist", "100", "3", "ours-offload", str(last))
    ]
    figure = drawn("accuracy-tight", "accuracy", "accuracy-mnist")
    assert all(axes.get_yscale() == "log" for axes in figure.axes)
    # Rows are N = 100 without and with offloading, then N = 200; the first column is S = 3.
    (line,) = (line for line in figure.axes[3].get_lines() if line.get_label() == "ours w/ offload")
    assert np.asarray(line.get_ydata())[-1] == pytest.approx(1 - sum(ends) / len(ends))
    assert line.get_color() == style_of("ours-offload").colour
    told = figure.legends[0].get_title().get_text()
    assert re.search(r"mean over \d+ networks", told)
    assert "standard deviation" in told


@pytest.mark.parametrize("folder", sorted({path.parent.name for path in RESULTS.glob("*/*.svg")}))
def test_every_figure_is_what_its_tables_give(folder: str, tmp_path: Path) -> None:
    kept = {path.name: path.read_bytes() for path in (RESULTS / folder).glob("*.svg")}
    for table in (RESULTS / folder).glob("*.csv"):
        shutil.copy(table, tmp_path)
    drawn_now = {path.name: path.read_bytes() for path in redraw(tmp_path) if path.suffix == ".svg"}
    assert drawn_now.keys() == kept.keys()
    assert [name for name in kept if drawn_now[name] != kept[name]] == [], "run `make figures`"


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettingError, match=r"accuracy\.csv"):
        redraw(tmp_path)


def test_a_point_is_drawn_for_each_difference_and_a_line_for_each_tuned_scheme() -> None:
    rows = [row for row in read_tables(RESULTS / "ours")["ours"] if row["difference"]]
    axes = drawn("ours", "ours", "ours").axes
    assert [label.get_text() for one in axes for label in one.get_yticklabels()] == [row["variant"] for row in rows]
    means = [float(np.asarray(line.get_xdata())[0]) for one in axes for line in one.lines if line.get_marker() == "o"]
    assert means == [float(str(row["difference"]).split()[0]) for row in rows]
    tuned = read_tables(RESULTS / "tune")["tune"]
    assert sum(len(one.lines) for one in drawn("tune", "tune", "tune").axes) == len(tuned)
