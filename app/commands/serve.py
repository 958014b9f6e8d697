"""`fedsift serve`."""

import gc
import math
import signal
from collections.abc import Callable
from types import FrameType
from typing import Annotated, NoReturn

import typer
import uvicorn

from app.commands.protocol import LimitedProtocol
from app.keys.store import KeyStore
from app.settings import Settings
from app.store import NewerSchemaError, Store, StoreError
from app.telemetry.logs import set_up_logs
from app.telemetry.traces import tracing
from app.worker.supervisor import Supervisor
from solver.errors import MissingExtraError

__all__ = ["serve"]


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on (FEDSIFT_HOST).")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on (FEDSIFT_PORT).")] = None,
    processes: Annotated[int | None, typer.Option(help="Server processes (FEDSIFT_PROCESSES).")] = None,
    workers: Annotated[int | None, typer.Option(help="Validation workers beside it (FEDSIFT_WORKERS).")] = None,
) -> None:
    """Start the service; SIGTERM and Ctrl+C end it with status 0. Every FEDSIFT_* setting is in docs/api.md."""
    given = {"host": host, "port": port, "processes": processes, "workers": workers}
    settings = Settings(**{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
    refuse_newer_schema(settings)
    refuse_open_door(settings)
    refuse_missing_telemetry(settings)
    set_up_logs(settings.log_level)
    settings.export()
    supervisor = Supervisor(settings.workers, settings.shutdown_grace, timeout=settings.worker_timeout)
    _on_stop_signals(_leave)
    supervisor.start()
    try:
        _listen(settings)
    finally:
        _on_stop_signals(lambda *_: supervisor.kill())  # whoever asks twice does not want to wait
        supervisor.stop()


def _leave(*_: object) -> NoReturn:
    """End with status 0 and by way of every `finally`, so that no worker outlives the server.

    uvicorn finishes accepted requests first and raises the signal again afterwards; Python's own handler of SIGTERM
    would then end the process on the spot.
    """
    raise SystemExit(0)


def _on_stop_signals(handler: Callable[[int, FrameType | None], object]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handler)


def _listen(settings: Settings) -> None:
    # Off until everything is loaded: collecting while modules load takes a tenth of the start and frees nothing.
    gc.disable()
    uvicorn.run(
        "app.asgi:served_app",
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.processes,
        log_config=None,
        access_log=False,
        http=LimitedProtocol,
        ws="none",
        timeout_keep_alive=math.ceil(settings.idle_timeout),
        server_header=False,
        timeout_graceful_shutdown=settings.shutdown_grace,
    )


def refuse_newer_schema(settings: Settings) -> None:
    """Do not start on a database that a newer release has changed; one that does not answer may come back later.

    Raises:
        MissingExtraError: the database's driver is not installed.
        NewerSchemaError: a newer release has changed the tables.
    """
    store = Store(settings.database_url, settings.store_timeout)
    try:
        store.migrate()
    except NewerSchemaError:
        raise
    except StoreError:
        return
    finally:
        store.close()


def refuse_missing_telemetry(settings: Settings) -> None:
    """Do not start without the traces that were asked for."""
    try:
        tracing(settings.otlp_endpoint).close()
    except MissingExtraError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error


def refuse_open_door(settings: Settings) -> None:
    """Do not listen beyond this machine without keys, unless told to."""
    if not settings.needs_key:
        return
    store = Store(settings.database_url, settings.store_timeout)
    try:
        if KeyStore(store).all():
            return
    except StoreError as error:
        typer.echo(f"the store cannot be reached: {error}", err=True)
        raise typer.Exit(1) from error
    finally:
        store.close()
    typer.echo(
        f"{settings.host} can be reached from elsewhere and there are no API keys: make one with "
        "`fedsift keys create NAME`, or set FEDSIFT_AUTH=off to serve everyone.",
        err=True,
    )
    raise typer.Exit(2)
