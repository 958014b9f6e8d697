"""Which data sets there are: what workers tell, over HTTP, and validations that no worker could train."""

from pathlib import Path

import httpx

from app.settings import Settings
from app.store import Store
from app.worker.scratch import Scratch
from app.worker.store import WorkerStore
from app.worker.upkeep import Upkeep
from fedl_sim.contract import DATA_FILES
from tests.support.server import running_server
from tests.support.waiting import until

VALIDATION = {
    "source": {"kind": "generator", "devices": 12, "mean_datapoints": 20, "link_probability": 0.4},
    "schemes": ["random"],
    "sample_size": 3,
    "aggregations": 1,
}


def put_files(folder: Path) -> None:
    folder.mkdir()
    for file in DATA_FILES:
        (folder / file).write_bytes(b"no images")


def available(client: httpx.Client) -> dict[str, bool]:
    return {one["name"]: one["available"] for one in client.get("/v1/datasets").json()["data_sets"]}


def test_without_workers_nothing_is_known_and_a_validation_waits(client: httpx.Client) -> None:
    answer = client.get("/v1/datasets").json()
    assert answer["workers"] == 0
    assert [one["available"] for one in answer["data_sets"]] == [False] * 3
    assert {one["reason"] for one in answer["data_sets"]} == {"no worker is running that could tell"}
    accepted = client.post("/v1/validations", json={**VALIDATION, "data_set": "mnist"})
    assert accepted.status_code == 202
    client.post(f"{accepted.headers['location']}/cancel")


def test_a_data_set_that_no_worker_has_is_refused_at_once(tmp_path: Path) -> None:
    sets = tmp_path / "sets"
    sets.mkdir()
    put_files(sets / "fashion-mnist")
    with running_server(tmp_path, workers="1", data_dir=str(sets)) as server, server.client() as client:
        until(lambda: available(client)["digits"])
        assert available(client) == {"digits": True, "mnist": False, "fashion-mnist": True}
        answer = client.post("/v1/validations", json={**VALIDATION, "data_set": "mnist"})
        assert answer.status_code == 422
        (error,) = answer.json()["errors"]
        assert error["pointer"] == "/data_set"
        assert "no worker has its files" in error["detail"]
        assert "workers have digits, fashion-mnist" in error["detail"]
        assert str(tmp_path) not in answer.text
        accepted = client.post("/v1/validations", json={**VALIDATION, "data_set": "fashion-mnist"})
        assert accepted.status_code == 202
        # Its files are there but damaged, which only reading them shows.
        until(lambda: client.get(accepted.headers["location"]).json()["state"] == "failed")


def test_a_worker_tells_when_files_came(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/fedsift.db")
    workers = WorkerStore(store)
    workers.register("one", "here", 1, ("digits",))
    settings = Settings(data_dir=str(tmp_path))
    upkeep = Upkeep(
        store, settings=settings, worker_id="one", scratch=Scratch(tmp_path, "one"), on_struck_off=lambda: None
    )
    put_files(tmp_path / "mnist")
    upkeep.report_data_sets()
    with store.read() as t:
        assert list(t.rows("SELECT data_sets FROM workers")) == [("digits mnist",)]
    store.close()
