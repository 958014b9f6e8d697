"""Experiments continue from the curves that they wrote, and committed tables follow from committed curves."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from fedl_sim.errors import InvalidSettingError
from fedl_sim.reproduce.finished_curves import read_finished_curves
from tests.support.command import FEDSIFT

RESULTS = Path(__file__).parents[3] / "docs" / "results"
COMMITTED = sorted(path.parent.name for path in RESULTS.glob("*/curves.csv"))


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*FEDSIFT, "experiment", *arguments], capture_output=True, text=True, check=False)


def test_an_experiment_continues_on_another_machine(tmp_path: Path) -> None:
    """Cells are gone, curves are there: what they have is not trained again, and tables are the same."""
    small = ("accuracy", "--quick", "-k", "1", "--draws", "1", "--sizes", "20")
    first, second = tmp_path / "first", tmp_path / "second"
    done = command(*small, "--seeds", "0", "--cells", str(first), "-o", str(first / "report"))
    assert done.returncode == 0, done.stderr
    taken = ("--curves", str(first / "report"), "--cells", str(second), "-o", str(second / "report"))
    again = command(*small, "--seeds", "0", "--report-only", *taken)
    assert again.returncode == 0, again.stderr
    for name in ("accuracy.md", "curves.csv"):
        assert (second / "report" / name).read_bytes() == (first / "report" / name).read_bytes()
    assert not (second / "cells").exists()
    more = command(*small, "--seeds", "0,1", *taken)
    assert more.returncode == 0, more.stderr
    # Three panels have twelve runs each; all nodes are one run for the three of them.
    assert len(list((second / "cells").rglob("*.json"))) == 3 * 12 + 1
    text = (second / "report" / "curves.csv").read_text()
    assert set((first / "report" / "curves.csv").read_text().splitlines()) < set(text.splitlines())
    about = json.loads((second / "report" / "accuracy.json").read_text())
    before = json.loads((first / "report" / "accuracy.json").read_text())
    assert about["made_by"] == before["made_by"]
    assert about["compiled_for"] == before["compiled_for"]
    refused = {
        "compiled_for": "another",
        "first_cell": before["first_cell"] | {"model": "mlp"},
    }
    for name, value in refused.items():
        (first / "report" / "accuracy.json").write_text(json.dumps(before | {name: value}))
        done = command(*small, "--seeds", "2", *taken[:1], str(first / "report"), "--cells", str(second))
        assert done.returncode == 1
        assert ("different processors: another, " if name == "compiled_for" else "other settings") in done.stderr


@pytest.mark.parametrize("folder", COMMITTED)
def test_committed_tables_follow_from_committed_curves(folder: str, tmp_path: Path) -> None:
    name = "accuracy" if (RESULTS / folder / "accuracy.json").exists() else "convergence"
    settings = json.loads((RESULTS / folder / f"{name}.json").read_text())["settings"]
    options = ["--budget", settings["budget"], "--setting", settings["setting"], "--report-only"]
    options += ["--seeds", ",".join(map(str, settings["seeds"])), "--cells", str(tmp_path)]
    options += ["--rates", str(RESULTS / "tune" / "tune.json"), "--curves", str(RESULTS / folder)]
    reports = [(name, folder, ["--sizes", ",".join(map(str, settings["sizes"]))] if settings["sizes"] else [])]
    if name == "accuracy":
        reports.append(("resources", folder.replace("accuracy", "resources"), []))
    for study, target, more in reports:
        done = command(study, *options, *more, "-o", str(tmp_path / target))
        assert done.returncode == 0, done.stderr
        tables = sorted((tmp_path / target).glob("*.md"))
        assert tables
        for table in tables:
            assert table.read_text() == (RESULTS / target / table.name).read_text()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"cell_version": 1}, "runs of version 1"),
        ({"settings": {"seeds": [20]}}, "a run that its settings do not name"),
        ({"settings": {"aggregations": 3}}, "other settings than today's defaults"),
        ({"experiment": "nothing"}, "unknown experiment"),
    ],
)
def test_curves_of_other_runs_are_refused(change: dict[str, object], reason: str, tmp_path: Path) -> None:
    shutil.copy(RESULTS / "accuracy-tight" / "curves.csv", tmp_path)
    about = json.loads((RESULTS / "accuracy-tight" / "accuracy.json").read_text())
    settings = {**about["settings"], **change.pop("settings", {})}  # type: ignore[dict-item]
    (tmp_path / "accuracy.json").write_text(json.dumps({**about, **change, "settings": settings}))
    with pytest.raises(InvalidSettingError, match=reason):
        read_finished_curves(tmp_path)


def test_a_folder_without_curves_and_an_experiment_that_needs_more_are_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettingError, match="has no curves of an experiment"):
        read_finished_curves(tmp_path)
    told = command("beyond", "--quick", "--curves", str(tmp_path))
    assert told.returncode == 1
    assert "beyond needs more than curves" in told.stderr
