"""The drawing explains the plan: names, rings, cover, crosses, search, layouts."""

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.support.visit import Visit

PLAN = "view=plan&n=40&budgets=tight&stragglers=20&planned=1&step=1"


def drawn(visit: Visit, expression: str) -> Any:
    """An expression over the page's `map`, once the canvas shows the newest view."""
    visit.wait_until_drawn()
    visit.wait_for_frame()
    script = f"import('/studio/ui/stage.js').then(({{ drawing: {{ map }} }}) => ({expression}))"
    return visit.page.evaluate(script)


NAMES = """const pens = CanvasRenderingContext2D.prototype; const { fillText, clearRect } = pens; window.names = [];
pens.clearRect = function (...box) {
  if (this.canvas.id === "map") window.names = [];
  return clearRect.apply(this, box); };
pens.fillText = function (text, x, y) {
  if (this.canvas.id === "map") {
    const m = this.measureText(text);
    const box = [x - m.actualBoundingBoxLeft, y - m.actualBoundingBoxAscent,
      x + m.actualBoundingBoxRight, y + m.actualBoundingBoxDescent];
    window.names.push([text, box]);
  }
  return fillText.call(this, text, x, y); };"""
DISCS = """[...map.network.devices.data].map((_, i) => {
  const least = map.story.order.has(i) ? 9 : 0;
  return [map.camera.x + map.places.x[i] * map.camera.scale, map.camera.y + map.places.y[i] * map.camera.scale,
    Math.max(least, map.radius(map.heldBy(i)) * map.unit)]; })"""


@pytest.mark.parametrize("width", [1440, 390])
def test_no_device_hides_another_and_names_stand_beside_their_own(visit: Visit, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": 900})
    visit.page.emulate_media(reduced_motion="reduce")
    visit.page.add_init_script(NAMES)
    visit.open("")
    expect(visit.page.locator("#timebar")).to_be_visible()
    for step in (4, 10):
        visit.slide(step)
        discs = np.array(drawn(visit, DISCS))
        apart = np.hypot(*(discs[:, None, :2] - discs[None, :, :2]).T)
        np.fill_diagonal(apart, np.inf)
        # A cross is drawn at its device's centre.
        assert (apart > discs[:, 2] + discs[:, None, 2]).all()
        names = visit.page.evaluate("window.names")
        assert len(names) > len(discs) / 2
        for text, (left, top, right, bottom) in names:
            dx = np.maximum(np.maximum(left - discs[:, 0], discs[:, 0] - right), 0)
            dy = np.maximum(np.maximum(top - discs[:, 1], discs[:, 1] - bottom), 0)
            away = np.hypot(dx, dy) - discs[:, 2]
            assert away.argmin() == int(text), (text, away.argmin())
            assert away.min() > 0


def look_at_plan(visit: Visit, fragment: str = PLAN) -> dict[str, Any]:
    visit.open(fragment)
    expect(visit.page.locator("#timebar")).to_be_visible()
    plan: dict[str, Any] = visit.state("JSON.parse(JSON.stringify(state.plan))")
    return plan


def test_devices_are_named_as_in_the_lists(visit: Visit) -> None:
    plan = look_at_plan(visit, "view=plan&n=300&degree=8&planned=1&step=1")
    named = drawn(visit, "map.named")
    # At first the sampled ones alone, where their names do not cover one another; all in sight when near enough.
    assert named
    assert set(named) <= set(plan["sampled"])
    for _ in range(3):
        visit.button("Zoom in").click()
    assert not set(drawn(visit, "map.named")) <= set(plan["sampled"])


def test_every_device_with_a_binding_budget_has_a_ring(visit: Visit) -> None:
    plan = look_at_plan(visit)
    ringed = set(drawn(visit, "[...map.binding]"))
    listed = set(
        visit.page.evaluate(
            """Promise.all([import('/studio/core/gauges.js'), import('/studio/ui/store.js')]).then(
            ([{ bindingAt }, { state }]) => bindingAt(state.network, state.story, 1).map(({ device }) => device))"""
        )
    )
    assert ringed == listed
    senders = ringed - set(plan["sampled"])
    assert senders
    # A ring is dark, and there is none at the start, when nothing is sent.
    device = min(senders)
    around = dark_pixels_around(visit, device)
    visit.slide(0)
    assert dark_pixels_around(visit, device) < around


def dark_pixels_around(visit: Visit, device: int) -> int:
    """Nearly black pixels on the circle on which the dashed ring of a device that does not train is drawn."""
    script = f"""(() => {{ const i = {device}; const m = map.canvas;
      const x = map.camera.x + map.places.x[i] * map.camera.scale;
      const y = map.camera.y + map.places.y[i] * map.camera.scale;
      const r = Math.max(3, map.radius(map.network.devices.data[i]) * map.unit) + 3;
      const c = new OffscreenCanvas(m.width, m.height); const pen = c.getContext('2d'); pen.drawImage(m, 0, 0);
      let found = 0;
      for (let a = 0; a < 72; a += 1) {{
        const at = [x + r * Math.cos(a / 11.46), y + r * Math.sin(a / 11.46)].map(Math.round);
        const d = pen.getImageData(...at, 1, 1).data;
        if (d[0] < 70 && d[1] < 75 && d[2] < 85 && d[3] > 200) found += 1; }}
      return found; }})()"""
    visit.allowed = "willReadFrequently"
    return int(drawn(visit, script))


def test_who_covers_whom_is_tinted_and_bystanders_are_grey(visit: Visit) -> None:
    plan = look_at_plan(visit)
    topology = visit.request()["network"]["topology"]
    best: dict[int, tuple[float, int]] = {}
    for k, i, similarity in zip(*(topology[name] for name in ("source", "target", "similarity")), strict=True):
        if i in plan["sampled"] and (k not in best or similarity > best[k][0]):
            best[k] = (similarity, plan["sampled"].index(i))
    cover = drawn(visit, "({ by: [...map.cover.by], hue: [...map.cover.hue] })")
    for device, place in enumerate(cover["by"]):
        if device in plan["sampled"]:
            assert place == plan["sampled"].index(device)
        elif device in best:
            assert place == best[device][1]
        else:
            assert place == cover["hue"][device] == -1
    assert cover["by"].count(-1) > 0
    expect(visit.page.locator("#legend")).to_contain_text("grey = none does")


def test_devices_that_cannot_be_sampled_are_crossed(visit: Visit) -> None:
    look_at_plan(visit)
    devices = visit.request()["network"]["devices"]
    columns = {name: np.array(devices[name]) for name in ("data", "processing_cost", "processing_capacity")}
    over = columns["data"] * columns["processing_cost"] > columns["processing_capacity"] * (1 + 1e-9)
    assert drawn(visit, "[...map.scene.blocked]") == over.astype(int).tolist()
    assert over.any()


def test_a_cross_is_not_drawn_over_a_smaller_device_in_front(visit: Visit) -> None:
    visit.open("n=2")
    # Two devices on one spot: the larger cannot be sampled. From afar there is no room to draw them apart.
    drawn(
        visit,
        """map.show({ n: 2, positions: { x: [0, 0], y: [0, 0] },
          devices: { data: [400, 100], processing_capacity: [1, 9], processing_cost: [1, 1] },
          links: { source: [], target: [], similarity: [], transmit_cost: [] } },
          "capacity", { cover: null, blocked: [1, 0] }) ?? map.zoom(0.25)""",
    )
    colour = """(() => { const { camera: { x, y, scale }, places, canvas } = map;
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d"); copy.drawImage(canvas, 0, 0);
      const at = [x + places.x[1] * scale, y + places.y[1] * scale].map(Math.round);
      return [...copy.getImageData(...at, 1, 1).data]; })()"""
    visit.allowed = "willReadFrequently"
    red, green, blue, _ = drawn(visit, colour)
    assert red > 200 > blue  # yellow, the most capacity, and not the cross
    assert green > 200


def test_the_legend_says_that_colours_are_ranks(visit: Visit) -> None:
    visit.open("n=30&colour=receive")
    held = visit.request()["network"]["devices"]["receive_capacity"]
    expect(visit.page.locator("#legend")).to_contain_text("by rank")
    expect(visit.page.locator("#least")).to_have_text(f"{min(held):.3g}")
    expect(visit.page.locator("#most")).to_have_text(f"{max(held):,.0f}")


def centre(visit: Visit, device: int) -> list[float]:
    """How far from the middle of the drawing a device is, in pixels."""
    script = f"""[map.camera.x + map.places.x[{device}] * map.camera.scale - map.width / 2,
      map.camera.y + map.places.y[{device}] * map.camera.scale - map.height / 2]"""
    found: list[float] = drawn(visit, script)
    return found


def test_a_device_is_found_by_its_number_or_id_and_flown_to(visit: Visit) -> None:
    visit.page.emulate_media(reduced_motion="reduce")
    visit.open("n=200")
    box = visit.page.get_by_label("Find a device")
    box.fill("137")
    box.press("Enter")
    expect(visit.page.locator("#inspector-body").get_by_label("Device", exact=True)).to_have_value("137")
    assert np.abs(centre(visit, 137)).max() < 2
    assert drawn(visit, "map.camera.scale / map.home") > 2
    visit.drop({"devices.csv": b"id,datapoints\ncam-a,20\nhub-b,30\ncam-c,9\n", "links.csv": b"from,to\ncam-a,hub-b\n"})
    expect(visit.page.locator("#panel-network .facts").first).to_contain_text("devices.csv")
    box.fill("HUB")
    box.press("Enter")
    expect(visit.page.locator("#inspector-body .facts").first).to_contain_text("hub-b")
    assert np.abs(centre(visit, 1)).max() < 2
    assert set(drawn(visit, "map.named")) >= {1}
    box.fill("nobody")
    box.press("Enter")
    assert visit.page.evaluate("document.querySelector('#find').validationMessage") == "There is no such device."


def test_layouts_can_be_chosen_and_the_link_keeps_them(visit: Visit) -> None:
    look_at_plan(visit)
    own = drawn(visit, "[...map.places.x]")
    box = visit.page.get_by_label("Layout")
    box.select_option("in groups")
    grouped = drawn(visit, "({ x: [...map.places.x], y: [...map.places.y], by: [...map.cover.by] })")
    assert grouped["x"] != own
    # Whoever is covered by the same device stands nearer to it than to any other that trains.
    sampled = visit.state("state.plan.sampled")
    spots = np.array([grouped["x"], grouped["y"]]).T
    for device, place in enumerate(grouped["by"]):
        if place >= 0:
            away = np.linalg.norm(spots[sampled] - spots[device], axis=1)
            assert away.argmin() == place
    box.select_option("by links")
    visit.wait_until_drawn()
    assert drawn(visit, "[...map.places.x]") not in (own, grouped["x"])
    assert "layout=force" in visit.page.evaluate("import('/studio/ui/store.js').then(s => s.address())")


def test_no_button_covers_the_drawing(visit: Visit) -> None:
    visit.open("n=30")
    box = visit.page.locator("#map").bounding_box()
    assert box is not None
    for corner in ((3, 3), (box["width"] - 3, 3), (3, box["height"] - 3), (box["width"] - 3, box["height"] - 3)):
        assert top_element(visit.page, box["x"] + corner[0], box["y"] + corner[1]) == "map"


def top_element(page: Page, x: float, y: float) -> str:
    found: str = page.evaluate("([x, y]) => document.elementFromPoint(x, y).id", [x, y])
    return found
