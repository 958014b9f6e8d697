"""Fleets, networks, graphs, frames and archives: the same network makes the same request."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest

from fedsift_client import Client, InputError, InvalidRequestError, Plan
from fedsift_client.inputs import described
from solver.instances import random_network
from solver.network.interchange import save_network, to_networkx
from tests.support.fleets import FLEET
from tests.support.requests import as_request
from tests.support.server import Server
from tests.support.unruly import Lose, unruly_service

ASKED = {"sample_size": 2, "horizon": 3}


@pytest.fixture
def client(server: Server) -> Any:
    with Client(server.url) as made:
        yield made


class Frame:
    """What this package needs of a frame, whichever library made it."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.columns = sorted({name for row in rows for name in row})
        self._rows = rows

    def __getitem__(self, name: str) -> list[Any]:
        return [row.get(name, np.float64("nan")) for row in self._rows]


def sends(plan: Plan) -> list[tuple[int, ...]]:
    return [(order.device, one.step, one.to, one.first, one.count) for order in plan.orders for one in order.sends]


def test_the_same_network_in_every_form_gets_the_same_plan(client: Client, tmp_path: Path) -> None:
    network = random_network(np.random.default_rng(5), 12, link_probability=0.4)
    body = as_request(network)["network"]
    save_network(network, tmp_path / "network.npz")
    graph = to_networkx(network)
    devices = [{"id": str(i)} | {name: column[i] for name, column in body["devices"].items()} for i in range(12)]
    ends = {name: column for name, column in body["topology"].items() if name != "kind"}
    links = [{name: ends[name][j] for name in ends} for j in range(len(ends["source"]))]
    whole = client.plan(body, **ASKED, orders=True)
    for given in (str(tmp_path / "network.npz"), tmp_path / "network.npz", graph, (Frame(devices), Frame(links))):
        plan = client.plan(given, **ASKED, orders=True)
        assert sends(plan) == sends(whole)
        assert plan.sampled.tolist() == whole.sampled.tolist()
        assert np.array_equal(plan.matrices(), whole.matrices())
        assert plan.objective == whole.objective
    assert client.plan(graph, **ASKED).device_ids == [str(i) for i in range(12)]


def test_all_that_takes_an_archive_takes_it_as_it_is(client: Client, server: Server, tmp_path: Path) -> None:
    network = random_network(np.random.default_rng(5), 12, link_probability=0.4)
    path = tmp_path / "network.npz"
    save_network(network, path)
    whole = client.plan(as_request(network)["network"], **ASKED)
    asked: dict[str, Any] = {**ASKED, "sample_size": np.int64(ASKED["sample_size"]), "labels": {"test": "archives"}}
    run = client.start_run(path, **asked)
    assert run.period.sampled.tolist() == whole.sampled.tolist()
    with unruly_service(Lose(), behind=server.url) as service, Client(service.url) as other:
        kept = other.plan(path, **asked, keep=True)  # its first answer is lost, and it is kept once
    assert kept.id is not None
    assert np.array_equal(client.kept_plan(kept.id).matrices(), whole.matrices())
    told, usual = (client.diagnose(given, **ASKED) for given in (path, as_request(network)["network"]))
    assert told["feasible"]
    assert told.keys() == usual.keys()
    assert [one["id"] for one in client.listed("plans", labels={"test": "archives"})] == [kept.id]
    np.savez(tmp_path / "short.npz", data=np.ones(3))
    with pytest.raises(InvalidRequestError, match="is missing"):
        client.plan(tmp_path / "short.npz", **ASKED)
    with pytest.raises(InputError, match="not an archive of plain arrays"):
        client.plan(tmp_path / "missing.npz", **ASKED)


def test_files_become_a_fleet(client: Client, tmp_path: Path) -> None:
    (tmp_path / "devices.csv").write_text("id,datapoints\ncam,300\nhub,900\n", encoding="utf-8")
    (tmp_path / "links.csv").write_text("from,to,mbps\ncam,hub,5\n", encoding="utf-8")
    (tmp_path / "labels.csv").write_text("id,class,count\ncam,car,300\nhub,bus,900\n", encoding="utf-8")
    files = tmp_path / "devices.csv", tmp_path / "links.csv"
    told = client.import_fleet(*files, label_counts=tmp_path / "labels.csv", defaults={"step_seconds": 30})
    assert told["fleet"]["step_seconds"] == 30
    assert [device["label_counts"] for device in told["fleet"]["devices"]] == [{"car": 300}, {"bus": 900}]
    assert client.plan(told["fleet"], sample_size=1, horizon=2).n_devices == 2
    with pytest.raises(InputError, match="not a text file"):
        client.import_fleet(tmp_path / "missing.csv")


def fleet_graph() -> "nx.DiGraph[str]":
    graph: nx.DiGraph[str] = nx.DiGraph(step_seconds=60)
    for device in FLEET["devices"]:
        graph.add_node(device["id"], **{name: value for name, value in device.items() if name != "id"}, colour="red")
    for link in FLEET["links"]:
        graph.add_edge(link["from"], link["to"], **{k: v for k, v in link.items() if k not in {"from", "to"}}, width=3)
    return graph


def test_a_graph_of_a_fleet_is_that_fleet() -> None:
    body = described(fleet_graph(), {"datapoint_bytes": 3000, **ASKED})
    body["fleet"]["links"].sort(key=FLEET["links"].index)  # a graph has its edges by node
    assert body == {"fleet": FLEET, **ASKED}


def test_frames_of_a_fleet_are_that_fleet() -> None:
    frames = (Frame(FLEET["devices"]), Frame(FLEET["links"]))
    assert described(frames, {"step_seconds": 60, "datapoint_bytes": 3000}) == {"fleet": FLEET}


def test_frames_of_pandas_are_read_and_written(client: Client) -> None:
    pd = pytest.importorskip("pandas", reason="needs pandas: `make install-dev`")
    frames = (pd.DataFrame(FLEET["devices"]), pd.DataFrame(FLEET["links"]))
    settings = {"step_seconds": 60, "datapoint_bytes": 3000}
    assert described(frames, dict(settings)) == {"fleet": FLEET}
    plan = client.plan(frames, sample_size=1, horizon=3, sampled_ids=["hub"], **settings)
    frame = plan.frame()
    assert list(frame.columns) == ["step", "source", "source_id", "target", "target_id", "fraction", "datapoints"]
    assert set(frame["target_id"]) == {"hub"}
    assert frame["datapoints"].sum() == pytest.approx(plan.answer["datapoints_moved"])
    assert frame["step"].tolist() == [step.step for step in plan.steps for _ in step.source]


def test_label_counts_are_columns_of_a_frame() -> None:
    devices = Frame([{"id": "a", "label_counts.car": 3}, {"id": "b"}, {"id": "c", "label_counts.bus": 0.5}])
    found = described((devices, Frame([])), {})["fleet"]["devices"]
    counts = [{"id": "a", "label_counts": {"car": 3}}, {"id": "b"}, {"id": "c", "label_counts": {"bus": 0.5}}]
    assert found == counts


def test_an_undirected_edge_is_a_link_each_way() -> None:
    graph: nx.Graph[str] = nx.Graph()
    graph.add_edge("a", "b", mbps=2.0)
    links = described(graph, {})["fleet"]["links"]
    assert links == [{"from": "a", "to": "b", "mbps": 2.0}, {"from": "b", "to": "a", "mbps": 2.0}]


def test_a_name_is_the_id_of_a_stored_network() -> None:
    assert described("net_1", ASKED) == {"network_id": "net_1", **ASKED}


def test_what_is_none_of_these_is_refused() -> None:
    with pytest.raises(InputError, match="not SimpleNamespace"):
        described(SimpleNamespace(), {})
    with pytest.raises(InputError, match="device 1 lacks processing_capacity"):
        described((Frame([{"processing_capacity": 1.0, "data": 1}, {"data": 2}]), Frame([])), {})
