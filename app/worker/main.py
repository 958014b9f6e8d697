"""`python -m app.worker.main`: one worker process. `fedsift worker` and `fedsift serve` start and restart it."""

import logging
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading
from pathlib import Path

from app.settings import Settings
from app.store import NewerSchemaError, Store
from app.telemetry.logs import set_up_logs
from app.validations.parts import PartStore
from app.worker.executor import EXIT_CRASHED, EXIT_SUPERSEDED, Executor
from app.worker.queue import JobQueue
from app.worker.store import WorkerStore
from app.worker.trainer_process import Trainer
from app.worker.upkeep import Upkeep, this_host

__all__ = ["EXIT_NEWER_SCHEMA", "main"]

_log = logging.getLogger("fedsift.worker")

_LEAVE_SECONDS = 5.0
EXIT_NEWER_SCHEMA = 78  # as EX_CONFIG of sysexits.h


def main() -> None:
    """Work until told to stop by a signal, or by the end of standard input if a supervisor holds it."""
    settings = Settings()
    set_up_logs(settings.log_level)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    if "--supervised" in sys.argv:
        threading.Thread(target=_wait_for_end, args=(stop,), daemon=True).start()
    try:
        _work(settings, stop)
    except NewerSchemaError as error:
        _log.error("%s", error)
        sys.exit(EXIT_NEWER_SCHEMA)


def _wait_for_end(stop: threading.Event) -> None:
    sys.stdin.read()
    stop.set()


def _work(settings: Settings, stop: threading.Event) -> None:
    worker_id = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
    scratch = Path(settings.scratch_dir or tempfile.gettempdir()) / f"fedsift-{worker_id}"
    trainer = Trainer(
        scratch, threads=settings.trainer_threads, timeout=settings.round_timeout, data_dir=settings.data_dir
    )
    store = Store(settings.database_url, settings.store_timeout)
    workers = WorkerStore(store)
    executor = Executor(PartStore(store), worker_id, trainer, most_attempts=settings.round_attempts)
    workers.register(worker_id, this_host(), os.getpid())
    jobs = JobQueue(settings.database_url, worker_id, run_round=executor.run_round)

    def struck_off() -> None:
        _log.error("taken for dead; leaving", extra={"fields": {"worker": worker_id}})
        trainer.stop()
        os._exit(EXIT_SUPERSEDED)

    upkeep = Upkeep(store, jobs, executor, settings=settings, worker_id=worker_id, on_struck_off=struck_off)
    jobs.start()
    upkeep.start()
    _log.info("worker ready", extra={"fields": {"worker": worker_id}})
    stop.wait()
    # Leave even if the database does not answer: then other workers notice the missing heartbeat and take over.
    watchdog = threading.Timer(settings.shutdown_grace + _LEAVE_SECONDS, os._exit, (EXIT_CRASHED,))
    watchdog.daemon = True
    watchdog.start()
    ended = executor.wait_for_round(settings.shutdown_grace)
    upkeep.stop()
    trainer.stop()
    shutil.rmtree(scratch, ignore_errors=True)
    try:
        jobs.take_over_from([worker_id])  # returns its part to the queue
        workers.strike_off(worker_id)
        _log.info("worker left", extra={"fields": {"worker": worker_id, "round_finished": ended}})
    except Exception:
        _log.exception("the worker leaves without telling the store")
    # A normal exit would wait for the queue's threads, and they wait for a part that this worker has given back.
    os._exit(0)


if __name__ == "__main__":
    main()
