"""`fedsift import`, called as a person would."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from app.commands.import_fleet import import_fleet

CLI = typer.Typer()
CLI.command("import")(import_fleet)


def fedsift(*arguments: object) -> Any:
    return CliRunner().invoke(CLI, [str(argument) for argument in arguments])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "devices.csv").write_text("id,datapoints\ncam,100\nhub,\n")
    (tmp_path / "links.csv").write_text("from,to,loss\ncam,hub,0.1\n")
    return tmp_path


def test_the_fleet_goes_to_a_file_and_the_report_to_standard_error(folder: Path) -> None:
    output = folder / "fleet.json"
    done = fedsift(folder, "-o", output, "--datapoints", "70", "--mbps", "11", "--symmetric")
    assert done.exit_code == 0, done.stderr
    fleet = json.loads(output.read_text())
    assert list(fleet) == ["step_seconds", "datapoint_bytes", "epochs_per_step", "devices", "links"]
    assert [device["datapoints"] for device in fleet["devices"]] == [100, 70]
    assert [(link["from"], link["mbps"], link["loss"]) for link in fleet["links"]] == [
        ("cam", 11, 0.1),
        ("hub", 11, 0.1),
    ]
    assert done.stdout == ""
    assert done.stderr.startswith("CSV: 2 devices, 2 links\n  from the file: datapoints (1), loss (2)\n")
    assert "  assumed datapoints = 70 (1)\n" in done.stderr


def test_without_a_file_the_fleet_is_printed(folder: Path) -> None:
    by_name = fedsift(folder / "devices.csv", folder / "links.csv")
    assert by_name.exit_code == 0, by_name.stderr
    assert json.loads(by_name.stdout) == json.loads(fedsift(folder).stdout)


def test_label_counts_come_in_a_table_of_their_own(folder: Path) -> None:
    (folder / "labels.csv").write_text("id,class,count\nhub,car,30\n")
    done = fedsift(folder, "--label-counts", folder / "labels.csv")
    assert json.loads(done.stdout)["devices"][1]["label_counts"] == {"car": 30}


def test_strictly_an_ignored_column_is_an_error_with_its_place(folder: Path) -> None:
    (folder / "devices.csv").write_text("id,data points\ncam,\nhub,40\n")
    output = folder / "fleet.json"
    done = fedsift(folder, "--strict", "-o", output)
    told = "devices.csv, line 3: there is no field 'data points' (did you mean `datapoints`?)\n"
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", told)
    assert not output.exists()
    assert "  ignored: data points (did you mean `datapoints`?)\n" in fedsift(folder).stderr


def test_strictly_no_unknown_setting_or_column_of_label_counts_is_passed_over(folder: Path) -> None:
    nodes = {"directed": False, "multigraph": False, "nodes": [{"id": "a"}], "links": []}
    columns = {"nodes": 2, "source": [0], "target": [1]}
    for document, told in (
        ({**nodes, "graph": {"step_secnds": 5}}, "step_secnds (did you mean `step_seconds`?)"),
        ({**nodes, "extra": 3}, "extra"),
        ({"devices": [{"id": "a"}], "extra": 3}, "extra"),
        ({**columns, "extra": 3}, "extra"),
    ):
        path = folder / "graph.json"
        path.write_text(json.dumps(document))
        done = fedsift(path, "--strict")
        name, _, hint = told.partition(" ")
        assert done.exit_code == 2
        assert done.stderr.endswith(f": there is no field '{name}'{hint and ' ' + hint}\n")
        assert f"  ignored: {told}\n" in fedsift(path).stderr
    for known in ({**nodes, "graph": {"name": "mesh", "step_seconds": 5}}, columns):
        path.write_text(json.dumps(known))
        assert fedsift(path, "--strict").exit_code == 0
    labels = folder / "labels.csv"
    labels.write_text("id,class,count,wieght\nhub,car,30,2\n")
    done = fedsift(folder, "--strict", "--label-counts", labels)
    assert (done.exit_code, done.stderr) == (2, "labels.csv, line 2: there is no field 'wieght'\n")
    assert "  ignored: wieght\n" in fedsift(folder, "--label-counts", labels).stderr


def test_what_is_wrong_is_one_line_and_status_2(folder: Path) -> None:
    (folder / "links.csv").write_text("from,to,loss\ncam,hub,0.1\ncam,bus,0.1\n")
    for arguments, message in (
        ([folder], "links.csv, line 3: to: there is no device 'bus'\n"),
        ([folder / "none.json"], f"{folder / 'none.json'}: No such file or directory\n"),
        ([folder, "--format", "excel"], "format: 'excel' is unknown; known: json, graphml, csv, olsr, batman\n"),
        ([folder, "--load", "2"], "the defaults: load 2.0 must be from 0 to 1\n"),
    ):
        done = fedsift(*arguments)
        assert (done.exit_code, done.stdout, done.stderr) == (2, "", message)


def test_twenty_thousand_devices(tmp_path: Path) -> None:
    count = 20_000
    devices = "".join(f"d{i},{i % 700},{20 + i % 50}\n" for i in range(count))
    (tmp_path / "devices.csv").write_text(f"id,datapoints,samples_per_second\n{devices}")
    links = "".join(f"d{i},d{(i + hop) % count},{1 + i % 9}\n" for i in range(count) for hop in (1, 2, 3))
    (tmp_path / "links.csv").write_text(f"from,to,mbps\n{links}")
    done = fedsift(tmp_path, "-o", tmp_path / "fleet.json")
    assert done.exit_code == 0, done.stderr
    fleet = json.loads((tmp_path / "fleet.json").read_text())
    assert (len(fleet["devices"]), len(fleet["links"])) == (count, 3 * count)
