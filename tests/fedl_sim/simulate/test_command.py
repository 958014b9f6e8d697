import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from app.cli import build_cli
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS
from solver.network.interchange import load_network

SMALL = ["-n", "20", "--mean-datapoints", "30", "-k", "2", "--period", "2", "-s", "3"]


def fedsift(*arguments: str) -> Result:
    return CliRunner().invoke(build_cli(), list(arguments), env={"COLUMNS": "140"})


def test_simulate_prints_a_table_and_writes_json_and_plots(tmp_path: Path) -> None:
    output, plots = tmp_path / "out" / "result.json", tmp_path / "plots"
    schemes = "ours-offload,random,greedy+random"
    done = fedsift("simulate", *SMALL, "--schemes", schemes, "--seeds", "0:2", "-o", str(output), "--plots", str(plots))
    assert done.exit_code == 0, done.output
    assert "ours-offload" in done.stdout
    document = json.loads(output.read_text(encoding="utf-8"))
    assert [s["scheme"] for s in document["summaries"]] == schemes.split(",")
    assert len(document["runs"]) == 2 * (1 + 5 + 1)
    assert document["settings"]["seeds"] == [0, 1]
    names = {path.name for path in plots.iterdir()}
    assert names == {f"{n}.{e}" for n in ("accuracy", "moved", "trained") for e in ("png", "svg")}
    assert (plots / "accuracy.png").read_bytes().startswith(b"\x89PNG")
    svg = (plots / "trained.svg").read_text(encoding="utf-8")
    assert "ours-offload" in svg
    assert "received and kept" in svg


def test_plots_are_the_same_from_run_to_run(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        done = fedsift("simulate", *SMALL, "--schemes", "ours", "--plots", str(tmp_path / folder))
        assert done.exit_code == 0, done.output
    assert (tmp_path / "a/moved.svg").read_bytes() == (tmp_path / "b/moved.svg").read_bytes()


def test_generate_writes_a_network_that_the_solver_reads(tmp_path: Path) -> None:
    path = tmp_path / "network.npz"
    done = fedsift("generate", str(path), "-n", "15", "--mean-datapoints", "20", "--seed", "4")
    assert done.exit_code == 0, done.output
    network = load_network(path)
    assert len(network) == 15
    assert np.all((network.links.similarity >= 0) & (network.links.similarity <= 1))
    assert "15 devices" in done.stdout
    done = fedsift("generate", str(path), "-n", "15", "--mean-datapoints", "20", "--epsilon", "0.5")
    assert done.exit_code == 0, done.output
    assert load_network(path).devices.label_epsilon == 0.5


def test_generate_writes_the_same_network_as_json(tmp_path: Path) -> None:
    options = ("-n", "8", "--mean-datapoints", "20", "--seed", "4", "--epsilon", "0.5")
    for name in ("network.npz", "network.json"):
        done = fedsift("generate", str(tmp_path / name), *options)
        assert done.exit_code == 0, done.output
    network = load_network(tmp_path / "network.npz")
    written = json.loads((tmp_path / "network.json").read_text())
    assert written["devices"].pop("label_noise") == {"epsilon": 0.5}
    assert written["topology"].pop("kind") == "links"
    for name, column in written["devices"].items():
        np.testing.assert_array_equal(column, getattr(network.devices, name))
    for name, column in written["topology"].items():
        np.testing.assert_array_equal(column, getattr(network.links, name))
    assert written["devices"].keys() == {*DEVICE_COLUMNS, "label_counts"}
    assert written["topology"].keys() == set(LINK_COLUMNS)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["simulate", "--schemes", "oracle"], "unknown scheme"),
        (["simulate", "--seeds", "one"], "seeds must be numbers"),
        (["simulate", "--budget", "endless"], "unknown budget"),
        (["simulate", "--data-set", "cifar"], "unknown data set"),
        (["simulate", *SMALL, "-s", "21"], "21 devices are to be sampled, 20 can be"),
        (["simulate", "--topology", "nowhere.json"], "no file"),
        (["generate", "x.npz", "--link-probability", "2"], "link_probability"),
        (["generate", "x.npz", "--epsilon", "0"], "label_epsilon"),
    ],
)
def test_wrong_input_is_explained_without_a_traceback(
    arguments: list[str], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = fedsift(*arguments)
    assert done.exit_code == 1
    assert reason in " ".join(done.output.split())
    assert "Traceback" not in done.output


def test_a_file_that_cannot_be_written_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    done = fedsift("generate", str(tmp_path / "file" / "x.npz"), "-n", "5", "--mean-datapoints", "5")
    assert done.exit_code == 1
    assert "file" in done.output
    assert "Traceback" not in done.output


def test_version_and_help() -> None:
    assert fedsift("--version").stdout.startswith("fedsift ")
    assert "simulate" in fedsift("--help").stdout


def test_simulate_plays_churn_of_chance_or_of_a_trace(tmp_path: Path) -> None:
    output, trace = tmp_path / "result.json", tmp_path / "trace.csv"
    chance = ["--loss", "0.5", "--absence", "1", "--straggling", "0.2", "--lost-transfers", "0.1", "--drift", "0.1"]
    done = fedsift("simulate", *SMALL, "--schemes", "ours-offload,all", *chance, "--policy", "patch", "-o", str(output))
    assert done.exit_code == 0, done.output
    document = json.loads(output.read_text(encoding="utf-8"))
    assert document["settings"]["churn"]["loss"] == 0.5
    assert document["settings"]["policy"] == "patch"
    assert [len(run["periods"]) for run in document["runs"]] == [2, 2]

    trace.write_text("device,period,state\n" + "".join(f"{device},1,down\n" for device in range(20)))
    done = fedsift("simulate", *SMALL, "--schemes", "ours", "--trace", str(trace), "-o", str(output))
    assert done.exit_code == 0, done.output
    (run,) = json.loads(output.read_text(encoding="utf-8"))["runs"]
    assert [len(period["arrived"]) for period in run["periods"]] == [3, 0]

    done = fedsift("simulate", *SMALL, "--schemes", "ours", "-o", str(output))
    assert done.exit_code == 0, done.output
    document = json.loads(output.read_text(encoding="utf-8"))
    assert document["settings"]["churn"] is None
    assert document["runs"][0]["periods"] == []


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--loss", "1.5"], "loss must lie in"),
        (["--loss", "0.1", "--policy", "pray"], "unknown policy 'pray'"),
        (["--trace", "nowhere.csv"], "nowhere.csv cannot be read"),
    ],
)
def test_churn_that_makes_no_sense_is_refused(options: list[str], reason: str) -> None:
    done = fedsift("simulate", *SMALL, "--schemes", "ours", *options)
    assert done.exit_code == 1
    assert reason in " ".join(done.stderr.split())
