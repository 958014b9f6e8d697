"""A plan made elsewhere, which the scheme `plan` carries out as it stands.

The plan of a run whose devices changed also says, period by period, who trained and what happened to them.
"""

from dataclasses import dataclass

from fedl_sim.contract.names import TRANSFERS
from fedl_sim.contract.network import Column
from fedl_sim.contract.reading import Fields, Json, require

__all__ = ["Delivered", "GivenPeriod", "GivenPlan", "GivenStep", "OwnData"]


@dataclass(frozen=True)
class GivenStep:
    """The transfers of one step: from whom, to whom, which fraction Φ of the data, and the useful data expected."""

    step: int
    source: tuple[int, ...]
    target: tuple[int, ...]
    fraction: tuple[float, ...]
    useful: float

    def __post_init__(self) -> None:
        require(self.step >= 1, "step", "must be at least 1")
        for name in ("target", "fraction"):
            require(len(getattr(self, name)) == len(self.source), name, f"must have {len(self.source)} values")

    def to_json(self) -> Json:
        """As it is stored."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, value: object) -> "GivenStep":
        """Read what `to_json` wrote."""
        fields = Fields(value, cls.__dataclass_fields__)
        return cls(
            step=fields.integer("step"),
            source=fields.integers("source"),
            target=fields.integers("target"),
            fraction=fields.numbers("fraction"),
            useful=fields.number("useful"),
        )


@dataclass(frozen=True)
class Delivered:
    """What arrived of what a period was to send, by pair; of other pairs everything did."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    datapoints: Column

    def __post_init__(self) -> None:
        for name in ("target", "datapoints"):
            require(len(getattr(self, name)) == len(self.source), name, f"must have {len(self.source)} values")

    def by_pair(self) -> dict[tuple[int, int], float]:
        """The datapoints of each pair."""
        return dict(zip(zip(self.source, self.target, strict=True), self.datapoints, strict=True))

    def to_json(self) -> Json:
        """As it is stored."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, value: object) -> "Delivered":
        """Read what `to_json` wrote."""
        fields = Fields(value, cls.__dataclass_fields__)
        return cls(fields.integers("source"), fields.integers("target"), fields.numbers("datapoints"))


@dataclass(frozen=True)
class OwnData:
    """Devices whose own data changed, how much they hold of their own now, and their counts of classes if these did."""

    device: tuple[int, ...]
    datapoints: Column
    label_counts: tuple[Column, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("datapoints", "label_counts"):
            rows = getattr(self, name)
            fits = rows is None or len(rows) == len(self.device)
            require(fits, name, f"must have {len(self.device)} values")

    def to_json(self) -> Json:
        """As it is stored."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, value: object) -> "OwnData":
        """Read what `to_json` wrote."""
        fields = Fields(value, cls.__dataclass_fields__)
        counts = fields.rows("label_counts") if fields.has("label_counts") else None
        return cls(fields.integers("device"), fields.numbers("datapoints"), counts)


@dataclass(frozen=True)
class GivenPeriod:
    """A period between two aggregations.

    Attributes:
        sampled: who trains.
        lost: of these, who went down before it ended: the server got no update, and what they received is gone.
        delivered: what arrived, if not all that was sent.
        own_data: own data that changed just before the period.
    """

    sampled: tuple[int, ...]
    lost: tuple[int, ...] = ()
    delivered: Delivered | None = None
    own_data: OwnData | None = None

    def __post_init__(self) -> None:
        require(bool(self.sampled), "sampled", "must name a device")
        require(set(self.lost) <= set(self.sampled), "lost", "must be among those sampled")

    def to_json(self) -> Json:
        """As it is stored."""
        return {
            "sampled": self.sampled,
            "lost": self.lost,
            "delivered": None if self.delivered is None else self.delivered.to_json(),
            "own_data": None if self.own_data is None else self.own_data.to_json(),
        }

    @classmethod
    def from_json(cls, value: object) -> "GivenPeriod":
        """Read what `to_json` wrote."""
        fields = Fields(value, cls.__dataclass_fields__)
        return cls(
            sampled=fields.integers("sampled"),
            lost=fields.integers("lost"),
            delivered=fields.child("delivered", Delivered.from_json) if fields.has("delivered") else None,
            own_data=fields.child("own_data", OwnData.from_json) if fields.has("own_data") else None,
        )


@dataclass(frozen=True)
class GivenPlan:
    """Who trains, the steps, the largest certified gap of any step, and whether senders redraw or send once.

    `periods` has one entry for each aggregation period; it is empty if the same devices train throughout, with the data
    that they were to get.
    """

    sampled: tuple[int, ...]
    relative_gap: float
    steps: tuple[GivenStep, ...]
    transfer: str = "redraw"
    periods: tuple[GivenPeriod, ...] = ()

    def __post_init__(self) -> None:
        require(self.transfer in TRANSFERS, "transfer", f"must be one of {', '.join(TRANSFERS)}")
        require(bool(self.sampled), "sampled", "must name a device")

    def to_json(self) -> Json:
        """As it is stored."""
        steps = [step.to_json() for step in self.steps]
        kept: Json = {"sampled": self.sampled, "relative_gap": self.relative_gap, "steps": steps}
        # Left out where it is the rule of earlier releases, so that what they stored is written as it was.
        kept |= {} if self.transfer == "redraw" else {"transfer": self.transfer}
        return kept | ({"periods": [period.to_json() for period in self.periods]} if self.periods else {})

    @classmethod
    def from_json(cls, value: object) -> "GivenPlan":
        """Read what `to_json` wrote."""
        fields = Fields(value, cls.__dataclass_fields__)
        return cls(
            sampled=fields.integers("sampled"),
            relative_gap=fields.number("relative_gap"),
            steps=fields.children("steps", GivenStep.from_json),
            # Work that earlier releases stored does not say it.
            transfer=fields.text("transfer") if fields.has("transfer") else "redraw",
            periods=fields.children("periods", GivenPeriod.from_json) if fields.has("periods") else (),
        )
