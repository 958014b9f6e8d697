"""Log lines are JSON objects that carry the request's id, or lines for people."""

import json
import logging
import re
import sys
import time
from typing import Any

import pytest

from app.telemetry.context import begin_request
from app.telemetry.logs import JsonFormatter, TextFormatter, is_for_people, warn_seldom


def record(**changes: Any) -> logging.LogRecord:
    values = {"name": "fedsift", "level": logging.WARNING, "pathname": "", "lineno": 0, "args": (), "exc_info": None}
    made = logging.LogRecord(**{**values, "msg": "said", **changes})
    made.fields = {"route": "/v1/plans", "status": 200}
    return made


def line(**changes: Any) -> dict[str, Any]:
    text = JsonFormatter().format(record(**changes))
    assert "\n" not in text
    found: dict[str, Any] = json.loads(text)
    return found


def test_a_line_has_its_time_level_process_and_fields() -> None:
    begin_request("caller-7")
    found = line(msg="%s over two\nlines", args=("ü",))
    assert found["time"].endswith("+00:00")
    assert (found["level"], found["logger"], found["message"]) == ("warning", "fedsift", "ü over two\nlines")
    assert (found["request_id"], found["route"], found["status"]) == ("caller-7", "/v1/plans", 200)
    assert found["process"] > 0


def test_an_exception_stays_on_its_line() -> None:
    with pytest.raises(KeyError) as caught:
        json.loads("{}")["missing"]
    found = line(exc_info=(caught.type, caught.value, caught.tb))
    assert found["exception"].startswith("Traceback")
    assert "KeyError: 'missing'" in found["exception"]


def test_a_line_for_people_has_the_time_of_day_the_message_and_the_fields() -> None:
    text = TextFormatter().format(record(msg="%s over two\nlines", args=("ü",)))
    assert re.fullmatch(r"\d\d:\d\d:\d\d warning ü over two lines route=/v1/plans status=200", text)


def test_what_callers_send_does_not_steer_the_terminal() -> None:
    with pytest.raises(ValueError, match="invalid") as caught:
        int("\x1b[2J")
    made = record(msg="\x1b]0;title\x07", exc_info=(caught.type, caught.value, caught.tb))
    made.fields = {"path": "\x1b[31m"}
    text = TextFormatter().format(made)
    assert "ValueError" in text
    assert text.replace("\n", "").isprintable()


def test_logs_are_for_people_on_a_terminal_unless_a_setting_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    for terminal in (True, False):
        monkeypatch.setattr(sys.stderr, "isatty", lambda terminal=terminal: terminal)
        assert [is_for_people(form) for form in ("auto", "text", "json")] == [terminal, True, False]


def test_a_failure_that_lasts_is_told_once_a_minute(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, clock = logging.getLogger("fedsift.lasting"), [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    for _ in range(240):  # four threads, each second
        warn_seldom(log, "the store does not answer: %s", "refused\n\tis it there?")
        clock[0] += 0.25
    assert [one.getMessage() for one in caplog.records] == ["the store does not answer: refused is it there?"]
    warn_seldom(log, "another failure: %s", "x")
    warn_seldom(log, "the store does not answer: %s", "refused")
    assert len(caplog.records) == 3
    assert caplog.records[2].fields == {"untold": 239}  # type: ignore[attr-defined]
