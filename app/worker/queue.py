"""The durable queue: DBOS behind four verbs. Nothing else here imports it.

- The serialiser is JSON; what is stored never depends on a pickle.
- The application version is pinned: a workflow queued by one release is run by the next. It changes only when the
  shape of the workflow does (`run_part` in `app.worker.executor`).
- One part at a time in a process: more at once means more processes.
"""

import json
import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dbos import DBOS, DBOSConfig, Serializer

from app.validations.parts import Ticket

__all__ = ["JobQueue", "queue_url"]

_APPLICATION_VERSION = "1"
_QUEUE = "parts"
_WORKFLOW = "run_part"
_STEP = "round"
_POLL_SECONDS = 0.1
_DONE = {"SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"}


class _Json(Serializer):
    def serialize(self, data: Any) -> str:
        return json.dumps(data, default=_plain)

    def deserialize(cls, serialized_data: str) -> Any:  # noqa: N805 - as its base class has it
        return json.loads(serialized_data)

    def name(self) -> str:
        return "json"


def _plain(value: object) -> Any:
    """What JSON does not know becomes its text: exceptions, above all."""
    return str(value)


def queue_url(database_url: str) -> str:
    """Where the queue lives: PostgreSQL beside the store's tables, SQLite in a file beside the store's.

    A file of its own, since a worker polls it many times a second and SQLite has one writer at a time.
    """
    if not database_url.startswith("sqlite:///"):
        return database_url
    path = Path(database_url.removeprefix("sqlite:///")).absolute()
    return f"sqlite:///{path.with_name(f'{path.stem}-queue{path.suffix}')}"


class JobQueue:
    """Put parts in, have them run once each, take over from the dead, forget the finished."""

    def __init__(self, database_url: str, worker_id: str, *, run_round: Callable[[str, int, int], str]) -> None:
        url = queue_url(database_url)
        if url.startswith("sqlite:///"):
            _use_write_ahead_log(Path(url.removeprefix("sqlite:///")))
        config: DBOSConfig = {
            "name": "fedsift",
            "system_database_url": url,
            "executor_id": worker_id,
            "application_version": _APPLICATION_VERSION,
            "serializer": _Json(),
            "use_listen_notify": False,
            "enable_otlp": False,
            "log_level": "WARNING",
            "sys_db_pool_size": 5,
        }
        DBOS(config=config)
        logging.getLogger("dbos").propagate = False

        @DBOS.step(name=_STEP)
        def step(part_id: str, attempt: int, aggregation: int) -> str:
            return run_round(part_id, attempt, aggregation)

        def run_part(part_id: str, attempt: int, rounds: int) -> str:
            """One aggregation round a step: what is done is not done again."""
            outcome = "done"
            for aggregation in range(rounds):  # the last one ends the part
                outcome = step(part_id, attempt, aggregation)
                if outcome != "done":
                    break
            return outcome

        # No limit of its own: how often a round may be tried is decided, and told to the caller, by the executor.
        DBOS.workflow(name=_WORKFLOW, max_recovery_attempts=None)(run_part)
        self._version = _APPLICATION_VERSION
        self._url = url

    def start(self) -> None:
        """Begin to take parts from the queue."""
        DBOS.listen_queues([_QUEUE])
        with _one_at_a_time(self._url):
            DBOS.launch()
            DBOS.register_queue(_QUEUE, worker_concurrency=1, polling_interval_sec=_POLL_SECONDS)

    def put(self, ticket: Ticket) -> None:
        """Queue a part, once however often it is put; first parts first, so that no validation waits for another."""
        DBOS.enqueue_workflow_with_options(
            {
                "workflow_name": _WORKFLOW,
                "queue_name": _QUEUE,
                "workflow_id": _name(ticket),
                "app_version": self._version,
                "priority": ticket.number + 1,
            },
            ticket.part_id,
            ticket.attempt,
            ticket.rounds,
        )

    def take_over_from(self, worker_ids: Sequence[str]) -> int:
        """Queue again what dead workers were running, each exactly once whoever asks for it; returns how many."""
        # DBOS calls it internal, since its own conductor does it for a fee; `resume_workflow` would do without the
        # condition on the dead executor's id, and so might restart what another worker has taken over already.
        return len(DBOS._recover_pending_workflows(list(worker_ids)))

    def lost(self, tickets: Sequence[Ticket]) -> list[Ticket]:
        """Those that it does not know, or takes for finished."""
        names = [_name(ticket) for ticket in tickets]
        found = DBOS.list_workflows(workflow_ids=names, load_input=False, load_output=False) if names else []
        alive = {one.workflow_id for one in found if one.status not in _DONE}
        return [ticket for ticket in tickets if _name(ticket) not in alive]

    def forget(self, tickets: Sequence[Ticket]) -> None:
        """Drop what is known of finished parts."""
        names = [f"{ticket.part_id}.{attempt}" for ticket in tickets for attempt in range(ticket.attempt + 1)]
        if names:
            DBOS.delete_workflows(names)


def _name(ticket: Ticket) -> str:
    return f"{ticket.part_id}.{ticket.attempt}"


@contextmanager
def _one_at_a_time(url: str) -> Iterator[None]:
    """Two processes that create the tables at once trip over each other on SQLite; PostgreSQL has DBOS's own lock."""
    if not url.startswith("sqlite:///"):
        yield
        return
    connection = sqlite3.connect(f"{url.removeprefix('sqlite:///')}.lock", timeout=60, isolation_level=None)
    try:
        connection.execute("BEGIN EXCLUSIVE")
        yield
    finally:
        connection.close()


def _use_write_ahead_log(path: Path) -> None:
    """The mode stays with the file; without it a reader would wait for each writer."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    connection = sqlite3.connect(path, timeout=30)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
