"""`python -m fedl_sim.trainer` as a real process: lines of JSON in and out."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.parts import PART
from tests.support.waiting import PATIENCE


def test_the_trainer_answers_line_by_line_and_ends_with_its_input(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "fedl_sim.trainer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def ask(request: dict[str, Any]) -> dict[str, Any]:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        answer: dict[str, Any] = json.loads(process.stdout.readline())
        return answer

    opening = {"open": PART, "checkpoint": None, "folder": str(tmp_path)}
    assert ask({"load": True}) == {"loaded": True}
    assert os.getpriority(os.PRIO_PROCESS, process.pid) > os.getpriority(os.PRIO_PROCESS, 0)  # the service goes first
    assert ask(opening)["opened"]["next"] == 0
    assert ask({"advance": 1})["error"]["type"] == "checkpoint"
    records = [ask({"advance": k})["record"] for k in range(3)]
    saved = tmp_path / "saved.npz"
    saved.write_bytes((tmp_path / "checkpoint.npz").read_bytes())
    records.append(ask({"advance": 3})["record"])
    assert ask({**opening, "checkpoint": str(saved)})["opened"]["next"] == 3
    assert ask({"advance": 3})["record"] == records[3]
    assert ask({**opening, "open": {**PART, "sample_size": 99}})["error"]["type"] == "infeasible"
    assert ask({**opening, "open": {**PART, "scheme": "clever"}})["error"]["type"] == "invalid"
    damaged = {"type": "invalid", "detail": "open.sample_size: must be an integer, is a text"}
    assert ask({**opening, "open": {**PART, "sample_size": "three"}})["error"] == damaged
    assert ask({"sleep": 1})["error"] == {"type": "invalid", "detail": "sleep: is not a field of this release"}
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(PATIENCE) == 0
    assert process.stdout is not None
    process.stdout.close()
