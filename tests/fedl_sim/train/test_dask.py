import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from fedl_sim.labels.folder import LabelFolder
from fedl_sim.labels.record import load_record
from fedl_sim.labels.settings import Family
from tests.support.waiting import PATIENCE, until


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[str]:
    """A Dask scheduler and two workers, each a process of its own."""
    about = tmp_path / "scheduler.json"
    module = "distributed.cli.dask_{}"
    commands = [["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(about)]]
    commands += [["worker", "--scheduler-file", str(about), "--nthreads", "1", "--no-nanny", "--no-dashboard"]] * 2
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", module.format(words[0]), *words[1:]],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for words in commands
    ]
    try:
        yield address(about)
    finally:
        # Killed: a worker whose scheduler ends first waits for it to come back, and nothing here is worth a farewell.
        for process in processes:
            process.kill()
        for process in processes:
            process.wait(PATIENCE)


def address(about: Path) -> str:
    """Where the scheduler listens; its file is there before it is written."""
    found: list[str] = []

    def is_written() -> bool:
        with suppress(FileNotFoundError, json.JSONDecodeError):
            found.append(json.loads(about.read_text())["address"])
        return bool(found)

    until(is_written)
    return found[0]


def _labelled() -> bool:
    import sys

    return "fedl_sim.labels.label" in sys.modules


def test_a_dask_cluster_labels_as_this_process_does(tmp_path: Path, tiny: Family, scheduler: str) -> None:
    from distributed import Client

    with Client(scheduler, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=PATIENCE)
    here, there = (LabelFolder(tmp_path / name, tiny) for name in ("here", "there"))
    jobs = here.jobs((2, 3), range(6))
    done = []
    assert here.generate(jobs, "fedl") == 12
    assert there.generate(jobs, "fedl", dask=scheduler, on_record=lambda: done.append(1)) == 12
    assert len(done) == 12
    with Client(scheduler, set_as_default=False) as client:
        # Both workers did their share: they have loaded what labelling needs.
        assert list(client.run(_labelled).values()) == [True, True]
    assert there.missing(jobs, "fedl") == []
    for job in jobs:
        one, other = (load_record(folder.record(job, "fedl")) for folder in (here, there))
        assert one.fedl_loss is not None
        np.testing.assert_array_equal(one.fedl_loss, other.fedl_loss)
