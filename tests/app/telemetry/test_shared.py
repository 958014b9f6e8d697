"""The folder in which server processes count together, with processes that end by themselves or are killed."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_CODE = """
from app.telemetry.shared import metrics_folder, shared_metrics
with shared_metrics():
    print(metrics_folder(), flush=True)
    input()
"""


@contextmanager
def service(temporary: Path) -> Iterator[tuple["subprocess.Popen[str]", Path]]:
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(
        [sys.executable, "-c", _CODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().strip())
        process.communicate("\n")


def test_a_service_deletes_its_folder_and_those_of_killed_ones_only(tmp_path: Path) -> None:
    with service(tmp_path) as (killed, left), service(tmp_path) as (_, living):
        killed.kill()
        killed.wait()
        assert left.is_dir()
        with service(tmp_path) as (_, folder):
            assert not left.exists()
            assert living.is_dir()
            assert folder.is_dir()
    assert list(tmp_path.iterdir()) == []
