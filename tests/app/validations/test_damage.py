"""Damaged rows of the store: callers are told what is wrong, and other validations are shown as ever."""

import zlib
from pathlib import Path

from app.validations.attempts import AttemptLimits
from app.validations.parts import PartStore
from app.worker.store import WorkerStore
from fedl_sim.contract import Failure
from tests.support.crew import Crew
from tests.support.server import running_server

REQUEST = {
    "source": {"kind": "generator", "devices": 12, "mean_datapoints": 20},
    "schemes": ["heuristic"],
    "sample_size": 3,
    "aggregations": 4,
}


def test_a_damaged_validation_is_shown_with_its_failure_or_says_what_cannot_be_read(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/fedsift.db"
    with Crew(url, tmp_path) as crew, running_server(tmp_path, database_url=url) as server, server.client() as client:
        whole, damaged = (client.post("/v1/validations", json=REQUEST).headers["location"] for _ in range(2))
        validation = damaged.rsplit("/", 1)[1]
        parts = PartStore(crew.store)
        outline = b'{"data_set": "digits", "sample_size": 3, "aggregations": 4, "aggregation_period": 5, '
        crew.damage(validation, zlib.compress(outline + b'"target": 0.8, "tolerance": 0.1, "generator": 3}'))
        for name in ("one", "two"):
            WorkerStore(crew.store).register(name, "here", 1)
            claim = parts.claim(name, AttemptLimits(9, 9))
            assert claim is not None
            if claim.validation_id == validation:
                parts.fail(claim, Failure("damaged", "generator: must be an object"))

        shown = client.get(damaged).json()
        assert (shown["state"], shown["aggregations"], shown["target"]) == ("failed", 4, 0.8)
        place = {"scheme": "heuristic", "seed": 0, "draw": 0}
        assert shown["failure"] == {"type": "damaged", "detail": "generator: must be an object", **place}

        crew.damage(validation, b"no bytes of ours")
        answer = client.get(damaged)
        assert answer.status_code == 500
        assert answer.headers["content-type"] == "application/problem+json"
        assert "is damaged: cannot be decompressed" in answer.json()["detail"]
        listed = client.get("/v1/validations").json()["validations"]
        assert [one["state"] for one in listed] == ["running", "failed"]
        assert listed[1]["failure"]["type"] == "damaged"
        assert client.get(whole).json()["state"] == "running"
