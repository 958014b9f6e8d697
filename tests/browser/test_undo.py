"""What was made or loaded is not lost: Back undoes, links find it, a service that is away takes nothing along."""

import json

from playwright.sync_api import Browser, expect

from tests.support.requests import random_request
from tests.support.server import Server
from tests.support.visit import Visit


def load(visit: Visit, size: int, name: str = "mine.json") -> None:
    visit.drop({name: json.dumps(random_request(5, size)["network"]).encode()})
    expect(visit.page.locator("#panel-network .facts").first).to_contain_text(name)


def test_back_brings_a_loaded_network_back(visit: Visit) -> None:
    visit.open("n=20")
    load(visit, 30)
    before = visit.request()["network"]
    expect(visit.page.locator("#loaded")).to_contain_text("mine.json is shown")
    visit.button("Another seed").click()
    expect(visit.page.locator("#loaded")).to_be_hidden()
    assert visit.request()["network"] != before
    visit.page.go_back()
    expect(visit.page.locator("#panel-network .facts").first).to_contain_text("mine.json")
    assert visit.request()["network"] == before
    visit.page.go_back()
    expect(visit.page.locator("#panel-network .facts").first).to_contain_text("geometric, seed 1")


def test_networks_loaded_before_are_listed_and_opened(visit: Visit) -> None:
    visit.open("n=20")
    load(visit, 30, "one.json")
    before = visit.request()["network"]
    load(visit, 12, "two.json")
    visit.page.goto("about:blank")
    visit.open("n=20")
    visit.page.get_by_text("Load or paste one").click()
    expect(visit.page.locator(".before li")).to_have_count(2)
    expect(visit.page.locator(".before li").first).to_have_text("two.json 12 devices")
    visit.button("one.json").click()
    expect(visit.page.locator("#panel-network .facts").first).to_contain_text("one.json")
    assert visit.request()["network"] == before


def test_back_undoes_a_change_of_the_plan(visit: Visit) -> None:
    visit.open("view=plan&n=30&planned=1")
    expect(visit.page.locator("#timebar")).to_be_visible()
    size = visit.page.locator("#panel-plan").get_by_label("Devices to sample S")
    first = visit.state("state.plan.sampled")
    size.fill("3")
    size.press("Tab")
    expect(visit.page.locator("#panel-plan .facts button")).to_have_count(3)
    visit.page.go_back()
    expect(visit.page.locator("#panel-plan .facts button")).to_have_count(5)
    assert visit.state("state.plan.sampled") == first
    expect(size).to_have_value("5")


def test_a_link_to_a_large_loaded_network_never_shows_another(
    visit: Visit, browser: Browser, studio_server: Server
) -> None:
    visit.open("n=20")
    load(visit, 260, "large.json")
    expect(visit.page.get_by_text("It is too large for a link")).to_be_visible()
    visit.button("Copy link").click()
    link: str = visit.page.evaluate("navigator.clipboard.readText()")
    before = visit.request()["network"]
    # The same browser has kept it.
    visit.page.goto("about:blank")
    visit.page.goto(link)
    expect(visit.page.locator("#panel-network .facts").first).to_contain_text("large.json")
    assert visit.request()["network"] == before
    with Visit.to(browser, studio_server.url) as other:
        other.page.goto(link)
        expect(other.page.get_by_role("alert").first).to_contain_text(
            "“large.json”, which was loaded in another browser"
        )
        assert other.state("state.network") is None


def test_a_small_network_alone_is_not_sampled_whole(visit: Visit) -> None:
    visit.open("n=20")
    network = {
        "devices": {
            "data": [600, 580, 620, 590],
            "processing_capacity": [2000, 900, 1500, 1500],
            "processing_cost": [0.8, 1.0, 1.0, 1.0],
            "receive_capacity": [200, 100, 150, 150],
            "transmit_budget": [80, 60, 60, 70],
        },
        "topology": {
            "kind": "links",
            "source": [1, 2, 3, 3],
            "target": [0, 0, 0, 2],
            "similarity": [0.4, 0.1, 0.3, 0.5],
            "transmit_cost": [0.5, 1.0, 0.7, 0.6],
        },
    }
    visit.drop({"network.json": json.dumps(network).encode()})
    expect(visit.page.locator("#panel-network .facts").first).to_contain_text("network.json")
    visit.tab("Plan")
    plan = visit.plan()
    assert len(plan["sampled"]) == 1
    assert sum(plan["steps"][0]["transfers"]["datapoints"]) > 0


def test_a_plan_stays_while_the_service_is_away(visit: Visit) -> None:
    visit.allowed = "net::ERR|Failed to load"
    visit.open("view=plan&n=30&planned=1")
    expect(visit.page.locator("#timebar")).to_be_visible()
    plan = visit.state("state.plan.objective")
    visit.page.route("**/v1/plans", lambda route: route.abort())
    size = visit.page.locator("#panel-plan").get_by_label("Devices to sample S")
    size.fill("3")
    size.press("Tab")
    expect(visit.page.get_by_role("alert")).to_contain_text("What you see is as it was before")
    expect(visit.page.get_by_text("the last plan, made before this failed")).to_be_visible()
    expect(visit.page.locator("#timebar")).to_be_visible()
    assert visit.state("state.plan.objective") == plan
    visit.page.unroute("**/v1/plans")
    assert len(visit.plan()["sampled"]) == 3
    expect(visit.page.get_by_role("alert")).to_have_count(0)


def test_samplers_come_when_the_service_does(visit: Visit) -> None:
    visit.allowed = "net::ERR|Failed to load"
    visit.page.route("**/v1/samplers", lambda route: route.abort())
    visit.open("view=plan&n=20")
    expect(visit.page.get_by_text("did not list its samplers").first).to_be_visible()
    visit.page.unroute("**/v1/samplers")
    choice = visit.page.locator("#panel-plan").get_by_label("Sampler", exact=True)
    expect(choice.locator("option[value=heuristic]")).to_have_count(1)
    expect(choice).to_have_value("greedy")
