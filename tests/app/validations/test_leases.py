"""Leases under any interleaving: workers claim, beat, freeze, strike each other off, leave and come back at random.

However it goes, every part is done exactly once in the end, and nobody who was struck off changes anything.
"""

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.validations.attempts import AttemptLimits
from app.validations.parts import Claim, FinishedRound, LostError, PartStore
from app.worker.store import WorkerRecord, WorkerStore
from fedl_sim.contract import AggregationRecord, Facts
from tests.support.crew import Crew
from tests.support.waiting import PATIENCE

ENDLESS = AttemptLimits(failed=10**6, lost=10**6)


@dataclass
class Worker:
    """A worker as it sees itself: it may be struck off long since."""

    id: str
    claim: Claim | None = None
    at: int = 0


class Play:
    """Several workers on one store; `chance` says who does what next."""

    def __init__(self, crew: Crew, chance: random.Random) -> None:
        self.parts, self.table = PartStore(crew.store), WorkerStore(crew.store)
        self.chance = chance
        self.workers: list[Worker] = []
        self.hired = 0
        self.seen: list[WorkerRecord] = []

    def hire(self, name: str = "") -> Worker:
        self.hired += 1
        worker = Worker(f"{name}w{self.hired}")
        self.table.register(worker.id, "elsewhere", self.hired)
        self.workers.append(worker)
        return worker

    def claim(self, worker: Worker) -> None:
        if worker.claim is None:
            worker.claim = self.parts.claim(worker.id, ENDLESS)
            worker.at = worker.claim.next_round if worker.claim else 0

    def forget(self, worker: Worker) -> None:
        """The reply to a claim was lost: the store has it, the worker does not know."""
        worker.claim = None

    def finish(self, worker: Worker) -> None:
        if worker.claim is None:
            return
        again = self.chance.random() < 0.2  # the first reply was lost
        for _ in range(1 + again):
            more = self.parts.finish_round(worker.claim, trained(worker.claim, worker.at))
        worker.at += 1
        if not more:
            worker.claim = None

    def stumble(self, worker: Worker) -> None:
        if worker.claim is not None:
            assert self.parts.try_again(worker.claim, "the training process died", ENDLESS)

    def leave(self, worker: Worker) -> None:
        if worker.claim is not None:
            self.parts.release(worker.claim)
        self.table.leave(worker.id)
        self.workers.remove(worker)

    def beat(self, worker: Worker) -> None:
        if not self.table.beat(worker.id):
            raise LostError(worker.id)

    def look(self, worker: Worker) -> None:
        self.seen = self.table.all()

    def strike(self, worker: Worker) -> None:
        """By what somebody saw some time ago, rightly or not."""
        if self.seen:
            self.table.strike_off(worker.id, self.chance.choice(self.seen))

    def die(self, worker: Worker) -> None:
        self.workers.remove(worker)

    def step(self) -> None:
        acts = (self.claim, self.finish, self.finish, self.finish, self.beat, self.look, self.strike, self.stumble)
        act = self.chance.choice((*acts, self.forget) if self.chance.random() < 0.9 else (self.leave, self.die))
        worker = self.chance.choice(self.workers)
        writes = worker.claim is not None and act in {self.finish, self.stumble, self.leave}
        is_struck_off = worker.id not in {one.id for one in self.table.all()}
        try:
            act(worker)
        except LostError:
            assert is_struck_off or writes
            self.workers.remove(worker)  # it exits
        else:
            assert not (is_struck_off and writes)
        if len(self.workers) < 4:
            self.hire()

    def finish_all(self) -> None:
        """One worker that takes over from everybody."""
        last = self.hire()
        for other in self.table.all():
            if other.id != last.id:
                assert self.table.strike_off(last.id, other)
        while self.parts.claim(last.id, ENDLESS) is not None:
            self.claim(last)
            while last.claim is not None:
                self.finish(last)


def trained(claim: Claim, aggregation: int) -> FinishedRound:
    """A round whose record says which it is."""
    accuracy = claim.seed + aggregation / 1000
    record = AggregationRecord(aggregation, accuracy, 1.0, 2.0, 1.0, 0, 0, 0, 0.0, 0.0)
    return FinishedRound(aggregation, 1.0, record, b"state", Facts(1e-9))


def check(crew: Crew, validations: list[str]) -> None:
    for validation in validations:
        ended = crew.find(validation)
        assert (ended.state, ended.rounds_done) == ("succeeded", ended.rounds)
        measured = crew.measured(validation)
        assert len(measured) == ended.rounds
        assert {key: record["accuracy"] for key, record in measured.items()} == {
            (scheme, seed, k): seed + k / 1000 for scheme, seed, k in measured
        }
        crew.check_events(validation)


@pytest.mark.parametrize("seed", range(12))
def test_every_interleaving_ends_with_each_part_done_once(tmp_path: Path, seed: int) -> None:
    with Crew(f"sqlite:///{tmp_path}/fedsift.db", tmp_path) as crew:
        validations = [crew.submit("ours", "random", seeds=(0, 1), aggregations=4) for _ in range(2)]
        play = Play(crew, random.Random(seed))
        for _ in range(3):
            play.hire()
        for _ in range(150):
            play.step()
        play.finish_all()
        check(crew, validations)


def test_workers_at_once_neither_lock_each_other_out_nor_do_a_part_twice(crew: Crew) -> None:
    validations = [crew.submit("ours", seeds=(0, 1, 2), aggregations=3) for _ in range(4)]

    def work(number: int) -> None:
        play = Play(crew, random.Random(number))
        worker = play.hire(f"{number}-")
        while any(crew.find(validation).finished_at is None for validation in validations):
            try:
                play.claim(worker)
                play.finish(worker)
                if play.chance.random() < 0.2:
                    play.look(worker)
                    play.strike(worker)
            except LostError:
                worker = play.hire(f"{number}-")

    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(work, number) for number in range(4)]:
            done.result(timeout=PATIENCE)
    check(crew, validations)
