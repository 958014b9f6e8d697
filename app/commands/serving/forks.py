"""Keeps forked processes alive: starts them from this process's memory, replaces those that end, and ends with them.

What this process has loaded is in memory once: a fork shares it until it writes to it. So it must have one thread when
it forks, since a fork has no other, and nothing that belongs to one process: no connection, no event loop.
"""

import logging
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import NoReturn

__all__ = ["Forks", "Task", "leave"]

_log = logging.getLogger("fedsift.supervisor")

_FIRST_WAIT, _LONGEST_WAIT = 0.2, 10.0
# A process that ran this long was healthy: its next restart is quick again.
_HEALTHY_SECONDS = 20.0
# A process ends by itself within the grace period, and a supervisor of workers ten seconds later.
_EXTRA_SECONDS = 15.0
_STOPS = (signal.SIGTERM, signal.SIGINT)


@dataclass
class Task:
    """What a forked process does until it is told to stop, and what is to do here once it has ended."""

    name: str
    run: Callable[[], None]
    ended: Callable[[], None] = lambda: None
    pid: int | None = None
    started: float = 0.0
    due: float = 0.0
    wait: float = _FIRST_WAIT


class Forks:
    """Runs each task in a process of its own, until SIGTERM or SIGINT.

    Every child reads from a pipe that only this process can write to. If this process is killed the pipe closes, and
    the children end as if told to.
    """

    def __init__(self, tasks: Sequence[Task], grace: float, *, stopping: Callable[[], None] = lambda: None) -> None:
        """`stopping` is called when the end begins, before the children are told."""
        self._tasks = tasks
        self._grace = grace
        self._stopping = stopping
        self._lifeline = os.pipe()

    def run(self) -> None:
        """Start the processes, and return when all of them have ended."""
        with _Bell.listening() as bell:
            while not bell.stops:
                for task in self._tasks:
                    if task.pid is None and task.due <= time.monotonic():
                        self._start(task, bell)
                absent = [task.due for task in self._tasks if task.pid is None]
                bell.wait(min(absent) - time.monotonic() if absent else None)
                self._reap(stopping=False)
            self._stopping()
            self._end(bell)

    def _start(self, task: Task, bell: "_Bell") -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        task.started = time.monotonic()
        # A signal that came between the fork and the child's own handlers would be lost.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
        try:
            task.pid = os.fork()
            if task.pid == 0:
                self._live(task, bell)
        except OSError:  # no memory or no processes just now
            _log.exception("a process cannot be started", extra={"fields": {"task": task.name}})
            task.pid = None
            self._delay(task)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)

    def _live(self, task: Task, bell: "_Bell") -> NoReturn:
        """The child's life. It never returns: the frames above it belong to the parent."""
        status = 1
        try:
            bell.close()
            for number in _STOPS:
                signal.signal(number, leave)
            os.close(self._lifeline[1])
            # Ctrl+C tells the parent alone, which tells its children.
            os.setpgid(0, 0)
            threading.Thread(target=_end_with_parent, args=(self._lifeline[0],), name="lifeline", daemon=True).start()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
            task.run()
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        except BaseException:
            _log.exception("a process failed", extra={"fields": {"task": task.name}})
        finally:
            with suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(status)

    def _reap(self, *, stopping: bool) -> None:
        """Note which children have ended. As a container's first process this one is told of orphans too."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            task = next((task for task in self._tasks if task.pid == pid), None)
            if task is None:
                continue
            task.pid = None
            task.ended()
            if not stopping:
                self._delay(task)
                code = os.waitstatus_to_exitcode(status)
                fields = {"task": task.name, "pid": pid, "code": code, "restart_in": task.wait}
                _log.warning("a process ended", extra={"fields": fields})

    @staticmethod
    def _delay(task: Task) -> None:
        now = time.monotonic()
        task.wait = _FIRST_WAIT if now - task.started > _HEALTHY_SECONDS else min(2 * task.wait, _LONGEST_WAIT)
        task.due = now + task.wait

    def _end(self, bell: "_Bell") -> None:
        """Tell all to stop, and kill those that take too long, or all if told twice."""
        self._signal(signal.SIGTERM)
        deadline = time.monotonic() + self._grace + _EXTRA_SECONDS
        self._reap(stopping=True)
        while self._living() and bell.stops < 2 and time.monotonic() < deadline:
            bell.wait(deadline - time.monotonic())
            self._reap(stopping=True)
        self._signal(signal.SIGKILL)
        while self._living():
            bell.wait(1.0)
            self._reap(stopping=True)

    def _living(self) -> list[int]:
        return [task.pid for task in self._tasks if task.pid is not None]

    def _signal(self, number: signal.Signals) -> None:
        for pid in self._living():
            with suppress(ProcessLookupError):
                os.kill(pid, number)


class _Bell:
    """Wakes this process when a signal comes; `stops` counts those that tell it to stop."""

    def __init__(self) -> None:
        self.stops = 0
        self._read, self._write = os.pipe()
        for end in (self._read, self._write):
            os.set_blocking(end, False)
        self._poll = select.poll()
        self._poll.register(self._read, select.POLLIN)

    @classmethod
    @contextmanager
    def listening(cls) -> "Iterator[_Bell]":
        bell = cls()
        before = {number: signal.signal(number, bell._ring) for number in (*_STOPS, signal.SIGCHLD)}
        signal.set_wakeup_fd(bell._write)
        try:
            yield bell
        finally:
            bell.close()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _ring(self, number: int, _: FrameType | None) -> None:
        self.stops += number in _STOPS

    def wait(self, seconds: float | None) -> None:
        """Until a signal comes, at most so long."""
        self._poll.poll(None if seconds is None else max(0.0, 1000 * seconds))
        with suppress(BlockingIOError):
            while os.read(self._read, 4096):
                pass

    def close(self) -> None:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.close(self._read)
        os.close(self._write)


def _end_with_parent(lifeline: int) -> None:
    os.read(lifeline, 1)  # nobody writes: it returns when the parent has gone
    os.kill(os.getpid(), signal.SIGTERM)


def leave(*_: object) -> NoReturn:
    """As a signal's handler: end with status 0 and by way of every `finally`.

    uvicorn finishes accepted requests first and raises the signal again afterwards; Python's own handler of SIGTERM
    would then end the process on the spot.
    """
    raise SystemExit(0)
