"""Work and parts: stored JSON stays readable, and what is damaged is named."""

import json
from dataclasses import replace
from typing import Any

import pytest

from fedl_sim.contract import (
    ContractError,
    Delivered,
    GeneratorSettings,
    GivenNetwork,
    GivenPeriod,
    Outline,
    OwnData,
    Part,
    Work,
    decode,
)
from tests.support import stored_work

STORED = (stored_work.DRAWN, stored_work.DRAWN_WITHOUT_MEAN, stored_work.GIVEN, stored_work.WITH_LABELS)


@pytest.mark.parametrize("stored", STORED)
def test_what_databases_hold_is_read_and_written_as_it_was(stored: str) -> None:
    work = Work.from_json(decode(stored))
    assert json.loads(json.dumps(work.to_json())) == json.loads(stored)
    assert hash(work) == hash(Work.from_json(decode(stored)))


def test_a_drawn_network_has_the_values_it_was_stored_with() -> None:
    work = Work.from_json(decode(stored_work.DRAWN))
    assert work.source == GeneratorSettings(30, "erdos-renyi", 0.1, 40.0, "loose")
    assert (work.data_set, work.model, work.labels_per_device) == ("digits", None, 3)
    assert (work.sample_size, work.aggregations, work.aggregation_period) == (4, 5, 5)
    assert (work.learning_rate, work.batch_size, work.target, work.tolerance) == (0.01, 10, 0.85, 0.1)
    assert work.plan is None
    assert work.transfer == "redraw"


def test_new_work_says_how_schemes_send() -> None:
    stored = json.loads(stored_work.DRAWN) | {"transfer": "send_once"}
    work = Work.from_json(stored)
    assert work.transfer == "send_once"
    assert json.loads(json.dumps(work.to_json())) == stored


def test_a_given_network_has_its_changes_and_its_plan() -> None:
    work = Work.from_json(decode(stored_work.GIVEN))
    assert isinstance(work.source, GivenNetwork)
    assert work.source.devices.data == (30.0, 40.0, 20.0)
    assert work.source.links.source == (1, 2)
    first, second = work.source.changes
    assert (first.step, first.devices, first.links) == (2, (("receive_capacity", (5.0, 5.0, 5.0)),), None)
    assert second.links is not None
    assert second.links.transmit_cost == (30.0,)
    assert work.plan is not None
    assert (work.plan.sampled, work.plan.steps[0].fraction, work.plan.steps[1].source) == ((0,), (0.5,), ())


def test_a_part_is_its_work_with_scheme_seed_and_draw_beside_it() -> None:
    part = Part(Work.from_json(decode(stored_work.DRAWN)), "random-offload", 7, 2)
    told = json.loads(json.dumps(part.to_json()))
    assert told == json.loads(stored_work.DRAWN) | {"scheme": "random-offload", "seed": 7, "draw": 2}
    assert Part.from_json(told) == part


def test_periods_of_a_run_that_changed_are_read_as_they_were_written() -> None:
    delivered = Delivered((1,), (0,), (3.5,))
    own = OwnData((1, 2), (5.0, 0.0), ((1.0, 4.0), (0.0, 0.0)))
    periods = (GivenPeriod((0, 2), (2,), delivered), GivenPeriod((0, 1), own_data=own))
    work = Work.from_json(decode(stored_work.GIVEN))
    assert work.plan is not None
    changed = replace(work, plan=replace(work.plan, periods=periods))
    assert Work.from_json(json.loads(json.dumps(changed.to_json()))) == changed
    assert "periods" not in work.to_json()["plan"]


def with_(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy with one place changed; `...` removes it."""
    copy = json.loads(json.dumps(value))
    place = copy
    for name in path[:-1]:
        place = place[name]
    if new is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = new
    return copy


@pytest.mark.parametrize(
    ("path", "new", "field", "reason"),
    [
        (("data_set",), ..., "data_set", "is missing"),
        (("data_set",), 3, "data_set", "must be a text, is an integer"),
        (("data_set",), "cifar", "data_set", "must be one of digits, mnist, fashion-mnist"),
        (("model",), "transformer", "model", "must be one of softmax, mlp, cnn"),
        (("sample_size",), "four", "sample_size", "must be an integer, is a text"),
        (("sample_size",), 4.0, "sample_size", "must be an integer, is a number"),
        (("sample_size",), True, "sample_size", "must be an integer, is a boolean"),
        (("sample_size",), 0, "sample_size", "must be at least 1"),
        (("learning_rate",), None, "learning_rate", "must be a number, is null"),
        (("learning_rate",), float("nan"), "learning_rate", "must be positive"),
        (("target",), 1.5, "target", r"must lie in \(0, 1\]"),
        (("tolerance",), -1, "tolerance", "must not be negative"),
        (("momentum",), 0.9, "momentum", "is not a field of this release"),
        (("network",), None, "network", "either a network or a generator must be there"),
        (("generator",), {"n_devices": 3}, "network", "either a network or a generator must be there"),
        (("network",), [], "network", "must be an object, is a list"),
        (("network", "devices"), 1, "network.devices", "must be an object, is an integer"),
        (("network", "devices", "data"), [1.0, "2", 3.0], "network.devices.data", "must be a list of numbers"),
        (("network", "devices", "data"), [1.0], "network.devices.processing_capacity", "must have 1 values"),
        (("network", "devices", "label_counts"), [[1], 2, [3]], "network.devices.label_counts[1]", "list of numbers"),
        (("network", "devices", "label_counts"), [[1]], "network.devices.label_counts", "must have 3 rows"),
        (("network", "links", "source"), [1.0, 2.0], "network.links.source", "must be a list of integers"),
        (("network", "links", "similarity"), [], "network.links.similarity", "must have 2 values"),
        (("network", "changes"), {}, "network.changes", "must be a list, is an object"),
        (("network", "changes", 1, "step"), 0, "network.changes[1].step", "must be at least 1"),
        (("network", "changes", 0, "devices", "data"), [1, 2, 3], "network.changes[0].devices.data", "is not a field"),
        (("network", "changes", 1, "links", "target"), None, "network.changes[1].links.target", "must be a list"),
        (("transfer",), "twice", "transfer", "must be one of send_once, redraw"),
        (("plan", "transfer"), "twice", "plan.transfer", "must be one of send_once, redraw"),
        (("plan", "sampled"), [], "plan.sampled", "must name a device"),
        (("plan", "steps", 0, "fraction"), [], r"plan.steps\[0\].fraction", "must have 1 values"),
        (("plan", "steps", 1), "nothing", r"plan.steps\[1\]", "must be an object, is a text"),
        (("plan", "periods"), {}, "plan.periods", "must be a list, is an object"),
        (("plan", "periods"), [{"sampled": [], "lost": []}], r"plan.periods\[0\].sampled", "must name a device"),
        (
            ("plan", "periods"),
            [{"sampled": [0], "lost": [1]}],
            r"plan.periods\[0\].lost",
            "must be among those sampled",
        ),
        (("plan", "periods"), [{"sampled": [0]}], r"plan.periods\[0\].lost", "is missing"),
        (
            ("plan", "periods"),
            [{"sampled": [0], "lost": [], "delivered": {"source": [1], "target": [0], "datapoints": []}}],
            r"plan.periods\[0\].delivered.datapoints",
            "must have 1 values",
        ),
        (
            ("plan", "periods"),
            [{"sampled": [0], "lost": [], "own_data": {"device": [1], "datapoints": [1.0], "label_counts": []}}],
            r"plan.periods\[0\].own_data.label_counts",
            "must have 1 values",
        ),
    ],
)
def test_damage_is_named_with_field_and_reason(path: tuple[Any, ...], new: Any, field: str, reason: str) -> None:
    value = with_(json.loads(stored_work.GIVEN), path, new)
    with pytest.raises(ContractError, match=reason) as caught:
        Work.from_json(value)
    assert caught.value.field == field.replace("\\", "")
    assert str(caught.value) == f"{caught.value.field}: {caught.value.reason}"


@pytest.mark.parametrize(
    ("path", "new", "field"),
    [
        (("generator",), {}, "generator.n_devices"),
        (("generator", "n_devices"), 0, "generator.n_devices"),
        (("generator", "topology"), "star", "generator.topology"),
        (("generator", "budget"), "lavish", "generator.budget"),
        (("generator", "link_probability"), 0, "generator.link_probability"),
        (("generator", "mean_datapoints"), -1, "generator.mean_datapoints"),
        (("generator", "colour"), "red", "generator.colour"),
    ],
)
def test_damage_of_a_generator_is_named(path: tuple[Any, ...], new: Any, field: str) -> None:
    with pytest.raises(ContractError) as caught:
        Work.from_json(with_(json.loads(stored_work.DRAWN), path, new))
    assert caught.value.field == field


@pytest.mark.parametrize("value", [None, [], 3, "work", True])
def test_what_is_no_object_is_no_work(value: object) -> None:
    with pytest.raises(ContractError, match="must be an object"):
        Work.from_json(value)


@pytest.mark.parametrize("text", [b"", b"{", b"\xff\xfe", b"[" * 100_000, "nothing"])
def test_what_is_no_json_is_a_contract_error(text: str | bytes) -> None:
    with pytest.raises(ContractError, match="is not JSON"):
        decode(text)


def test_a_part_needs_a_scheme_and_the_scheme_plan_a_plan() -> None:
    work = Work.from_json(decode(stored_work.DRAWN))
    with pytest.raises(ContractError, match="plan: is missing"):
        Part(work, "plan", 0, 0)
    for name, new in (("scheme", 1), ("seed", "0"), ("seed", -1), ("draw", None)):
        value = json.loads(stored_work.DRAWN) | {"scheme": "all", "seed": 0, "draw": 0} | {name: new}
        with pytest.raises(ContractError) as caught:
            Part.from_json(value)
        assert caught.value.field == name


def test_an_outline_is_readable_although_the_rest_is_damaged() -> None:
    outline = Outline.from_json(json.loads(stored_work.GIVEN) | {"network": 3, "plan": None})
    assert (outline.data_set, outline.sample_size, outline.aggregations) == ("digits", 1, 2)
    assert (outline.aggregation_period, outline.target, outline.tolerance) == (2, 0.85, 0.1)
    with pytest.raises(ContractError, match="target: is missing"):
        Outline.from_json(with_(json.loads(stored_work.GIVEN), ("target",), ...))
