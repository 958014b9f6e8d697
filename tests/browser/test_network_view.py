"""Make or load a network, and see it drawn."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from solver import Devices, Links, Network, save_network
from tests.support.requests import dense, random_request
from tests.support.visit import COLOURS, Visit

TOPOLOGIES = ("Geometric", "Erdős–Rényi", "Small world", "Scale-free")


def test_the_first_view_shows_a_network(visit: Visit, shots: Path) -> None:
    visit.open()
    expect(visit.page.get_by_text("Can be sampled")).to_be_visible()
    assert visit.drawn_colours() > 20
    visit.page.screenshot(path=shots / "network.png")


# Counts the canvas's colours at the moment when the page sets a mark.
AT_MARK = f"""window.seen = {{}}; const mark = performance.mark.bind(performance);
  performance.mark = (name) => {{ (window.seen[name] ??= []).push(({COLOURS})()); return mark(name); }};"""


def test_the_first_view_is_marked_once_and_when_it_is_drawn(visit: Visit) -> None:
    visit.page.add_init_script(AT_MARK)
    visit.open()
    visit.button("Another seed").click()
    visit.wait_until_drawn()
    (colours,) = visit.page.evaluate("window.seen['first-view']")
    assert colours > 20


def test_a_canvas_with_a_view_to_come_is_not_called_drawn(visit: Visit) -> None:
    visit.open()
    after_zoom = "document.querySelector('#zoom-in').click(), document.querySelector('#map').dataset.drawn ?? null"
    assert visit.page.evaluate(after_zoom) is None
    visit.wait_until_drawn()


def test_every_topology_is_made_and_accepted(visit: Visit) -> None:
    visit.open()
    for size, topology in enumerate(TOPOLOGIES, start=60):
        check_topology(visit, topology, size)


def check_topology(visit: Visit, topology: str, size: int) -> None:
    visit.page.get_by_label("Topology").select_option(label=topology)
    visit.page.get_by_label("Devices N").fill(str(size))
    with visit.page.expect_response(lambda r: r.url.endswith("/v1/plans") and r.json()["n_devices"] == size) as answer:
        visit.page.get_by_label("Devices N").press("Tab")
    diagnosis = answer.value.json()
    mean_degree = diagnosis["n_links"] / size
    assert 5 < mean_degree < 10
    expect(visit.page.locator("#panel-network .facts").first).to_contain_text(str(size))
    assert f"n={size}" in visit.page.evaluate("import('/studio/ui/store.js').then(s => s.address())")


def test_budgets_and_skew_change_the_network_and_a_seed_repeats_it(visit: Visit) -> None:
    visit.open("n=40&labels=10")
    many = visit.request()
    assert visit.open("n=40&labels=10&colour=receive").request() == many
    visit.page.goto("about:blank")
    skewed = visit.open("n=40&labels=1").request()
    counts = np.array(skewed["network"]["devices"]["label_counts"])
    assert ((counts > 0).sum(axis=1) == 1).all()
    assert (counts.sum(axis=1) == skewed["network"]["devices"]["data"]).all()
    similarity = skewed["network"]["topology"]["similarity"]
    # One label each: neighbours share nothing, or nearly all.
    assert np.mean(np.array(similarity) == 0) > 0.6
    visit.page.get_by_label("Budgets").select_option("scarce")
    scarce = visit.request()["network"]["devices"]
    ratio = np.array(scarce["transmit_budget"]) / np.array(skewed["network"]["devices"]["transmit_budget"])
    np.testing.assert_allclose(ratio, 0.001 / 0.5, rtol=1e-4)
    visit.button("Another seed").click()
    assert visit.request()["network"]["devices"]["data"] != scarce["data"]


@pytest.mark.parametrize("how", ["chosen", "compressed and dropped"])
def test_a_network_file_of_arrays_can_be_chosen_or_dropped(visit: Visit, tmp_path: Path, how: str) -> None:
    generator = np.random.default_rng(3)
    request = random_request(3, 25)
    columns = {name: np.array(values) for name, values in request["network"]["devices"].items()}
    links = {name: np.array(values) for name, values in request["network"]["topology"].items() if name != "kind"}
    network = Network(Devices(**columns, label_counts=generator.integers(0, 9, (25, 4)).astype(float)), Links(**links))  # type: ignore[arg-type]
    path = tmp_path / "network.npz"
    save_network(network, path)
    if how != "chosen":
        with np.load(path) as arrays:
            np.savez_compressed(path, **{name: arrays[name] for name in arrays.files})
    visit.open()
    if how != "chosen":
        visit.drop({"network.npz": path.read_bytes()})
    else:
        visit.page.get_by_text("Load or paste one").click()
        visit.page.get_by_label("File").set_input_files(path)
    expect(visit.page.locator("#panel-network .facts").first).to_contain_text("network.npz")
    seen = visit.request()["network"]
    assert seen["devices"]["data"] == network.devices.data.tolist()
    assert seen["devices"]["label_counts"] == np.asarray(network.devices.label_counts).tolist()
    assert seen["topology"]["source"] == network.links.source.tolist()
    assert seen["topology"]["similarity"] == network.links.similarity.tolist()


@pytest.mark.parametrize("form", ["links", "matrix", "network alone"])
def test_pasted_json_brings_its_settings_along(visit: Visit, form: str) -> None:
    request = random_request(5, 12, sample_size=2, horizon=7, sampler="heuristic")
    given: dict[str, Any] = dense(request) if form == "matrix" else request
    given = given["network"] if form == "network alone" else given
    visit.open()
    visit.page.get_by_text("Load or paste one").click()
    visit.page.get_by_label("Or paste JSON").fill(json.dumps(given))
    visit.button("Use what is pasted").click()
    expect(visit.page.locator("#panel-network .facts").first).to_contain_text("pasted")
    seen = visit.request()
    assert seen["network"]["devices"] == request["network"]["devices"]
    pairs = {(s, t) for s, t in zip(*[seen["network"]["topology"][n] for n in ("source", "target")], strict=True)}
    topology = request["network"]["topology"]
    assert pairs == set(zip(topology["source"], topology["target"], strict=True))
    if form != "network alone":
        assert (seen["sample_size"], seen["horizon"], seen["sampler"]) == (2, 7, "heuristic")
    # A small one fits into the link: another visitor sees the same.
    again = visit.page.evaluate("import('/studio/ui/store.js').then(s => s.address())")
    visit.page.goto("about:blank")
    visit.page.goto(again)
    visit.wait_until_drawn()
    assert visit.request()["network"] == seen["network"]


def test_what_is_no_network_is_said_with_its_place(visit: Visit) -> None:
    visit.open()
    visit.page.get_by_text("Load or paste one").click()
    for text, says in (
        ("{", "not JSON"),
        ("[1]", "must be an object"),
        ('{"devices": {}}', "/topology"),
        ('{"devices": {"data": [1, "x"]}, "topology": {}}', "/devices/data/1"),
    ):
        visit.page.get_by_label("Or paste JSON").fill(text)
        visit.button("Use what is pasted").click()
        expect(visit.page.get_by_role("alert")).to_contain_text(says)


def test_what_the_service_refuses_is_shown_with_its_pointer(visit: Visit) -> None:
    visit.allowed = "422"
    request = random_request(5, 12)
    request["network"]["devices"]["data"][3] = -1
    visit.open()
    visit.page.get_by_text("Load or paste one").click()
    visit.page.get_by_label("Or paste JSON").fill(json.dumps(request))
    visit.button("Use what is pasted").click()
    expect(visit.page.get_by_role("alert")).to_contain_text("/network/devices/data/3")
    expect(visit.page.get_by_role("alert")).to_contain_text(re.compile("Request [0-9a-f]+"))


# Keeps what a page asks of the layout's worker, as if the layout had not settled yet.
UNSETTLED = """const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...rest) {
    if (window.unsettled && message.ends) return undefined;
    return post.call(this, message, ...rest); };"""


def test_a_drawing_without_places_yet_is_used_without_an_error(visit: Visit) -> None:
    visit.page.add_init_script(UNSETTLED)
    visit.open()
    visit.page.evaluate("window.unsettled = true")
    visit.drop({"devices.csv": b"id,datapoints\ncam,20\nhub,30\n", "links.csv": b"from,to\ncam,hub\n"})
    expect(visit.page.locator("#panel-network .facts").first).to_contain_text("devices.csv, links.csv")
    visit.page.get_by_role("spinbutton", name="Device", exact=True).fill("1")
    visit.page.get_by_role("spinbutton", name="Device", exact=True).press("Tab")
    expect(visit.page.locator("#inspector-body .facts").first).to_contain_text("hub")
    for button in ("#zoom-in", "#zoom-out", "#zoom-fit"):
        visit.page.locator(button).click()
    for key in ("ArrowRight", "Shift+ArrowRight", "+", "-", "0"):
        visit.page.locator("#map").press(key)
    visit.page.mouse.wheel(0, 100)
    visit.wait_for_frame()
    assert visit.drawn_colours() == 1
