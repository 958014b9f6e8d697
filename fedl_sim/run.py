"""One scheme on one realisation: sample, plan, move data, train, aggregate, observe, plan again.

This closes the paper's loop (Sec. III-C): what is measured at aggregation k decides the offloading of the
next period, as an orchestrator would tell the service.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fedl_sim.client import LocalUpdate, TrainingSettings, local_steps
from fedl_sim.datasets import DataSet
from fedl_sim.engine import Engine, Indices
from fedl_sim.informed import INFORMED, sample_informed
from fedl_sim.models import FloatArray
from fedl_sim.offloading import Holdings
from fedl_sim.planner import Planner
from fedl_sim.randomness import stream
from fedl_sim.realisation import Realisation
from fedl_sim.records import AggregationRecord, DeviceRecord, SchemeRun
from fedl_sim.schemes import EVERYBODY, Scheme
from fedl_sim.server import aggregate, last_of_each, observe
from sampler.base import SamplingProblem
from sampler.registry import find_sampler
from solver.eligibility import eligible_devices
from solver.schedule import Schedule

__all__ = ["RunSettings", "run_scheme", "sample_devices"]

OnAggregation = Callable[[AggregationRecord], None]


@dataclass(frozen=True)
class RunSettings:
    """How long and with how many devices to train."""

    sample_size: int = 5
    aggregations: int = 10
    training: TrainingSettings = field(default_factory=TrainingSettings)
    threads: int = 1

    def __post_init__(self) -> None:
        if min(self.sample_size, self.aggregations, self.threads) < 1:
            raise ValueError("sample_size, aggregations and threads must be at least 1")

    @property
    def horizon(self) -> int:
        """T = K·τ steps."""
        return self.aggregations * self.training.aggregation_period


@dataclass(frozen=True)
class _Totals:
    """Counts since the start of the run."""

    processed: int = 0
    moved: int = 0
    useful: int = 0
    predicted: float = 0.0
    cost: float = 0.0


def sample_devices(
    scheme: Scheme, realisation: Realisation, engine: Engine, settings: RunSettings, *, seed: int, draw: int
) -> NDArray[np.int64]:
    """Choose who trains under this scheme; the engine serves rivals that ask devices about a model."""
    schedule = Schedule.of(realisation.network)
    if scheme.sampler == EVERYBODY:
        return np.flatnonzero(eligible_devices(schedule, settings.horizon))
    problem = SamplingProblem.of(
        schedule, settings.sample_size, horizon=settings.horizon, offloading=scheme.offloading != "none"
    )
    # By sampler, not by scheme: random draws are compared with and without offloading on the same devices.
    generator = stream(seed, "sample", scheme.sampler, draw)
    if scheme.sampler in INFORMED:
        return sample_informed(
            scheme.sampler, problem, realisation, engine, settings.training, seed=seed, generator=generator
        ).sampled
    return find_sampler(scheme.sampler)(problem, generator).sampled


def run_scheme(
    scheme: Scheme,
    realisation: Realisation,
    data: DataSet,
    engine: Engine,
    settings: RunSettings,
    *,
    seed: int,
    draw: int = 0,
    on_aggregation: OnAggregation | None = None,
) -> SchemeRun:
    """Run a scheme from w(0) through K aggregations.

    All randomness is a function of (seed, scheme, draw, device, step); w(0) of the seed alone.
    """
    sampled = sample_devices(scheme, realisation, engine, settings, seed=seed, draw=draw)
    name = f"{scheme.name}#{draw}"
    holdings = Holdings(data.train, realisation.partition, sampled.tolist(), realisation.radius)
    planner = Planner(realisation.network, sampled, scheme.offloading, settings, seed=seed, scheme=name)
    w = engine.initial_parameters(stream(seed, "parameters"))
    totals = _Totals()
    records: list[AggregationRecord] = []
    processed = dict.fromkeys(sampled.tolist(), 0)
    for k in range(settings.aggregations + 1):
        if k > 0:
            by_device, totals = _move(planner, holdings, realisation, sampled, totals, seed=seed, scheme=name)
            updates = _train(engine, w, by_device, settings, seed=seed, scheme=name)
            w = aggregate(updates)
            for update in updates:
                processed[update.device] += update.datapoints
        seen = observe(engine, w, [holdings.data(i) for i in sampled.tolist()], settings.threads)
        planner.observe(seen)
        test = engine.evaluate(w)
        record = AggregationRecord(
            aggregation=k,
            accuracy=test.accuracy,
            loss=test.loss,
            gradient_norm=seen.gradient_norm,
            gradient_noise=seen.gradient_noise,
            processed=totals.processed,
            moved=totals.moved,
            useful=totals.useful,
            predicted_useful=totals.predicted,
            cost=totals.cost,
        )
        records.append(record)
        if on_aggregation is not None:
            on_aggregation(record)
    first = realisation.partition.sizes
    devices = tuple(
        DeviceRecord(i, int(first[i]), len(holdings.data(i)) - int(first[i]), processed[i]) for i in sampled.tolist()
    )
    return SchemeRun(
        scheme=scheme.name,
        seed=seed,
        draw=draw,
        sampled=tuple(sampled.tolist()),
        devices=devices,
        aggregations=tuple(records),
        worst_relative_gap=planner.worst_relative_gap,
    )


def _move(
    planner: Planner,
    holdings: Holdings,
    realisation: Realisation,
    sampled: NDArray[np.int64],
    totals: _Totals,
    *,
    seed: int,
    scheme: str,
) -> tuple[dict[int, list[tuple[int, Indices]]], _Totals]:
    """Carry out a period's plan; return each device's data by step, and the new totals."""
    cost_of = realisation.network.devices.processing_cost
    by_device: dict[int, list[tuple[int, Indices]]] = {i: [] for i in sampled.tolist()}
    for step in planner.next_period():
        arrived = holdings.move(step.transfers, step.costs, seed=seed, scheme=scheme, step=step.step)
        trained = {i: holdings.data(i) for i in by_device}
        for i, indices in trained.items():
            by_device[i].append((step.step, indices))
        totals = _Totals(
            processed=totals.processed + sum(len(indices) for indices in trained.values()),
            moved=totals.moved + arrived.sent,
            useful=totals.useful + arrived.useful,
            predicted=totals.predicted + step.predicted_useful,
            cost=totals.cost
            + arrived.transmit_cost
            + float(sum(cost_of[i] * len(indices) for i, indices in trained.items())),
        )
    return by_device, totals


def _train(
    engine: Engine,
    parameters: FloatArray,
    by_device: dict[int, list[tuple[int, Indices]]],
    settings: RunSettings,
    *,
    seed: int,
    scheme: str,
) -> Sequence[LocalUpdate]:
    """Train every sampled device through the period."""
    jobs = [
        local_steps(engine, parameters, device, steps, settings.training, seed=seed, scheme=scheme)
        for device, steps in by_device.items()
    ]
    return last_of_each(jobs, settings.threads)
