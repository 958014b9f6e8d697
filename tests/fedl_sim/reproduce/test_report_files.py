"""A report's files: which there are, and that they are the same each time."""

import json
from pathlib import Path

from matplotlib.figure import Figure

from fedl_sim.pictures import Drawing
from fedl_sim.reproduce.report_files import write_report
from fedl_sim.reproduce.study import Report
from fedl_sim.reproduce.tables import Table

SMALL = Table("small", "A small one", ("scheme", "accuracy"), ({"scheme": "ours", "accuracy": 0.12345},))
BULK = Table("bulk", "For programs", ("k",), ({"k": 1},), bulk=True)


def draw(figure: Figure) -> None:
    figure.subplots().plot([0, 1], [1, 0], label="a line")


def test_tables_and_figures_are_written_in_every_form(tmp_path: Path) -> None:
    report = Report((SMALL, BULK), {"curve": Drawing(2, 1, draw)})
    paths = write_report(report, tmp_path / "new", {"seeds": [1]})
    assert {path.name for path in paths} == {path.name for path in (tmp_path / "new").iterdir()}
    assert {path.name for path in paths} == {*(f"small.{e}" for e in ("csv", "json", "md")), "bulk.csv"} | {
        "curve.png",
        "curve.svg",
    }
    written = json.loads((tmp_path / "new" / "small.json").read_text(encoding="utf-8"))
    assert (written["seeds"], written["rows"]) == ([1], [{"scheme": "ours", "accuracy": 0.12345}])
    assert (tmp_path / "new" / "small.csv").read_text(encoding="utf-8") == "scheme,accuracy\nours,0.12345\n"


def test_the_same_report_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_report(Report((SMALL,), {"curve": Drawing(2, 1, draw)}), tmp_path / name, {})
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()
