"""Training under churn: without it nothing changes, and with it only what has to."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedl_sim.churn.churn import Churn
from fedl_sim.churn.churned_loop import ChurnedLoop
from fedl_sim.churn.events import happenings
from fedl_sim.churn.policies import POLICIES
from fedl_sim.data.datasets import load_data_set
from fedl_sim.engines.factory import make_engine
from fedl_sim.loop.loop import RunSettings, run_scheme
from fedl_sim.loop.records import SchemeRun
from fedl_sim.network.realisation import RealisationSettings, realise
from sampler.schemes import find_scheme

DATA = load_data_set("digits")
ENGINE = make_engine("compiled", "softmax", DATA)
NETWORK = realise(RealisationSettings(n_devices=20, link_probability=0.3), DATA, 1)
SETTINGS = RunSettings(sample_size=4, aggregations=5)
MUCH = Churn(loss=0.3, straggling=0.3, lost_transfers=0.3, drift=0.2)


def loop_of(policy: str = "heal", churn: Churn = MUCH, scheme: str = "ours-offload", **more: Any) -> ChurnedLoop:
    settings = more.pop("settings", SETTINGS)
    return ChurnedLoop(find_scheme(scheme), NETWORK, DATA, ENGINE, settings, churn=churn, policy=policy, seed=1, **more)


def finish(loop: ChurnedLoop) -> SchemeRun:
    while not loop.finished:
        loop.advance()
    return loop.result()


def trace(folder: Path, *changes: str) -> Churn:
    path = folder / "trace.csv"
    path.write_text("\n".join(["device,period,state", *changes, ""]), encoding="utf-8")
    return Churn(trace=str(path))


@pytest.mark.parametrize("scheme", ["ours-offload", "random-offload", "heuristic", "all"])
@pytest.mark.parametrize("transfer", ["send_once", "redraw"])
def test_without_churn_it_is_the_plain_loop_to_the_last_bit(scheme: str, transfer: str) -> None:
    settings = RunSettings(sample_size=4, aggregations=4, transfer=transfer)
    plain = run_scheme(find_scheme(scheme), NETWORK, DATA, ENGINE, settings, seed=1)
    calm = finish(loop_of("heal", Churn(), scheme, settings=settings, name="run"))
    assert calm.aggregations == plain.aggregations
    assert (calm.sampled, calm.devices) == (plain.sampled, plain.devices)
    assert calm.worst_relative_gap == plain.worst_relative_gap
    assert all(period.arrived == calm.sampled and not period.lost for period in calm.periods)


def test_policies_meet_the_same_events_and_are_equal_until_the_first_loss() -> None:
    churn = Churn(loss=0.1, straggling=0.2)
    events = happenings(churn, 20, 5, 5, seed=1)
    runs = {policy: finish(loop_of(policy, churn)) for policy in POLICIES}
    for run in runs.values():
        for now, period in zip(events, run.periods, strict=True):
            there = [i for i in period.chosen if now.present[i]]
            assert period.lost == tuple(i for i in there if now.lost[i])
            assert period.arrived == tuple(i for i in there if now.arrived[i])
    first = next(k for k, period in enumerate(runs["fixed"].periods, start=1) if period.lost)
    assert 1 <= first < 5
    assert len({run.aggregations[: first + 1] for run in runs.values()}) == 1
    assert len({run.aggregations for run in runs.values()}) > 1


@pytest.mark.parametrize("policy", POLICIES)
def test_a_run_goes_on_through_everything_and_can_be_repeated(policy: str) -> None:
    run = finish(loop_of(policy))
    assert finish(loop_of(policy)) == run
    assert len(run.aggregations) == 6
    assert all(np.isfinite(record.loss) for record in run.aggregations)
    events = happenings(MUCH, 20, 5, 5, seed=1)
    for now, period in zip(events, run.periods, strict=True):
        if policy != "fixed":
            assert now.present[list(period.chosen)].all()
            assert len(period.chosen) == min(4, now.present.sum())
    assert sum(device.processed for device in run.devices) == run.aggregations[-1].processed


def test_a_lost_device_is_replaced_and_the_others_keep_what_they_hold(tmp_path: Path) -> None:
    first = loop_of("heal", Churn()).chosen.tolist()
    loop = loop_of("heal", trace(tmp_path, f"{first[0]},1.5,down"))
    for _ in range(3):
        loop.advance()
    assert loop.periods[1].lost == (first[0],)
    assert set(loop.periods[1].arrived) == set(first[1:])
    held = {i: len(loop.holdings.data(i)) for i in first}
    loop.advance()
    (newcomer,) = loop.periods[2].joined
    assert set(loop.periods[2].chosen) == {newcomer, *first[1:]}
    assert set(loop.periods[2].arrived) == set(loop.periods[2].chosen)
    assert set(loop.holdings.devices) == set(loop.periods[2].chosen)
    assert all(len(loop.holdings.data(i)) >= held[i] for i in first[1:])
    assert sum(held.values()) > sum(int(NETWORK.partition.sizes[i]) for i in first)


def test_a_fixed_set_goes_on_without_its_device_and_takes_it_back_empty(tmp_path: Path) -> None:
    first = loop_of("fixed", Churn()).chosen.tolist()
    loop = loop_of("fixed", trace(tmp_path, f"{first[0]},1.99,down", f"{first[0]},3,up"))
    for _ in range(3):
        loop.advance()
    assert len(loop.holdings.data(first[0])) > NETWORK.partition.sizes[first[0]]
    loop.advance()
    assert set(loop.periods[2].arrived) == set(first[1:])
    assert first[0] not in loop.holdings.devices
    loop.advance()
    assert set(loop.periods[3].arrived) == set(first)
    run = finish(loop)
    assert run.sampled == tuple(first)


def test_while_nobody_is_there_the_model_stays(tmp_path: Path) -> None:
    first = loop_of("fixed", Churn()).chosen.tolist()
    loop = loop_of("fixed", trace(tmp_path, *(f"{i},1,down" for i in first), *(f"{i},3,up" for i in first)))
    run = finish(loop)
    one, two, three, four = run.aggregations[1:5]
    assert [len(period.arrived) for period in run.periods] == [4, 0, 0, 4, 4]
    assert (one.accuracy, one.processed, one.gradient_norm) == (three.accuracy, three.processed, three.gradient_norm)
    assert two.loss == one.loss
    assert four.loss != three.loss


def test_a_device_that_is_down_sends_nothing(tmp_path: Path) -> None:
    calm = loop_of("fixed", Churn())
    others = [i for i in range(20) if i not in calm.chosen.tolist()]
    run = finish(loop_of("fixed", trace(tmp_path, *(f"{i},0,down" for i in others))))
    assert run.aggregations[-1].moved == 0
    half = finish(loop_of("fixed", trace(tmp_path, *(f"{i},0.5,down" for i in others))))
    # They were there for two of five steps, so a part of the first period's plan was carried out.
    assert 0 < half.aggregations[1].moved < finish(calm).aggregations[1].moved
    assert half.aggregations[1].moved == half.aggregations[-1].moved


def test_a_straggler_trains_on_less_and_stays_chosen() -> None:
    churn = Churn(straggling=0.5)
    run, calm = finish(loop_of("heal", churn)), finish(loop_of("heal", Churn()))
    assert run.sampled == calm.sampled
    assert not any(period.joined for period in run.periods)
    assert run.aggregations[-1].processed < 0.9 * calm.aggregations[-1].processed


@pytest.mark.parametrize("transfer", ["send_once", "redraw"])
def test_the_planner_learns_what_did_not_arrive(transfer: str) -> None:
    """What it believes devices hold stays near the truth, though three transfers of four are lost."""
    settings = RunSettings(sample_size=4, aggregations=3, transfer=transfer)
    loop = loop_of("fixed", Churn(lost_transfers=0.75), settings=settings)
    finish(loop)
    state = loop.state
    assert state is not None
    own = NETWORK.partition.sizes[state.sampled].sum()
    held = sum(len(loop.holdings.data(i)) for i in state.sampled.tolist()) - own
    assert held > 20
    assert state.data.sum() - own == pytest.approx(held, rel=0.25)
    assert loop.totals.predicted > 1.5 * held


def test_the_work_of_a_lost_device_is_lost(tmp_path: Path) -> None:
    settings = RunSettings(sample_size=1, aggregations=1)
    (device,) = loop_of("heal", Churn(), settings=settings).chosen.tolist()
    run = finish(loop_of("heal", trace(tmp_path, f"{device},0.9,down"), settings=settings))
    assert run.periods[0].lost == (device,)
    assert run.aggregations[1].processed > 0
    assert run.aggregations[1].loss == run.aggregations[0].loss


def test_a_device_that_is_back_at_once_has_lost_its_data_all_the_same(tmp_path: Path) -> None:
    first = loop_of("fixed", Churn()).chosen.tolist()
    senders = [i for i in range(20) if i not in first]
    shortly = [f"{first[0]},1.9,down", f"{first[0]},1.95,up"]
    loop = loop_of("fixed", trace(tmp_path, *shortly, *(f"{i},2,down" for i in senders)))
    for _ in range(3):
        loop.advance()
    assert len(loop.holdings.data(first[0])) > NETWORK.partition.sizes[first[0]]
    loop.advance()
    np.testing.assert_array_equal(loop.holdings.data(first[0]), NETWORK.partition.of(first[0]))
    assert loop.periods[2].arrived == tuple(first)


def test_devices_train_on_what_their_data_has_become() -> None:
    loop = loop_of("fixed", Churn(drift=0.5))
    finish(loop)
    for device in loop.chosen.tolist():
        own = NETWORK.partition.of(device)
        assert (loop.holdings.data(device)[: len(own)] != own).mean() > 0.8
