"""Parts in the store: who may change what, whoever dies, freezes or comes back."""

import json
import math
import zlib
from dataclasses import replace

import pytest

from app.validations.attempts import AttemptLimits
from app.validations.parts import Claim, FinishedRound, LostError, PartStore
from app.worker.store import LiveWorkers, WorkerStore
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


def trained(aggregation: int) -> FinishedRound:
    return FinishedRound(aggregation, seconds=1.0, record=RECORD, checkpoint=b"after", facts=Facts(1e-9))


def register(crew: Crew, *names: str) -> WorkerStore:
    workers = WorkerStore(crew.store)
    for name in names:
        workers.register(name, "elsewhere", 1)
    return workers


LIMITS = AttemptLimits(failed=9, lost=9)


def claimed(parts: PartStore, worker: str, limits: AttemptLimits = LIMITS) -> Claim:
    claim = parts.claim(worker, limits)
    assert claim is not None
    return claim


def strike_off(workers: WorkerStore, by: str, worker_id: str) -> bool:
    return workers.strike_off(by, next(one for one in workers.all() if one.id == worker_id))


def test_a_worker_that_was_struck_off_changes_nothing(crew: Crew) -> None:
    parts, workers = PartStore(crew.store), register(crew, "one", "two")
    validation = crew.submit("ours")
    one = claimed(parts, "one")
    assert parts.claim("two", LIMITS) is None
    assert strike_off(workers, "two", "one")
    for late in (
        lambda: parts.finish_round(one, trained(0)),
        lambda: parts.try_again(one, "late", LIMITS),
        lambda: parts.fail(one, Failure("other", "late")),
        lambda: parts.release(one),
        lambda: parts.is_wanted(one),
        lambda: parts.claim("one", LIMITS),
    ):
        with pytest.raises(LostError):
            late()
    assert crew.find(validation).rounds_done == 0
    two = claimed(parts, "two")
    assert (two.part_id, two.token, two.next_round) == (one.part_id, one.token + 1, 0)
    assert parts.finish_round(two, trained(0))
    assert crew.find(validation).rounds_done == 1
    assert parts.material(two).checkpoint == b"after"
    crew.check_events_so_far(validation)


def test_a_lease_is_proven_by_its_token_and_not_by_the_worker_alone(crew: Crew) -> None:
    parts = PartStore(crew.store)
    register(crew, "one")
    crew.submit("ours")
    first = claimed(parts, "one")
    second = claimed(parts, "one")  # as if the reply to the first claim was lost
    assert (second.part_id, second.token) == (first.part_id, first.token + 1)
    with pytest.raises(LostError):
        parts.finish_round(first, trained(0))
    with pytest.raises(LostError):
        parts.material(first)
    assert parts.finish_round(second, trained(0))


def test_a_round_is_kept_once_however_often_it_is_told(crew: Crew) -> None:
    parts = PartStore(crew.store)
    register(crew, "one")
    validation = crew.submit("ours", aggregations=1)
    claim = claimed(parts, "one")
    assert [parts.finish_round(claim, trained(0)) for _ in range(3)] == [True] * 3
    assert (crew.find(validation).rounds_done, crew.begun(validation)) == (1, 2)
    assert [parts.finish_round(claim, trained(1)) for _ in range(3)] == [False] * 3
    assert (crew.find(validation).rounds_done, crew.begun(validation)) == (2, 2)
    assert crew.find(validation).state == "succeeded"
    crew.check_events(validation)


def test_a_round_that_diverged_is_told_in_valid_json(crew: Crew) -> None:
    parts = PartStore(crew.store)
    register(crew, "one")
    crew.submit("ours", aggregations=1)
    diverged = replace(trained(0), record=replace(RECORD, loss=math.nan))
    parts.finish_round(claimed(parts, "one"), diverged)
    with crew.store.read() as t:
        ((body,),) = t.rows("SELECT body FROM validation_events WHERE kind = 'round'")

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    told = json.loads(body, parse_constant=refuse)
    assert told["accuracy"] == 0.5
    assert "loss" not in told


def test_a_round_is_tried_so_many_times_and_then_tells_why(crew: Crew) -> None:
    parts, workers = PartStore(crew.store), register(crew, "watcher")
    limits = AttemptLimits(failed=2, lost=3)
    validation = crew.submit("ours", seeds=(4,))
    for number in range(2):  # each dies before it has read a byte of the part
        register(crew, f"victim-{number}")
        claimed(parts, f"victim-{number}", limits)
        assert strike_off(workers, "watcher", f"victim-{number}")
    register(crew, "one")
    claim = claimed(parts, "one", limits)
    assert parts.try_again(claim, "the training process ended with -9", limits)
    parts.release(claim, "the worker failed: KeyError")
    assert crew.begun(validation) == 4
    assert parts.claim("one", limits) is None  # it is quarantined, and with it its validation
    ended = crew.find(validation)
    assert (ended.state, crew.begun(validation)) == ("failed", 4)
    told = json.loads(ended.failure or "")
    assert (told["type"], told["scheme"], told["seed"]) == ("exhausted", "ours", 4)
    assert told["detail"] == (
        "aggregation 0 was begun 4 times and never finished: 2 times its worker died or fell silent; "
        "once the training process ended with -9; once the worker failed: KeyError"
    )
    crew.check_events(validation)


def lose(parts: PartStore, workers: WorkerStore, limits: AttemptLimits) -> Claim | None:
    """A worker that dies with whatever part is next; returns what it had claimed."""
    workers.register("victim", "elsewhere", 1)
    claim = parts.claim("victim", limits)
    assert strike_off(workers, "watcher", "victim")
    return claim


def test_workers_that_are_lost_are_no_evidence_until_there_are_very_many_of_them(crew: Crew) -> None:
    parts, workers = PartStore(crew.store), register(crew, "watcher", "one")
    limits = AttemptLimits(failed=1, lost=5)
    validation = crew.submit("ours", aggregations=3)
    for aggregation in range(2):  # more are lost than may be, but never so many at one round
        for _ in range(4):
            assert lose(parts, workers, limits) is not None
        claim = claimed(parts, "one", limits)
        assert claim.next_round == aggregation
        assert parts.finish_round(claim, trained(aggregation))
        parts.release(claim)
    assert crew.find(validation).state == "running"
    for _ in range(5):
        assert lose(parts, workers, limits) is not None
    assert parts.claim("one", limits) is None
    ended = crew.find(validation)
    assert (ended.state, ended.rounds_done) == ("failed", 2)
    told = json.loads(ended.failure or "")["detail"]
    assert told == "aggregation 2 was begun 5 times and never finished: 5 times its worker died or fell silent"


def test_a_part_that_loses_its_workers_lets_others_go_first(crew: Crew) -> None:
    parts, workers = PartStore(crew.store), register(crew, "watcher", "one", "two")
    deadly, healthy = crew.submit("ours"), crew.submit("ours", "random")
    turns = [lose(parts, workers, LIMITS), lose(parts, workers, LIMITS), claimed(parts, "one")]
    turns += [lose(parts, workers, LIMITS), claimed(parts, "two")]
    # A death is noted with the next claim. Then the deadly part waits for all first parts, later for second ones.
    assert [claim and claim.validation_id for claim in turns] == [deadly, deadly, healthy, deadly, healthy]


def test_a_part_given_back_by_a_worker_that_leaves_was_not_attempted(crew: Crew) -> None:
    parts, workers = PartStore(crew.store), register(crew, "one", "two")
    validation = crew.submit("ours")
    for _ in range(5):
        parts.release(claimed(parts, "one", AttemptLimits(failed=1, lost=1)))
    workers.leave("one")
    claim = claimed(parts, "two", AttemptLimits(failed=1, lost=1))
    assert crew.begun(validation) == 1
    crew.validations.cancel("local", validation)
    parts.release(claim)
    assert crew.find(validation).state == "cancelled"


def test_a_cancel_stops_what_runs_at_its_next_round_and_the_rest_at_once(crew: Crew) -> None:
    parts = PartStore(crew.store)
    register(crew, "one", "two")
    validation = crew.submit("ours", "random")
    claim = claimed(parts, "one")
    crew.validations.cancel("local", validation)
    assert crew.find(validation).state == "running"
    assert parts.claim("two", LIMITS) is None
    assert not parts.finish_round(claim, trained(0))
    ended = crew.find(validation)
    assert (ended.state, ended.rounds_done) == ("cancelled", 1)
    crew.check_events(validation)


def test_a_cancelled_part_whose_worker_is_gone_ends_with_the_next_claim(crew: Crew) -> None:
    parts, workers = PartStore(crew.store), register(crew, "one", "two")
    validation = crew.submit("ours")
    claimed(parts, "one")
    crew.validations.cancel("local", validation)
    assert strike_off(workers, "two", "one")
    assert parts.claim("two", LIMITS) is None
    assert crew.find(validation).state == "cancelled"


def test_a_failure_ends_the_whole_validation_with_the_first_reason(crew: Crew) -> None:
    parts = PartStore(crew.store)
    register(crew, "one", "two")
    validation = crew.submit("ours", "random", "heuristic")
    first, second = claimed(parts, "one"), claimed(parts, "two")
    parts.fail(first, Failure("disk", "full"))
    assert crew.find(validation).state == "running"  # the second is still at it
    parts.fail(second, Failure("other", "later"))
    ended = crew.find(validation)
    told = '{"type": "disk", "detail": "full", "scheme": "ours", "seed": 0, "draw": 0}'
    assert (ended.state, ended.failure) == ("failed", told)
    crew.check_events(validation)


def test_first_parts_are_taken_first_and_older_validations_before_younger_ones(crew: Crew) -> None:
    parts = PartStore(crew.store)
    register(crew, *"abcd")
    large, small = crew.submit("ours", seeds=(0, 1, 2)), crew.submit("ours")
    taken = [claimed(parts, worker).part_id for worker in "abcd"]
    assert taken == [f"{large}-0000", f"{small}-0000", f"{large}-0001", f"{large}-0002"]


def test_only_the_silent_are_struck_off_and_never_both_of_two(crew: Crew) -> None:
    workers = register(crew, "one", "two")
    one, two = sorted(workers.all(), key=lambda worker: worker.id)
    assert (one.beats, two.beats) == (1, 1)
    assert workers.beat("one")
    assert not workers.strike_off("two", one)  # it has sent a heartbeat since
    assert workers.strike_off("one", two)
    assert not workers.strike_off("two", next(iter(workers.all())))
    assert not workers.beat("two")
    assert [worker.id for worker in workers.all()] == ["one"]


def test_workers_count_as_alive_until_they_were_seen_silent(crew: Crew) -> None:
    workers = register(crew, "one", "two")
    live, impatient = LiveWorkers(workers, 60), LiveWorkers(workers, 0)
    assert (live(), impatient()) == (2, 2)
    workers.beat("one")
    assert (live(), impatient()) == (2, 1)
    workers.leave("one")
    assert (live(), impatient()) == (1, 0)


def test_a_part_is_what_was_stored_and_damage_is_named(crew: Crew) -> None:
    validation = crew.submit("random-offload", seeds=(7,))
    parts = PartStore(crew.store)
    register(crew, "one")
    claim = claimed(parts, "one")
    part = parts.material(claim).part
    assert (part.scheme, part.seed, part.draw, part.work.sample_size) == ("random-offload", 7, 0, 3)
    cut_off = zlib.compress(b'{"data_set": "digits"}')[:-3]
    for stored, said in (
        (zlib.compress(b'{"data_set": 3, "generator": {"n_devices": 9}}'), "data_set: must be a text"),
        (zlib.compress(b"nothing"), "is not JSON"),
        (cut_off, "cannot be decompressed"),
    ):
        crew.damage(validation, stored)
        with pytest.raises(ContractError, match=said):
            _ = parts.material(claim).part
