"""`python -m app.worker.health`: exits with 0 as soon as a worker of this machine sends a heartbeat, else with 1."""

import sys
import time

from app.settings import Settings
from app.store import Store, StoreError
from app.worker.liveness import this_host
from app.worker.store import WorkerStore

__all__ = ["is_working"]

_LOOK_SECONDS = 0.2


def is_working(store: Store, host: str, timeout: float) -> bool:
    """Whether a worker of this host sends a heartbeat within the timeout, in seconds from now."""
    workers = WorkerStore(store)
    deadline = time.monotonic() + timeout
    try:
        first = _beats(workers, host)
        while first and time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)
            if any(count > first.get(worker_id, 0) for worker_id, count in _beats(workers, host).items()):
                return True
    except StoreError:
        pass
    return False


def _beats(workers: WorkerStore, host: str) -> dict[str, int]:
    return {worker.id: worker.beats for worker in workers.all() if worker.host == host}


if __name__ == "__main__":
    settings = Settings()
    store = Store(settings.database_url, settings.store_timeout)
    sys.exit(0 if is_working(store, this_host(), settings.worker_timeout) else 1)
