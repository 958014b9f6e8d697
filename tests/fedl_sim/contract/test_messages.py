"""Lines between a worker and its training process."""

import json
import math

import pytest

from fedl_sim.contract import (
    Advance,
    Advanced,
    AggregationRecord,
    ContractError,
    Facts,
    Failure,
    Load,
    Loaded,
    Open,
    Opened,
    Part,
    Reply,
    Request,
    Work,
    decode,
    read_reply,
    read_request,
)
from tests.support import stored_work

RECORD = AggregationRecord.from_json(decode(stored_work.RECORD))
PART = Part(Work.from_json(decode(stored_work.GIVEN)), "plan", 0, 0)


@pytest.mark.parametrize(
    "request_", [Load(), Open(PART, None, "/tmp/x"), Open(PART, "/tmp/x/given.npz", "/tmp/x"), Advance(3)]
)
def test_requests_arrive_as_they_were_sent(request_: Request) -> None:
    assert read_request(json.dumps(request_.to_json())) == request_


@pytest.mark.parametrize(
    "reply",
    [Loaded(), Opened(2, (4, 1)), Advanced(RECORD, "/tmp/x/checkpoint.npz", Facts(1e-8)), Failure("disk", "full")],
)
def test_replies_arrive_as_they_were_sent(reply: Reply) -> None:
    assert read_reply(json.dumps(reply.to_json())) == reply


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("", ""),
        ("[]", ""),
        ("{}", "advance"),
        ('{"advance": "1"}', "advance"),
        ('{"advance": 1, "twice": true}', "twice"),
        ('{"open": 1, "checkpoint": null, "folder": ""}', "open"),
        ('{"open": {}, "checkpoint": null, "folder": ""}', "open.network"),
    ],
)
def test_broken_requests_are_contract_errors(line: str, field: str) -> None:
    with pytest.raises(ContractError) as caught:
        read_request(line)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("warning: something", ""),
        ("3", ""),
        ("{}", "record"),
        ('{"opened": {"next": 1}}', "opened.sampled"),
        ('{"opened": {"next": 1, "sampled": [1.5]}}', "opened.sampled"),
        ('{"error": "disk"}', "error"),
        ('{"error": {"type": "disk", "detail": null}}', "error.detail"),
        ('{"record": {"aggregation": 1}, "checkpoint": "", "worst_relative_gap": 0}', "record.accuracy"),
    ],
)
def test_broken_replies_are_contract_errors(line: str, field: str) -> None:
    with pytest.raises(ContractError) as caught:
        read_reply(line)
    assert caught.value.field == field


def test_a_stored_record_is_read_and_written_as_it_was() -> None:
    assert AggregationRecord(3, 0.5, 1.25, 0.75, 1.5, 120, 40, 31, 30.5, 210.25) == RECORD
    assert RECORD.to_json() == json.loads(stored_work.RECORD)


def test_a_run_that_diverged_has_records_too() -> None:
    diverged = AggregationRecord.from_json(
        json.loads(stored_work.RECORD) | {"loss": math.nan, "gradient_norm": math.inf}
    )
    again = AggregationRecord.from_json(decode(json.dumps(diverged.to_json())))
    assert math.isnan(again.loss)
    assert again.gradient_norm == math.inf


def test_facts_are_empty_before_the_first_round() -> None:
    assert Facts.from_json({}) == Facts(0.0)
    assert Facts.from_json(decode('{"worst_relative_gap": 1e-08}')) == Facts(1e-8)
    with pytest.raises(ContractError, match="worst_relative_gap: must be a number, is a text"):
        Facts.from_json({"worst_relative_gap": "small"})
