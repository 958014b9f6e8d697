"""Experiments: started, followed, cancelled."""

import asyncio
import io
from collections.abc import Iterator

import pytest

from fedsift_client import AsyncClient, Client, InputError
from fedsift_client.validations import ProgressBar
from tests.support.server import Server, running_server

SMALL = {
    "source": {"kind": "generator", "devices": 6, "mean_datapoints": 20, "link_probability": 0.5},
    "schemes": ["heuristic-offload"],
    "sample_size": 2,
    "aggregations": 2,
}


@pytest.fixture(scope="module")
def working(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service with a worker."""
    with running_server(tmp_path_factory.mktemp("working"), workers="1") as server:
        yield server


def test_a_validation_is_followed_to_its_end(working: Server, capsys: pytest.CaptureFixture[str]) -> None:
    with Client(working.url) as client:
        validation = client.validate(**SMALL)
        result = validation.follow()
        again = client.validation(validation.id)
        kinds = [event.kind for event in again.events()]
        again.delete()
    assert result["state"] == again.state == "succeeded"
    assert validation.has_ended
    assert kinds.count("round") == 3  # the first is before any training
    curve = validation.curve("heuristic-offload")
    assert curve.shape == (3,)
    assert validation.curve("heuristic-offload", "loss")[-1] > 0
    with pytest.raises(InputError, match="no scheme 'nothing'"):
        validation.curve("nothing")
    said = capsys.readouterr().err
    assert said.splitlines()[-1].endswith("] 100 % succeeded")
    assert "67 % running" in said


def test_a_validation_with_asyncio(working: Server, capsys: pytest.CaptureFixture[str]) -> None:
    async def follow() -> str:
        async with AsyncClient(working.url) as client:
            validation = await client.validate(**SMALL)
            await (await client.validation(validation.id)).follow(progress=False)
            await validation.refresh()
            await validation.delete()
            return validation.state

    assert asyncio.run(follow()) == "succeeded"
    assert capsys.readouterr().err == ""


def test_a_validation_is_cancelled(server: Server) -> None:
    """This service has no worker, so it ends at once."""
    with Client(server.url) as client:
        validation = client.validate(**SMALL)
        validation.cancel()
        assert validation.follow(progress=False)["state"] == "cancelled"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_stays_on_one_line_of_a_terminal() -> None:
    terminal = Terminal()
    bar = ProgressBar("val", terminal)
    for share in (0.0, 0.5, 0.5, 1.0):
        bar.show(share, "running")
    bar.end()
    lines = terminal.getvalue().split("\r")[1:]
    assert [line.replace("\x1b[K", "") for line in lines] == [
        f"val [{'-' * 30}]   0 % running",
        f"val [{'#' * 15}{'-' * 15}]  50 % running",
        f"val [{'#' * 30}] 100 % running\n",
    ]


def test_a_log_gets_a_line_for_every_tenth() -> None:
    log = io.StringIO()
    bar = ProgressBar("val", log)
    for share in range(101):
        bar.show(share / 100, "running")
    bar.end()
    assert log.getvalue().count("\n") == 11
