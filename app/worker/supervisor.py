"""Keeps worker processes alive: starts them, replaces those that end or fall silent, and stops them with its own."""

import logging
import os
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from importlib.util import find_spec

from app.worker.liveness import Watch

__all__ = ["EXTRA_SECONDS", "Supervisor", "require_extra"]

_log = logging.getLogger("fedsift.supervisor")

_NEEDED = ("joblib", "networkx")
_FIRST_WAIT, _LONGEST_WAIT = 0.2, 10.0
# A process that ran this long was healthy: its next restart is quick again.
_HEALTHY_SECONDS = 20.0
# A worker ends by itself within the grace period; this is added before it is killed.
EXTRA_SECONDS = 10.0
# A worker may take this long until its first pulse, while it loads its modules.
_START_SECONDS = 60.0

# `-P` keeps the working directory off the import path: a folder `app/` there must not replace ours.
_COMMAND = (sys.executable, "-P", "-m", "app.worker.main", "--supervised")


def require_extra() -> None:
    """Check that workers can start.

    Raises:
        MissingExtraError: their extra is not installed.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        from solver.errors import MissingExtraError  # noqa: PLC0415 - loads the solver, which this process does not need

        raise MissingExtraError(f"validation workers need {missing[0]}: install fedsift[worker]")


class Supervisor:
    """Starts `count` worker processes and has one thread watch each.

    Every worker reads from a pipe that only this process can write to. If this process is killed the pipe closes, and
    the workers end by themselves. Every worker writes a pulse to another pipe. One that is silent for `timeout` seconds
    is frozen, perhaps while it holds a lock of the database: it is killed with its trainer. Time in which this process
    itself was frozen does not count.
    """

    def __init__(self, count: int, grace: float, *, timeout: float) -> None:
        self._count = count
        self._grace = grace
        self._timeout = timeout
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        """Start the workers; returns at once.

        Raises:
            MissingExtraError: there are workers to start, and their extra is not installed.
        """
        if self._count:
            require_extra()
        for number in range(self._count):
            thread = threading.Thread(target=self._keep, args=(number,), name=f"worker-{number}", daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        """Tell the workers to finish their rounds, wait for them as long as they may take, and kill the rest."""
        self._stop.set()
        deadline = time.monotonic() + self._grace + EXTRA_SECONDS
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
            try:
                code: int | None = self._run(number)
            except OSError:  # no memory or no descriptors just now
                _log.exception("a worker cannot be started")
                code = None
            if self._stop.is_set():
                return
            wait = _FIRST_WAIT if time.monotonic() - begin > _HEALTHY_SECONDS else min(2 * wait, _LONGEST_WAIT)
            _log.warning("a worker ended", extra={"fields": {"code": code, "restart_in": wait}})
            self._stop.wait(wait)

    def _run(self, number: int) -> int:
        """Start a worker and stay until it has ended; returns its exit code."""
        pulse, theirs = os.pipe()
        try:
            # A process group of its own, so that a frozen worker can be killed together with its trainer.
            try:
                process = subprocess.Popen(  # noqa: S603 - this interpreter, our own module
                    [*_COMMAND, str(theirs)], stdin=subprocess.PIPE, pass_fds=(theirs,), process_group=0
                )
            finally:
                os.close(theirs)
            self._processes[number] = process
            if self._stop.is_set():  # `stop` may have come too early to see this process
                process.terminate()
            if not self._listen(pulse):
                _log.error("a worker is silent; killing it", extra={"fields": {"pid": process.pid}})
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            with process:  # closes its pipe
                return process.wait()
        finally:
            os.close(pulse)

    def _listen(self, pulse: int) -> bool:
        """Follow the pulse of a worker; returns True when it has ended, False when it is silent."""
        interval = self._timeout / 5
        watch = Watch(longest_gap=2 * interval)
        beats = 0
        reader = select.poll()  # select.select cannot take the high numbers of a server with many connections
        reader.register(pulse, select.POLLIN)
        while True:
            if reader.poll(1000 * interval):
                received = os.read(pulse, 4096)
                if not received:
                    return True
                beats += len(received)
            watch.look({"worker": beats}, time.monotonic())
            if watch.silence("worker") > (self._timeout if beats else max(self._timeout, _START_SECONDS)):
                return False
