"""A plan made elsewhere, which the scheme `plan` carries out as it stands."""

from dataclasses import dataclass

from fedl_sim.contract.names import TRANSFERS
from fedl_sim.contract.reading import Fields, Json, require

__all__ = ["GivenPlan", "GivenStep"]


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
class GivenPlan:
    """Who trains, the steps, the largest certified gap of any step, and whether senders redraw or send once."""

    sampled: tuple[int, ...]
    relative_gap: float
    steps: tuple[GivenStep, ...]
    transfer: str = "redraw"

    def __post_init__(self) -> None:
        require(self.transfer in TRANSFERS, "transfer", f"must be one of {', '.join(TRANSFERS)}")
        require(bool(self.sampled), "sampled", "must name a device")

    def to_json(self) -> Json:
        """As it is stored."""
        steps = [step.to_json() for step in self.steps]
        kept = {"sampled": self.sampled, "relative_gap": self.relative_gap, "steps": steps}
        # Left out where it is the rule of earlier releases, so that what they stored is written as it was.
        return kept if self.transfer == "redraw" else kept | {"transfer": self.transfer}

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
        )
