import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import build_cli
from fedl_sim.labels.record import load_record
from sampler.gcn.weights import Weights
from tests.support.command import FEDSIFT
from tests.support.waiting import until


def run(arguments: list[str]) -> tuple[int, str]:
    done = CliRunner().invoke(build_cli(only="train"), arguments)
    return done.exit_code, done.output


def weights(folder: Path) -> dict[str, list[list[list[float]]]]:
    return {path.name: json.loads(path.read_text())["layers"] for path in sorted(folder.glob("*.json"))}


def folders(place: Path) -> list[str]:
    return ["--folder", str(place / "labels"), "--output", str(place / "weights")]


def test_it_labels_trains_judges_and_writes(tmp_path: Path, arguments: list[str]) -> None:
    code, output = run([*arguments, "--realisations", "6", *folders(tmp_path)])
    assert code == 0, output
    assert "held-out percentile" in output
    assert sorted(weights(tmp_path / "weights")) == ["gcn-fedl-general.json", "gcn-fedl-s3.json"]
    one = Weights.from_json((tmp_path / "weights" / "gcn-fedl-s3.json").read_text())
    assert one.provenance["realisations"] == 6
    assert one.provenance["held_out"] == 2
    assert str(one.provenance["command"]).startswith("fedsift train --model gcn --label fedl --sizes 3")
    general = Weights.from_json((tmp_path / "weights" / "gcn-fedl-general.json").read_text())
    assert general.features[-1] == "sampled_share"
    assert general.provenance["realisations"] == 12


def test_the_command_in_the_provenance_trains_the_same_again(tmp_path: Path, arguments: list[str]) -> None:
    import shlex

    run([*arguments, "--realisations", "5", "--seed", "7", *folders(tmp_path / "one")])
    about = Weights.from_json((tmp_path / "one" / "weights" / "gcn-fedl-s3.json").read_text()).provenance
    words = shlex.split(str(about["command"]))
    # Two processes in place of one: the result does not depend on them.
    code, output = run([*words[1:], "--processes", "2", *folders(tmp_path / "other")])
    assert code == 0, output
    assert weights(tmp_path / "one" / "weights") == weights(tmp_path / "other" / "weights")


def test_another_seed_or_label_gives_other_weights(tmp_path: Path, arguments: list[str]) -> None:
    base = [*arguments, "--realisations", "5"]
    for name, extra in (("a", []), ("b", ["--seed", "1"]), ("c", ["--label", "surrogate"])):
        code, output = run([*base, *extra, "--folder", str(tmp_path / "labels"), "--output", str(tmp_path / name)])
        assert code == 0, output
    a, b, c = (weights(tmp_path / name) for name in "abc")
    assert a != b
    assert a != c


def test_the_ranking_variant_trains_too(tmp_path: Path, arguments: list[str]) -> None:
    extra = ["--model", "rank", "--realisations", "5", "--hidden", "6,6", "--epochs", "2"]
    code, output = run([*arguments, *extra, *folders(tmp_path)])
    assert code == 0, output
    one = Weights.from_json((tmp_path / "weights" / "rank-general.json").read_text())
    assert one.model == "rank"
    assert "--surrogate-share 0.15" in str(one.provenance["command"])


def test_a_killed_run_is_taken_up_where_it_was(tmp_path: Path, arguments: list[str]) -> None:
    words = [*arguments, "--realisations", "150"]
    command = [*FEDSIFT, *words, *folders(tmp_path / "killed")]
    labels = tmp_path / "killed" / "labels"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    try:
        until(lambda: len(list(labels.rglob("*.npz"))) >= 20)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    finally:
        process.kill()
    before = {path: path.stat().st_mtime_ns for path in labels.rglob("*.npz")}
    assert 20 <= len(before) < 304
    for path in before:
        load_record(path)  # whatever is there is whole
    assert not (tmp_path / "killed" / "weights").exists()

    code, output = run([*words, *folders(tmp_path / "killed")])
    assert code == 0, output
    after = {path: path.stat().st_mtime_ns for path in labels.rglob("*.npz")}
    assert len(after) == 304
    assert all(after[path] == written for path, written in before.items())  # nothing was done twice
    run([*words, *folders(tmp_path / "whole")])
    assert weights(tmp_path / "killed" / "weights") == weights(tmp_path / "whole" / "weights")


def test_models_that_are_there_are_not_trained_again(tmp_path: Path, arguments: list[str]) -> None:
    words = [*arguments, "--realisations", "4", *folders(tmp_path)]
    run(words)
    path = tmp_path / "weights" / "gcn-fedl-s3.json"
    written = path.stat().st_mtime_ns
    (tmp_path / "weights" / "gcn-fedl-general.json").unlink()
    run(words)
    assert path.stat().st_mtime_ns == written
    assert (tmp_path / "weights" / "gcn-fedl-general.json").exists()
    run([*words, "--epochs", "11"])
    assert path.stat().st_mtime_ns != written


@pytest.mark.parametrize(
    ("extra", "reason"),
    [
        (["--label", "loss"], "label must be one of fedl, surrogate"),
        (["--model", "mlp"], "model must be one of gcn, rank"),
        (["--sizes", "three"], "--sizes must be numbers"),
        (["--sizes", "2"], "a model of their own"),
        (["--general-sizes", "10"], "sample sizes must lie in 1..5"),
        (["--family", "[]"], "--family must be a JSON object"),
        (["--family", '{"colour": 1}'], "has no 'colour'"),
        (["--seed", "999999"], "not for training"),
        (["--dask", "tcp://127.0.0.1:9"], "no Dask scheduler answers"),
    ],
)
def test_bad_options_are_explained(
    tmp_path: Path, arguments: list[str], extra: list[str], reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    code, output = run([*arguments, "--realisations", "5", *folders(tmp_path), *extra])
    assert code == 1
    assert reason in " ".join(output.split())


def test_labels_of_another_family_are_not_mixed_in(tmp_path: Path, arguments: list[str]) -> None:
    run([*arguments, "--realisations", "3", "--labels-only", *folders(tmp_path)])
    code, output = run([*arguments, "--realisations", "3", *folders(tmp_path), "--family", "{}"])
    assert code == 1
    assert "another family: aggregation_period, aggregations, mean_datapoints, n_devices differ" in " ".join(
        output.split()
    )
