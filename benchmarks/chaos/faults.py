"""Random faults, one after the other, as a seed decides."""

import random
import signal
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from benchmarks.chaos.clock import Clock
from benchmarks.chaos.databases import Postgres, Sqlite
from benchmarks.chaos.processes import send
from benchmarks.chaos.site import Service

__all__ = ["Faults"]


class Faults:
    """Disturbs a service: its workers, its clock and its database. The server process itself is left to its clients."""

    def __init__(self, service: Service, database: Sqlite | Postgres, clock: Clock | None, seed: int) -> None:
        self._service = service
        self._database = database
        self._clock = clock
        self._random = random.Random(seed)
        self.made: Counter[str] = Counter()

    def go_on(self, stop: threading.Event) -> None:
        """Make faults until told to stop; all are over when this returns, but for the clock."""
        kinds: list[Callable[[threading.Event], None]] = [self.pause, self.pause, self.kill, self.lock]
        if self._clock is not None:
            kinds.append(self.step_clock)
        if isinstance(self._database, Postgres):
            kinds.append(self.hang)
        while not stop.wait(self._random.uniform(0.5, 4)):
            kind = self._random.choice(kinds)
            kind(stop)
            self.made[kind.__name__] += 1

    def pause(self, stop: threading.Event) -> None:
        """Stop some workers and trainers together, often longer than their timeout."""
        victims = self._some(self._service.workers() + self._service.trainers())
        send(victims, signal.SIGSTOP)
        stop.wait(self._random.uniform(0.3, 8))
        send(victims, signal.SIGCONT)

    def kill(self, stop: threading.Event) -> None:
        """Kill some workers and trainers at once."""
        del stop
        send(self._some(self._service.workers() + self._service.trainers()), signal.SIGKILL)

    def step_clock(self, stop: threading.Event) -> None:
        """Set the wall clock of all processes forward or back, by seconds to a day."""
        del stop
        assert self._clock is not None  # noqa: S101 - only then it is among the kinds
        self._clock.step_to(self._random.choice((-1, 1)) * 10 ** self._random.uniform(0, 5))

    def lock(self, stop: threading.Event) -> None:
        """Hold a lock on the database."""
        with suppress(Exception), self._database.locked():  # it may itself be locked out
            stop.wait(self._random.uniform(0.5, 8))

    def hang(self, stop: threading.Event) -> None:
        """Let the whole database server stand still."""
        assert isinstance(self._database, Postgres)  # noqa: S101 - only then it is among the kinds
        with self._database.hanging():
            stop.wait(self._random.uniform(0.5, 8))

    def _some(self, pids: list[int]) -> list[int]:
        return self._random.sample(pids, self._random.randint(1, len(pids))) if pids else []
