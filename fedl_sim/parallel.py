"""Independent work in parallel: in local processes, or on a Dask cluster."""

from collections.abc import Iterable, Iterator
from typing import Any

import joblib

from fedl_sim.errors import SimulationError
from solver.errors import MissingExtraError

__all__ = ["fan_out"]


def fan_out(calls: Iterable[Any], *, processes: int = 1, dask: str | None = None) -> Iterator[Any]:
    """Yield the results of `joblib.delayed` calls as they finish, in any order.

    Args:
        calls: the work; the next call is taken from the iterable when a worker is free.
        processes: number of local processes; 1 computes in this one.
        dask: address of a Dask scheduler (`tcp://host:port`); its workers compute instead.

    Raises:
        MissingExtraError: a cluster is asked for, and dask is not installed.
        SimulationError: no scheduler answers at the address.
    """
    if dask is None:
        yield from joblib.Parallel(n_jobs=processes, return_as="generator_unordered")(calls)
        return
    try:
        from distributed import Client  # noqa: PLC0415 — an extra
    except ImportError as error:
        raise MissingExtraError("a Dask cluster needs distributed: install fedsift[cluster]") from error
    try:
        client = Client(dask, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SimulationError(f"no Dask scheduler answers at {dask}: {error}") from error
    with client, joblib.parallel_config(backend="dask", client=client):
        yield from joblib.Parallel(n_jobs=-1, return_as="generator_unordered")(calls)
