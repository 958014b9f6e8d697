"""The server's work: weighted aggregation (eq. 3), and the measurements for the next period's plan."""

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import numpy as np

from fedl_sim.engines.base import Engine, Indices
from fedl_sim.engines.models import FloatArray
from fedl_sim.loop.devices import LocalUpdate

__all__ = ["Observation", "aggregate", "for_each_device", "last_of_each", "observe"]

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Observation:
    """What the server measures at an aggregation, for the planner.

    Attributes:
        gradient_norm: ‖∇F̄(kτ)‖, the norm of the data-weighted mean gradient (eq. 25) over sampled devices.
        gradient_noise: γ, the deviation of one datapoint's gradient from its device's mean: by the central
            limit theorem a device's gradient is off by γ/√D_i (term b).
        loss: data-weighted mean of F(w|D_i) over sampled devices.
    """

    gradient_norm: float
    gradient_noise: float
    loss: float


def aggregate(updates: Sequence[LocalUpdate]) -> FloatArray:
    """Return w_S(kτ) = Σ Δ_i w_i / Σ Δ_i (eq. 3), summed in float64 in the order given."""
    total = sum(update.datapoints for update in updates)
    if total <= 0:
        raise ValueError("nobody trained: there is nothing to aggregate")
    mean = np.zeros(updates[0].parameters.shape, np.float64)
    for update in updates:
        mean += (update.datapoints / total) * update.parameters
    return mean.astype(updates[0].parameters.dtype)


def observe(engine: Engine, parameters: FloatArray, data: Sequence[Indices], threads: int = 1) -> Observation:
    """Measure the gradient at w_S(kτ) on the sampled devices' data (Sec. III-C)."""
    moments = for_each_device(lambda indices: engine.gradient(parameters, indices), data, threads)
    share = np.array([len(indices) for indices in data], np.float64)
    share /= share.sum()
    mean = np.zeros(parameters.shape, np.float64)
    variance = loss = 0.0
    for weight, m in zip(share, moments, strict=True):
        mean += weight * m.gradient
        variance += weight * m.spread**2
        loss += weight * m.loss
    return Observation(float(np.linalg.norm(mean)), math.sqrt(variance), float(loss))


def for_each_device(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> list[Result]:
    """Apply `work` to every item and return the results in order; kernels release the GIL, so threads help."""
    if threads <= 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, items))


def last_of_each(jobs: Sequence[Iterator[Result]], threads: int) -> list[Result]:
    """Exhaust every iterator and return its last value, in order.

    A thread takes one step of one job at a time. So five devices on two cores finish together. If threads took whole
    devices, one core would be idle while the other trains the fifth.
    """
    results: list[Result | None] = [None] * len(jobs)
    waiting = deque(range(len(jobs)))

    def work(_thread: int) -> None:
        while True:
            try:
                job = waiting.popleft()
            except IndexError:
                return
            for value in islice(jobs[job], 1):
                results[job] = value
                waiting.append(job)

    for_each_device(work, range(max(1, threads)), threads)
    if any(result is None for result in results):
        raise ValueError("a job had no steps")
    return [result for result in results if result is not None]
