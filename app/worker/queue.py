"""The durable queue of parts, kept by DBOS. No other module imports DBOS.

`JobQueue` defines the workflow of a part, one step for each aggregation round. Its operations: `start` taking parts,
`put` a part, `take_over_from` dead workers, find those `lost`, and `forget` finished ones.

- DBOS stores arguments and results as JSON, never as a pickle.
- The application version is fixed, so that a workflow queued by one release is run by the next. It must change when the
  steps of the workflow (`run_part` in `JobQueue`) change.
- A process runs one part at a time; start more processes to run more.
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
    """A value that is not JSON, such as an exception, is stored as its text."""
    return str(value)


def queue_url(database_url: str) -> str:
    """The database of the queue: the store's own in PostgreSQL, a second file beside the store's with SQLite.

    SQLite allows one writer at a time, and workers poll the queue many times a second: in one file they would keep the
    service waiting.
    """
    if not database_url.startswith("sqlite:///"):
        return database_url
    path = Path(database_url.removeprefix("sqlite:///")).absolute()
    return f"sqlite:///{path.with_name(f'{path.stem}-queue{path.suffix}')}"


class JobQueue:
    """The queue as one worker uses it; `run_round` trains one round of a part and says how it ended."""

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
            """Each aggregation round is a step, so a finished round is not trained again."""
            outcome = "done"
            for aggregation in range(rounds):  # the last one ends the part
                outcome = step(part_id, attempt, aggregation)
                if outcome != "done":
                    break
            return outcome

        # No limit here: the executor limits the attempts of a round and tells the caller.
        DBOS.workflow(name=_WORKFLOW, max_recovery_attempts=None)(run_part)
        self._version = _APPLICATION_VERSION
        self._url = url

    def start(self) -> None:
        """Start taking parts from the queue."""
        DBOS.listen_queues([_QUEUE])
        with _one_at_a_time(self._url):
            DBOS.launch()
            DBOS.register_queue(_QUEUE, worker_concurrency=1, polling_interval_sec=_POLL_SECONDS)

    def put(self, ticket: Ticket) -> None:
        """Queue a part; to put it again has no effect.

        The first parts of all validations come before the second ones, so a large validation does not hold up others.
        """
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
        """Queue the parts of dead workers again, each once even if several workers ask; returns how many."""
        # This function is internal to DBOS. The public `resume_workflow` does not check the dead executor's id, so it
        # could restart a part that another worker has taken over already.
        return len(DBOS._recover_pending_workflows(list(worker_ids)))

    def lost(self, tickets: Sequence[Ticket]) -> list[Ticket]:
        """Return the parts that the queue does not know or has as finished."""
        names = [_name(ticket) for ticket in tickets]
        found = DBOS.list_workflows(workflow_ids=names, load_input=False, load_output=False) if names else []
        alive = {one.workflow_id for one in found if one.status not in _DONE}
        return [ticket for ticket in tickets if _name(ticket) not in alive]

    def forget(self, tickets: Sequence[Ticket]) -> None:
        """Delete finished parts, with all their attempts."""
        names = [f"{ticket.part_id}.{attempt}" for ticket in tickets for attempt in range(ticket.attempt + 1)]
        if names:
            DBOS.delete_workflows(names)


def _name(ticket: Ticket) -> str:
    return f"{ticket.part_id}.{ticket.attempt}"


@contextmanager
def _one_at_a_time(url: str) -> Iterator[None]:
    """Let one process at a time create the tables in SQLite; in PostgreSQL DBOS takes a lock itself."""
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
    """Let readers work while another process writes; the file keeps this mode."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    connection = sqlite3.connect(path, timeout=30)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
