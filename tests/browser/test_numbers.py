"""What the page computes itself, held against NumPy: replay, similarity, gauges, coverage, mixture, ranks, link."""

import json
from typing import Any

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray

from solver import TRANSFERS
from tests.support.requests import dense, matrix_of, random_request
from tests.support.server import Server
from tests.support.visit import Visit

SCRIPT = """async ([request, plan]) => {
  const [{ fromRequest }, { replay }, { gauges }, measures] = await Promise.all(
    ['core/loading.js', 'core/replay.js', 'core/gauges.js', 'core/measures.js'].map((m) => import('/studio/' + m)));
  const { network, parameters } = fromRequest(request);
  const story = replay(network, parameters.schedule ?? [], plan);
  return story.frames.map((frame, t) => ({
    data: [...frame.data], similarity: frame.similarity, received: [...frame.received], flows: frame.flows,
    coverage: measures.coverage(network, story, t), mixture: measures.mixtureDistance(network, story, t),
    gauges: Array.from({ length: network.n }, (_, i) => gauges(network, story, t, i)),
  }));
}"""


def full(request: dict[str, Any]) -> dict[str, NDArray[np.float64]]:
    network = dense(request)["network"]
    topology = {name: np.array(values) for name, values in network["topology"].items() if name != "kind"}
    return {**{name: np.array(v, float) for name, v in network["devices"].items()}, **topology}


def ask(server: Server, request: dict[str, Any]) -> dict[str, Any]:
    plan: dict[str, Any] = httpx.post(f"{server.url}/v1/plans", json=request, timeout=120).json()
    return plan


def scheduled_request() -> dict[str, Any]:
    """Budgets that fall, and a topology that comes and goes."""
    request = random_request(11, 18, sample_size=3, horizon=6, budgets="loose")
    generator = np.random.default_rng(5)
    request["network"]["devices"]["label_counts"] = generator.integers(0, 50, (18, 5)).tolist()
    topology = request["network"]["topology"]
    keep = [i for i in range(len(topology["source"])) if i % 3]
    fewer = {name: [values[i] for i in keep] for name, values in topology.items() if name != "kind"}
    halved = [0.5 * value for value in request["network"]["devices"]["transmit_budget"]]
    lower = [0.9 * value for value in request["network"]["devices"]["processing_capacity"]]
    request["schedule"] = [
        {"step": 3, "devices": {"transmit_budget": halved}, "topology": {"kind": "links", **fewer}},
        {"step": 5, "devices": {"processing_capacity": lower}, "topology": topology},
    ]
    return request


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_the_replay_is_the_plan_s_recursion(visit: Visit, studio_server: Server, transfer: str) -> None:
    request = {**scheduled_request(), "transfer": transfer}
    plan = ask(studio_server, request)
    frames = visit.open("n=5").page.evaluate(SCRIPT, [request, plan])
    start = full(request)
    n, sampled = start["data"].size, plan["sampled"]
    data = start["data"].copy()
    unsent = np.ones((n, n))
    mixture = start["label_counts"] / np.maximum(start["label_counts"].sum(axis=1, keepdims=True), 1)
    held = (mixture * start["data"][:, None])[sampled].sum(axis=0)
    everyone = start["label_counts"].sum(axis=0) / start["label_counts"].sum()
    for t, step in enumerate(plan["steps"], start=1):
        now = full(request)
        for change in request["schedule"]:
            if change["step"] <= t:
                now |= {name: np.array(v) for name, v in change["devices"].items()}
                changed = dense({"network": {**request["network"], "topology": change["topology"]}})
                now |= {k: np.array(v) for k, v in changed["network"]["topology"].items() if k != "kind"}
        phi = matrix_of(step, n)
        similarity = now["adjacency"] * (1 - (1 - now["similarity"]) * unsent)
        share = phi if transfer == "send_once" else unsent * phi
        useful = start["data"][:, None] * (1 - now["similarity"]) * share
        data[sampled] += useful.sum(axis=0)[sampled]
        unsent = unsent - share
        after = now["adjacency"] * (1 - (1 - now["similarity"]) * unsent)
        frame = frames[t]
        np.testing.assert_allclose(frame["data"], data[sampled], rtol=1e-12)
        np.testing.assert_allclose(frame["data"], step["sampled_data"], rtol=1e-9)
        np.testing.assert_allclose(frame["received"], step["received"], rtol=1e-7, atol=1e-9)
        flows = frame["flows"]
        np.testing.assert_allclose(flows["before"], similarity[flows["source"], flows["target"]], atol=1e-12)
        np.testing.assert_allclose(flows["after"], after[flows["source"], flows["target"]], atol=1e-12)
        check_gauges(
            frame["gauges"],
            now=now,
            own=start["data"],
            data=data,
            phi=phi,
            sampled=sampled,
            received=frame["received"],
        )
        into = now["adjacency"][:, sampled] == 1
        np.testing.assert_allclose(frame["similarity"], after[:, sampled][into].mean(), rtol=1e-9)
        best = after[:, sampled].max(axis=1)
        best[sampled] = 1
        np.testing.assert_allclose(frame["coverage"], best @ start["data"] / start["data"].sum(), rtol=1e-9)
        held = held + (mixture[:, None, :] * useful[:, :, None]).sum(axis=(0, 1))
        distance = np.abs(held / held.sum() - everyone).sum() / 2
        np.testing.assert_allclose(frame["mixture"], distance, rtol=1e-9)


def check_gauges(
    gauges: list[list[dict[str, Any]]],
    *,
    now: dict[str, NDArray[np.float64]],
    own: NDArray[np.float64],
    data: NDArray[np.float64],
    phi: NDArray[np.float64],
    sampled: list[int],
    received: list[float],
) -> None:
    for i, found in enumerate(gauges):
        by_name = {gauge["name"]: gauge for gauge in found}
        if i in sampled:
            load, take = by_name["processing"], by_name["receive"]
            np.testing.assert_allclose(load["used"], now["processing_cost"][i] * data[i])
            assert load["limit"] == now["processing_capacity"][i]
            np.testing.assert_allclose(take["used"], received[sampled.index(i)])
            assert take["limit"] == now["receive_capacity"][i]
        else:
            spent, share = by_name["transmit"], by_name["share sent"]
            np.testing.assert_allclose(spent["used"], own[i] * (phi[i] * now["transmit_cost"][i]).sum(), atol=1e-12)
            assert spent["limit"] == now["transmit_budget"][i]
            assert spent["binding"] == (spent["used"] > 0 and spent["used"] >= 0.999 * spent["limit"])
            np.testing.assert_allclose(share["used"], phi[i].sum(), atol=1e-12)


def test_a_later_lower_capacity_binds_already_now(visit: Visit) -> None:
    devices = {"data": [100, 1000], "processing_capacity": [400, 2000], "processing_cost": [1, 1]}
    devices |= {"receive_capacity": [500, 500], "transmit_budget": [900, 900]}
    links = {"kind": "links", "source": [1], "target": [0], "similarity": [0], "transmit_cost": [1]}
    change = {"step": 3, "devices": {"processing_capacity": [200, 2000]}}
    request = {"network": {"devices": devices, "topology": links}, "schedule": [change]}
    transfers = {"source": [1], "target": [0], "fraction": [0.1], "datapoints": [100]}
    plan = {"sampled": [0], "steps": [{"step": 1, "transfers": transfers}]}
    [_, first] = visit.open("n=5").page.evaluate(SCRIPT, [request, plan])
    [load, _] = first["gauges"][0]
    assert (load["used"], load["limit"], load["binding"]) == (200, 400, True)


def test_ranks_and_reach(visit: Visit) -> None:
    request = random_request(12, 20, budgets="tight")
    script = """async (request) => { const { fromRequest } = await import('/studio/core/loading.js');
      const { ranks } = await import('/studio/core/measures.js'); const { network } = fromRequest(request);
      return Array.from({ length: network.n }, (_, i) => ranks(network, i)); }"""
    found = visit.open("n=5").page.evaluate(script, request)
    d = full(request)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.minimum(1, d["transmit_budget"][:, None] / (d["data"][:, None] * d["transmit_cost"]))
    share[d["adjacency"] == 0] = 0
    reach = np.minimum((d["data"][:, None] * (1 - d["similarity"]) * share).sum(axis=0), d["receive_capacity"])
    np.testing.assert_allclose([one["reach"]["value"] for one in found], reach)
    for name, values in (("data", d["data"]), ("reach", reach)):
        order = np.argsort(-np.array(values), kind="stable")
        assert [found[i][name]["rank"] for i in order] == list(range(1, 21))


def test_generated_numbers_follow_their_settings(visit: Visit) -> None:
    script = """async (settings) => { const { generate } = await import('/studio/core/generate.js');
      const { toWire } = await import('/studio/core/network.js');
      return JSON.stringify(toWire(generate(settings))); }"""
    settings = {"topology": "erdos-renyi", "n": 800, "degree": 12, "budgets": "tight", "sizes": "even", "labels": 3}
    settings |= {"stragglers": 0, "seed": 4}
    page = visit.open("n=5").page
    network = json.loads(page.evaluate(script, settings))
    assert network == json.loads(page.evaluate(script, settings))
    data = np.array(network["devices"]["data"])
    assert abs(data.mean() - 600) < 2
    assert abs(data.std() - np.sqrt(120)) < 1
    pairs = set(zip(network["topology"]["source"], network["topology"]["target"], strict=True))
    assert len(pairs) == len(network["topology"]["source"])
    assert all((b, a) in pairs and a != b for a, b in pairs)
    assert abs(len(pairs) / 800 - 12) < 1
    # Changing one setting leaves the others' draws alone.
    other = json.loads(page.evaluate(script, {**settings, "labels": 7}))
    assert other["topology"]["source"] == network["topology"]["source"]
    assert other["devices"]["processing_cost"] == network["devices"]["processing_cost"]
