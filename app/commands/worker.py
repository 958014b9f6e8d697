"""`fedsift worker`: worker processes for validations, on any machine that reaches the database."""

import signal
import threading
from typing import Annotated

import typer

from app.commands.environment import read_settings
from app.settings import Settings
from app.telemetry.logs import set_up_logs
from app.telemetry.traces import tracing
from app.worker.supervisor import Supervisor

__all__ = ["supervise", "worker"]


def worker(
    count: Annotated[int, typer.Option("--count", "-n", help="Worker processes; each trains one part at a time.")] = 1,
) -> None:
    """Train parts of validations until told to stop; processes that die are replaced."""
    if count < 1:
        raise typer.BadParameter("must be at least 1", param_hint="--count")
    settings = read_settings()
    tracing(settings.otlp_endpoint).close()  # says at once if its extra is missing
    set_up_logs(settings.log_level, settings.log_format)
    supervise(count, settings)


def supervise(count: int, settings: Settings) -> None:
    """Keep so many workers alive until SIGTERM or SIGINT."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    supervisor = Supervisor(count, settings.shutdown_grace, timeout=settings.worker_timeout)
    supervisor.start()
    while not stop.wait(0.5):  # the handler of a signal that another thread got runs when this one wakes
        pass
    supervisor.stop()
