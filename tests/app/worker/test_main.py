"""A worker process as it starts."""

import subprocess
import sys
from pathlib import Path

from app.store import Store
from tests.support.command import environment


def test_a_worker_waits_for_the_file_that_the_service_makes(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "app.worker.main"],
        env=environment(tmp_path, scratch_dir=str(tmp_path)),
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stderr is not None
            told = (
                f"the store does not answer: FEDSIFT_DATABASE_URL=sqlite:///{tmp_path}/fedsift.db: there is no database"
            )
            assert told in process.stderr.readline()
            assert not (tmp_path / "fedsift.db").exists()
            store = Store(f"sqlite:///{tmp_path}/fedsift.db")
            store.migrate()
            store.close()
            assert "worker ready" in process.stderr.readline()
        finally:
            process.terminate()
    assert process.returncode == 0
