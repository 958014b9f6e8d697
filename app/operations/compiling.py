"""`python -m app.operations.compiling`: compile the kernels that the first plan does not need, beside a service.

The process has a low priority. It ends when its standard input does, which a server holds: even a server that is killed
leaves nothing behind.
"""

import logging
import os
import subprocess
import sys
import threading
from time import perf_counter

from app.http.gate import Service
from app.settings import Settings
from app.telemetry.logs import set_up_logs
from sampler.warm_up import warm_up_rest
from solver.kernels.compile import count_missing

__all__ = ["Compiling"]

_log = logging.getLogger("fedsift.compiling")

_LOW_PRIORITY = 10
# After a failure only requests compile.
_LOOK_SECONDS = {"compiling": 1.0, "failed": 60.0}
# `-P` keeps the working directory off the import path: a folder `app/` there must not replace ours.
_COMMAND = (sys.executable, "-P", "-m", "app.operations.compiling")


class Compiling:
    """Follows what is not compiled yet, for /readyz; one of the server processes has that process compile it."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._failed = False
        self._look()

    def start(self) -> None:
        """Start it, if there is anything to compile. An image has everything, in a folder that cannot be written to."""
        if self._service.kernels == "compiling" and self._service.tidies:
            self._begin()
        if self._service.kernels != "ok":
            threading.Thread(target=self._follow, name="kernels", daemon=True).start()

    def stop(self) -> None:
        """End it at once; a kernel that it had not finished is compiled when it is needed."""
        with self._lock:
            self._stopped.set()
            if self._process is not None:
                with self._process:
                    self._process.kill()

    def _begin(self) -> None:
        with self._lock:
            if self._service.solver != "ok":
                self._failed = True
            elif not self._stopped.is_set():
                try:
                    # A process group of its own: Ctrl+C tells the server alone.
                    self._process = subprocess.Popen(_COMMAND, stdin=subprocess.PIPE, process_group=0)  # noqa: S603
                except OSError:
                    _log.exception("the kernels cannot be compiled")
                    self._failed = True

    def _follow(self) -> None:
        self._look()
        while self._service.kernels != "ok" and not self._stopped.wait(_LOOK_SECONDS[self._service.kernels]):
            self._look()

    def _look(self) -> None:
        service = self._service
        if self._process is not None and self._process.poll() is not None:  # before it is counted what it left
            self._failed = True
        try:
            service.kernels_missing = count_missing()
        except Exception:
            _log.exception("the compiled kernels cannot be read")
            self._failed = True
            service.kernels_missing = max(1, service.kernels_missing)
        service.compile_failures.set(int(self._failed))
        failed = service.compile_failures.total > 0
        service.kernels = "ok" if service.kernels_missing == 0 else "failed" if failed else "compiling"


def _end_with_server() -> None:
    os.read(0, 1)  # nobody writes: it returns when the server has gone
    os._exit(0)


def main() -> None:
    """Compile what is missing."""
    settings = Settings()
    set_up_logs(settings.log_level, settings.log_format)
    threading.Thread(target=_end_with_server, name="server", daemon=True).start()
    os.nice(_LOW_PRIORITY)
    begin, missing = perf_counter(), count_missing()
    _log.info("compiling what only some requests need (once)", extra={"fields": {"kernels": missing}})
    try:
        warm_up_rest()
    except Exception:
        _log.exception("the kernels cannot be compiled")
        sys.exit(1)
    _log.info("all kernels are compiled", extra={"fields": {"seconds": round(perf_counter() - begin, 1)}})


if __name__ == "__main__":
    main()
