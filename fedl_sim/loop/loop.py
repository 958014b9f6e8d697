"""One scheme on one realisation: sample, plan, move data, train, aggregate, observe, plan again.

This is the paper's closed loop (Sec. III-C): the gradient measured at aggregation k enters the offloading plan of the
next period. An orchestrator that uses the service does the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fedl_sim.data.datasets import DataSet
from fedl_sim.engines.base import Engine, Evaluation, Indices
from fedl_sim.engines.models import FloatArray
from fedl_sim.errors import InvalidSettingError
from fedl_sim.loop.devices import LocalUpdate, TrainingSettings, local_steps
from fedl_sim.loop.first_round import sample_by_rival, with_gradient
from fedl_sim.loop.holdings import Holdings
from fedl_sim.loop.planner import PeriodPlanner, Planner, optimises
from fedl_sim.loop.records import AggregationRecord, DeviceRecord, SchemeRun
from fedl_sim.loop.server import Observation, aggregate, last_of_each, observe
from fedl_sim.network.realisation import Realisation
from fedl_sim.randomness import stream
from sampler.base import SamplingProblem
from sampler.objectives.registry import DEFAULT_OBJECTIVE
from sampler.registry import find_sampler
from sampler.rivals.model_based import RIVALS
from sampler.schemes import EVERYONE, Scheme
from solver.horizon.transfer import DEFAULT_TRANSFER, transfer_named
from solver.network.eligibility import eligible_devices

__all__ = ["RunSettings", "SchemeLoop", "Totals", "recorded", "run_scheme", "sample_devices"]

OnAggregation = Callable[[AggregationRecord], None]


@dataclass(frozen=True)
class RunSettings:
    """How many devices train, and for how long.

    Attributes:
        sample_size: S.
        aggregations: K.
        training: how devices train.
        threads: number of devices that train at the same time; the result does not depend on it.
        closed_loop: plan with the gradient measured at each aggregation (Sec. III-C); otherwise only with the first.
        transfer: what senders send over a link that they have used before, see `solver.horizon.transfer`.
        send: which datapoints: `any`, or `lacking`: first of the labels of which the receiver holds fewest.
        measure_always: measure the gradient at every aggregation. Otherwise the first measurement stands in all records
            of schemes whose plans do not use it: measuring is a large part of FedL on all nodes.
    """

    sample_size: int = 5
    aggregations: int = 10
    training: TrainingSettings = field(default_factory=TrainingSettings)
    threads: int = 1
    closed_loop: bool = True
    transfer: str = DEFAULT_TRANSFER
    send: str = "any"
    measure_always: bool = True

    def __post_init__(self) -> None:
        transfer_named(self.transfer)
        if min(self.sample_size, self.aggregations, self.threads) < 1:
            raise InvalidSettingError("sample_size, aggregations and threads must be at least 1")
        if self.send not in {"any", "lacking"}:
            raise InvalidSettingError(f"send must be any or lacking, not {self.send!r}")

    @property
    def horizon(self) -> int:
        """T = K·τ steps."""
        return self.aggregations * self.training.aggregation_period


@dataclass(frozen=True)
class Totals:
    """Counts since the start of the run."""

    processed: int = 0
    moved: int = 0
    useful: int = 0
    predicted: float = 0.0
    cost: float = 0.0


def sample_devices(
    scheme: Scheme, realisation: Realisation, engine: Engine, settings: RunSettings, *, seed: int, draw: int
) -> NDArray[np.int64]:
    """Choose the devices that train under this scheme; samplers see the gradient's norm and γ as measured at w(0)."""
    schedule = realisation.conditions
    if scheme.sampler == EVERYONE:
        return np.flatnonzero(eligible_devices(schedule, settings.horizon))
    problem = SamplingProblem.of(
        schedule,
        settings.sample_size,
        horizon=settings.horizon,
        offloading=scheme.offloading != "none",
        transfer=settings.transfer,
    )
    problem = with_gradient(problem, realisation, engine, seed=seed)
    # By sampler, not by scheme: so a random scheme with offloading and one without it have the same devices.
    sampler = scheme.sampler.removesuffix(f":{DEFAULT_OBJECTIVE}")
    generator = stream(seed, "sample", sampler, draw)
    if scheme.sampler in RIVALS:
        return sample_by_rival(
            scheme.sampler, problem, realisation, engine, settings.training, seed=seed, generator=generator
        ).sampled
    return find_sampler(scheme.sampler)(problem, generator).sampled


class SchemeLoop:
    """A scheme on a realisation; each call of `advance` does one aggregation.

    All randomness is a function of (seed, device, step) and of what it is for, of no scheme's name: schemes that are
    compared have the same w(0), and a device that holds the same data in two runs trains on the same batches. Only who
    is drawn depends on the sampler and the draw. So another process can continue from what `fedl_sim.loop.checkpoint`
    writes between two aggregations.

    Attributes:
        sampled: the devices that train.
        holdings: the sampled devices' data.
        planner: plans what moves.
        parameters: the global model.
        totals: counts since the start.
        records: one for each aggregation done, k = 0 first.
        seen: what was measured last.
        processed: datapoints trained on, by device.
    """

    def __init__(
        self,
        scheme: Scheme,
        realisation: Realisation,
        data: DataSet,
        engine: Engine,
        settings: RunSettings,
        *,
        seed: int,
        draw: int = 0,
        network_seed: int | None = None,
        sampled: NDArray[np.int64] | None = None,
        planner: PeriodPlanner | None = None,
    ) -> None:
        if sampled is None:
            drawn_by = seed if network_seed is None else network_seed
            sampled = sample_devices(scheme, realisation, engine, settings, seed=drawn_by, draw=draw)
        self._scheme = scheme
        self._realisation = realisation
        self._engine = engine
        self._settings = settings
        self._seed = seed
        self._draw = draw
        self._each = settings.training.datapoints_in_step(realisation.partition.sizes)
        self.sampled = sampled
        self.planner: PeriodPlanner = planner or Planner(
            realisation.conditions, sampled, scheme.offloading, settings, seed=seed
        )
        self.holdings = Holdings(
            data.train,
            realisation.partition,
            sampled.tolist(),
            realisation.radius,
            send_once=self.planner.transfer == "send_once",
            lacking=settings.send == "lacking",
        )
        self.parameters = engine.initial_parameters(stream(seed, "parameters"))
        self.totals = Totals()
        self.records: list[AggregationRecord] = []
        self.seen = Observation(0.0, 0.0, 0.0)
        self.processed = dict.fromkeys(sampled.tolist(), 0)

    @property
    def finished(self) -> bool:
        """Whether aggregation K is done."""
        return len(self.records) > self._settings.aggregations

    def advance(self) -> AggregationRecord:
        """Do the next aggregation: move, train and aggregate (not for k = 0), then observe and evaluate."""
        k = len(self.records)
        there = self.sampled if k == 0 else self._play(k)
        if len(there) and (k == 0 or self._settings.measure_always or optimises(self._scheme.offloading)):
            held = [self.holdings.data(i) for i in there.tolist()]
            self.seen = observe(self._engine, self.parameters, held, self._settings.threads)
        # If nobody measures, the last measurement stands.
        self.planner.observe(self.seen)
        self.records.append(recorded(k, self._engine.evaluate(self.parameters), self.seen, self.totals))
        return self.records[-1]

    def _play(self, k: int) -> NDArray[np.int64]:
        """Play period k and aggregate; return those of the sampled devices that are there at its end."""
        self.go_to(k)
        there = self._staying(k)
        by_device, self.totals = _move(
            self.planner, self.holdings, self._realisation, there, self.totals, seed=self._seed, each=self._each
        )
        updates = _train(self._engine, self.parameters, by_device, self._settings, seed=self._seed, each=self._each)
        if updates:
            self.parameters = aggregate(updates)
        for update in updates:
            self.processed[update.device] += update.processed
        return there

    def go_to(self, k: int) -> None:
        """Begin period k; here all periods have the same devices."""

    def _staying(self, k: int) -> NDArray[np.int64]:  # noqa: ARG002 - here all of them do in every period
        """Those whose updates of period k arrive."""
        return self.sampled

    def result(self) -> SchemeRun:
        """Return the records of the run so far."""
        first = self._realisation.partition.sizes
        devices = tuple(DeviceRecord(i, int(first[i]), self.holdings.received(i), n) for i, n in self.processed.items())
        return SchemeRun(
            scheme=self._scheme.name,
            seed=self._seed,
            draw=self._draw,
            sampled=tuple(self.sampled.tolist()),
            devices=devices,
            aggregations=tuple(self.records),
            worst_relative_gap=self.planner.worst_relative_gap,
        )


def recorded(k: int, test: Evaluation, seen: Observation, totals: Totals) -> AggregationRecord:
    """Return the record of aggregation k."""
    return AggregationRecord(
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


def run_scheme(
    scheme: Scheme,
    realisation: Realisation,
    data: DataSet,
    engine: Engine,
    settings: RunSettings,
    *,
    seed: int,
    draw: int = 0,
    network_seed: int | None = None,
    on_aggregation: OnAggregation | None = None,
) -> SchemeRun:
    """Run a scheme from w(0) through K aggregations; `network_seed` decides who is drawn, without it `seed` does."""
    loop = SchemeLoop(scheme, realisation, data, engine, settings, seed=seed, draw=draw, network_seed=network_seed)
    while not loop.finished:
        record = loop.advance()
        if on_aggregation is not None:
            on_aggregation(record)
    return loop.result()


def _move(
    planner: PeriodPlanner,
    holdings: Holdings,
    realisation: Realisation,
    training: NDArray[np.int64],
    totals: Totals,
    *,
    seed: int,
    each: int | None,
) -> tuple[dict[int, list[tuple[int, Indices]]], Totals]:
    """Carry out a period's plan; return each device's data by step, and the new totals."""
    by_device: dict[int, list[tuple[int, Indices]]] = {i: [] for i in training.tolist()}
    for step in planner.next_period():
        cost_of = realisation.conditions.at(step.step).devices.processing_cost
        arrived = holdings.move(step.transfers, step.costs, seed=seed, step=step.step)
        for i, steps in by_device.items():
            steps.append((step.step, holdings.data(i)))
        trained = {i: len(steps[-1][1]) if each is None else each for i, steps in by_device.items()}
        totals = Totals(
            processed=totals.processed + sum(trained.values()),
            moved=totals.moved + arrived.sent,
            useful=totals.useful + arrived.useful,
            predicted=totals.predicted + step.predicted_useful,
            cost=totals.cost + arrived.transmit_cost + float(sum(cost_of[i] * count for i, count in trained.items())),
        )
    return by_device, totals


def _train(
    engine: Engine,
    parameters: FloatArray,
    by_device: dict[int, list[tuple[int, Indices]]],
    settings: RunSettings,
    *,
    seed: int,
    each: int | None,
) -> Sequence[LocalUpdate]:
    """Train these devices through the period."""
    jobs = [
        local_steps(engine, parameters, device, steps, settings.training, seed=seed, each=each)
        for device, steps in by_device.items()
    ]
    return last_of_each(jobs, settings.threads)
