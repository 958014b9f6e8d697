"""Structured logs: one JSON object a line, with the request's id."""

import json
import logging
import sys
import threading
import time
from datetime import UTC, datetime

from app.telemetry.context import request_id

__all__ = ["JsonFormatter", "set_up_logs", "warn_seldom"]

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


def set_up_logs(level: str) -> None:
    """Send all logs, the server's own too, to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    for name in ("fedsift", "uvicorn", "uvicorn.error"):
        logging.getLogger(name).setLevel(level.upper())
    for name in ("uvicorn", "uvicorn.error"):
        logging.getLogger(name).handlers = []
        logging.getLogger(name).propagate = True


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
