"""Keeps worker processes alive: starts them, restarts those that end, and stops them before its own process ends."""

import logging
import subprocess
import sys
import threading
import time
from importlib.util import find_spec

__all__ = ["Supervisor"]

_log = logging.getLogger("fedsift.supervisor")

_NEEDED = ("dbos", "joblib", "networkx")
_FIRST_WAIT, _LONGEST_WAIT = 0.2, 10.0
# A process that ran this long was healthy: its next restart is quick again.
_HEALTHY_SECONDS = 20.0
# A worker ends by itself within the grace period; this is added before it is killed.
_EXTRA_SECONDS = 10.0

# `-P` keeps the working directory off the import path: a folder `app/` there must not replace ours.
_COMMAND = (sys.executable, "-P", "-m", "app.worker.main", "--supervised")


class Supervisor:
    """Starts `count` worker processes and has one thread wait for each.

    Every worker reads from a pipe that only this process can write to. If this process is killed the pipe closes, and
    the workers end by themselves.
    """

    def __init__(self, count: int, grace: float) -> None:
        self._count = count
        self._grace = grace
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        """Start the workers; returns at once.

        Raises:
            MissingExtraError: there are workers to start, and their extra is not installed.
        """
        missing = [name for name in _NEEDED if self._count and find_spec(name) is None]
        if missing:
            from solver.errors import MissingExtraError  # noqa: PLC0415 - loads the solver, which this process does not need

            raise MissingExtraError(f"validation workers need {missing[0]}: install fedsift[worker]")
        for number in range(self._count):
            thread = threading.Thread(target=self._keep, args=(number,), name=f"worker-{number}", daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        """Tell the workers to finish their rounds, wait for them as long as they may take, and kill the rest."""
        self._stop.set()
        deadline = time.monotonic() + self._grace + _EXTRA_SECONDS
        for process in list(self._processes.values()):
            process.terminate()
        for thread in self._threads:
            thread.join(max(0.1, deadline - time.monotonic()))
        self.kill()
        for thread in self._threads:
            thread.join()

    def kill(self) -> None:
        """End the workers at once; the rounds under way are lost and trained again later."""
        for process in list(self._processes.values()):
            process.kill()

    def _keep(self, number: int) -> None:
        wait = _FIRST_WAIT
        while not self._stop.is_set():
            begin = time.monotonic()
            process = subprocess.Popen(_COMMAND, stdin=subprocess.PIPE)  # noqa: S603 - this interpreter, our own module
            self._processes[number] = process
            if self._stop.is_set():  # `stop` may have come too early to see this process
                process.terminate()
            code = process.wait()
            if self._stop.is_set():
                return
            wait = _FIRST_WAIT if time.monotonic() - begin > _HEALTHY_SECONDS else min(2 * wait, _LONGEST_WAIT)
            _log.warning("a worker ended", extra={"fields": {"code": code, "restart_in": wait}})
            self._stop.wait(wait)
