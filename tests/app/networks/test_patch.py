"""Patches as documents: a stored network or fleet that is patched is the one that is sent anew."""

import json
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from app.http.problems import InvalidRequestError
from app.networks.patch import PatchIn
from app.networks.schemas import NetworkRequest
from app.networks.stored import Stored, unpacked
from app.wire.arrays import read_model
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS

COUNT = 6
NEEDED = {"fleet": ("datapoints", "samples_per_second"), "network": DEVICE_COLUMNS}
OPTIONAL = {
    "fleet": ("load", "airtime_seconds", "joules_per_sample", "group", "may_send", "label_counts"),
    "network": (),
}
LINK = {"fleet": (("mbps",), ("loss", "joules_per_megabyte", "similarity")), "network": (LINK_COLUMNS[2:], ())}


def value(draw: np.random.Generator, name: str) -> Any:
    if name == "group":
        return str(draw.choice(["site-a", "site-b"]))
    if name == "may_send":
        return bool(draw.random() < 0.8)
    if name == "label_counts":
        return {label: int(draw.integers(0, 9)) for label in ("car", "bus", "tram") if draw.random() < 0.7}
    return round(float(draw.uniform(0.1, 0.9)), 3)


def row(draw: np.random.Generator, needed: tuple[str, ...], optional: tuple[str, ...]) -> dict[str, Any]:
    chosen = [*needed, *(name for name in optional if draw.random() < 0.5)]
    return {name: value(draw, name) for name in chosen}


def left_out(draw: np.random.Generator, told: dict[str, Any], optional: tuple[str, ...]) -> dict[str, Any]:
    """Some of the optional fields that a row does not tell, to be unset."""
    chosen = [name for name in optional if name not in told and name != "may_send" and draw.random() < 0.3]
    return {"unset": chosen} if chosen else {}


def stored(kind: str, devices: dict[str, dict[str, Any]], links: dict[tuple[str, str], dict[str, Any]]) -> Stored:
    """What a body with these devices and links is stored as."""
    if kind == "fleet":
        rows = [{"id": name, **fields} for name, fields in devices.items()]
        ends = [{"from": s, "to": t, **fields} for (s, t), fields in links.items()]
        body: dict[str, Any] = {"step_seconds": 60, "datapoint_bytes": 3136, "devices": rows, "links": ends}
    else:
        number = {name: i for i, name in enumerate(devices)}
        columns: dict[str, Any] = {name: [fields[name] for fields in devices.values()] for name in DEVICE_COLUMNS}
        topology: dict[str, Any] = {name: [fields[name] for fields in links.values()] for name in LINK_COLUMNS[2:]}
        topology |= {"source": [number[s] for s, _ in links], "target": [number[t] for _, t in links]}
        body = {"devices": {"id": list(devices), **columns}, "topology": {"kind": "links", **topology}}
    return read_model(NetworkRequest, json.dumps({kind: body}).encode()).to_domain()


def assert_same(one: Stored, other: Stored) -> None:
    first, second = one.given, other.given
    assert first.ids is not None
    assert second.ids is not None
    assert first.ids.names == second.ids.names
    for name in DEVICE_COLUMNS:
        assert_array_equal(getattr(first.network.devices, name), getattr(second.network.devices, name))
    for name in LINK_COLUMNS:
        assert_allclose(getattr(first.network.links, name), getattr(second.network.links, name), rtol=1e-9, atol=1e-12)
    if first.network.devices.label_counts is None or second.network.devices.label_counts is None:
        assert first.network.devices.label_counts is second.network.devices.label_counts
    else:
        assert_allclose(first.network.devices.label_counts, second.network.devices.label_counts)
    assert (first.energy is None) == (second.energy is None)
    if first.energy is not None and second.energy is not None:
        assert_allclose(first.energy.processing, second.energy.processing)
        assert_allclose(first.energy.transmit, second.energy.transmit)
    assert first.fleet == second.fleet or kind_of_rates(first) == pytest.approx(kind_of_rates(second), abs=1e-6)


def kind_of_rates(given: Any) -> dict[str, float]:
    return (given.fleet.similarity.match_rates or {}) if given.fleet else {}


@pytest.mark.parametrize("kind", ["network", "fleet"])
@pytest.mark.parametrize("seed", range(30))
def test_what_is_patched_is_what_is_sent_anew(kind: str, seed: int) -> None:
    draw = np.random.default_rng(seed)
    needed, optional = NEEDED[kind], OPTIONAL[kind]
    link_needed, link_optional = LINK[kind]
    names = [f"d{i}" for i in range(COUNT)]
    devices = {name: row(draw, needed, optional) for name in names[:4]}
    links = {(s, t): row(draw, link_needed, link_optional) for s in devices for t in devices if s < t}
    before = stored(kind, devices, links)

    removed = [name for name in names[:3] if draw.random() < 0.3]
    added = {name: row(draw, needed, optional) for name in names[4:] if draw.random() < 0.6}
    changed = {name: row(draw, (), needed + optional) for name in devices if draw.random() < 0.6}
    left = [name for name in [*devices, *added] if name not in removed]
    gone = [ends for ends in links if draw.random() < 0.2]
    told = {}
    for ends in [(s, t) for s in left for t in left if s != t and (s, t) not in gone and draw.random() < 0.4]:
        told[ends] = row(
            draw, () if ends in links else link_needed, link_needed + link_optional if ends in links else link_optional
        )
    number = {name: i for i, name in enumerate([*devices, *added])}
    by_number = seed % 2

    def ends_of(s: str, t: str) -> dict[str, Any]:
        return {"source": number[s], "target": number[t]} if by_number else {"from": s, "to": t}

    def name_of(name: str) -> dict[str, Any]:
        return {"index": number[name]} if by_number else {"id": name}

    unset = {name: left_out(draw, fields, optional) for name, fields in changed.items()}
    link_unset = {ends: left_out(draw, fields, link_optional) for ends, fields in told.items()}

    patch = {
        "devices": [{**name_of(name), **fields, **unset[name]} for name, fields in changed.items()],
        "add_devices": [{"id": name, **fields} for name, fields in added.items()],
        "remove_devices": [name_of(name) for name in removed],
        "links": [{**ends_of(*ends), **fields, **link_unset[ends]} for ends, fields in told.items()],
        "remove_links": [ends_of(*ends) for ends in gone],
    }
    after = before.patched(PatchIn.model_validate(patch))

    whole = {name: {**fields, **changed.get(name, {})} for name, fields in devices.items()} | added
    joined = {ends: fields for ends, fields in links.items() if ends not in gone}
    joined |= {ends: {**joined.get(ends, {}), **fields} for ends, fields in told.items()}
    for rows, gone_fields in ((whole, unset), (joined, link_unset)):
        for key, fields in gone_fields.items():
            for name in fields.get("unset", ()):
                rows[key].pop(name, None)  # type: ignore[index]
    anew = stored(
        kind,
        {name: whole[name] for name in left},
        {ends: fields for ends, fields in joined.items() if set(ends) <= set(left)},
    )
    assert_same(after, anew)
    again = unpacked(after.packed())
    assert_same(again, anew)
    assert again.content() == after.content()
    assert after.counts == anew.counts


DEVICE = dict.fromkeys(DEVICE_COLUMNS, 1.0)
LINK_FIELDS = {"similarity": 0.1, "transmit_cost": 1}


@pytest.mark.parametrize(
    ("patch", "pointer", "detail"),
    [
        ({"devices": [{"data": 1}]}, "/devices/0/id", "give `id` or `index`"),
        ({"devices": [{"id": "a", "index": 0}]}, "/devices/0/id", "give `id` or `index`, not both"),
        ({"devices": [{"id": "z"}]}, "/devices/0/id", "is the id of no device"),
        ({"devices": [{"index": 2}]}, "/devices/0/index", "must be below the number of devices, 2"),
        ({"devices": [{"id": "a"}, {"index": 0}]}, "/devices/1", "names a device that an earlier row names"),
        ({"devices": [{"id": "a", "load": 0.1}]}, "/devices/0/load", "is a field of a fleet; this is a network"),
        ({"devices": [{"id": "a", "unset": ["load"]}]}, "/devices/0/unset", "is a field of a fleet; this is a network"),
        ({"devices": [{"id": "a", "data": 1e-13}]}, "/devices/0/data", "must be 0 or at least 1e-12"),
        (
            {"devices": [{"id": "a", "label_counts": {"0": 1}}]},
            "/devices/0/label_counts",
            "the network has no label counts",
        ),
        ({"add_devices": [DEVICE]}, "/add_devices/0/id", "is missing: the devices have ids"),
        ({"add_devices": [{"id": "a", **DEVICE}]}, "/add_devices/0/id", "is the id of another device"),
        ({"add_devices": [{"id": "c", "data": 1}]}, "/add_devices/0/processing_capacity", "is missing"),
        (
            {"add_devices": [{"id": "c", **DEVICE}], "devices": [{"id": "c", "data": 2}]},
            "/devices/0",
            "is a device that the patch adds",
        ),
        ({"remove_devices": [{"id": "a"}, {"id": "b"}]}, "/remove_devices", "must leave at least one device"),
        ({"links": [{"from": "a", "to": "a"}]}, "/links/0", "links a device with itself"),
        ({"links": [{"from": "a"}]}, "/links/0/to", "give `to` or `target`"),
        (
            {"links": [{"from": "a", "to": "b", "similarity": 0.1}]},
            "/links/0/transmit_cost",
            "is missing: the link is new",
        ),
        ({"links": [{"from": "b", "to": "a", "mbps": 2}]}, "/links/0/mbps", "is a field of a fleet; this is a network"),
        (
            {"links": [{"from": "b", "to": "a", "similarity": 0}, {"source": 1, "target": 0}]},
            "/links/1",
            "names a link that an earlier row names",
        ),
        (
            {"links": [{"from": "b", "to": "a"}], "remove_links": [{"from": "b", "to": "a"}]},
            "/remove_links/0",
            "is a link that `links` changes",
        ),
        (
            {"links": [{"from": "a", "to": "b", **LINK_FIELDS}], "remove_devices": [{"id": "b"}]},
            "/links/0",
            "names a device that is removed",
        ),
        ({"remove_links": [{"from": "a", "to": "b"}]}, "/remove_links/0", "is no link of this network"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(patch: dict[str, Any], pointer: str, detail: str) -> None:
    before = stored("network", {"a": DEVICE, "b": DEVICE}, {("b", "a"): LINK_FIELDS})
    with pytest.raises(InvalidRequestError) as caught:
        before.patched(PatchIn.model_validate(patch))
    assert [(one.pointer, one.detail) for one in caught.value.errors] == [(pointer, detail)]


@pytest.mark.parametrize(
    ("patch", "pointer"),
    [
        ({"devices": [{"id": "b", "storage_datapoints": 3}]}, "/devices/0/storage_datapoints"),
        ({"devices": [{"index": 1, "airtime_seconds": 99}]}, "/devices/0/airtime_seconds"),
        (
            {"add_devices": [{"id": "c", "datapoints": 9, "samples_per_second": 1, "storage_datapoints": 3}]},
            "/add_devices/0/storage_datapoints",
        ),
        ({"add_devices": [{"id": "c", "datapoints": 9}]}, "/add_devices/0/samples_per_second"),
        ({"devices": [{"id": "a", "data": 4}]}, "/devices/0/data"),
        ({"devices": [{"id": "a", "label_counts": {"car": -1}}]}, "/devices/0/label_counts"),
        ({"links": [{"from": "a", "to": "b", "loss": 0.1}]}, "/links/0/mbps"),
        ({"links": [{"from": "b", "to": "a", "transmit_cost": 0.1}]}, "/links/0/transmit_cost"),
    ],
)
def test_a_patch_of_a_fleet_is_refused_where_it_is_wrong(patch: dict[str, Any], pointer: str) -> None:
    device = {"datapoints": 5, "samples_per_second": 4}
    before = stored("fleet", {"a": device, "b": device}, {("b", "a"): {"mbps": 2}})
    made = PatchIn.model_validate(patch)
    with pytest.raises(InvalidRequestError) as caught:
        before.patched(made).check(made, before)
    assert [one.pointer for one in caught.value.errors] == [pointer]


def test_devices_without_ids_are_named_by_number() -> None:
    columns = {name: [1.0, 1.0] for name in DEVICE_COLUMNS}
    body = {"devices": columns, "topology": {"kind": "links", **{name: [] for name in LINK_COLUMNS}}}
    before = read_model(NetworkRequest, json.dumps({"network": body}).encode()).to_domain()
    after = before.patched(PatchIn.model_validate({"devices": [{"index": 1, "data": 3}], "add_devices": [DEVICE]}))
    assert after.given.network.devices.data.tolist() == [1, 3, 1]
    with pytest.raises(InvalidRequestError) as caught:
        before.patched(PatchIn.model_validate({"devices": [{"id": "a", "data": 3}]}))
    assert caught.value.errors[0].detail == "the devices have no ids: give their numbers"
    with pytest.raises(InvalidRequestError) as caught:
        before.patched(PatchIn.model_validate({"add_devices": [{"id": "a", **DEVICE}]}))
    assert caught.value.errors[0].detail == "the devices have no ids"


def test_label_counts_of_a_network_are_changed_by_column() -> None:
    columns = {name: [1.0, 1.0] for name in DEVICE_COLUMNS} | {"label_counts": [[1, 0], [0, 1]]}
    body = {"devices": columns, "topology": {"kind": "links", **{name: [] for name in LINK_COLUMNS}}}
    before = read_model(NetworkRequest, json.dumps({"network": body}).encode()).to_domain()
    patch = {"devices": [{"index": 0, "label_counts": {"1": 5}}], "add_devices": [{**DEVICE, "label_counts": {"0": 7}}]}
    counts = before.patched(PatchIn.model_validate(patch)).given.network.devices.label_counts
    assert counts is not None
    assert counts.tolist() == [[0, 5], [0, 1], [7, 0]]
    for wrong in ({"2": 1}, {"car": 1}, {"0": -1}):
        with pytest.raises(InvalidRequestError) as caught:
            before.patched(PatchIn.model_validate({"devices": [{"index": 0, "label_counts": wrong}]}))
        assert caught.value.errors[0].pointer == "/devices/0/label_counts"
