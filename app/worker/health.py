"""`python -m app.worker.health`: exits with 0 if a worker on this machine has sent a heartbeat lately, else with 1."""

import sys

from app.settings import Settings
from app.store import Store, StoreError
from app.worker.store import WorkerStore
from app.worker.upkeep import this_host

__all__ = ["is_working"]


def is_working(store: Store, host: str, timeout: float) -> bool:
    """Whether a worker of this host has sent a heartbeat within the timeout, in seconds."""
    try:
        return any(worker.host == host and worker.silent <= timeout for worker in WorkerStore(store).all())
    except StoreError:
        return False


if __name__ == "__main__":
    settings = Settings()
    store = Store(settings.database_url, settings.store_timeout)
    sys.exit(0 if is_working(store, this_host(), settings.worker_timeout) else 1)
