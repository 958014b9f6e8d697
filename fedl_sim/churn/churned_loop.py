"""One scheme on one realisation under churn.

It is the loop of `fedl_sim.loop.loop`, and gives the same result to the last bit if nothing goes wrong. A period:

1. Devices that went down are lost with all that they received. The policy says who trains now.
2. The planner goes on with these devices, from what it knows that they hold, in the network of the devices that are up.
3. Data moves and devices train while both ends are up. Part of what is sent may not arrive; what did is reported to the
   planner.
4. The server aggregates the updates that arrive. If there is none, the model stays as it is.

All randomness is a function of (seed, device, step), of no scheme and of no policy. So runs that are compared differ by
their decisions alone: a device that holds the same data in two runs trains on the same batches.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from fedl_sim.churn.churn import Churn
from fedl_sim.churn.deliveries import Delivery, delivered_state
from fedl_sim.churn.drift import Drift
from fedl_sim.churn.events import PeriodEvents, happenings
from fedl_sim.churn.policies import Situation, policy_for, react
from fedl_sim.churn.presence import present_network
from fedl_sim.data.datasets import DataSet
from fedl_sim.engines.base import Engine, Indices
from fedl_sim.loop.devices import local_steps
from fedl_sim.loop.holdings import Arrivals, Holdings
from fedl_sim.loop.loop import RunSettings, Totals, recorded, sample_devices
from fedl_sim.loop.planner import PlannedStep, Planner
from fedl_sim.loop.records import AggregationRecord, DeviceRecord, PeriodRecord, SchemeRun
from fedl_sim.loop.server import Observation, aggregate, last_of_each, observe
from fedl_sim.network.realisation import Realisation
from fedl_sim.randomness import stream
from sampler.schemes import Scheme
from solver.horizon.gradient import GradientModel
from solver.horizon.membership import as_it_stands, exchange
from solver.horizon.state import HorizonState, start
from solver.network import Network

__all__ = ["ChurnedLoop", "run_churned"]

OnAggregation = Callable[[AggregationRecord], None]


class ChurnedLoop:
    """A scheme under churn; each call of `advance` does one aggregation.

    Attributes:
        chosen: the devices that the policy has chosen; some may be down.
        parameters: the global model.
        holdings: what chosen devices hold.
        planner: plans what moves.
        state: what the planner knows of what devices hold; None while no chosen device is there.
        totals: counts since the start.
        records: one for each aggregation done, k = 0 first.
        periods: one for each period done.
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
        churn: Churn,
        policy: str,
        seed: int,
        draw: int = 0,
        name: str = "churn",
        network_seed: int | None = None,
    ) -> None:
        self._happens = happens = seed if network_seed is None else network_seed
        partition = realisation.partition
        self._scheme, self._realisation, self._images = scheme, realisation, data.train
        self._engine, self._settings, self._churn = engine, settings, churn
        self._policy = policy_for(policy, scheme.sampler)
        self._seed, self._draw, self._name = seed, draw, name
        self._period = settings.training.aggregation_period
        self._events = happenings(churn, partition.n_devices, settings.aggregations, self._period, seed=happens)
        self._drift = Drift.of(data.train, partition, churn.drift, seed=happens)
        self._lost = np.zeros(partition.n_devices, np.bool_)
        self.chosen = sample_devices(scheme, realisation, engine, settings, seed=happens, draw=draw)
        self.planner = Planner(realisation.network, self.chosen, scheme.offloading, settings, seed=seed, purpose=name)
        self.state: HorizonState | None = self.planner.state
        self.holdings = Holdings(
            data.train,
            partition,
            self.chosen.tolist(),
            realisation.radius,
            send_once=settings.transfer == "send_once",
        )
        self.parameters = engine.initial_parameters(stream(seed, "parameters"))
        self._seen = Observation(0.0, 0.0, 0.0)
        self.totals = Totals()
        self.records: list[AggregationRecord] = []
        self.periods: list[PeriodRecord] = []
        self.processed: dict[int, int] = dict.fromkeys(self.chosen.tolist(), 0)

    @property
    def finished(self) -> bool:
        """Whether aggregation K is done."""
        return len(self.records) > self._settings.aggregations

    def advance(self) -> AggregationRecord:
        """Do the next aggregation: a period (not for k = 0), then observe and evaluate."""
        k = len(self.records)
        there = self.chosen if k == 0 else self._play(k)
        if len(there):
            held = [self.holdings.data(i) for i in there.tolist()]
            self._seen = observe(self._engine, self.parameters, held, self._settings.threads)
        # If nobody is there to measure, the last measurement stands.
        self.planner.observe(self._seen)
        self.records.append(recorded(k, self._engine.evaluate(self.parameters), self._seen, self.totals))
        return self.records[-1]

    def _play(self, k: int) -> NDArray[np.int64]:
        """Play period k; return the devices that train and are there at its end."""
        now = self._events[k - 1]
        network = self._network_in(k, now)
        before, lost = self.chosen, self._lost | ~now.present
        self.chosen = self._react(k, network, now.present, lost)
        members = self.chosen[now.present[self.chosen]]
        self._exchange(k, network, members, lost)
        by_device = self._move(now, network, members)
        self._train(by_device, now)
        self._lost = now.lost
        self.periods.append(
            PeriodRecord(
                chosen=tuple(self.chosen.tolist()),
                joined=tuple(self.chosen[~np.isin(self.chosen, before)].tolist()),
                lost=tuple(members[now.lost[members]].tolist()),
                arrived=tuple(members[now.arrived[members]].tolist()),
            )
        )
        return members[~now.lost[members]]

    def _network_in(self, k: int, now: PeriodEvents) -> Network:
        """The network of those who are present, with the data that devices have of their own in period k."""
        counts = None
        if self._churn.drift > 0:
            partition = self._drift.at(k)
            self.holdings.renew(partition)
            counts = partition.label_counts(self._images)
        return present_network(self._realisation.network, now.present, counts)

    def _react(
        self, k: int, network: Network, present: NDArray[np.bool_], lost: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """Let the policy choose, in the network as it stands."""
        gone = np.flatnonzero(lost)
        situation = Situation(
            network=network if self.state is None else as_it_stands(network, self.state, lost=gone),
            present=present,
            sample_size=self._settings.sample_size,
            horizon=self._settings.horizon - (k - 1) * self._period,
            sampler=self._scheme.sampler,
            offloading=self._scheme.offloading != "none",
            transfer=self._settings.transfer,
            gradient=GradientModel(self._seen.gradient_norm),
            gradient_noise=self._seen.gradient_noise,
        )
        return react(self._policy, self.chosen, lost, situation, stream(self._happens, "react", self._draw, k))

    def _exchange(self, k: int, network: Network, members: NDArray[np.int64], lost: NDArray[np.bool_]) -> None:
        """Go on with these members; who went down or is chosen no longer keeps nothing of what it received."""
        for device in self.holdings.devices:
            if lost[device] or device not in members:
                self.holdings.drop(device)
        for device in members.tolist():
            self.holdings.admit(device)
            self.processed.setdefault(device, 0)
        if len(members) == 0:
            self.state = None
            return
        state = start(network, members)
        if self.state is not None:
            state = exchange(network, self.state, members, lost=np.flatnonzero(lost))
        self.state = replace(state, step=(k - 1) * self._period)
        self.planner.go_on(network, self.state)

    def _move(
        self, now: PeriodEvents, network: Network, members: NDArray[np.int64]
    ) -> dict[int, list[tuple[int, Indices]]]:
        """Plan and carry out a period; return each member's data in the steps that it completes."""
        by_device: dict[int, list[tuple[int, Indices]]] = {i: [] for i in members.tolist()}
        if self.state is None:
            return by_device
        steps = self.planner.next_period()
        deliveries: list[Delivery] = []
        for number, step in enumerate(steps, start=1):
            there = now.survived >= number
            arrived = self._carry_out(step, there, deliveries)
            trained = {i: self.holdings.data(i) for i in by_device if now.finished[i] >= number}
            for i, indices in trained.items():
                by_device[i].append((step.step, indices))
                self.processed[i] += len(indices)
            cost_of = network.devices.processing_cost
            self.totals = Totals(
                processed=self.totals.processed + sum(len(indices) for indices in trained.values()),
                moved=self.totals.moved + arrived.sent,
                useful=self.totals.useful + arrived.useful,
                predicted=self.totals.predicted + step.predicted_useful,
                cost=self.totals.cost
                + arrived.transmit_cost
                + float(sum(cost_of[i] * len(indices) for i, indices in trained.items())),
            )
        self.state = delivered_state(self.planner.state, self.planner.moved, deliveries)
        return by_device

    def _carry_out(self, step: PlannedStep, there: NDArray[np.bool_], deliveries: list[Delivery]) -> Arrivals:
        """Move what can be moved while both ends are there, and note what arrived."""
        going = [bool(there[transfer.source] and there[transfer.target]) for transfer in step.transfers]
        arrivals = self.holdings.move(
            list(compress(step.transfers, going)),
            list(compress(step.costs, going)),
            seed=self._seed,
            purpose=self._name,
            step=step.step,
            loss=self._churn.lost_transfers,
        )
        shares = iter(arrivals.delivered)
        for transfer, goes in zip(step.transfers, going, strict=True):
            deliveries.append(Delivery(transfer, next(shares) if goes else 0.0))
        return arrivals

    def _train(self, by_device: dict[int, list[tuple[int, Indices]]], now: PeriodEvents) -> None:
        """Train who completes a step and is there at the end, and aggregate; without an update the model stays."""
        jobs = [
            local_steps(
                self._engine, self.parameters, i, data, self._settings.training, seed=self._seed, purpose=self._name
            )
            for i, data in by_device.items()
            if now.arrived[i]
        ]
        if jobs:
            self.parameters = aggregate(last_of_each(jobs, self._settings.threads))

    def result(self) -> SchemeRun:
        """Return the records of the run so far; devices are all that were chosen at some time."""
        first = self._realisation.partition.sizes
        return SchemeRun(
            scheme=self._scheme.name,
            seed=self._seed,
            draw=self._draw,
            sampled=tuple(self.chosen.tolist()),
            devices=tuple(
                DeviceRecord(i, int(first[i]), self.holdings.received(i), n) for i, n in self.processed.items()
            ),
            aggregations=tuple(self.records),
            worst_relative_gap=self.planner.worst_relative_gap,
            periods=tuple(self.periods),
        )


def run_churned(
    scheme: Scheme,
    realisation: Realisation,
    data: DataSet,
    engine: Engine,
    settings: RunSettings,
    *,
    churn: Churn,
    policy: str,
    seed: int,
    draw: int = 0,
    network_seed: int | None = None,
    on_aggregation: OnAggregation | None = None,
) -> SchemeRun:
    """Run a scheme under churn from w(0) through K aggregations.

    `network_seed` decides who is drawn, lost, straggles or drifts; without it, `seed` does.
    """
    loop = ChurnedLoop(
        scheme, realisation, data, engine, settings,
        churn=churn, policy=policy, seed=seed, draw=draw, network_seed=network_seed,
    )  # fmt: skip
    while not loop.finished:
        record = loop.advance()
        if on_aggregation is not None:
            on_aggregation(record)
    return loop.result()
