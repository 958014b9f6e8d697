"""Drawn lives have the chances that were asked for, and traces are read as they are written."""

from pathlib import Path

import numpy as np
import pytest

from fedl_sim.churn.churn import Churn
from fedl_sim.churn.events import happenings
from fedl_sim.churn.lives import draw_lives, lives_of, read_trace
from fedl_sim.errors import InvalidSettingError


def test_devices_are_lost_and_come_back_as_often_as_said() -> None:
    churn = Churn(loss=0.1, absence=3.0)
    periods = happenings(churn, 4000, 40, 5, seed=1)[20:]  # by then it no longer matters that all were up at first
    present = np.array([period.present for period in periods])
    lost = np.array([period.lost for period in periods])
    assert lost[present].mean() == pytest.approx(0.1, abs=0.005)
    assert present.mean() == pytest.approx(churn.mean_life / (churn.mean_life + churn.absence), abs=0.01)


def test_a_life_does_not_depend_on_the_other_devices() -> None:
    few, many = (draw_lives(Churn(loss=0.3), n, 10, seed=2) for n in (5, 50))
    mine = many.device < 5
    assert len(few.device) > 5
    for name in ("device", "time", "up"):
        np.testing.assert_array_equal(getattr(few, name), getattr(many, name)[mine])
    assert len(draw_lives(Churn(), 50, 10, seed=2).device) == 0


def test_a_device_that_never_comes_back_goes_down_once() -> None:
    lives = draw_lives(Churn(loss=0.5, absence=float("inf")), 20, 30, seed=0)
    assert not lives.up.any()
    assert len(np.unique(lives.device)) == len(lives.device) > 15


def test_a_trace_gives_the_lives_that_it_was_written_from(tmp_path: Path) -> None:
    drawn = draw_lives(Churn(loss=0.3), 10, 8, seed=3)
    changes = list(zip(drawn.device.tolist(), drawn.time.tolist(), drawn.up.tolist(), strict=True))
    lines = [f"{device},{time!r},{'up' if up else 'down'}" for device, time, up in reversed(changes)]
    path = tmp_path / "trace.csv"
    path.write_text("\n".join(["device,period,state", *lines, ""]), encoding="utf-8")
    read = lives_of(Churn(trace=str(path)), 10, 8, seed=99)
    for name in ("device", "time", "up"):
        np.testing.assert_array_equal(getattr(read, name), getattr(drawn, name))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("x,1,down", "line 3: device and period must be numbers"),
        ("1", "line 3: device and period must be numbers"),
        ("4,1,down", r"line 3: device must lie in 0\.\.3, is 4"),
        ("1,-1,down", "line 3: period must be a number from 0 on, is -1"),
        ("1,inf,down", "line 3: period must be a number from 0 on, is inf"),
        ("1,2,gone", "line 3: state must be up or down, is 'gone'"),
    ],
)
def test_a_bad_line_is_named(line: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text(f"device,period,state\n0,1,down\n{line}\n", encoding="utf-8")
    with pytest.raises(InvalidSettingError, match=reason):
        read_trace(path, 4)


def test_what_is_no_trace_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    with pytest.raises(InvalidSettingError, match="cannot be read"):
        read_trace(path, 4)
    path.write_text("period,device,state\n")
    with pytest.raises(InvalidSettingError, match="the first line must be device,period,state"):
        read_trace(path, 4)
    path.write_bytes(b"device,period,state\n\xff\n")
    with pytest.raises(InvalidSettingError, match="cannot be read"):
        read_trace(path, 4)
