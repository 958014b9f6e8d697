"""The id that ties an answer to its log lines."""

import pytest

from app.telemetry.context import begin_request, request_id


def test_a_plain_id_of_the_caller_is_kept() -> None:
    assert begin_request("Job_7.a-b") == "Job_7.a-b"
    assert request_id() == "Job_7.a-b"


@pytest.mark.parametrize("given", ["", "a" * 65, "a b", "a\n", 'x"y', "é"])
def test_other_ids_are_replaced_so_that_they_cannot_break_a_log_line(given: str) -> None:
    chosen = begin_request(given)
    assert len(chosen) == 16
    assert int(chosen, 16) >= 0
    assert begin_request(given) != chosen
