"""Plan, see the flows, move through time, ask a device."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect

from tests.support.requests import check_plan, random_request
from tests.support.visit import Visit


def orange_pixels(visit: Visit) -> int:
    """Pixels of sampled devices and flows."""
    return int(
        visit.page.evaluate(
            """() => { const m = document.querySelector('#map'); const c = new OffscreenCanvas(m.width, m.height);
            c.getContext('2d').drawImage(m, 0, 0);
            const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0;
            for (let i = 0; i < d.length; i += 4)
              if (d[i] > 170 && d[i+1] > 60 && d[i+1] < 130 && d[i+2] < 60 && d[i+3] > 200) n += 1;
            return n; }"""
        )
    )


def on_screen(visit: Visit) -> NDArray[np.float64]:
    """Where each device is drawn on the canvas."""
    script = """import("/studio/ui/stage.js").then(({ drawing: { map: { camera, places } } }) =>
        [...places.x].map((x, i) => [camera.x + x * camera.scale, camera.y + places.y[i] * camera.scale]))"""
    return np.array(visit.page.evaluate(script), dtype=np.float64)


def drawn_flows(visit: Visit, step: dict[str, Any]) -> float:
    """The share of a step's larger transfers with the flows' colour a third of the way along."""
    places = on_screen(visit)
    transfers = step["transfers"]
    sent = np.array(transfers["datapoints"])
    large = sent > 0.01 * sent.max()
    source, target = (np.array(transfers[name])[large] for name in ("source", "target"))
    points = (2 * places[source] + places[target]) / 3
    script = """(points) => { const m = document.querySelector('#map');
        const c = new OffscreenCanvas(m.width, m.height); const pen = c.getContext('2d'); pen.drawImage(m, 0, 0);
        return points.map(([x, y]) => { const d = pen.getImageData(Math.round(x) - 2, Math.round(y) - 2, 5, 5).data;
          for (let i = 0; i < d.length; i += 4) if (d[i] > 150 && d[i] - d[i + 2] > 90) return true;
          return false; }); }"""
    visit.allowed = "willReadFrequently"
    return float(np.mean(visit.page.evaluate(script, points.tolist())))


def test_a_plan_appears_and_time_moves_through_it(visit: Visit, shots: Path) -> None:
    visit.open("n=60")
    visit.tab("Plan")
    assert orange_pixels(visit) == 0
    plan = visit.plan()
    check_plan(visit.request(), plan)
    facts = visit.page.locator("#panel-plan .facts")
    expect(facts).to_contain_text(re.compile(rf"Status\s*{plan['status']}\s*Sampler\s*complete"))
    expect(facts).to_contain_text(re.compile(r"Gap of all steps\s*≤"))
    told = re.search(r"Gap to the best choice\s*≤\s*([\d.,e−-]+)", facts.inner_text())
    assert told is not None
    assert float(told[1].replace("−", "-")) == pytest.approx(plan["set_gap"], rel=0.05)
    visit.slide(0)
    visit.wait_until_drawn()
    visit.wait_for_frame()
    assert orange_pixels(visit) > 100
    assert drawn_flows(visit, plan["steps"][3]) < 0.3
    visit.slide(4)
    expect(visit.page.locator("#time-label")).to_contain_text("t = 4 of 10")
    transfers = plan["steps"][3]["transfers"]
    expect(visit.page.locator("#time-label")).to_contain_text(f"{len(transfers['source'])} transfers")
    visit.wait_until_drawn()
    visit.wait_for_frame()
    assert drawn_flows(visit, plan["steps"][3]) > 0.9
    visit.page.screenshot(path=shots / "plan.png")


def test_it_plays_to_the_end_by_itself(visit: Visit) -> None:
    visit.open("view=plan&n=30&horizon=3&planned=1")
    play = visit.page.locator("#play")
    play.click()
    expect(play).to_have_text("Pause")
    expect(visit.page.locator("#time")).to_have_value("3")
    expect(play).to_have_text("Play")
    visit.page.get_by_label("One step back").click()
    expect(visit.page.locator("#time")).to_have_value("2")
    visit.page.get_by_label("One step on").click()
    expect(visit.page.locator("#time")).to_have_value("3")


def test_changed_settings_plan_anew(visit: Visit) -> None:
    visit.open("view=plan&n=30&planned=1")
    expect(visit.page.locator("#timebar")).to_be_visible()
    with visit.page.expect_response("**/v1/plans") as answer:
        visit.page.locator("#panel-plan").get_by_label("Devices to sample S").fill("3")
        visit.page.locator("#panel-plan").get_by_label("Devices to sample S").press("Tab")
    assert len(answer.value.json()["sampled"]) == 3
    with visit.page.expect_response("**/v1/plans") as answer:
        visit.page.locator("#panel-plan").get_by_label("Sampler", exact=True).select_option("heuristic")
    assert json.loads(answer.value.request.post_data or "{}")["sampler"] == "heuristic"
    visit.page.locator("#panel-plan").get_by_role("button", name="Clear").click()
    expect(visit.page.get_by_text("Not planned yet")).to_be_visible()


def test_a_device_passed_over_is_compared_round_by_round(visit: Visit) -> None:
    visit.open("view=plan&n=40&sampler=greedy&planned=1&budgets=tight")
    expect(visit.page.locator("#timebar")).to_be_visible()
    trace = visit.state("state.plan.trace")
    never = next(device for device in trace[-1]["gains"]["device"] if device != trace[-1]["device"])
    panel = visit.page.locator("#inspector-body")
    panel.get_by_label("Device", exact=True).fill(str(never))
    panel.get_by_label("Device", exact=True).press("Enter")
    rounds = panel.locator(".trace li")
    expect(rounds).to_have_count(len(trace))
    for number, pick in enumerate(trace):
        own = pick["gains"]["gain"][pick["gains"]["device"].index(never)]
        assert own <= pick["score"]
        expect(rounds.nth(number)).to_contain_text("It was scored")
        expect(rounds.nth(number)).to_contain_text(f"device {pick['device']} scored")


def test_a_device_clicked_says_its_numbers_and_why(visit: Visit, shots: Path) -> None:
    visit.open("view=plan&n=40&sampler=gcn_branch&planned=1&stragglers=20&budgets=tight")
    expect(visit.page.locator("#timebar")).to_be_visible()
    visit.slide(2)
    plan = visit.state("({ sampled: state.plan.sampled, scores: state.plan.scores, trace: state.plan.trace })")
    panel = visit.page.locator("#inspector-body")
    box = visit.page.locator("#map").bounding_box()
    assert box is not None
    device = plan["sampled"][1]
    px, py = on_screen(visit)[device]
    visit.page.mouse.move(box["x"] + px, box["y"] + py)
    expect(visit.page.locator("#tip")).to_contain_text(f"Device {device}:")
    expect(visit.page.locator("#tip")).to_contain_text("sampled as number 2")
    visit.page.mouse.click(box["x"] + px, box["y"] + py)
    expect(panel.get_by_label("Device", exact=True)).to_have_value(str(device))
    expect(panel).to_contain_text("Picked as number 2 by gcn_branch, with score")
    expect(panel.locator(".trace")).to_contain_text(f"of device {plan['sampled'][0]}")
    expect(panel.get_by_role("meter", name="receive budget")).to_be_visible()
    visit.page.screenshot(path=shots / "device.png")
    passed = next(c for pick in plan["trace"] for c in pick["candidates"] if c not in plan["sampled"])
    panel.get_by_label("Device", exact=True).fill(str(passed))
    panel.get_by_label("Device", exact=True).press("Enter")
    expect(panel).to_contain_text("It could be sampled; gcn_branch chose others")
    expect(panel.locator(".trace")).to_contain_text("It was scored")
    straggler = visit.state(
        """[...state.network.devices.data].findIndex((d, i) =>
        d * state.network.devices.processing_cost[i] > state.network.devices.processing_capacity[i])"""
    )
    panel.get_by_label("Device", exact=True).fill(str(straggler))
    panel.get_by_label("Device", exact=True).press("Enter")
    expect(panel).to_contain_text("It cannot be sampled. It cannot process what it holds")


def test_binding_budgets_are_marked_where_they_are_used_up(visit: Visit) -> None:
    visit.open("view=plan&n=40&budgets=tight&planned=1&step=1")
    expect(visit.page.locator("#timebar")).to_be_visible()
    request, plan = visit.request(), visit.state("JSON.parse(JSON.stringify(state.plan))")
    binding = spent_up(request, plan)
    assert binding
    heading = visit.page.get_by_role("heading", name=re.compile("Binding at t = 1"))
    expect(heading).to_contain_text(f"({len(binding)})")
    device, name = min(binding)
    visit.page.get_by_label(f"Device {device}: {name} binds").first.click()
    meter = visit.page.get_by_role("meter", name=f"{name} budget")
    expect(meter).to_have_attribute("aria-valuenow", "100")
    expect(meter).to_have_attribute("aria-valuetext", re.compile("binding"))


def spent_up(request: dict[str, Any], plan: dict[str, Any]) -> set[tuple[int, str]]:
    """Devices whose budget the first step uses up, by eqs. (9)-(12) with plain loops."""
    devices, topology = request["network"]["devices"], request["network"]["topology"]
    links = {pair: i for i, pair in enumerate(zip(topology["source"], topology["target"], strict=True))}
    step = plan["steps"][0]
    transfers = step["transfers"]
    cost: dict[int, float] = {}
    share: dict[int, float] = {}
    for k, i, phi in zip(transfers["source"], transfers["target"], transfers["fraction"], strict=True):
        cost[k] = cost.get(k, 0) + devices["data"][k] * phi * topology["transmit_cost"][links[k, i]]
        share[k] = share.get(k, 0) + phi
    found = {(k, "transmit") for k, value in cost.items() if value >= 0.999 * devices["transmit_budget"][k] > 0}
    found |= {(k, "share sent") for k, value in share.items() if value >= 0.999}
    for i, received, data in zip(plan["sampled"], step["received"], step["sampled_data"], strict=True):
        if received >= 0.999 * devices["receive_capacity"][i]:
            found.add((i, "receive"))
        if data * devices["processing_cost"][i] >= 0.999 * devices["processing_capacity"][i]:
            found.add((i, "processing"))
    return found


def test_an_infeasible_plan_names_the_devices(visit: Visit) -> None:
    visit.allowed = "422"
    visit.open("view=plan&n=20&stragglers=100&size=3")
    visit.button("Plan").click()
    alert = visit.page.get_by_role("alert")
    expect(alert).to_contain_text("3 devices are to be sampled, 0 can be")
    expect(alert).to_contain_text("from step 1: processing its")


def test_a_service_that_is_away_is_said_and_nothing_is_lost(visit: Visit) -> None:
    visit.allowed = "net::ERR|Failed to load"
    visit.open("view=plan&n=20")
    visit.page.route("**/v1/plans", lambda route: route.abort())
    visit.button("Plan").click()
    expect(visit.page.get_by_role("alert")).to_contain_text("The service cannot be reached")
    visit.page.unroute("**/v1/plans")
    visit.plan()
    expect(visit.page.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize("n", [1, 2])
def test_the_smallest_networks_work(visit: Visit, n: int) -> None:
    visit.open(f"view=plan&n={n}&size=1&topology=erdos-renyi&stragglers=0")
    plan = visit.plan()
    assert len(plan["sampled"]) == 1
    visit.slide(2)
    assert visit.drawn_colours() > 3


def test_conditions_that_change_in_time_are_followed(visit: Visit) -> None:
    request = random_request(7, 15, sample_size=2, horizon=6, budgets="tight")
    request["schedule"] = [{"step": 3, "devices": {"transmit_budget": [0.0] * 15}}]
    visit.open()
    visit.page.get_by_text("Load or paste one").click()
    visit.page.get_by_label("Or paste JSON").fill(json.dumps(request))
    visit.button("Use what is pasted").click()
    visit.tab("Plan")
    visit.plan()
    visit.slide(2)
    expect(visit.page.locator("#time-label")).not_to_contain_text(" 0 datapoints sent")
    visit.slide(4)
    expect(visit.page.locator("#time-label")).to_contain_text(" 0 datapoints sent")


def reason(visit: Visit, device: int) -> str:
    """Why a device was passed over, as the inspector says it."""
    panel = visit.page.locator("#inspector-body")
    panel.get_by_label("Device", exact=True).fill(str(device))
    panel.get_by_label("Device", exact=True).press("Enter")
    expect(panel.get_by_label("Device", exact=True)).to_have_value(str(device))
    visit.wait_for_frame()
    return panel.locator(".verdict").inner_text()


def scores_of(trace: list[dict[str, Any]], device: int) -> list[tuple[float, float]]:
    """Of each pick the device's score and that of the device picked."""
    gains = [dict(zip(pick["gains"]["device"], pick["gains"]["gain"], strict=True)) for pick in trace]
    return [(told[device], pick["score"]) for told, pick in zip(gains, trace, strict=True)]


@pytest.mark.parametrize("sampler", ["greedy", "gcn_branch"])
def test_a_device_came_closest_where_it_missed_the_least(visit: Visit, sampler: str) -> None:
    visit.open(f"view=plan&n=40&sampler={sampler}&planned=1&budgets=tight&stragglers=0")
    expect(visit.page.locator("#timebar")).to_be_visible()
    plan = visit.state("({ sampled: state.plan.sampled, trace: state.plan.trace })")
    named = set()
    for device in sorted(set(range(40)) - set(plan["sampled"]))[:12]:
        missed = [other - own for own, other in scores_of(plan["trace"], device)]
        told = reason(visit, device)
        number = 1 + int(np.argmin(missed))
        named.add(number)
        # The rule of `gcn_branch` can leave out a device that scores more than the one picked.
        words = "It came closest at pick {}, " if min(missed) > 0 else "At pick {} the search did not consider it: "
        assert words.format(number) in told, (device, missed, told)
    # The first score of `greedy` is the objective of one device, far from zero; later ones are small.
    assert named != {1}
