"""A cache that several processes fill at once, and one that was warmed and then sealed: it is read and left alone."""

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from numba.core.caching import IndexDataCacheFile

from solver.kernels.disk_cache import SharedCache

KERNEL = """
from pathlib import Path
from solver.kernels.compile import compiler

@compiler(Path(__file__).parent)
def total(x):
    s = 0.0
    for i in range(x.size):
        s += x[i]
    return s
"""
USE = """
import sys
import numpy as np
from kernel import total
for kind in sys.argv[1:]:
    assert total(np.arange(4, dtype=kind)) == 6.0
print(sum(total.stats.cache_hits.values()), sum(total.stats.cache_misses.values()))
"""
# Root may write to any folder; what seals one in a container is a read-only mount, of which access() tells.
SEAL = "import os; allowed = os.access; os.access = lambda path, mode: mode != os.W_OK and allowed(path, mode)\n"


def hits_and_misses(folder: Path, program: str, *kinds: str) -> tuple[int, int]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(folder / "kernels")}
    command = [sys.executable, "-B", "-c", program, *kinds]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    hits, misses = done.stdout.split()
    return int(hits), int(misses)


def entries(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_a_sealed_cache_is_read_and_never_written(tmp_path: Path) -> None:
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "kernel.py").write_text(KERNEL, encoding="utf-8")
    assert hits_and_misses(tmp_path, USE, "float64") == (0, 1)
    warmed = entries(tmp_path / "cache")
    assert hits_and_misses(tmp_path, SEAL + USE, "float64") == (1, 0)
    assert hits_and_misses(tmp_path, SEAL + USE, "float64", "int64") == (1, 1)
    assert entries(tmp_path / "cache") == warmed
    assert hits_and_misses(tmp_path, USE, "int64") == (0, 1)
    assert entries(tmp_path / "cache") != warmed


def identity(x: Any) -> Any:
    return x


def test_of_processes_that_add_code_at_once_each_waits_for_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An open lock belongs to the open file, so that two threads stand for two processes.
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    met, both = [], threading.Barrier(2)

    def save(*_: object) -> None:
        try:
            both.wait(0.5)
            met.append(True)
        except threading.BrokenBarrierError:
            met.append(False)

    def save_one() -> None:
        cache = SharedCache(identity)
        cache._index_key = lambda *_: ()
        cache._impl.check_cachable = lambda _: True
        cache._impl.reduce = lambda _: ()
        cache._save_overload((), type("Code", (), {"codegen": None}))

    monkeypatch.setattr(IndexDataCacheFile, "save", save)
    threads = [threading.Thread(target=save_one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert met == [False, False]
