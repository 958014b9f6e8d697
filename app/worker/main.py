"""`python -m app.worker.main`: one worker process. `fedsift worker` and `fedsift serve` start and restart it."""

import logging
import os
import secrets
import signal
import socket
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

from app.settings import Settings
from app.store import NewerSchemaError, Store, StoreError
from app.store.store import explained
from app.telemetry.logs import set_up_logs, warn_seldom
from app.telemetry.traces import tracing
from app.validations.parts import AttemptLimits, PartStore
from app.worker.executor import EXIT_CRASHED, Executor
from app.worker.liveness import this_host
from app.worker.scratch import Scratch, sweep
from app.worker.store import WorkerStore
from app.worker.trainer_process import Trainer
from app.worker.upkeep import Upkeep
from fedl_sim.contract import data_sets_in

__all__ = ["EXIT_NEWER_SCHEMA", "main"]

_log = logging.getLogger("fedsift.worker")

_LEAVE_SECONDS = 5.0
_RETRY_SECONDS = 1.0
# The system may give a signal to another thread, for instance just after SIGCONT. Its handler runs when this one wakes.
_LOOK_SECONDS = 0.5
EXIT_NEWER_SCHEMA = 78  # as EX_CONFIG of sysexits.h


def main() -> None:
    """Work until told to stop by a signal, or by the end of standard input if a supervisor holds it."""
    settings = Settings()
    set_up_logs(settings.log_level, settings.log_format)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    if len(sys.argv) == 3 and sys.argv[1] == "--supervised":
        pulse = (int(sys.argv[2]), settings.worker_timeout / 5)
        threading.Thread(target=_send_pulse, args=pulse, name="pulse", daemon=True).start()
        threading.Thread(target=_wait_for_end, args=(stop,), name="parent", daemon=True).start()
    try:
        _work(settings, stop)
    except NewerSchemaError as error:
        _log.error("%s", error)
        sys.exit(EXIT_NEWER_SCHEMA)


def _wait_for_end(stop: threading.Event) -> None:
    sys.stdin.read()
    stop.set()


def _send_pulse(pipe: int, seconds: float) -> None:
    """Tell the supervisor that this process runs, whatever the database does."""
    os.set_blocking(pipe, False)
    while True:
        with suppress(OSError):  # it does not read just now, or is gone
            os.write(pipe, b".")
        time.sleep(seconds)


def _register(
    workers: WorkerStore, worker_id: str, settings: Settings, scratch: Scratch, stop: threading.Event
) -> bool:
    """Enter the table of workers as soon as the database answers; False if told to stop before."""
    data_sets = data_sets_in(settings.data_folder)
    while not stop.is_set():
        scratch.pulse()
        try:
            workers.register(worker_id, this_host(), os.getpid(), data_sets)
        except NewerSchemaError:
            raise
        except StoreError as error:
            warn_seldom(_log, "the store does not answer: %s", explained(settings.database_url, error))
            stop.wait(_RETRY_SECONDS)
        else:
            return True
    return False


def _work(settings: Settings, stop: threading.Event) -> None:
    worker_id = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
    scratch_root = Path(settings.scratch_dir or tempfile.gettempdir())
    sweep(scratch_root)
    scratch = Scratch(scratch_root, worker_id)
    trainer = Trainer(
        scratch.path, threads=settings.trainer_threads, timeout=settings.round_timeout, data_dir=settings.data_dir
    )
    # It waits for the file that `fedsift serve` makes: with a file of its own it would wait for work in vain.
    store = Store(settings.database_url, settings.store_timeout, makes=False)
    workers = WorkerStore(store)
    limits = AttemptLimits(settings.round_attempts, settings.round_losses)
    traces = tracing(settings.otlp_endpoint)
    executor = Executor(PartStore(store), worker_id, trainer, limits, traces)
    upkeep = Upkeep(
        store,
        settings=settings,
        worker_id=worker_id,
        scratch=scratch,
        on_struck_off=executor.leave_at_once,
    )
    if not _register(workers, worker_id, settings, scratch, stop):
        scratch.remove()
        return
    upkeep.start()
    executor.start()
    _log.info("worker ready", extra={"fields": {"worker": worker_id}})
    while not stop.wait(_LOOK_SECONDS):  # see there
        pass
    # Leave even if the database does not answer: then other workers notice the missing heartbeat and take over.
    watchdog = threading.Timer(settings.shutdown_grace + _LEAVE_SECONDS, os._exit, (EXIT_CRASHED,))
    watchdog.daemon = True
    watchdog.start()
    ended = executor.stop(settings.shutdown_grace)
    upkeep.stop()
    trainer.stop()
    traces.close()
    scratch.remove()
    try:
        workers.leave(worker_id)
        _log.info("worker left", extra={"fields": {"worker": worker_id, "round_finished": ended}})
    except StoreError:
        _log.exception("the worker leaves without telling the store")


if __name__ == "__main__":
    main()
