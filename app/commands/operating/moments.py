"""Times on the command line: shown in ISO 8601, read as such or as a time from now."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

import typer

__all__ = ["Until", "moment", "read_length", "read_until"]

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


@dataclass(frozen=True)
class Until:
    """A time to come, as it was written: a length from now, or a moment in seconds since 1970."""

    text: str
    seconds: float
    from_now: bool

    def after(self, now: float) -> float:
        """The moment in seconds since 1970; `now` is the clock of the database that keeps it.

        Raises:
            typer.BadParameter: it is over.
        """
        at = now + self.seconds if self.from_now else self.seconds
        if at <= now:
            raise typer.BadParameter(f"{self.text!r} is over already")
        return at


def read_until(text: str) -> Until:
    """A length from now, or an ISO time, of UTC unless it says otherwise.

    Raises:
        typer.BadParameter: it is neither.
    """
    if _LENGTH.fullmatch(text):
        return Until(text, read_length(text), from_now=True)
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is neither a length such as 90d nor a time such as 2030-12-31T12:00Z"
        ) from None
    at = given if given.tzinfo else given.replace(tzinfo=UTC)
    return Until(text, at.timestamp(), from_now=False)
