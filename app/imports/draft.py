"""What a reader of a file finds: devices and links as rows of named values, before anything is checked or assumed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from solver.errors import InvalidInputError

__all__ = ["Draft", "Row", "Source"]


@dataclass(frozen=True)
class Source:
    """A file: its name for messages, and its bytes."""

    name: str
    content: bytes

    @property
    def text(self) -> str:
        """The content as text.

        Raises:
            InvalidInputError: it is not UTF-8.
        """
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self.content.count(b"\n", 0, error.start) + 1
            raise InvalidInputError(f"{self.name}, line {line}", "is not UTF-8 text") from None


@dataclass(frozen=True, slots=True)
class Row:
    """A device or a link as the file has it; `place` says where it stands, for messages."""

    place: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Draft:
    """The rows of a file.

    Attributes:
        format: the format's name, for the report.
        devices: rows with an `id`.
        links: rows with the ids `from` and `to`, or `source` and `target`.
        directed: a row is a link one way; otherwise it is a link each way, unless the other way has a row of its own.
        complete: `devices` names all of them; otherwise the ends of links are devices too.
        settings: values of the fleet as a whole, such as `step_seconds`, beside what the file says of itself.
        notes: sentences for the report.
    """

    format: str
    devices: Sequence[Row]
    links: Sequence[Row]
    directed: bool
    complete: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
