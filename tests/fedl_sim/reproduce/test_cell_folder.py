"""Cells on disk: what names them, and that nothing finished is lost or run again."""

import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from fedl_sim.churn.churn import Churn
from fedl_sim.errors import SimulationError
from fedl_sim.loop.devices import TrainingSettings
from fedl_sim.loop.loop import RunSettings
from fedl_sim.network.realisation import RealisationSettings
from fedl_sim.reproduce.cell import Cell, run_cell
from fedl_sim.reproduce.cell_folder import CellFolder
from fedl_sim.reproduce.compared import cells_of
from fedl_sim.reproduce.panel import panel_of
from fedl_sim.reproduce.studies.healing import churn_study
from fedl_sim.reproduce.study import Scope
from sampler.schemes import SCHEMES, Scheme
from tests.support.command import FEDSIFT

SMALL = Cell(
    data_set="digits",
    scheme="heuristic",
    seed=0,
    realisation=RealisationSettings(n_devices=10, link_probability=0.3, mean_datapoints=20),
    run=RunSettings(sample_size=2, aggregations=1),
)


def test_a_key_follows_from_what_decides_the_result_alone() -> None:
    assert replace(SMALL, run=replace(SMALL.run, threads=7)).key == SMALL.key
    others = [
        replace(SMALL, seed=1),
        replace(SMALL, draw=1),
        replace(SMALL, luck=1),
        replace(SMALL, run=replace(SMALL.run, training=TrainingSettings(equal_batches=True))),
        replace(SMALL, scheme="heuristic+fast"),
        replace(SMALL, data_set="mnist"),
        replace(SMALL, run=replace(SMALL.run, aggregations=2)),
        replace(SMALL, realisation=replace(SMALL.realisation, budget="tight")),
        replace(SMALL, churn=Churn()),
        replace(SMALL, churn=Churn(loss=0.1)),
        replace(SMALL, churn=Churn(loss=0.1), policy="fixed"),
    ]
    assert len({cell.key for cell in (SMALL, *others)}) == 1 + len(others)
    # A name decides nothing, and two names of one method share its runs.
    assert replace(SMALL, arm="by another name").key == SMALL.key
    assert replace(SMALL, scheme="ours-offload").key == replace(SMALL, scheme="greedy+fast").key
    # Without churn the policy has nothing to decide, and cells have the names that they had before there was churn.
    assert replace(SMALL, policy="fixed").key == SMALL.key
    assert not {"churn", "policy"} & set(SMALL.settings)


def test_cells_under_churn_keep_the_names_that_finished_ones_have() -> None:
    first = churn_study(Cell("digits", "random", 0, run=RunSettings(aggregations=20)), Scope((100,))).cells[0]
    assert first.key == "0984f3e56eb369073ebdf2d8"


def test_a_key_changes_when_a_schemes_name_comes_to_mean_another(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = replace(SMALL, scheme="ours")
    before = ours.key
    monkeypatch.setitem(SCHEMES, "ours", Scheme("ours", "heuristic"))
    assert ours.key != before


def test_runs_that_do_not_depend_on_sample_size_or_budget_are_shared() -> None:
    def of(sample_size: int, budget: str) -> set[str]:
        template = replace(
            SMALL,
            run=replace(SMALL.run, sample_size=sample_size),
            realisation=replace(SMALL.realisation, budget=budget),
        )
        return {cell.key for cell in panel_of(template, ("heuristic", "gcn_branch", "all"), Scope((0, 1))).cells}

    assert len(of(2, "loose")) == 14  # five draws of the heuristic on two networks
    assert len(of(2, "loose") & of(3, "scarce")) == 2  # all nodes
    assert len(of(2, "loose") & of(2, "scarce")) == 12  # and the heuristic; the GCN looks at budgets


@pytest.mark.parametrize("scheme", ["all", "random", "heuristic", "ours", "greedy:resemblance"])
def test_what_is_shared_by_all_budgets_does_not_depend_on_them(scheme: str) -> None:
    def run(budget: str) -> tuple[tuple[int, ...], list[float]]:
        done = run_cell(replace(SMALL, scheme=scheme, realisation=replace(SMALL.realisation, budget=budget)))
        return done.sampled, [record.accuracy for record in done.aggregations]

    assert run("loose") == run("scarce")


def test_fewer_draws_are_the_first_ones() -> None:
    cells = cells_of(SMALL, schemes=("random", "ours"), seeds=(3,), draws=2)
    assert [(cell.scheme, cell.draw) for cell in cells] == [("random", 0), ("random", 1), ("ours", 0)]


def test_finished_cells_are_read_back_and_not_run_again(tmp_path: Path) -> None:
    folder = CellFolder(tmp_path)
    cells = cells_of(SMALL, schemes=("ours", "random"), seeds=(0,))
    assert len(cells) == 6
    seen: list[Cell] = []
    folder.make([*cells, *cells], on_cell=lambda cell, _seconds: seen.append(cell))
    assert set(seen) == set(cells)
    assert len(seen) == len(cells)
    stamps = {cell: folder.file(cell).stat().st_mtime_ns for cell in cells}
    folder.file(cells[0]).unlink()
    folder.make(cells, processes=2)
    assert [cell for cell in cells if folder.file(cell).stat().st_mtime_ns != stamps[cell]] == [cells[0]]
    assert folder.load(cells)[cells[0]] == run_cell(cells[0])


def test_a_cell_under_churn_is_read_back_with_its_periods(tmp_path: Path) -> None:
    cell = replace(SMALL, churn=Churn(loss=0.5), policy="patch", run=replace(SMALL.run, aggregations=3))
    folder = CellFolder(tmp_path)
    folder.make([cell])
    read = folder.load([cell])[cell]
    assert read == run_cell(cell)
    assert len(read.periods) == 3
    assert any(period.lost for period in read.periods)


def test_what_is_missing_or_damaged_is_named(tmp_path: Path) -> None:
    folder = CellFolder(tmp_path)
    with pytest.raises(SimulationError, match=SMALL.key):
        folder.load([SMALL])
    folder.make([SMALL])
    folder.file(SMALL).write_text("{")
    with pytest.raises(SimulationError, match="cannot be read"):
        folder.load([SMALL])


def test_what_is_finished_is_reported_and_the_rest_estimated(tmp_path: Path) -> None:
    command = [*FEDSIFT, "experiment", "resources", "--quick", "--seeds", "0", "-k", "1", "--cells", str(tmp_path)]
    environment = {**os.environ, "COLUMNS": "300"}

    def told(option: str) -> str:
        return subprocess.run([*command, option], capture_output=True, text=True, check=True, env=environment).stdout

    estimate = told("--estimate")
    assert "digits, N = 40, S = 5, no offloading, paper: 13 runs of" in estimate
    assert "resources: " in estimate
    assert len(list((tmp_path / "cells").rglob("*.json"))) == 2  # one of each kind
    assert "Unfinished: 2 of 28 runs." in told("--partial")
    assert not list(tmp_path.rglob("*.png"))
    text = (tmp_path / "resources-quick" / "loose" / "resources.md").read_text()
    assert "**Unfinished: 2 of 28 runs.**" in text
    assert "| · |" in text


def test_an_unfinished_method_under_two_names_is_left_out_under_both(tmp_path: Path) -> None:
    command = [*FEDSIFT, "experiment", "sampling", "--quick", "--seeds", "0", "--cells", str(tmp_path), "--partial"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert "Unfinished: 0 of " in told.stdout


def test_a_killed_experiment_goes_on_where_it_was(tmp_path: Path) -> None:
    command = [*FEDSIFT, "experiment", "resources", "--quick"]
    command += ["--seeds", "0", "-k", "2", "--cells", str(tmp_path)]

    def finished() -> set[Path]:
        return set((tmp_path / "cells").rglob("*.json"))

    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    while len(finished()) < 3:
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    stamps = {path: path.stat().st_mtime_ns for path in finished()}
    assert 3 <= len(stamps) < 28
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "200"})
    assert {path: path.stat().st_mtime_ns for path in stamps} == stamps
    assert len(finished()) == 28
    assert "Datapoints processed until" in done.stdout
    assert (tmp_path / "resources-quick" / "loose" / "resources.png").stat().st_size > 10_000


def test_a_study_without_cells_is_reported_too(tmp_path: Path) -> None:
    command = [*FEDSIFT, "experiment", "solver", "--quick", "--seeds", "0", "--cells", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.rglob("solver.md"))
