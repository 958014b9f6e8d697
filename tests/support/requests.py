"""Requests that tests share, and a plan's constraints recomputed from the request alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver import Network
from solver.instances import BUDGETS, random_network
from solver.network import DEVICE_COLUMNS

LINK_COLUMNS = ("source", "target", "similarity", "transmit_cost")


def as_request(network: Network, **parameters: Any) -> dict[str, Any]:
    return {
        "network": {
            "devices": {name: getattr(network.devices, name).tolist() for name in DEVICE_COLUMNS},
            "topology": {
                "kind": "links",
                **{name: getattr(network.links, name).tolist() for name in LINK_COLUMNS},
            },
        },
        **parameters,
    }


def random_request(draw: int, n_devices: int, /, *, budgets: str = "tight", **parameters: Any) -> dict[str, Any]:
    receive, transmit = BUDGETS[budgets]
    network = random_network(
        np.random.default_rng(draw), n_devices, link_probability=0.3, receive=receive, transmit=transmit
    )
    return as_request(network, **({"sample_size": 3, "horizon": 6} | parameters))


def dense(request: dict[str, Any]) -> dict[str, Any]:
    """The same request with matrices."""
    topology = request["network"]["topology"]
    n = len(request["network"]["devices"]["data"])
    matrices = {name: np.zeros((n, n)) for name in ("adjacency", "similarity", "transmit_cost")}
    ends = (topology["source"], topology["target"])
    matrices["adjacency"][ends] = 1
    matrices["similarity"][ends] = topology["similarity"]
    matrices["transmit_cost"][ends] = topology["transmit_cost"]
    lists = {name: matrix.tolist() for name, matrix in matrices.items()}
    return {**request, "network": {**request["network"], "topology": {"kind": "matrix", **lists}}}


def check_plan(request: dict[str, Any], plan: dict[str, Any]) -> None:
    """Replay a constant-condition plan with dense matrices and plain formulas, eqs. (5)-(15) of the paper.

    Eq. (8) is Λ = 1 − (1 − λ)·u with the unsent share u; if senders send once, u falls by Φ instead of u·Φ.
    """
    full = dense(request) if request["network"]["topology"]["kind"] == "links" else request
    topology = {
        name: np.array(full["network"]["topology"][name]) for name in ("adjacency", "similarity", "transmit_cost")
    }
    d = {
        name: np.array(column, dtype=float)
        for name, column in full["network"]["devices"].items()
        if name != "label_noise"
    }
    n = d["data"].size
    fresh = d["data"][:, None] * (1 - topology["similarity"] * topology["adjacency"])
    unsent = np.ones((n, n))
    once = request.get("transfer", "send_once") == "send_once"
    data = d["data"].copy()
    sampled = plan["sampled"]
    assert len(set(sampled)) == request["sample_size"]
    others = np.setdiff1d(np.arange(n), sampled)
    tolerance = 1 + 1e-9
    objectives = []
    weights = {"transmit": 0.0, "processing": 0.0} | request.get("weights", {})
    total = {"transmit": 0.0, "processing": 0.0}
    for step in plan["steps"]:
        phi = matrix_of(step, n)
        assert (phi >= 0).all()
        assert not (phi > 0)[topology["adjacency"] == 0].any()
        assert not (phi > 0)[sampled].any()
        assert not (phi > 0)[:, others].any()
        assert (phi.sum(axis=1) <= tolerance).all()
        spent = d["data"] * (phi * topology["transmit_cost"]).sum(axis=1)
        assert (spent <= d["transmit_budget"] * tolerance).all()
        share = phi if once else unsent * phi
        unsent = unsent - share
        assert (unsent >= -1e-12).all()
        received = (fresh * share).sum(axis=0)[sampled]
        assert (received <= d["receive_capacity"][sampled] * tolerance).all()
        np.testing.assert_allclose(received, step["received"], rtol=1e-9, atol=1e-9)
        data[sampled] += received
        assert (d["processing_cost"] * data <= d["processing_capacity"] * tolerance)[sampled].all()
        np.testing.assert_allclose(data[sampled], step["sampled_data"], rtol=1e-9)
        rest = data[others].sum()
        term_a = rest / (rest + data[sampled].sum())
        term_b = float(np.mean(data[sampled] ** -0.5))
        np.testing.assert_allclose([term_a, term_b], [step["sampling_term"], step["statistical_term"]], rtol=1e-9)
        costs = {"transmit": spent.sum(), "processing": (d["processing_cost"] * data)[sampled].sum()}
        for name, cost in costs.items():
            np.testing.assert_allclose(weights[name] * cost, step[f"{name}_term"], rtol=1e-9)
            total[name] += cost
        priced = sum(weights[name] * cost for name, cost in costs.items())
        np.testing.assert_allclose(term_a + term_b + priced, step["objective"], rtol=1e-9)
        objectives.append(term_a + term_b + priced)
    np.testing.assert_allclose(np.mean(objectives), plan["objective"], rtol=1e-9)
    for name, cost in total.items():
        np.testing.assert_allclose(plan[f"{name}_cost"], cost, rtol=1e-9)
        np.testing.assert_allclose(plan[f"{name}_term"], weights[name] * cost / len(plan["steps"]), rtol=1e-9)
    assert len(plan["steps"]) == request["horizon"]
    if {step["status"] for step in plan["steps"]} == {"optimal"}:
        assert plan["status"] == ("optimal" if plan["horizon_gap"] <= 1e-6 else "step_optimal")


def matrix_of(step: dict[str, Any], n: int) -> NDArray[np.float64]:
    if "matrix" in step:
        return np.array(step["matrix"])
    phi = np.zeros((n, n))
    transfers = step["transfers"]
    phi[transfers["source"], transfers["target"]] = transfers["fraction"]
    return phi
