"""Nothing is lost and nothing is done twice: workers, the service and the database die at random moments."""

import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.crew import Crew
from tests.support.postgres import Postgres
from tests.support.waiting import PATIENCE

KILLS = 6
# Enough rounds for the kills to fit in on a fast machine, where several are kept between two of them.
AGGREGATIONS = 60


def test_kills_change_nothing(crew: Crew) -> None:
    crew.hire(3)
    job: dict[str, Any] = {"aggregations": AGGREGATIONS}
    undisturbed = crew.submit("ours-offload", "random-offload", **job)
    assert crew.wait(undisturbed).state == "succeeded"

    chance = random.Random(1)
    disturbed = crew.submit("ours-offload", "random-offload", **job)
    kills = 0
    for _ in range(10 * KILLS):
        if kills == KILLS or crew.find(disturbed).finished_at:
            break
        crew.until_more_rounds(disturbed, 2)
        time.sleep(chance.uniform(0, 0.1))
        pid = crew.at_work(disturbed)
        if pid is None:
            continue
        os.kill(pid, signal.SIGKILL)
        victim = next(process for process in crew.processes if process.pid == pid)
        victim.wait(PATIENCE)
        kills += 1
        crew.hire(1)
    ended = crew.wait(disturbed)
    assert kills == KILLS
    assert ended.state == "succeeded"
    assert ended.rounds_done == ended.rounds == 2 * (AGGREGATIONS + 1)
    assert crew.measured(disturbed) == crew.measured(undisturbed)
    assert crew.begun(undisturbed) == ended.rounds
    assert crew.begun(disturbed) <= ended.rounds + kills
    crew.check_events(disturbed)


def test_a_frozen_worker_is_replaced_and_does_no_harm_when_it_thaws(database_url: str, tmp_path: Path) -> None:
    with Crew(database_url, tmp_path) as crew:
        crew.hire(2)
        undisturbed = crew.submit("ours-offload", aggregations=40)
        crew.wait(undisturbed)
        validation = crew.submit("ours-offload", aggregations=200)
        crew.until(lambda: crew.find(validation).rounds_done > 5)
        pid = crew.at_work(validation)
        assert pid is not None
        crew.freeze(pid)
        done = crew.find(validation).rounds_done
        crew.until(lambda: crew.find(validation).rounds_done > done + 2)
        assert crew.at_work(validation) != pid
        os.kill(pid, signal.SIGCONT)
        victim = next(process for process in crew.processes if process.pid == pid)
        assert victim.wait(PATIENCE) == 75
        ended = crew.wait(validation)
        assert ended.state == "succeeded"
        assert crew.begun(validation) <= ended.rounds + 1
        first = {k: v for k, v in crew.measured(validation).items() if k[2] <= 1}
        assert first == {k: v for k, v in crew.measured(undisturbed).items() if k[2] <= 1}
        crew.check_events(validation)


def test_the_database_restarts_under_a_job(postgres_server: Postgres, postgres_url: str, tmp_path: Path) -> None:
    with Crew(postgres_url, tmp_path) as crew:
        crew.hire(2)
        job: dict[str, Any] = {"aggregations": 40}
        undisturbed = crew.submit("ours-offload", **job)
        crew.wait(undisturbed)
        validation = crew.submit("ours-offload", **job)
        for _ in range(2):
            crew.until_more_rounds(validation, 6)
            postgres_server.stop()
            time.sleep(0.5)
            postgres_server.start()
        ended = crew.wait(validation)
        assert ended.state == "succeeded"
        assert crew.measured(validation) == crew.measured(undisturbed)
        # A restart can cut off a worker's round, or lose the answer that it was kept.
        assert crew.begun(validation) <= ended.rounds + 2
        crew.check_events(validation)


@pytest.mark.parametrize("signal_number", [signal.SIGTERM])
def test_a_worker_that_is_told_to_leave_hands_its_part_over(crew: Crew, signal_number: int) -> None:
    crew.hire(1)
    validation = crew.submit("ours-offload", aggregations=100)
    crew.until(lambda: crew.find(validation).rounds_done > 3)
    crew.processes[0].send_signal(signal_number)
    assert crew.processes[0].wait(PATIENCE) == 0
    done = crew.find(validation).rounds_done
    assert done < 101
    crew.hire(1)
    ended = crew.wait(validation)
    assert ended.state == "succeeded"
    assert crew.begun(validation) == ended.rounds  # the round under way was finished first
