"""Drop a file of one's own: the service imports it, the page shows what was assumed and plans."""

import json

from playwright.sync_api import expect

from tests.support.visit import Visit

SIZE = 12
MESH = {
    "nodes": SIZE,
    "latitude": [53.0 + i / 100 for i in range(SIZE)],
    "longitude": [8.8] * SIZE,
    "source": [*range(SIZE), *((i + 1) % SIZE for i in range(SIZE))],
    "target": [*((i + 1) % SIZE for i in range(SIZE)), *range(SIZE)],
    "quality": [0.9, 0.75] * SIZE,
}


def test_a_dropped_mesh_is_imported_with_a_report_and_planned(visit: Visit) -> None:
    visit.open()
    visit.drop({"mesh.json": json.dumps(MESH).encode()})
    panel = visit.page.locator("#panel-network")
    expect(panel.locator(".facts").first).to_contain_text("mesh.json")
    expect(
        panel.get_by_text("Read as mesh as columns (JSON): latitude (12), longitude (12), loss (24)")
    ).to_be_visible()
    expect(panel.get_by_text("Assumed datapoints = 600 (12)")).to_be_visible()
    expect(panel.get_by_text("loss = 1 − quality for 24 links of the file")).to_be_visible()
    network = visit.request()["network"]
    assert network["devices"]["data"] == [600] * SIZE
    assert len(network["topology"]["source"]) == 2 * SIZE
    assert visit.accessibility() == []
    visit.tab("Plan")
    assert visit.plan()["relative_gap"] <= 1e-6

    visit.tab("Network")
    visit.button("Another seed").click()
    expect(panel.get_by_text("Assumed datapoints = 600 (12)")).to_have_count(0)


def test_two_tables_bring_ids_and_label_counts(visit: Visit) -> None:
    visit.open()
    devices = {
        "devices": [{"id": "cam", "label_counts": {"car": 30, "bus": 2}}, {"id": "hub", "label_counts": {"bus": 9}}]
    }
    links = {"links": [{"from": "cam", "to": "hub", "mbps": 5}]}
    visit.drop({"fleet.json": json.dumps({**devices, **links}).encode()})
    expect(visit.page.get_by_text("Assumed datapoints = the sum of label_counts (2)")).to_be_visible()
    assert visit.request()["network"]["devices"]["label_counts"] == [[30, 2], [0, 9]]
    visit.drop({"devices.csv": b"id,datapoints\ncam,20\nhub,30\n", "links.csv": b"from,to\ncam,hub\n"})
    expect(visit.page.locator("#panel-network .facts").first).to_contain_text("devices.csv, links.csv")
    visit.page.get_by_role("spinbutton", name="Device", exact=True).fill("1")
    visit.page.get_by_role("spinbutton", name="Device", exact=True).press("Tab")
    expect(visit.page.locator("#inspector-body .facts").first).to_contain_text("hub")


def test_a_wrong_file_is_told_with_its_place_and_changes_nothing(visit: Visit) -> None:
    visit.allowed = "422"
    visit.open()
    before = visit.request()["network"]
    visit.drop({"links.csv": b"from,to,quality\na,b,90\n"})
    expect(visit.page.get_by_role("alert")).to_contain_text("links.csv, line 2: quality '90' must be from 0 to 1")
    assert visit.request()["network"] == before
