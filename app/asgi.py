"""The application as the server runs it, in a process that loads only what serving needs.

Numba looks for cffi and for SciPy's BLAS when its first kernel loads, in case one calls a C function or multiplies
matrices. The service's kernels do neither, and loading both takes about as long as loading FastAPI. So both are hidden
from numba, but only in a server's process: the simulator's kernels do multiply matrices.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import FastAPI
from numba.core.registry import cpu_target

from app.ledger import Ledger
from app.main import create_app
from app.operations.readiness import warm_up

__all__ = ["UNUSED", "served_app", "warm_app"]

UNUSED = ("cffi", "scipy.linalg.cython_blas")


def served_app() -> FastAPI:
    """Build the application for a process that does nothing else."""
    return _settled(_loaded())


def warm_app(ledger: Ledger) -> FastAPI:
    """Build the application and load its kernels, for a process that is going to be forked."""
    app = _loaded(ledger)
    warm_up(app.state.service)
    return _settled(app)


def _loaded(ledger: Ledger | None = None) -> FastAPI:
    with _hidden(*UNUSED):
        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()
    return create_app(ledger=ledger)


def _settled(app: FastAPI) -> FastAPI:
    # Loaded modules are never freed: the garbage collector need not scan them. Scanning would write to them, too, and
    # what a fork writes to it no longer shares.
    gc.freeze()
    gc.enable()
    return app


@contextmanager
def _hidden(*names: str) -> Iterator[None]:
    """Let imports of these modules fail, where they are not loaded yet."""
    absent = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]  # None is how Python marks it
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]
