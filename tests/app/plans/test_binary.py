"""The binary route: the same plan as JSON's, and no archive that can hurt."""

import io
import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from solver import load_network, save_network
from solver.instances import random_network
from tests.support.requests import as_request

HEADERS = {"content-type": "application/vnd.fedsift.npz"}
NETWORK = random_network(np.random.default_rng(5), 30)
WEIGHTS = {"transmit": 1e-4, "processing": 1e-4}
TERMS = ("objective", "sampling_term", "statistical_term", "transmit_term", "processing_term")
PARAMETERS: dict[str, Any] = {"sample_size": 4, "horizon": 7, "weights": WEIGHTS}


def archive(folder: Path, *, compressed: bool = False, **changes: Any) -> bytes:
    save_network(NETWORK, folder / "network.npz")
    with np.load(folder / "network.npz") as file:
        arrays = {name: file[name] for name in file.files}
    arrays["parameters"] = np.frombuffer(json.dumps(PARAMETERS).encode(), np.uint8)
    arrays |= changes
    stream = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(stream, **{k: v for k, v in arrays.items() if v is not None})
    return stream.getvalue()


def test_noisy_label_counts_say_the_same_as_in_json(client: httpx.Client, tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    counts = generator.integers(0, 60, (30, 5)) * generator.integers(0, 2, (30, 5)) + generator.laplace(0, 2, (30, 5))
    request = as_request(NETWORK, **PARAMETERS)
    request["network"]["devices"] |= {"label_counts": counts.tolist(), "label_noise": {"epsilon": 0.5}}
    expected = client.post("/v1/plans", json=request).json()
    body = archive(tmp_path, label_counts=counts, label_epsilon=np.array(0.5))
    answer = client.post("/v1/plans/binary", content=body, headers=HEADERS)
    assert answer.status_code == 200, answer.text
    with np.load(io.BytesIO(answer.content)) as file:
        assert file["sampled"].tolist() == expected["sampled"]
    exact = client.post("/v1/plans/binary", content=archive(tmp_path, label_counts=counts), headers=HEADERS)
    assert exact.status_code == 422
    assert exact.json()["errors"][0]["detail"] == "must be 0 or from 1e-12 to 1e+12"
    odd = archive(tmp_path, label_counts=counts, label_epsilon=np.array([0.5, 1.0]))
    refused = client.post("/v1/plans/binary", content=odd, headers=HEADERS)
    assert refused.json()["errors"] == [{"pointer": "/label_epsilon", "detail": "must be one number"}]


@pytest.mark.parametrize("form", ["plain", "compressed"])
def test_arrays_say_the_same_as_json(client: httpx.Client, tmp_path: Path, form: str) -> None:
    expected = client.post("/v1/plans", json=as_request(NETWORK, **PARAMETERS)).json()
    answer = client.post(
        "/v1/plans/binary", content=archive(tmp_path, compressed=form == "compressed"), headers=HEADERS
    )
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == HEADERS["content-type"]
    with np.load(io.BytesIO(answer.content), allow_pickle=False) as found:
        summary = json.loads(found["summary"].tobytes())
        assert found["sampled"].tolist() == expected["sampled"]
        assert found["scores"].tolist() == expected["scores"]
        totals = ("horizon_bound", "horizon_gap", "datapoints_moved", "transmit_cost", "processing_cost")
        assert [summary[name] for name in (*TERMS, *totals)] == [expected[name] for name in (*TERMS, *totals)]
        offsets = found["offsets"]
        for t, step in enumerate(expected["steps"]):
            part = slice(offsets[t], offsets[t + 1])
            assert [summary["steps"][t][name] for name in TERMS] == [step[name] for name in TERMS]
            assert found["received"][t].tolist() == step["received"]
            assert found["sampled_data"][t].tolist() == step["sampled_data"]
            for name, column in step["transfers"].items():
                assert found[name][part].tolist() == column
    assert len(load_network(tmp_path / "network.npz")) == 30


def announcing(shape: str) -> bytes:
    """An array whose header asks for more than there is."""
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode()


def zipped(entries: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in entries.items():
            file.writestr(name, text)
    return stream.getvalue()


def test_no_archive_can_hurt(client: httpx.Client, tmp_path: Path) -> None:
    good = archive(tmp_path)
    objects = np.array([{"a": 1}], dtype=object)
    bad_value = NETWORK.devices.data.copy()
    bad_value[3] = np.nan
    cases = {
        "not a zip": (b"hello", 400),
        "cut short": (good[:-50], 400),
        "flipped bytes": (good[:300] + bytes(255 - b for b in good[300:400]) + good[400:], 400),
        "pickled objects": (archive(tmp_path, data=objects), 400),
        "a bare pickle": (zipped({"data.npy": pickle.dumps([1])}), 400),
        "asks for memory": (zipped({"data.npy": announcing("(1000000000000,)")}), 400),
        "asks for a negative": (zipped({"data.npy": announcing("(-1,)")}), 400),
        "a bomb": (zipped({"data.npy": b"\0" * 600_000_000}), 413),
        "many entries": (zipped({f"{i}.npy": b"" for i in range(1000)}), 413),
        "strings": (archive(tmp_path, data=np.array(["a"] * 30)), 400),
        "three dimensions": (archive(tmp_path, data=np.zeros((2, 2, 2))), 400),
        "nothing in it": (zipped({}), 422),
        "a missing array": (archive(tmp_path, transmit_cost=None), 422),
        "NaN": (archive(tmp_path, data=bad_value), 422),
        "floats for indices": (archive(tmp_path, source=NETWORK.links.source.astype(float)), 422),
        "an index too large": (archive(tmp_path, source=NETWORK.links.source + 2**62), 422),
        "one entry less": (archive(tmp_path, data=NETWORK.devices.data[1:]), 422),
        "matrices asked for": (
            archive(tmp_path, parameters=np.frombuffer(b'{"sample_size":1,"horizon":1,"output":"matrix"}', np.uint8)),
            422,
        ),
        "no parameters": (archive(tmp_path, parameters=np.frombuffer(b"x", np.uint8)), 400),
        "parameters of another kind": (archive(tmp_path, parameters=np.zeros((2, 2))), 400),
    }
    for name, (body, status) in cases.items():
        answer = client.post("/v1/plans/binary", content=body, headers=HEADERS)
        assert answer.status_code == status, (name, answer.text)
        assert answer.headers["content-type"] == "application/problem+json", name
        assert len(answer.content) < 4000
    assert client.post("/v1/plans/binary", content=good, headers=HEADERS).status_code == 200


def test_a_dry_run_answers_the_diagnosis_of_json(client: httpx.Client, tmp_path: Path) -> None:
    expected = client.post("/v1/plans", json=as_request(NETWORK, **PARAMETERS, dry_run=True)).json()
    parameters = np.frombuffer(json.dumps({**PARAMETERS, "dry_run": True}).encode(), np.uint8)
    answer = client.post("/v1/plans/binary", content=archive(tmp_path, parameters=parameters), headers=HEADERS)
    with np.load(io.BytesIO(answer.content)) as file:
        assert file.files == ["summary"]
        assert json.loads(file["summary"].tobytes()) == expected


def asking(folder: Path, **more: Any) -> bytes:
    """An archive with these parameters too."""
    return archive(folder, parameters=np.frombuffer(json.dumps({**PARAMETERS, **more}).encode(), np.uint8))


def arrays_of(answer: httpx.Response) -> dict[str, Any]:
    with np.load(io.BytesIO(answer.content), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


IDS = [f"cam-{i}" for i in range(30)]


def test_ids_name_the_devices_of_an_archive(client: httpx.Client, tmp_path: Path) -> None:
    answer = client.post("/v1/plans/binary", content=asking(tmp_path, ids=IDS, explain_ids=["cam-3"]), headers=HEADERS)
    assert answer.status_code == 200, answer.text
    found = arrays_of(answer)
    summary = json.loads(found["summary"].tobytes())
    assert summary["device_ids"] == IDS
    assert summary["sampled_ids"] == [IDS[i] for i in found["sampled"]]
    assert summary["trace"][0]["gains"]["device"] == [3]
    one = client.post("/v1/plans/binary", content=asking(tmp_path, ids=IDS[1:]), headers=HEADERS)
    assert one.json()["errors"] == [{"pointer": "/ids", "detail": "must have 30 entries, has 29"}]
    two = client.post("/v1/plans/binary", content=asking(tmp_path, ids=[*IDS[:29], "cam-4"]), headers=HEADERS)
    assert two.json()["errors"] == [{"pointer": "/ids/29", "detail": "is the id of device 4 too"}]


def test_a_kept_archive_is_shown_as_json_and_made_once(client: httpx.Client, tmp_path: Path) -> None:
    planned: dict[str, Any] = {"orders": True, "ids": IDS, "weights": {}}
    body = asking(tmp_path, keep=True, name="night", labels={"site": "a"}, **planned)
    headers = {**HEADERS, "Idempotency-Key": "once"}
    first = client.post("/v1/plans/binary", content=body, headers=headers)
    assert first.status_code == 201, first.text
    found = arrays_of(first)
    summary = json.loads(found["summary"].tobytes())
    assert first.headers["location"] == f"/v1/plans/{summary['id']}"
    again = client.post("/v1/plans/binary", content=body, headers=headers)
    assert (again.status_code, again.headers["idempotent-replay"]) == (201, "true")
    assert again.content == first.content
    other = client.post("/v1/plans/binary", content=asking(tmp_path, keep=True), headers=headers)
    assert other.status_code == 409
    plan = client.get(f"/v1/plans/{summary['id']}").json()
    assert (plan["name"], plan["labels"], plan["device_ids"]) == ("night", {"site": "a"}, IDS)
    plain = arrays_of(client.post("/v1/plans/binary", content=asking(tmp_path, **planned), headers=HEADERS))
    assert {name: (one.shape, one.dtype) for name, one in found.items() if name != "summary"} == {
        name: (one.shape, one.dtype) for name, one in plain.items() if name != "summary"
    }
    assert all(np.array_equal(found[name], plain[name]) for name in found if name != "summary")
    assert [send["count"] for one in plan["orders"] for send in one["sends"]] == found["order_count"].tolist() != []
    listed = client.get("/v1/plans", params={"label": "site:a"}).json()["plans"]
    assert [one["id"] for one in listed] == [summary["id"]]


def test_a_kept_archive_can_be_validated(client: httpx.Client, tmp_path: Path) -> None:
    kept = client.post("/v1/plans/binary", content=asking(tmp_path, keep=True), headers=HEADERS)
    source = {"kind": "plan", "id": kept.headers["location"].rsplit("/", 1)[1]}
    wanted = {"source": source, "data_set": "digits", "schemes": ["random"], "seeds": [0]}
    answer = client.post("/v1/validations", json=wanted)
    assert answer.status_code == 202, answer.text
    assert answer.json()["source"]["kind"] == "plan"
