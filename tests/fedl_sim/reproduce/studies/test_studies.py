"""Tables from runs made by hand, and the shape of every study."""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fedl_sim.errors import InvalidSettingError
from fedl_sim.loop.records import SchemeRun
from fedl_sim.reproduce.cell import Cell, run_cell
from fedl_sim.reproduce.compared import AGAIN
from fedl_sim.reproduce.registry import STUDIES
from fedl_sim.reproduce.report_files import write_report
from fedl_sim.reproduce.studies.convergence import PAPER_TABLE, convergence_study
from fedl_sim.reproduce.studies.healing import churn_study
from fedl_sim.reproduce.studies.resources import resources_study
from fedl_sim.reproduce.studies.tuning import read_rates
from fedl_sim.reproduce.study import Report, Scope
from fedl_sim.reproduce.tables import NOT_RUN, Table
from tests.support.finished_runs import made_run

TEMPLATE = Cell(data_set="digits", scheme="random", seed=0)


def made(cells: tuple[Cell, ...], accuracies: Mapping[str, tuple[float, ...]]) -> dict[Cell, SchemeRun]:
    """Results with one curve for each scheme."""
    return {cell: made_run(*accuracies[cell.scheme], seed=cell.seed, draw=cell.draw) for cell in cells}


def curves(cells: tuple[Cell, ...]) -> Mapping[str, tuple[float, ...]]:
    slow = (0.1, 0.2, 0.3)
    return {cell.scheme: slow for cell in cells} | {
        "all": (0.1, 0.5, 0.8),
        "ours-offload": (0.1, 0.7, 0.75),
        "gcn_branch+fast": (0.1, 0.5, 0.69),
    }


def test_the_target_is_a_share_of_what_all_nodes_reach() -> None:
    study = convergence_study(TEMPLATE, Scope((0, 1), quick=True))
    table = study.report(made(study.cells, curves(study.cells))).tables[0]
    by_scheme = {row["scheme"]: row["digits 85%, N=40"] for row in table.rows}
    # 0.85 × 0.8 = 0.68
    assert by_scheme["ours w/ offload"] == "1.0 ± 0.0"
    assert by_scheme["smart w/ offload (GCN: surrogate)"] == "2.0 ± 0.0"
    assert by_scheme["random"] == "– 0%"
    assert by_scheme["final accuracy, all nodes"] == "0.800 ± 0.000"


def test_runs_come_network_by_network_and_unfinished_ones_leave_points() -> None:
    study = convergence_study(TEMPLATE, Scope((3, 4), quick=True))
    assert [cell.seed for cell in study.cells] == sorted(cell.seed for cell in study.cells)
    assert {cell.seed for cell in study.cells if cell.scheme == "all"} == {3, 4}
    results = made(study.cells, curves(study.cells))
    first = {cell: run for cell, run in results.items() if cell.seed == 3 and cell.name != "ours"}
    by_scheme = {row["scheme"]: row["digits 85%, N=40"] for row in study.report(first).tables[0].rows}
    assert by_scheme["ours w/ offload"] == "1.0"
    assert by_scheme["ours"] == NOT_RUN
    assert {row["digits 85%, N=40"] for row in study.report({}).tables[0].rows} == {NOT_RUN}


def test_each_scheme_takes_its_best_rate_into_the_fair_setting(tmp_path: Path) -> None:
    study = STUDIES["tune"](TEMPLATE, Scope((90, 91), quick=True))
    best = {"random": 0.02, "all": 0.2}
    results = {}
    for cell in study.cells:
        far = abs(np.log(cell.run.training.learning_rate / best.get(cell.scheme, 0.05)))
        results[cell] = made_run(0.1, 0.9 - 0.1 * float(far), seed=cell.seed)
    write_report(Report(study.report(results).tables), tmp_path, {})
    rows = {row["arm"]: row for row in study.report(results).tables[0].rows if row["study"] == "accuracy"}
    assert (rows["random"]["best"], rows["random"]["note"]) == (0.02, None)
    assert rows["all"]["best"] == 0.2
    assert "edge" in str(rows["all"]["note"])
    rates = read_rates(tmp_path / "tune.json", "resources")
    cells = STUDIES["accuracy"](TEMPLATE, Scope((0,), quick=True, rates=rates)).cells
    assert {(c.name, c.run.training.learning_rate) for c in cells if c.scheme in {"random", "all", "ours-offload"}} == {
        *best.items(),
        ("ours-offload", 0.05),
        (AGAIN, 0.05),
    }
    assert all(cell.run.training.equal_batches for cell in cells)
    with pytest.raises(InvalidSettingError, match="no fair setting"):
        read_rates(tmp_path / "tune.json", "churn")
    with pytest.raises(InvalidSettingError, match="run the experiment tune first"):
        read_rates(tmp_path / "none.json", "accuracy")
    with pytest.raises(InvalidSettingError, match="no η was tuned for gcn_branch on digits"):
        STUDIES["accuracy"](TEMPLATE, Scope((0,), quick=True, rates={"digits": {"random": 0.1}}))


def test_the_papers_numbers_stand_beside_ours() -> None:
    study = convergence_study(TEMPLATE, Scope((0,), quick=False))
    table = study.report(made(study.cells, curves(study.cells))).tables[0]
    by_scheme = {row["scheme"]: row for row in table.rows}
    assert by_scheme["smart w/ offload (GCN: surrogate)"]["mnist 85%, N=800"] == "2.0 (6)"
    assert by_scheme["heuristic"]["mnist 85%, N=600"] == "– 0% (–)"
    assert by_scheme["heuristic w/ offload"]["fashion-mnist 65%, N=800"] == "– 0% (5)"
    assert {len(row) for columns in PAPER_TABLE.values() for row in columns.values()} == {3}


def test_datapoints_are_counted_to_each_level() -> None:
    study = resources_study(TEMPLATE, Scope((0, 1), quick=True))
    table = study.report(made(study.cells, curves(study.cells))).tables[0]
    by_scheme = {row["scheme"]: row for row in table.rows}
    assert by_scheme["ours w/ offload"]["digits, 100%"] == "10 ± 0"
    assert by_scheme["smart w/ offload (GCN: surrogate)"]["digits, 80%"] == "10 ± 0"
    assert by_scheme["smart w/ offload (GCN: surrogate)"]["digits, 95%"] == "20 ± 0"
    assert by_scheme["random"]["digits, 80%"] == "– 0%"


def test_the_full_grid_is_the_papers() -> None:
    cells = STUDIES["accuracy"](TEMPLATE, Scope((0, 1, 2), quick=False)).cells
    panels = {(c.data_set, c.realisation.n_devices, c.run.sample_size) for c in cells if c.scheme == "heuristic"}
    assert panels == {(d, n, s) for d in ("mnist", "fashion-mnist") for n in (100, 200) for s in (3, 4, 5)}
    resources = STUDIES["resources"](TEMPLATE, Scope((0, 1, 2), quick=False)).cells
    # Nothing is trained twice: Fig. 8 comes from the runs of Figs. 6 and 7.
    assert {cell.key for cell in resources} <= {cell.key for cell in cells}


@pytest.mark.parametrize("quick", [True, False])
def test_the_sampling_study_reports_every_condition(*, quick: bool) -> None:
    study = STUDIES["sampling"](TEMPLATE, Scope((0, 1), quick=quick))
    results = made(study.cells, {cell.scheme: (0.1, 0.6) for cell in study.cells} | {"ours-offload": (0.1, 0.7)})
    gains, ablations, runs = study.report(results).tables
    assert len(runs.rows) == len(study.cells)
    assert {row["gain of ours, other random numbers (A/A)"] for row in gains.rows} == {
        "+0.000 ± 0.000",
        "+0.100 ± 0.000",
    }
    assert {row["gain of ours"] for row in gains.rows if row["offloading"] == "optimised"} == {"+0.100 ± 0.000"}
    assert {row["gain of ours"] for row in gains.rows if row["offloading"] == "none"} == {"+0.000 ± 0.000"}
    assert {row["part"] for row in ablations.rows} >= {
        "batch size",
        "gradient",
        "ε₀ quantile",
        "similarity from",
        "label counts",
    }


def test_an_ablation_is_compared_with_the_base_on_the_same_networks() -> None:
    study = STUDIES["sampling"](TEMPLATE, Scope((0, 1, 2), quick=True))
    small, again = 0.1, 0.01

    def accuracy(cell: Cell) -> float:
        gain = small * (cell.run.training.batch_size == 5) + again * (cell.name == AGAIN)
        return 0.5 + 0.1 * cell.seed + gain * (1 + 0.1 * cell.seed)

    results = {cell: made_run(0.1, accuracy(cell), seed=cell.seed, draw=cell.draw) for cell in study.cells}
    rows = {(row["part"], row["value"], row["scheme"]): row for row in study.report(results).tables[1].rows}
    changed = rows["batch size", "5", "ours w/ offload"]
    assert changed["compared with"] == "10"
    assert str(changed["difference"]).startswith("+11.0 [+8.5, +13.5")
    assert 0.003 < float(str(changed["p"])) < 0.05
    assert rows["batch size", "10", "ours w/ offload"]["compared with"] is None
    chance = rows["chance alone (A/A)", None, "ours w/ offload, other random numbers (A/A)"]
    assert chance["compared with"] == "ours w/ offload"
    assert str(chance["difference"]).startswith("+1.1 [")
    random = rows["offloading of the same random sets", None, "random"]
    assert (random["compared with"], random["difference"]) == ("random+fast", "+0.0 [+0.0, +0.0]")


def test_an_unfinished_sampling_study_leaves_points() -> None:
    study = STUDIES["sampling"](TEMPLATE, Scope((0, 1), quick=True))
    results = made(study.cells, {cell.scheme: (0.1, 0.6) for cell in study.cells})
    first = {cell: run for cell, run in results.items() if cell.seed == 0 and cell.name != "heuristic"}
    gains, _, runs = study.report(first).tables
    assert {row["gain of heuristic"] for row in gains.rows if row["offloading"] == "none"} == {NOT_RUN}
    assert {row["gain of ours"] for row in gains.rows} == {"+0.000"}
    assert len(runs.rows) == len(first)
    assert not study.report({}).tables[2].rows


def test_healing_is_compared_network_by_network() -> None:
    study = churn_study(TEMPLATE, Scope((0, 1, 2)))
    assert {cell.churn.loss for cell in study.cells if cell.churn is not None} == {0.0, 0.05, 0.1, 0.2}
    # Networks differ by far more than policies do, and healing is always a little better.
    results = {
        cell: made_run(0.1, 0.2 * cell.seed + (0.52 if cell.policy == "heal" else 0.5), seed=cell.seed)
        for cell in study.cells
    }
    table, runs = study.report(results).tables
    rows = {(row["condition"], row["policy"]): row for row in table.rows}
    assert rows["no loss", "any"]["final accuracy"] == "0.720 ± 0.200"
    assert rows["20% loss", "fixed set"]["healing's gain"] == "+0.020 [+0.020, +0.020]"
    # Seed 0 misses its target of 0.95 × 0.52 by none; all are reached with the first aggregation.
    assert rows["20% loss", "fixed set"]["aggregations to target"] == "1.0"
    assert rows["20% loss", "healing"]["healing's gain"] is None
    # The A/A row differs by chance alone, and is no rival that others' p would pay for.
    again = rows["20% loss", "healing, other random numbers (A/A)"]
    assert (again["healing's gain"], again["p"]) == ("+0.000 [+0.000, +0.000]", "1")
    assert {cell.luck for cell in study.cells if cell.policy != "heal"} == {0}
    assert {cell.luck for cell in study.cells if cell.policy == "heal"} == {0, 1}
    assert len(runs.rows) == len(study.cells) == len(table.rows) * 3


def test_a_target_that_is_missed_counts_as_one_aggregation_more() -> None:
    study = churn_study(TEMPLATE, Scope((0, 1), quick=True))
    results = {cell: made_run(0.1, 0.6, 0.9 if cell.policy == "heal" else 0.8) for cell in study.cells}
    rows = {row["policy"]: row for row in study.report(results).tables[0].rows if row["condition"] == "20% loss"}
    assert (rows["healing"]["aggregations to target"], rows["healing"]["reached"]) == ("2.0", "100%")
    assert (rows["fixed set"]["aggregations to target"], rows["fixed set"]["reached"]) == ("3.0", "0%")
    assert rows["fixed set"]["healing's difference"] == "-1.000 [-1.000, -1.000]"


def test_a_part_of_the_panels_can_be_run() -> None:
    cells = STUDIES["convergence"](TEMPLATE, Scope((0,), sizes=(700,))).cells
    assert {cell.realisation.n_devices for cell in cells} == {700}
    with pytest.raises(InvalidSettingError, match="among 600, 700, 800"):
        STUDIES["convergence"](TEMPLATE, Scope((0,), sizes=(100,)))


def test_a_variant_is_compared_on_the_same_networks_and_told_with_what_it_sends() -> None:
    study = STUDIES["labels"](TEMPLATE, Scope((0, 1, 2), quick=True))
    gain = {"random, lacking": 0.05, "random, again": 0.001}
    results = {
        cell: made_run(0.1, 0.5 + 0.1 * cell.seed + gain.get(cell.arm, 0.0) * (1 + 0.1 * cell.seed), seed=cell.seed)
        for cell in study.cells
    }
    # Equal settings are one run: the arms differ in what is sent, or in the random numbers.
    assert len({cell.key for cell in study.cells}) == len(study.cells)
    rows = {str(row["variant"]): row for row in study.report(results).tables[0].rows}
    found = rows["random sets, lacking labels first"]
    assert found["compared with"] == "random sets, any datapoints"
    assert str(found["difference"]).startswith("+5.5 [")
    assert float(str(found["p"])) < 0.05
    assert rows["ours sets, lacking labels first"]["difference"] == "+0.0 [+0.0, +0.0]"
    assert (found["datapoints sent"], found["kB sent"], rows["random sets, any datapoints"]["p"]) == ("1", "0", None)


def test_p_is_adjusted_over_the_rows_that_ask_the_same_question() -> None:
    study = STUDIES["ours"](TEMPLATE, Scope((0, 1, 2), quick=True))
    # Rivals and all others end .1 lower, with the same spread: they differ by how many rows there are.
    results = {
        cell: made_run(0.1, 0.9 if cell.name == "known" else 0.8 + 0.01 * cell.seed, seed=cell.seed, draw=cell.draw)
        for cell in study.cells
    }
    rows = {row["variant"]: row for row in study.report(results).tables[0].rows}
    chance = float(str(rows["ours, other random numbers (A/A)"]["p"]))
    assert float(str(rows["ours, nothing is sent"]["p"])) == pytest.approx(2 * chance, rel=0.05)
    assert float(str(rows["ours, label counts hidden"]["p"])) == pytest.approx(5 * chance, rel=0.05)
    assert float(str(rows["smart w/ offload (GCN: surrogate)"]["p"])) == pytest.approx(6 * chance, rel=0.05)


def test_the_heuristic_is_averaged_over_draws_as_random_sets_are() -> None:
    cells = convergence_study(TEMPLATE, Scope((0,), quick=True)).cells
    draws = {name: {cell.draw for cell in cells if cell.name == name} for name in ("random", "heuristic", "gcn_branch")}
    assert draws == {"random": set(range(5)), "heuristic": set(range(5)), "gcn_branch": {0}}


def test_meshes_are_groups_of_their_own_and_named_by_their_content(tmp_path: Path) -> None:
    mesh = tmp_path / "town.json"
    mesh.write_text('{"nodes": 12, "source": [0, 1, 2], "target": [1, 2, 3], "quality": [1, 0.5, 0]}')
    study = STUDIES["beyond"](TEMPLATE, Scope((0,), quick=True, meshes=(str(mesh),)))
    cells = {cell.name: cell for cell in study.cells if cell.realisation.topology == str(mesh)}
    ours = replace(cells["ours-offload"], run=replace(TEMPLATE.run, sample_size=3, aggregations=1))
    assert len(run_cell(ours).sampled) == 3
    elsewhere = tmp_path / "other.json"
    elsewhere.write_text(mesh.read_text())
    moved = replace(ours, realisation=replace(ours.realisation, topology=str(elsewhere)))
    assert moved.key == ours.key
    mesh.write_text(mesh.read_text().replace("12", "13"))
    assert moved.key != ours.key
    table = study.report({}).tables[0]
    assert {row["group"] for row in table.rows} >= {"mesh town", "Dirichlet, α = 0.1", "multi-layer perceptron"}
    assert "No meshes were given." in STUDIES["beyond"](TEMPLATE, Scope((0,), quick=True)).report({}).tables[0].notes


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_every_study_writes_data_a_table_and_a_figure(name: str, tmp_path: Path) -> None:
    study = STUDIES[name](TEMPLATE, Scope((0, 1), quick=True))
    curves = {cell.scheme: (0.1, 0.6, 0.7) for cell in study.cells}
    written = {path.name: path for path in write_report(study.report(made(study.cells, curves)), tmp_path, {"seed": 1})}
    assert {f"{name}.csv", f"{name}.json", f"{name}.md"} <= set(written)
    assert json.loads(written[f"{name}.json"].read_text(encoding="utf-8"))["seed"] == 1
    pictures = {path.suffix: path for path in written.values() if path.suffix in {".png", ".svg"}}
    assert set(pictures) == {".png", ".svg"}
    assert pictures[".png"].read_bytes().startswith(b"\x89PNG")
    assert "<svg" in pictures[".svg"].read_text(encoding="utf-8")


def test_a_table_is_the_same_in_every_form() -> None:
    table = Table("t", "Title", ("a", "b"), ({"a": "x", "b": 0.123456}, {"a": None, "b": 2}), ("note",))
    assert list(csv.DictReader(io.StringIO(table.csv()))) == [{"a": "x", "b": "0.123456"}, {"a": "", "b": "2"}]
    assert table.markdown().splitlines() == [
        "**Title**",
        "",
        "| a | b |",
        "| --- | --- |",
        "| x | 0.1235 |",
        "| – | 2 |",
        "",
        "note",
    ]
    with pytest.raises(ValueError, match="a row of t"):
        Table("t", "Title", ("a",), ({"b": 1},))
