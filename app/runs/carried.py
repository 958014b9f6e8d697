"""What a run carries from one period to the next, beside its conditions: as JSON in the store."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from app.runs.request import AggregationRequest, ParticipationIn
from solver import GradientModel, HorizonState
from solver.horizon.membership import Moved

__all__ = ["Carried", "Trained"]


@dataclass(frozen=True)
class Trained:
    """The periods that devices have trained in: how many, and the last one."""

    periods: dict[int, int] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)

    def after(self, devices: Iterable[int], period: int) -> "Trained":
        """With one period more for these devices."""
        more = list(devices)
        counts = {device: self.periods.get(device, 0) + 1 for device in more}
        return Trained(self.periods | counts, self.last | dict.fromkeys(more, period))

    def refused(self, limits: ParticipationIn, period: int) -> dict[int, str]:
        """Devices that may not train in this period, and why."""
        reasons: dict[int, str] = {}
        for device, last in self.last.items():
            if limits.max_periods is not None and self.periods[device] >= limits.max_periods:
                reasons[device] = f"has trained in {self.periods[device]} periods, max_periods is {limits.max_periods}"
            elif period - last <= limits.rest_periods:
                reasons[device] = f"trained in period {last}, rest_periods is {limits.rest_periods}"
        return reasons


@dataclass(frozen=True, eq=False)
class Carried:
    """The state of a run after a period.

    Attributes:
        horizon: who is sampled, what they hold, and what was not sent yet.
        gradient: the norm as observed, and its decay.
        transfer: how senders send.
        noise: γ as measured last; None if never.
        lost: devices that are lost now.
        moved: what the period sends, by pair.
        trained: who trained when; kept only if the run limits it.
        norms: ‖∇F_i‖ of devices as reported last.
    """

    horizon: HorizonState
    gradient: GradientModel
    transfer: str
    noise: float | None = None
    lost: frozenset[int] = frozenset()
    moved: Moved | None = None
    trained: Trained = field(default_factory=Trained)
    norms: dict[int, float] = field(default_factory=dict)

    def training(self, period: int, limits: ParticipationIn | None) -> "Carried":
        """With the period that the sampled devices are to train in."""
        return (
            self if limits is None else replace(self, trained=self.trained.after(self.horizon.sampled.tolist(), period))
        )

    def observing(self, report: AggregationRequest, period: int) -> "Carried":
        """With the gradient and the noise that were reported after `period` steps more."""
        noise = self.noise if report.gradient_noise is None else report.gradient_noise
        return replace(self, gradient=self.gradient.observe(report.gradient_norm, period), noise=noise)

    def to_json(self) -> str:
        """As text; only what differs from the default."""
        gradient = {"norm": self.gradient.norm, "decay": self.gradient.decay, "since": self.gradient.since}
        kept: dict[str, Any] = {"horizon": self.horizon.to_lists(), "gradient": gradient, "transfer": self.transfer}
        kept |= {} if self.noise is None else {"noise": self.noise}
        if self.trained.last:
            devices = sorted(self.trained.last)
            columns = (self.trained.periods, self.trained.last)
            kept["trained"] = [devices, *([column[device] for device in devices] for column in columns)]
        kept |= {"lost": sorted(self.lost)} if self.lost else {}
        kept |= {"norms": [list(self.norms), list(self.norms.values())]} if self.norms else {}
        kept |= {} if self.moved is None else {"moved": self.moved.to_lists()}
        return json.dumps(kept)

    @classmethod
    def from_json(cls, text: str) -> "Carried":
        """What `to_json` wrote. A run that does not say how it sends, since an earlier release began it, redraws."""
        kept = json.loads(text)
        devices, periods, last = kept.get("trained", ((), (), ()))
        return cls(
            HorizonState.from_lists(kept["horizon"]),
            GradientModel(**kept["gradient"]),
            kept.get("transfer", "redraw"),
            kept.get("noise"),
            frozenset(kept.get("lost", ())),
            Moved(**kept["moved"]) if "moved" in kept else None,
            Trained(dict(zip(devices, periods, strict=True)), dict(zip(devices, last, strict=True))),
            dict(zip(*kept.get("norms", ((), ())), strict=True)),
        )

    def lost_devices(self) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
        """`lost` as numbers."""
        return np.array(sorted(self.lost), np.int64)
