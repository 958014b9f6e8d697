"""`fedsift compare`, called as a person would."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from app.commands.compare import compare
from solver import save_network
from solver.instances import random_network
from tests.support.requests import random_request

CLI = typer.Typer()
CLI.command()(compare)
REQUEST = random_request(1, 15, sampler="heuristic")
LISTS = ("--samplers", "heuristic,random", "-s", "2-3,5", "--scales", "1,0.5", "--seeds", "0,1")


def fedsift(*arguments: str, columns: int = 80, text: str | None = None) -> Any:
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(CLI, list(arguments), input=text)


@pytest.fixture
def request_file(tmp_path: Path) -> Path:
    path = tmp_path / "request.json"
    path.write_text(json.dumps(REQUEST))
    return path


def test_a_table_shows_every_group_with_all_its_digits(request_file: Path, tmp_path: Path) -> None:
    output, figure = tmp_path / "rows.csv", tmp_path / "curve.svg"
    done = fedsift(str(request_file), *LISTS, "-o", str(output), "--figure", str(figure))
    assert done.exit_code == 0, done.stderr
    with output.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 24
    assert {row["sample_size"] for row in rows} == {"2", "3", "5"}
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    for i in range(0, 24, 2):
        one, other = rows[i], rows[i + 1]
        mean = (float(one["objective"]) + float(other["objective"])) / 2
        (line,) = [
            line
            for line in lines
            if line.split()[:3] == [one["sampler"], one["sample_size"], f"{float(one['budget_scale']):g}"]
        ]
        assert f"{mean:.6g}" in line.split()
    drawn = figure.read_text(encoding="utf-8")
    assert drawn.startswith("<?xml")
    narrow = fedsift(str(request_file), *LISTS, columns=30).stdout
    assert f"objective  {mean:.6g}" in narrow


def test_the_difference_to_the_baseline_is_paired_by_seed(request_file: Path) -> None:
    options = ("--samplers", "random,heuristic", "-s", "3", "--seeds", "0-4", "--baseline", "heuristic")
    answer = json.loads(fedsift(str(request_file), *options, "--json").stdout)
    own, base = (group["rows"] for group in answer["groups"])
    objective = [row["objective"] for row in answer["rows"]]
    pairs = np.array([objective[i] - objective[j] for i, j in zip(own, base, strict=True)])
    mean = np.mean([objective[j] for j in base])
    # t(0.975, 4) = 2.776445.
    half = 2.776445 * pairs.std(ddof=1) / np.sqrt(5)
    random, heuristic = fedsift(str(request_file), *options).stdout.splitlines()[2:4]
    assert f"{100 * pairs.mean() / mean:+.2f}±{100 * half / mean:.2f}" in random.split()
    assert "base" in heuristic.split()


def test_json_is_the_services_answer(request_file: Path, tmp_path: Path) -> None:
    output = tmp_path / "answer.json"
    done = fedsift(str(request_file), "-s", "3", "--seeds", "7", "--json", "-o", str(output))
    answer = json.loads(done.stdout)
    (row,) = answer["rows"]
    assert (row["sampler"], row["sample_size"], row["seed"]) == ("heuristic", 3, 7)
    assert json.loads(output.read_text(encoding="utf-8")) == answer


def test_a_bare_network_or_an_archive_will_do(tmp_path: Path) -> None:
    bare = fedsift("-", "-s", "2", "-t", "2", "--json", text=json.dumps(REQUEST["network"]))
    assert json.loads(bare.stdout)["n_devices"] == 15
    path = tmp_path / "network.npz"
    save_network(random_network(np.random.default_rng(1), 12, link_probability=0.3), path)
    options = ("-s", "2", "-t", "2", "--samplers", "random,heuristic", "--baseline", "heuristic", "--json")
    answer = json.loads(fedsift(str(path), *options).stdout)
    assert (answer["n_devices"], answer["baseline"]) == (12, 1)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("-s", "16"), 1, "/sample_sizes/0: must be at most the number of devices, 15"),
        (("-s", "two"), 2, "give numbers, as 2,4,8"),
        (("-s", "5-2"), 2, "give numbers, as 2,4,8"),
        (("-s", "2", "--samplers", "best"), 1, "/samplers/0: must be one of"),
        (("-s", "2", "-o", "rows.xls"), 2, "must end in .csv or .json"),
    ],
)
def test_what_is_wrong_is_named(request_file: Path, options: tuple[str, ...], code: int, words: str) -> None:
    refused = fedsift(str(request_file), *options, columns=200)
    assert refused.exit_code == code
    assert words in refused.stderr


def test_rows_without_a_plan_are_counted_with_their_reason(request_file: Path) -> None:
    shown = fedsift(str(request_file), "-s", "2", "--samplers", "heuristic,exhaustive", "--time-limit", "1e-9").stdout
    assert "2 of 2 rows have no plan: the time limit was over" in shown


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    missing = fedsift(str(tmp_path / "none.json"), "-s", "2")
    assert missing.exit_code == 2
    assert "No such file" in missing.stderr
