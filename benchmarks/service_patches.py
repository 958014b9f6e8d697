"""A stored network that is patched and planned for again, beside the same network sent anew.

`make bench-service` has these figures in its last line; `python -m benchmarks.service_patches` measures them alone.

100 links of a network of 10⁵ devices get other values. `anew` sends the changed network whole, as JSON; `patched` sends
a patch and a plan's request by id. Both are one client's, in turn, and must give the same plan. The time to sample,
solve and prove is in both; `plan_ms` tells it. `ratio` is that of patched to anew; `ratio_beside_plan` the same without
`plan_ms`. A case is a network or a fleet, whose devices that train are chosen again by `greedy`, or stay the same.

Limits: client and server share the machine, and loopback carries 16 to 33 MB in no time.
"""

import asyncio
import json
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.http_load import exchange
from benchmarks.service_process import ServerProcess, fedsift_server
from solver.instances import random_network
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS

__all__ = ["DEVICES", "MEMORY", "patch_figures"]

DEVICES = 100_000
LINKS_OF_A_DEVICE = 5
CHANGES = 100
SEED = 7
# A fleet of this size as JSON needs more memory than the default.
MEMORY = str(2**30)
SAMPLED = [1, 2, 3, 4, 5, 6]
CASES: dict[str, dict[str, Any]] = {
    "network, greedy": {},
    "network, same devices": {"sampled": SAMPLED},
    "fleet, same devices": {"sampled": SAMPLED},
}


def patch_figures(server: ServerProcess, rounds: int, n_devices: int = DEVICES) -> list[dict[str, Any]]:
    """Medians over rounds, in milliseconds, and what patching takes of sending anew."""
    return [asyncio.run(_measured(server.port, rounds, n_devices, name)) for name in CASES]


async def _measured(port: int, rounds: int, n_devices: int, case: str) -> dict[str, Any]:
    generator = np.random.default_rng(SEED)
    document = (_Fleet if case.startswith("fleet") else _Network)(generator, n_devices)
    parameters = {"sample_size": len(SAMPLED), "horizon": 75, **CASES[case]}
    ((_, stored),) = await _asked(port, ("POST", "/v1/networks", _encoded(document.whole())))
    name = stored["id"]
    seconds: dict[str, list[float]] = {one: [] for one in ("patch", "patched", "anew", "plan")}
    for _ in range(rounds):
        patch = _encoded(document.changed(generator))
        whole = _encoded({**document.whole(), **parameters})
        (patching, _), (planning, one), (anew, other) = await _asked(
            port,
            ("PATCH", f"/v1/networks/{name}", patch),
            ("POST", "/v1/plans", _encoded({"network_id": name, **parameters})),
            ("POST", "/v1/plans", whole),
        )
        if one["sampled"] != other["sampled"] or not np.isclose(one["objective"], other["objective"]):
            raise RuntimeError("the patched network has another plan than the same network sent anew")
        plan = sum(one["timing_ms"][stage] for stage in ("sample", "solve", "bound")) / 1000
        for key, value in zip(seconds, (patching, patching + planning, anew, plan), strict=True):
            seconds[key].append(value)
    patched, anew, plan = (median(seconds[key]) for key in ("patched", "anew", "plan"))
    return {
        "case": case,
        "n_devices": n_devices,
        "n_links": document.source.size,
        "changed_links": CHANGES,
        "body_mb": round(len(whole) / 2**20, 1),
        "patch_kb": round(len(patch) / 1024, 1),
        **{f"{key}_ms": round(1000 * median(values), 1) for key, values in seconds.items()},
        "ratio": round(patched / anew, 3),
        "ratio_beside_plan": round((patched - plan) / (anew - plan), 3),
    }


async def _asked(port: int, *requests: tuple[str, str, bytes]) -> list[tuple[float, dict[str, Any]]]:
    """The seconds that each request took, and its answer; all go over one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**27)
    answers = []
    for method, path, body in requests:
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        begin = perf_counter()
        status, answer = await exchange(reader, writer, f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        taken = perf_counter() - begin
        if status >= 300:
            raise RuntimeError(f"{method} {path}: {status}, {answer[:500]!r}")
        answers.append((taken, json.loads(answer)))
    writer.close()
    return answers


def _encoded(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


class _Network:
    """A network in the paper's quantities; its links get other costs."""

    def __init__(self, generator: np.random.Generator, n_devices: int) -> None:
        network = random_network(generator, n_devices, link_probability=LINKS_OF_A_DEVICE / n_devices)
        self.source, self.target = network.links.source, network.links.target
        self.devices = {name: getattr(network.devices, name).round(4).tolist() for name in DEVICE_COLUMNS}
        self.similarity = network.links.similarity.round(4)
        self.value = network.links.transmit_cost.round(4)

    def whole(self) -> dict[str, Any]:
        columns = (self.source, self.target, self.similarity, self.value)
        topology = {name: column.tolist() for name, column in zip(LINK_COLUMNS, columns, strict=True)}
        return {"network": {"devices": self.devices, "topology": {"kind": "links", **topology}}}

    def changed(self, generator: np.random.Generator) -> dict[str, Any]:
        """Give some links another value; the patch that does the same."""
        chosen = generator.choice(self.source.size, CHANGES, replace=False)
        self.value = self.value.copy()
        self.value[chosen] = generator.uniform(0.5, 2, CHANGES).round(4)
        return {"links": [self._row(number) for number in chosen.tolist()]}

    def _row(self, number: int) -> dict[str, Any]:
        ends = {"source": int(self.source[number]), "target": int(self.target[number])}
        return {**ends, "transmit_cost": float(self.value[number])}


class _Fleet(_Network):
    """The same links in a fleet; they get other rates."""

    def whole(self) -> dict[str, Any]:
        devices = [
            {"id": f"d{i}", "datapoints": data, "samples_per_second": 40.0, "airtime_seconds": 6.0}
            for i, data in enumerate(self.devices["data"])
        ]
        links = [{**self._row(i), "similarity": one} for i, one in enumerate(self.similarity.tolist())]
        return {"fleet": {"step_seconds": 60, "datapoint_bytes": 3136, "devices": devices, "links": links}}

    def _row(self, number: int) -> dict[str, Any]:
        ends = {"from": f"d{self.source[number]}", "to": f"d{self.target[number]}"}
        return {**ends, "mbps": float(self.value[number])}


if __name__ == "__main__":
    with fedsift_server(memory_budget=MEMORY) as made:
        for figures in patch_figures(made, rounds=5):
            print(json.dumps(figures))
