"""`fedsift serve`."""

import gc
import math
import signal
import socket
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer
import uvicorn

from app.commands.environment import read_settings
from app.commands.serving.balanced import BalancedServer
from app.commands.serving.forks import Forks, Task, leave
from app.commands.serving.protocol import LimitedProtocol
from app.commands.worker import supervise
from app.keys.store import KeyStore
from app.ledger import Ledger
from app.settings import Settings
from app.store import NewerSchemaError, Store, StoreError
from app.store.store import explained
from app.telemetry.logs import set_up_logs
from app.telemetry.shared import shared_metrics
from app.telemetry.traces import tracing
from app.worker.supervisor import Supervisor, require_extra
from solver.errors import FedsiftError, MissingExtraError

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["serve"]

# Connections that may wait while all processes are busy; uvicorn's default.
_BACKLOG = 2048


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on (FEDSIFT_HOST).")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on (FEDSIFT_PORT).")] = None,
    processes: Annotated[int | None, typer.Option(help="Server processes (FEDSIFT_PROCESSES).")] = None,
    workers: Annotated[int | None, typer.Option(help="Validation workers beside it (FEDSIFT_WORKERS).")] = None,
) -> None:
    """Start the service; SIGTERM and Ctrl+C end it with status 0. Every FEDSIFT_* setting is in docs/api.md."""
    settings = read_settings(host=host, port=port, processes=processes, workers=workers)
    settings = settings.model_copy(update={"port": refuse_taken_port(settings)})
    refuse_missing_telemetry(settings)
    if settings.workers:
        require_extra()
    set_up_logs(settings.log_level, settings.log_format)
    refuse_newer_schema(settings)
    refuse_open_door(settings)
    settings.export()
    _on_stop_signals(leave)
    if settings.processes == 1:
        _serve_here(settings)
    else:
        _serve_in_forks(settings)


def _serve_here(settings: Settings) -> None:
    """Serve in this process, with the workers' supervisor in threads beside."""
    supervisor = Supervisor(settings.workers, settings.shutdown_grace, timeout=settings.worker_timeout)
    supervisor.start()
    try:
        # Off until everything is loaded: collecting while modules load takes a tenth of the start and frees nothing.
        gc.disable()
        uvicorn.run("app.asgi:served_app", factory=True, **_options(settings))
    finally:
        _on_stop_signals(lambda *_: supervisor.kill())  # whoever asks twice does not want to wait
        supervisor.stop()


def _serve_in_forks(settings: Settings) -> None:
    """Load everything, then fork the server processes, and one that supervises the workers (ADR 0051)."""
    # Bound at once, so that an address that is taken is told at once. It does not listen before all is loaded: until
    # then clients see that nobody is there.
    listener = uvicorn.Config("app.asgi:served_app", **_options(settings)).bind_socket()
    with listener, shared_metrics():
        gc.disable()
        # Loaded here: a process that serves by itself shows its port before it has loaded.
        from app.asgi import warm_app  # noqa: PLC0415

        ledger = Ledger(settings.processes)
        app = warm_app(ledger)
        listener.listen(_BACKLOG)
        serve_one = partial(_serve_one, app, settings, listener, ledger)
        tasks = [
            Task(f"server-{column}", partial(serve_one, column), partial(ledger.clear, column))
            for column in range(settings.processes)
        ]
        if settings.workers:
            tasks.append(Task("workers", partial(supervise, settings.workers, settings)))
        # A socket that nobody closes would go on taking connections which nobody accepts.
        Forks(tasks, settings.shutdown_grace, stopping=listener.close).run()


def _serve_one(app: "FastAPI", settings: Settings, listener: socket.socket, ledger: Ledger, column: int) -> None:
    ledger.column = column
    app.state.service.tidies = column == 0
    BalancedServer(uvicorn.Config(app, **_options(settings)), listener, ledger.tally("connections")).run()


def _options(settings: Settings) -> dict[str, Any]:
    return {
        "host": settings.host,
        "port": settings.port,
        "log_config": None,
        "access_log": False,
        "http": LimitedProtocol,
        "ws": "none",
        "timeout_keep_alive": math.ceil(settings.idle_timeout),
        "server_header": False,
        # Who is connected counts, not who a header says it is: the gateway is known by its address.
        "proxy_headers": False,
        "timeout_graceful_shutdown": settings.shutdown_grace,
    }


def _on_stop_signals(handler: Callable[[int, FrameType | None], object]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handler)


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


def refuse_taken_port(settings: Settings) -> int:
    """Say plainly that the address cannot be listened on, before anything is loaded; returns the port.

    For port 0 that is a free one.

    Raises:
        FedsiftError: it cannot; names the settings.
    """
    try:
        family, *_, address = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            return int(listener.getsockname()[1])
    except OSError as error:
        told = f"cannot listen on {settings.host}, port {settings.port} (FEDSIFT_HOST, FEDSIFT_PORT)"
        raise FedsiftError(f"{told}: {error.strerror}") from error


def refuse_open_door(settings: Settings) -> None:
    """Do not listen beyond this machine without keys or a gateway, unless told to."""
    if not settings.needs_key or settings.gateway_header:
        return
    store = Store(settings.database_url, settings.store_timeout)
    try:
        if KeyStore(store).all():
            return
    except StoreError as error:
        raise FedsiftError(explained(settings.database_url, error)) from error
    finally:
        store.close()
    typer.echo(
        f"{settings.host} can be reached from elsewhere and there are no API keys: make one with "
        "`fedsift keys create NAME`, or set FEDSIFT_AUTH=off to serve everyone.",
        err=True,
    )
    raise typer.Exit(2)
