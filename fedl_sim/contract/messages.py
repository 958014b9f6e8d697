"""What a worker and its training process say to each other: a line of JSON each, one reply to every request.

{"load": true}                      → {"loaded": true}
{"open": {part}, "checkpoint": "path" or null, "folder": "path"}   → {"opened": {"next": k, "sampled": […]}}
{"advance": k}                      → {"record": {…}, "checkpoint": "path", "worst_relative_gap": 1e-8}
any of them                         → {"error": {"type": "disk", "detail": "No space left on device"}}
"""

from dataclasses import dataclass

from fedl_sim.contract.errors import ContractError
from fedl_sim.contract.reading import Fields, Json, decode
from fedl_sim.contract.trained_round import AggregationRecord, Facts
from fedl_sim.contract.work import Part

__all__ = [
    "Advance",
    "Advanced",
    "Failure",
    "Load",
    "Loaded",
    "Open",
    "Opened",
    "Reply",
    "Request",
    "read_reply",
    "read_request",
]


@dataclass(frozen=True)
class Load:
    """Load what every part needs; the reply tells that a part will not have to wait for it."""

    def to_json(self) -> Json:
        """As a line of JSON."""
        return {"load": True}

    @classmethod
    def from_json(cls, value: object) -> "Load":
        """Read what `to_json` wrote."""
        Fields(value, ("load",))
        return cls()


@dataclass(frozen=True)
class Open:
    """Begin a part, or go on with it from the checkpoint in a file; write later checkpoints into the folder."""

    part: Part
    checkpoint: str | None
    folder: str

    def to_json(self) -> Json:
        """As a line of JSON."""
        return {"open": self.part.to_json(), "checkpoint": self.checkpoint, "folder": self.folder}

    @classmethod
    def from_json(cls, value: object) -> "Open":
        """Read what `to_json` wrote."""
        fields = Fields(value, ("open", "checkpoint", "folder"))
        checkpoint = fields.text("checkpoint") if fields.has("checkpoint") else None
        return cls(fields.child("open", Part.from_json), checkpoint, fields.text("folder"))


@dataclass(frozen=True)
class Advance:
    """Train the next aggregation, which must be this one."""

    aggregation: int

    def to_json(self) -> Json:
        """As a line of JSON."""
        return {"advance": self.aggregation}

    @classmethod
    def from_json(cls, value: object) -> "Advance":
        """Read what `to_json` wrote."""
        return cls(Fields(value, ("advance",)).integer("advance"))


@dataclass(frozen=True)
class Loaded:
    """The process can begin a part at once."""

    def to_json(self) -> Json:
        """As a line of JSON."""
        return {"loaded": True}

    @classmethod
    def from_json(cls, value: object) -> "Loaded":
        """Read what `to_json` wrote."""
        Fields(value, ("loaded",))
        return cls()


@dataclass(frozen=True)
class Opened:
    """A part is open: which aggregation is next, and who trains."""

    next: int
    sampled: tuple[int, ...]

    def to_json(self) -> Json:
        """As a line of JSON."""
        return {"opened": {"next": self.next, "sampled": self.sampled}}

    @classmethod
    def from_json(cls, value: object) -> "Opened":
        """Read what `to_json` wrote."""
        return Fields(value, ("opened",)).child("opened", cls._read)

    @classmethod
    def _read(cls, value: object) -> "Opened":
        fields = Fields(value, cls.__dataclass_fields__)
        return cls(fields.integer("next"), fields.integers("sampled"))


@dataclass(frozen=True)
class Advanced:
    """A round is trained: what was measured, the file with the checkpoint after it, and the facts so far."""

    record: AggregationRecord
    checkpoint: str
    facts: Facts

    def to_json(self) -> Json:
        """As a line of JSON."""
        return {"record": self.record.to_json(), "checkpoint": self.checkpoint, **self.facts.to_json()}

    @classmethod
    def from_json(cls, value: object) -> "Advanced":
        """Read what `to_json` wrote."""
        fields = Fields(value, ("record", "checkpoint", "worst_relative_gap"))
        return cls(
            record=fields.child("record", AggregationRecord.from_json),
            checkpoint=fields.text("checkpoint"),
            facts=Facts(fields.number("worst_relative_gap")),
        )


@dataclass(frozen=True)
class Failure:
    """Why a part cannot be trained: a stable type for programs, and a sentence for people."""

    type: str
    detail: str

    def to_json(self) -> Json:
        """As a line of JSON."""
        return {"error": {"type": self.type, "detail": self.detail}}

    @classmethod
    def from_json(cls, value: object) -> "Failure":
        """Read what `to_json` wrote."""
        return Fields(value, ("error",)).child("error", cls._read)

    @classmethod
    def _read(cls, value: object) -> "Failure":
        fields = Fields(value, cls.__dataclass_fields__)
        return cls(fields.text("type"), fields.text("detail"))


Request = Load | Open | Advance
Reply = Loaded | Opened | Advanced | Failure


def read_request(line: str) -> Request:
    """A request of the worker.

    Raises:
        ContractError: it is none.
    """
    value = decode(line)
    if isinstance(value, dict) and "load" in value:
        return Load.from_json(value)
    if isinstance(value, dict) and "open" in value:
        return Open.from_json(value)
    return Advance.from_json(value)


def read_reply(line: str) -> Reply:
    """A reply of the training process.

    Raises:
        ContractError: it is none.
    """
    value = decode(line)
    if not isinstance(value, dict):
        raise ContractError("", "must be an object")
    if "error" in value:
        return Failure.from_json(value)
    if "loaded" in value:
        return Loaded.from_json(value)
    return Opened.from_json(value) if "opened" in value else Advanced.from_json(value)
