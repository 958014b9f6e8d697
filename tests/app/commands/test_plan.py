"""`fedsift plan`, called as a person would."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from app.cli import build_cli
from solver import save_network
from solver.instances import random_network
from tests.support.requests import check_plan, random_request

CLI = build_cli(only="plan")
REQUEST = random_request(1, 12)


def fedsift(*arguments: str, text: str | None = None) -> Any:
    # Wide enough that no table cell is cut.
    return CliRunner(env={"COLUMNS": "200"}).invoke(CLI, ["plan", *arguments], input=text)


@pytest.fixture
def request_file(tmp_path: Path) -> Path:
    path = tmp_path / "request.json"
    path.write_text(json.dumps(REQUEST))
    return path


def test_json_is_the_services_answer(request_file: Path) -> None:
    answer = json.loads(fedsift(str(request_file), "--json").stdout)
    check_plan(REQUEST, answer)
    from_input = json.loads(fedsift("-", "--json", text=json.dumps(REQUEST)).stdout)
    assert from_input["sampled"] == answer["sampled"]


def test_a_table_shows_every_step(request_file: Path) -> None:
    shown = fedsift(str(request_file)).stdout
    answer = json.loads(fedsift(str(request_file), "--json").stdout)
    assert f"sampled devices {', '.join(map(str, answer['sampled']))}: optimal" in shown
    rows = [line for line in shown.splitlines() if line.startswith("│")]
    assert len(rows) == REQUEST["horizon"]
    assert f"{answer['steps'][0]['objective']:.6g}" in rows[0]


def test_orders_are_shown_send_by_send(request_file: Path) -> None:
    answer = json.loads(fedsift(str(request_file), "--orders", "--json").stdout)
    shown = fedsift(str(request_file), "--orders").stdout
    table = shown[shown.index("orders") :].splitlines()
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in table if line.startswith("│")]
    assert rows == [
        [str(order["device"]), *(str(send[name]) for name in ("step", "to", "first", "count"))]
        for order in answer["orders"]
        for send in order["sends"]
    ]
    assert "orders" not in fedsift(str(request_file)).stdout


def test_options_win_over_the_file(request_file: Path) -> None:
    answer = json.loads(
        fedsift(str(request_file), "-s", "2", "-t", "4", "--sampler", "random", "--seed", "5", "--json").stdout
    )
    check_plan({**REQUEST, "sample_size": 2, "horizon": 4}, answer)
    other = json.loads(fedsift(str(request_file), "-s", "2", "--sampler", "random", "--seed", "6", "--json").stdout)
    assert len(answer["steps"]) == 4
    assert answer["sampled"] != other["sampled"]


def test_weights_by_option_join_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    path.write_text(json.dumps({**REQUEST, "weights": {"processing": 1e-4}}))
    answer = json.loads(fedsift(str(path), "--weight-transmit", "0.001", "--json").stdout)
    check_plan({**REQUEST, "weights": {"transmit": 1e-3, "processing": 1e-4}}, answer)
    assert answer["transmit_term"] + answer["processing_term"] > 0


def test_a_bare_network_will_do(tmp_path: Path) -> None:
    path = tmp_path / "network.json"
    path.write_text(json.dumps(REQUEST["network"]))
    check_plan(REQUEST, json.loads(fedsift(str(path), "-s", "3", "-t", "6", "--json").stdout))


def test_a_network_archive_will_do(tmp_path: Path) -> None:
    import numpy as np

    path = tmp_path / "network.npz"
    save_network(random_network(np.random.default_rng(1), 12, link_probability=0.3), path)
    answer = json.loads(fedsift(str(path), "-s", "3", "-t", "2", "--json").stdout)
    assert len(answer["sampled"]) == 3
    path.write_bytes(b"nonsense")
    refused = fedsift(str(path), "-s", "3", "-t", "2")
    assert refused.exit_code == 1
    assert "is not a network file" in refused.stderr


def test_a_dry_run_diagnoses(request_file: Path) -> None:
    answer = json.loads(fedsift(str(request_file), "--dry-run", "--json").stdout)
    assert (answer["kind"], answer["n_devices"], answer["feasible"]) == ("diagnosis", 12, True)
    assert "a plan exists" in fedsift(str(request_file), "--dry-run").stdout
    asked = fedsift("-", "--json", text=json.dumps({**REQUEST, "dry_run": True}))
    assert json.loads(asked.stdout)["kind"] == "diagnosis"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sample_size": 13}, "/sample_size: must be at most the number of devices, 12"),
        ({"sampler": "best"}, "/sampler: must be one of"),
        ({"horizon": None}, "/horizon:"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], words: str) -> None:
    refused = fedsift("-", text=json.dumps({**REQUEST, **change}))
    assert refused.exit_code == 1
    assert words in refused.stderr
    problem = json.loads(fedsift("-", "--json", text=json.dumps({**REQUEST, **change})).stdout)
    assert problem["type"] == "urn:fedsift:problem:invalid"


def test_of_a_file_that_is_not_json_name_line_and_column_are_told(tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    path.write_text('{\n  "horizon": four\n}')
    refused = fedsift(str(path))
    assert refused.exit_code == 1
    assert f"{path} is not valid JSON: Expecting value: line 2 column 14 " in refused.stderr
    piped = fedsift("-", text="{")
    assert piped.exit_code == 1
    assert "standard input is not valid JSON: " in piped.stderr


@pytest.mark.parametrize("document", ["null", "5", '"mesh"', "[]"])
def test_any_json_in_a_file_is_read_as_json(tmp_path: Path, document: str) -> None:
    path = tmp_path / "request.json"
    path.write_text(document)
    refused = fedsift(str(path))
    assert (refused.exit_code, refused.stderr) == (1, fedsift("-", text=document).stderr)


def test_an_infeasible_request_names_the_devices() -> None:
    network = {**REQUEST["network"], "devices": {**REQUEST["network"]["devices"], "data": [0.0] * 12}}
    refused = fedsift("-", text=json.dumps({**REQUEST, "network": network}))
    assert refused.exit_code == 1
    assert "device 0, step 1: holds no data" in refused.stderr


def ring(size: int) -> dict[str, Any]:
    ends = {"source": list(range(size)), "target": [(i + 1) % size for i in range(size)]}
    return {"nodes": size, "latitude": [53.0] * size, **ends, "quality": [0.5] * size}


def test_a_mesh_is_imported_and_planned_in_one_command(tmp_path: Path) -> None:
    path = tmp_path / "mesh.json"
    path.write_text(json.dumps(ring(8)))
    done = fedsift(str(path), "-s", "3", "-t", "2", "--json")
    assert done.exit_code == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["device_ids"] == [str(i) for i in range(8)]
    assert len(answer["sampled_ids"]) == 3
    assert answer["datapoints_moved"] > 0
    assert "mesh as columns (JSON): 8 devices, 8 links" in done.stderr
    assert "assumed datapoints = 600 (8)" in done.stderr


def test_tables_are_imported_and_planned_in_one_command(tmp_path: Path) -> None:
    (tmp_path / "devices.csv").write_text("id,datapoints\n" + "".join(f"cam-{i},{20 + i}\n" for i in range(6)))
    (tmp_path / "links.csv").write_text("from,to,mbps\n" + "".join(f"cam-{i},cam-{i + 1},4\n" for i in range(5)))
    answer = json.loads(fedsift(str(tmp_path), "-s", "2", "-t", "2", "--json").stdout)
    assert set(answer["sampled_ids"]) < {f"cam-{i}" for i in range(6)}
    links_alone = json.loads(fedsift(str(tmp_path / "links.csv"), "-s", "2", "-t", "2", "--json").stdout)
    assert links_alone["device_ids"] == answer["device_ids"]


def test_what_cannot_be_imported_is_one_line_and_status_2(tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    path.write_text("from,to,quality\na,b,90\n")
    done = fedsift(str(path), "-s", "1", "-t", "1")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "links.csv, line 2: quality '90' must be from 0 to 1\n"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    missing = fedsift(str(tmp_path / "none.json"))
    assert missing.exit_code == 2
    assert "No such file" in missing.stderr
    assert fedsift("-", text="{").exit_code == 1
    assert fedsift("-", text="[]").exit_code == 1


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_without_cvxpy_the_reference_solver_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    path = tmp_path / "request.json"
    path.write_text(json.dumps({**REQUEST, "solver": "cvxpy"}))
    result = fedsift(str(path), "--json", *options)
    assert result.exit_code == 1
    problem = json.loads(result.stdout)
    assert problem["status"] == 422
    detail = "the reference solver needs CVXPY with Clarabel: install fedsift[reference]"
    assert problem["errors"] == [{"pointer": "/solver", "detail": detail}]
