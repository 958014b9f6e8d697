"""A dry run's answer."""

from typing import Literal

from pydantic import Field

from app.http.problems import ERROR_LIMIT
from app.plans.diagnosis import Diagnosis
from app.wire.base import AnswerModel
from app.wire.problem import DeviceReason

__all__ = ["Connectivity", "DeviceGroup", "DiagnosisOut"]


class DeviceGroup(AnswerModel):
    """Some devices: how many, and the first of them."""

    count: int
    devices: list[int]

    @classmethod
    def of(cls, devices: list[int]) -> "DeviceGroup":
        """All counted, few listed."""
        return cls(count=len(devices), devices=devices[:ERROR_LIMIT])


class Connectivity(AnswerModel):
    """How the links hang together, directions aside."""

    components: int
    largest_component: int
    isolated: DeviceGroup


class TightBudgets(AnswerModel):
    """Devices whose budgets let hardly any data move: under one percent of their own in a step."""

    processing: DeviceGroup = Field(description="Eligible, but without room to process more.")
    receiving: DeviceGroup = Field(description="Eligible, but may receive hardly anything.")
    transmitting: DeviceGroup = Field(description="Have links, but cannot pay for sending along the cheapest.")


class DiagnosisOut(AnswerModel):
    """What a network is like, before anything is solved."""

    kind: Literal["diagnosis"]
    feasible: bool = Field(description="Whether as many devices can be sampled as were asked for.")
    n_devices: int
    n_links: int
    eligible: int = Field(description="Devices that can be sampled.")
    ineligible: int
    obstacles: list[DeviceReason] = Field(description="Why the first ineligible devices are so.")
    connectivity: Connectivity
    tight: TightBudgets

    @classmethod
    def from_domain(cls, found: Diagnosis) -> "DiagnosisOut":
        """The diagnosis, its lists capped."""
        reasons = [DeviceReason(device=o.device, step=o.step, reason=o.reason) for o in found.obstacles[:ERROR_LIMIT]]
        return cls(
            kind="diagnosis",
            feasible=found.feasible,
            n_devices=found.n_devices,
            n_links=found.n_links,
            eligible=found.eligible,
            ineligible=len(found.obstacles),
            obstacles=reasons,
            connectivity=Connectivity(
                components=found.components,
                largest_component=found.largest_component,
                isolated=DeviceGroup.of(found.isolated),
            ),
            tight=TightBudgets(
                processing=DeviceGroup.of(found.tight_processing),
                receiving=DeviceGroup.of(found.tight_receiving),
                transmitting=DeviceGroup.of(found.tight_transmitting),
            ),
        )
