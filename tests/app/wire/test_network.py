"""Networks that leave similarity out: it is derived from label counts, and the answer says so."""

import copy
import io
from typing import Any

import httpx
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from app.networks.archived import ArchiveParameters, read_archive
from app.networks.stored import StoredNetwork, unpacked
from app.wire.fleet import Translated
from app.wire.network import NetworkIn
from sampler.label_counts.derived_similarity import DEFAULT_RATE, complete_similarity, derive_similarity
from solver import Network
from solver.instances import random_network
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS
from tests.support.requests import as_request, dense

NETWORK = random_network(np.random.default_rng(3), 12)
COUNTS = np.random.default_rng(4).integers(0, 60, (12, 3)).astype(float)


def asked(*, labelled: bool = True, **parameters: Any) -> dict[str, Any]:
    request = as_request(NETWORK, **{"sample_size": 2, "horizon": 3, **parameters})
    del request["network"]["topology"]["similarity"]
    if labelled:
        request["network"]["devices"]["label_counts"] = COUNTS.tolist()
    return request


def matrices(request: dict[str, Any]) -> dict[str, Any]:
    whole = copy.deepcopy(request)
    whole["network"]["topology"]["similarity"] = [0.0] * len(NETWORK.links)
    made = dense(whole)
    del made["network"]["topology"]["similarity"]
    return made


@pytest.mark.parametrize("form", ["links", "matrix"])
def test_similarity_that_no_link_reports_is_derived_with_the_default_rate(form: str) -> None:
    request = asked() if form == "links" else matrices(asked())
    network, origin = NetworkIn.model_validate(request["network"]).to_domain()
    rates = np.full(3, DEFAULT_RATE)
    links, data = network.links, network.devices.data
    assert_array_equal(links.similarity, derive_similarity(COUNTS, data, links.source, links.target, rates))
    assert_array_equal(links.transmit_cost, NETWORK.links.transmit_cost)
    assert origin is not None
    assert (origin.measured, origin.derived, origin.assumed, origin.fitted_on) == (0, len(links), 0, 0)
    assert origin.match_rates == pytest.approx(dict.fromkeys("012", DEFAULT_RATE))
    stored = StoredNetwork(Translated(network, similarity=origin))
    assert unpacked(stored.packed()).given.similarity == origin


def test_without_label_counts_it_is_assumed_to_be_0() -> None:
    network, origin = NetworkIn.model_validate(asked(labelled=False)["network"]).to_domain()
    assert not network.links.similarity.any()
    assert origin is not None
    assert (origin.derived, origin.assumed, origin.assumed_value) == (0, len(network.links), 0.0)


def archived(**changes: Any) -> Network:
    arrays = {name: getattr(NETWORK.devices, name) for name in DEVICE_COLUMNS}
    arrays |= {name: getattr(NETWORK.links, name) for name in LINK_COLUMNS} | {"label_counts": COUNTS} | changes
    stream = io.BytesIO()
    np.savez(stream, **{name: array for name, array in arrays.items() if array is not None})
    given, _ = read_archive(stream.getvalue(), ArchiveParameters)
    assert (given.similarity is None) == ("similarity" not in changes)
    return given.network


def test_links_of_an_archive_that_report_none_are_derived_from_those_that_do() -> None:
    order = np.random.default_rng(1).permutation(len(NETWORK.links))  # an archive's links are in any order
    measured = np.where(np.arange(order.size) % 3 == 0, NETWORK.links.similarity, np.nan)
    columns = {name: getattr(NETWORK.links, name)[order] for name in LINK_COLUMNS}
    network = archived(**columns | {"similarity": measured[order]})
    links, devices = network.links, network.devices
    expected = complete_similarity(devices, links.source, links.target, measured)
    assert_array_equal(links.similarity, expected.similarity)
    assert_array_equal(links.similarity[::3], NETWORK.links.similarity[::3])
    assert archived().links.similarity.tolist() == NETWORK.links.similarity.tolist()
    assert (
        archived(similarity=None).links.similarity.tolist()
        == archived(similarity=measured * np.nan).links.similarity.tolist()
    )


def test_answers_tell_what_was_derived(client: httpx.Client) -> None:
    plan = client.post("/v1/plans", json=asked()).json()
    assert plan["similarity"]["derived"] == len(NETWORK.links)
    diagnosis = client.post("/v1/plans", json=asked(dry_run=True)).json()
    assert diagnosis["similarity"] == plan["similarity"]
    whole = asked()
    whole["network"]["topology"]["similarity"] = diagnosis["network"]["links"]["similarity"]
    same = client.post("/v1/plans", json=whole).json()
    assert "similarity" not in same
    assert (same["sampled"], same["objective"]) == (plan["sampled"], plan["objective"])
    stored = client.post("/v1/networks", json={"network": asked()["network"]}).json()
    by_id = {"network_id": stored["id"], "sample_size": 2, "horizon": 3}
    again = client.post("/v1/plans", json=by_id).json()
    assert (again["similarity"], again["objective"]) == (plan["similarity"], plan["objective"])
    later = [{"step": 2, "topology": asked()["network"]["topology"]}]
    refused = client.post("/v1/plans", json=asked(schedule=later)).json()["errors"]
    assert [one["pointer"] for one in refused] == ["/schedule/0/topology/similarity"]
