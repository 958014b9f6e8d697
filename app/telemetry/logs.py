"""Logs on standard error: one JSON object a line with the request's id, or on a terminal lines for people."""

import json
import logging
import sys
import threading
import time
from datetime import UTC, datetime

from app.telemetry.context import request_id

__all__ = ["JsonFormatter", "TextFormatter", "is_for_people", "set_up_logs", "warn_seldom"]

# A failure that several threads meet every second is told this often, in seconds.
_SELDOM = 60.0
_told: dict[tuple[str, str], tuple[float, int]] = {}
_lock = threading.Lock()


class JsonFormatter(logging.Formatter):
    """A record as a JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line of JSON."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            "message": record.getMessage(),
        }
        identity = request_id()
        if identity:
            line["request_id"] = identity
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class TextFormatter(logging.Formatter):
    """A record as a line for people, with its fields after the message; an exception follows on lines of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """The record without control characters: what a caller sent must not steer the terminal."""
        fields = "".join(f" {name}={value}" for name, value in getattr(record, "fields", {}).items())
        time_of_day = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        lines = [f"{time_of_day} {record.levelname.lower():<7} {' '.join(record.getMessage().split())}{fields}"]
        if record.exc_info:
            lines += self.formatException(record.exc_info).splitlines()
        return "\n".join("".join(c if c.isprintable() else "?" for c in line) for line in lines)


def is_for_people(form: str) -> bool:
    """Whether logs of this form (`auto`, `text` or `json`) are for people: `auto` means on a terminal."""
    return form == "text" or (form == "auto" and sys.stderr.isatty())


def set_up_logs(level: str, form: str) -> None:
    """Send all logs, the server's own too, to standard error. People are not told how the server starts and ends."""
    for_people = is_for_people(form)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(TextFormatter() if for_people else JsonFormatter())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    for name in ("fedsift", "uvicorn", "uvicorn.error"):
        logging.getLogger(name).setLevel(level.upper())
    for name in ("uvicorn", "uvicorn.error"):
        logging.getLogger(name).handlers = []
        logging.getLogger(name).propagate = True
        if for_people and level == "info":
            logging.getLogger(name).setLevel(logging.WARNING)


def warn_seldom(log: logging.Logger, message: str, reason: object) -> None:
    """Log a warning at most once a minute in this process; `untold` counts how often it was left out since the last.

    For what lasts and is tried again all the time, such as a database that is away for a night.
    """
    key, now = (log.name, message), time.monotonic()
    with _lock:
        last, untold = _told.get(key, (-_SELDOM, 0))
        if now - last < _SELDOM:
            _told[key] = (last, untold + 1)
            return
        _told[key] = (now, 0)
    log.warning(message, " ".join(str(reason).split()), extra={"fields": {"untold": untold} if untold else {}})
