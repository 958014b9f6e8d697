"""Keeps worker processes alive: starts them, restarts those that die, ends them with itself."""

import logging
import subprocess
import sys
import threading
import time

__all__ = ["Supervisor"]

_log = logging.getLogger("fedsift.supervisor")

_FIRST_WAIT, _LONGEST_WAIT = 0.2, 10.0
# A process that lived this long was well: its next restart is quick again.
_WELL_SECONDS = 20.0


class Supervisor:
    """Each worker has a thread that waits for it. A worker also ends when the supervisor's end of a pipe does."""

    def __init__(self, count: int, grace: float) -> None:
        self._count = count
        self._grace = grace
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        """Start the workers; returns at once."""
        for number in range(self._count):
            thread = threading.Thread(target=self._keep, args=(number,), name=f"worker-{number}", daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        """Let the workers finish their rounds and wait for them."""
        self._stop.set()
        deadline = time.monotonic() + self._grace + 10
        for process in list(self._processes.values()):
            if process.stdin is not None:
                process.stdin.close()
        for thread in self._threads:
            thread.join(max(0.1, deadline - time.monotonic()))
        for process in list(self._processes.values()):
            if process.poll() is None:
                process.kill()

    def _keep(self, number: int) -> None:
        wait = _FIRST_WAIT
        while not self._stop.is_set():
            begin = time.monotonic()
            command = [sys.executable, "-m", "app.worker.main", "--supervised"]
            process = subprocess.Popen(command, stdin=subprocess.PIPE)  # noqa: S603 - this interpreter, our own module
            self._processes[number] = process
            if self._stop.is_set() and process.stdin is not None:
                process.stdin.close()
            code = process.wait()
            if self._stop.is_set():
                return
            wait = _FIRST_WAIT if time.monotonic() - begin > _WELL_SECONDS else min(2 * wait, _LONGEST_WAIT)
            _log.warning("a worker ended", extra={"fields": {"code": code, "restart_in": wait}})
            self._stop.wait(wait)
