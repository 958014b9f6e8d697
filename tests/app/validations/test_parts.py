"""Parts in the store: who may change what, whatever the queue does."""

import zlib

import pytest

from app.validations.parts import Claim, PartStore
from app.worker.store import WorkerStore
from fedl_sim.contract import AggregationRecord, ContractError, Facts, Failure
from tests.support.crew import Crew

RECORD = AggregationRecord(
    aggregation=0,
    accuracy=0.5,
    loss=1.0,
    gradient_norm=2.0,
    gradient_noise=1.0,
    processed=0,
    moved=0,
    useful=0,
    predicted_useful=0.0,
    cost=0.0,
)


def keep(parts: PartStore, claim: Claim, aggregation: int, worker: str) -> bool:
    return parts.finish_round(
        claim, aggregation, worker, seconds=1.0, record=RECORD, checkpoint=b"after", facts=Facts(1e-9)
    )


def claimed(parts: PartStore, validation: str, worker: str) -> Claim:
    claim = parts.claim(f"{validation}-0000", 0, worker)
    assert claim is not None
    return claim


def test_only_the_last_to_claim_a_part_changes_it(crew: Crew) -> None:
    parts = PartStore(crew.store)
    validation = crew.submit("ours")
    one = claimed(parts, validation, "one")
    assert parts.begin_round(one.part_id, 0, "one", most_attempts=9) == "train"
    two = claimed(parts, validation, "two")
    assert parts.begin_round(one.part_id, 0, "one", most_attempts=9) == "superseded"
    assert not keep(parts, one, 0, "one")
    assert crew.find(validation).rounds_done == 0
    assert not parts.end(one, "one", "done")
    assert keep(parts, two, 0, "two")
    assert not keep(parts, two, 0, "two")  # once is enough
    assert crew.find(validation).rounds_done == 1
    assert parts.begin_round(two.part_id, 0, "two", most_attempts=9) == "done"
    assert claimed(parts, validation, "three").checkpoint == b"after"
    assert crew.begun(validation) == 1


def test_a_round_is_tried_so_many_times(crew: Crew) -> None:
    parts = PartStore(crew.store)
    validation = crew.submit("ours")
    claim = claimed(parts, validation, "one")
    turns = [parts.begin_round(claim.part_id, 0, "one", most_attempts=3) for _ in range(5)]
    assert turns == ["train"] * 3 + ["exhausted"] * 2


def test_a_cancel_stops_what_runs_at_its_next_round_and_the_rest_at_once(crew: Crew) -> None:
    parts = PartStore(crew.store)
    validation = crew.submit("ours", "random")
    claim = claimed(parts, validation, "one")
    crew.validations.cancel("local", validation)
    assert crew.find(validation).state == "running"
    assert parts.claim(f"{validation}-0001", 0, "two") is None
    assert parts.begin_round(claim.part_id, 0, "one", most_attempts=9) == "cancelled"
    assert parts.end(claim, "one", "cancelled")
    assert crew.find(validation).state == "cancelled"
    crew.check_events(validation)


def test_a_failure_ends_the_whole_validation_with_the_first_reason(crew: Crew) -> None:
    parts = PartStore(crew.store)
    validation = crew.submit("ours", "random", "heuristic")
    first, second = claimed(parts, validation, "one"), parts.claim(f"{validation}-0001", 0, "two")
    assert second is not None
    assert parts.end(first, "one", "failed", Failure("disk", "full"))
    assert crew.find(validation).state == "running"  # the second is still at it
    assert parts.begin_round(second.part_id, 0, "two", most_attempts=9) == "cancelled"
    assert parts.end(second, "two", "failed", Failure("other", "later"))
    ended = crew.find(validation)
    told = '{"type": "disk", "detail": "full", "scheme": "ours", "seed": 0, "draw": 0}'
    assert (ended.state, ended.failure) == ("failed", told)
    crew.check_events(validation)


def test_parts_are_leased_once_and_a_lost_one_gets_another_attempt(crew: Crew) -> None:
    parts = PartStore(crew.store)
    validation = crew.submit("ours", "random")
    tickets = parts.lease(10)
    assert [ticket.number for ticket in sorted(tickets, key=lambda ticket: ticket.number)] == [0, 1]
    assert parts.lease(10) == []
    parts.queued(tickets)
    assert len(parts.in_queue(10)) == 2
    assert parts.queue_anew(tickets[:1]) == 1
    assert parts.queue_anew(tickets[:1]) == 0
    (again,) = parts.lease(10)
    assert (again.part_id, again.attempt) == (tickets[0].part_id, 1)
    assert parts.claim(again.part_id, 0, "stale") is None
    assert parts.claim(again.part_id, 1, "fresh") is not None
    assert crew.find(validation).state == "running"


def test_workers_beat_by_the_databases_clock(crew: Crew) -> None:
    workers = WorkerStore(crew.store)
    workers.register("one", "host", 1)
    assert workers.beat("one")
    (found,) = workers.all()
    assert 0 <= found.silent < 5
    assert workers.live(10) == 1
    assert workers.live(-1) == 0
    workers.strike_off("one")
    assert not workers.beat("one")


def test_a_part_is_what_was_stored_and_damage_is_named(crew: Crew) -> None:
    validation = crew.submit("random-offload", seeds=(7,))
    part = claimed(PartStore(crew.store), validation, "one").part
    assert (part.scheme, part.seed, part.draw, part.work.sample_size) == ("random-offload", 7, 0, 3)
    cut_off = zlib.compress(b'{"data_set": "digits"}')[:-3]
    for stored, said in (
        (zlib.compress(b'{"data_set": 3, "generator": {"n_devices": 9}}'), "data_set: must be a text"),
        (zlib.compress(b"nothing"), "is not JSON"),
        (cut_off, "cannot be decompressed"),
    ):
        crew.damage(validation, stored)
        with pytest.raises(ContractError, match=said):
            _ = claimed(PartStore(crew.store), validation, "one").part
