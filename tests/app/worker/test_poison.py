"""Parts that kill whoever takes them are given up with the reason, and a damaged checkpoint costs only time."""

import json
import time
from pathlib import Path

import pytest

from tests.support.crew import Crew
from tests.support.waiting import PATIENCE


def test_a_part_whose_worker_is_killed_at_every_claim_is_given_up_and_tells_why(
    database_url: str, tmp_path: Path
) -> None:
    with Crew(database_url, tmp_path, round_losses="3") as crew:
        poisoned = crew.submit("ours", aggregations=3)
        for deaths in range(1, 4):
            crew.hire(never_training=True)
            # The attempt is counted with the claim, before anything is trained.
            crew.until(lambda deaths=deaths: crew.begun(poisoned) == deaths)  # type: ignore[misc]
            crew.processes[-1].kill()
            crew.processes[-1].wait()
            assert crew.find(poisoned).rounds_done == 0
        crew.hire()
        ended = crew.wait(poisoned)
        assert ended.state == "failed"
        told = json.loads(ended.failure or "")
        assert told["type"] == "exhausted"
        reason = "aggregation 0 was begun 3 times and never finished: 3 times its worker died or fell silent"
        assert told["detail"] == reason
        assert crew.begun(poisoned) == 3
        crew.check_events(poisoned)
        assert crew.processes[-1].poll() is None
        assert crew.wait(crew.submit("ours", aggregations=3)).state == "succeeded"


@pytest.mark.parametrize("damage", [b"", b"no archive", b"PK\x05\x06" + bytes(18)])
def test_a_damaged_checkpoint_restarts_the_part_and_changes_no_result(tmp_path: Path, damage: bytes) -> None:
    with Crew(f"sqlite:///{tmp_path}/fedsift.db", tmp_path) as crew:
        crew.hire()
        undisturbed = crew.submit("ours-offload", aggregations=40)
        assert crew.wait(undisturbed).state == "succeeded"
        validation = crew.submit("ours-offload", aggregations=40)
        crew.until_more_rounds(validation, 4)
        crew.processes[0].terminate()
        assert crew.processes[0].wait(PATIENCE) == 0
        kept = crew.find(validation).rounds_done
        assert kept < 41
        with crew.store.write() as t:
            sql = "UPDATE validation_parts SET checkpoint = ? WHERE validation_id = ? AND state = 'waiting'"
            assert t.change(sql, damage, validation) == 1
        crew.hire()
        ended = crew.wait(validation)
        assert (ended.state, ended.rounds_done) == ("succeeded", 41)
        assert crew.measured(validation) == crew.measured(undisturbed)
        assert crew.begun(validation) == 41
        crew.check_events(validation)
        assert "its checkpoint is damaged" in (tmp_path / "worker-1.log").read_text()


def test_two_workers_that_are_paused_together_go_on(crew: Crew) -> None:
    """Longer than their timeout, so that each has reason to take the other for dead when both wake."""
    crew.settings["worker_timeout"] = "4"
    crew.hire(2)
    undisturbed = crew.submit("ours-offload", "random-offload", aggregations=60)
    assert crew.wait(undisturbed).state == "succeeded"
    validation = crew.submit("ours-offload", "random-offload", aggregations=60)
    crew.until_more_rounds(validation, 4)
    for process in crew.processes:
        crew.freeze(process.pid)
    time.sleep(6)
    crew.thaw()
    ended = crew.wait(validation)
    assert (ended.state, ended.rounds_done) == ("succeeded", ended.rounds)
    assert crew.measured(validation) == crew.measured(undisturbed)
    assert crew.begun(validation) <= ended.rounds + 2
    crew.check_events(validation)
