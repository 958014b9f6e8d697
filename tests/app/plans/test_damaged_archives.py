"""Archives damaged at random: each is planned or refused by a problem document, never a fault of the server."""

import io
import json
import random
import zipfile
from collections.abc import Mapping
from typing import Any

import httpx
import numpy as np
import pytest

from app.networks.archived import NPZ
from solver.instances import random_network
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS

NETWORK = random_network(np.random.default_rng(5), 8)
PARAMETERS = json.dumps({"sample_size": 2, "horizon": 2, "sampler": "random"}).encode()
ARRAYS: dict[str, Any] = {
    **{name: getattr(NETWORK.devices, name) for name in DEVICE_COLUMNS},
    **{name: getattr(NETWORK.links, name) for name in LINK_COLUMNS},
    "label_counts": np.ones((8, 3)),
    "parameters": np.frombuffer(PARAMETERS, np.uint8),
}
MARKS = (b"PK\1\2", b"PK\3\4", b"PK\5\6", b"NUMPY", b"descr")
ODD = (
    np.array([{}], object),
    np.array(["a"]),
    np.ones(8, complex),
    np.ones((2, 2, 2)),
    np.array(3.0),
    np.zeros(0),
    np.zeros(3, [("a", "f8")]),
    np.full(8, np.nan),
    np.full(8, 2**63, np.uint64),
)
HEADERS = (
    "",
    "{'descr':'<f8','fortran_order':[],'shape':(8,)}",
    "{'descr':'<f8','fortran_order':False,'shape':(True,)}",
    "{'descr':'<f8','fortran_order':False,'shape':(99999999999999999999,)}",
    "{'descr':'|O','fortran_order':False,'shape':(8,)}",
    "(" * 900,
    "{[]:1}",
    "{**{}}",
    "9" * 990,
)


def file_of(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def zipped(changes: Mapping[str, bytes] | None = None, compression: int = zipfile.ZIP_STORED) -> bytes:
    """An archive of the arrays, in which files of these names are others."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, array in ARRAYS.items():
            archive.writestr(f"{name}.npy", (changes or {}).get(name, file_of(array)))
    return stream.getvalue()


def headed(header: str, version: int) -> bytes:
    text = header.encode()
    length = len(text).to_bytes(2 if version == 1 else 4, "little")
    body: bytes = ARRAYS["data"].tobytes()
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + body


def damaged(rng: random.Random) -> bytes:
    """Some bytes changed, cut out or put in, anywhere or beside a mark of the format."""
    body = bytearray(zipped(compression=rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))))
    for _ in range(rng.choice((1, 1, 2, 8))):
        place = rng.randrange(len(body))
        if rng.random() < 0.5:
            place = min(max(body.find(rng.choice(MARKS), place), 0) + rng.randrange(50), len(body) - 1)
        kind = rng.randrange(4)
        if kind == 0:
            del body[place : place + rng.choice((1, 4, 30))]
        elif kind == 1:
            body[place:place] = rng.randbytes(rng.choice((1, 4)))
        else:
            body[place] = rng.choice((0, 255, rng.randrange(256)))
    return bytes(body)


@pytest.mark.parametrize("seed", [0, 1])
def test_archives_that_are_damaged_at_random(client: httpx.Client, seed: int) -> None:
    rng = random.Random(seed)
    bodies = [damaged(rng) for _ in range(150)]
    name = rng.choice(["data", "source", "label_counts", "parameters"])
    bodies += [zipped({name: file_of(array)}) for array in ODD]
    bodies += [zipped({"data": headed(header, version)}) for header in HEADERS for version in (1, 2)]
    bodies += [zipped(compression=kind) for kind in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2)]
    answers = [client.post("/v1/plans/binary", content=body, headers={"content-type": NPZ}) for body in bodies]
    assert {answer.status_code for answer in answers} <= {200, 400, 413, 422}
    for answer in answers:
        assert answer.status_code == 200 or answer.json()["type"].startswith("urn:fedsift:problem:"), answer.text
    assert client.get("/healthz").status_code == 200
