"""Times on the command line: shown in ISO 8601, read as such or as a time from now."""

import re
import time
from datetime import UTC, datetime

import typer

__all__ = ["moment", "read_length", "read_moment"]

_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}
_LENGTH = re.compile(r"(\d{1,6})([smhdw])")


def moment(seconds: float | None) -> str | None:
    """A time in ISO 8601."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def read_length(text: str) -> float:
    """Seconds of a length such as `90d`.

    Raises:
        typer.BadParameter: it is none.
    """
    found = _LENGTH.fullmatch(text)
    if found is None:
        raise typer.BadParameter(f"{text!r} is no length of time such as 90d, 12h or 30m")
    return int(found[1]) * _SECONDS[found[2]]


def read_moment(text: str) -> float:
    """Seconds since 1970 of a time to come: a length from now, or an ISO time, of UTC unless it says otherwise.

    Raises:
        typer.BadParameter: it is neither, or over.
    """
    now = time.time()
    if _LENGTH.fullmatch(text):
        at = now + read_length(text)
    else:
        try:
            given = datetime.fromisoformat(text)
        except ValueError:
            raise typer.BadParameter(
                f"{text!r} is neither a length such as 90d nor a time such as 2030-12-31T12:00Z"
            ) from None
        at = (given if given.tzinfo else given.replace(tzinfo=UTC)).timestamp()
    if at <= now:
        raise typer.BadParameter(f"{text!r} is over already")
    return at
