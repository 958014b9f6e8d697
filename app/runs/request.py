"""Runs as they are asked for, and what an aggregation reports."""

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field

from app.http.problems import InvalidRequestError
from app.networks.archived import ArchiveParameters
from app.networks.patch import DeviceChange, LinkChange, LinkEnds, NewDevice
from app.plans.request import EXAMPLE, ChangeIn, NetworkRequest, PlanParameters
from app.wire.base import Indices, Measure, Measures, Optional, RequestModel
from app.wire.ids import DeviceId, DeviceIds
from app.wire.naming import NamedRequest
from app.wire.network import column, indices
from solver.horizon.membership import Moved

__all__ = [
    "AggregationRequest",
    "BinaryRunParameters",
    "DataIn",
    "DeliveredIn",
    "GradientNormsIn",
    "GroupIn",
    "ParticipationIn",
    "ResampleIn",
    "RunOptions",
    "RunRequest",
]

# Rounding in sums of what was planned.
_ROUNDING = 1 + 1e-9


class ResampleIn(RequestModel):
    """Who may be replaced at an aggregation."""

    when: Annotated[
        Literal["never", "lost", "always"],
        Field(
            description="`lost`: devices that are lost, or can train no longer, are replaced. `always`: others too, "
            "where that is worth what they have received. `never`: the run goes on with those that remain."
        ),
    ] = "lost"
    max_swaps: Optional[Annotated[int, Field(ge=0, lt=2**31)]] = Field(
        None, description="At most so many devices come in at an aggregation."
    )


class GroupIn(RequestModel):
    """Devices of which a share of the sampled devices must be."""

    name: Annotated[str, Field(min_length=1, max_length=128, description="For a fleet, one of its groups.")]
    devices: Optional[Indices] = Field(None, description="Who is in it; without, those of the fleet's group.")
    device_ids: Optional[list[DeviceId]] = Field(None, description="`devices` by ids.")
    min_share: Annotated[float, Field(gt=0, le=1, description="At least this share of sample_size.")]


class ParticipationIn(RequestModel):
    """How often a device may train, and how many of each group do."""

    max_periods: Optional[Annotated[int, Field(ge=1, lt=2**31)]] = Field(
        None, description="At most so many periods of the run."
    )
    rest_periods: Annotated[
        int, Field(ge=0, lt=2**31, description="Periods without training after each one with it.")
    ] = 0
    groups: Annotated[list[GroupIn], Field(max_length=1000, default_factory=list)]


class RunOptions(RequestModel):
    """Who may train in a run."""

    resample: Optional[ResampleIn] = Field(None, description="At every aggregation that does not say otherwise.")
    participation: Optional[ParticipationIn] = None


class RunRequest(RunOptions, NetworkRequest):
    """A network, and how to plan for it period by period."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})


class BinaryRunParameters(RunOptions, NamedRequest, ArchiveParameters, PlanParameters):
    """The parameters in a binary request."""


class DataIn(RequestModel):
    """Devices whose own data has changed, and how many datapoints they hold of their own now."""

    device: Optional[Indices] = None
    device_ids: Optional[list[DeviceId]] = Field(None, description="`device` by ids.")
    datapoints: Measures

    def rows(self, n_devices: int, ids: DeviceIds | None) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The numbers of the devices, and the datapoints of each.

        Raises:
            InvalidRequestError: it names no device, one twice, or not as many as it has numbers.
        """
        devices = _numbers(self, "device", "/data", n_devices, ids)
        _refuse(_named_again(devices), "/data/device", "names a device twice")
        return devices, column(self.datapoints, "/data/datapoints", length=devices.size)


class GradientNormsIn(RequestModel):
    """‖∇F_i‖ of some devices, each on the data that it holds, with the model of this aggregation."""

    device: Optional[Indices] = None
    device_ids: Optional[list[DeviceId]] = Field(None, description="`device` by ids.")
    norms: Measures

    def by_device(self, n_devices: int, ids: DeviceIds | None) -> dict[int, float]:
        """The norm of each device that is named.

        Raises:
            InvalidRequestError: it names no device, one twice, or not as many as it has norms.
        """
        devices = _numbers(self, "device", "/gradient_norms", n_devices, ids)
        _refuse(_named_again(devices), "/gradient_norms/device", "names a device twice")
        norms = column(self.norms, "/gradient_norms/norms", length=devices.size)
        return dict(zip(devices.tolist(), norms.tolist(), strict=True))


class DeliveredIn(RequestModel):
    """What really arrived of what the last period was to send, by pair; other pairs' data arrived as planned."""

    source: Optional[Indices] = None
    target: Optional[Indices] = None
    source_ids: Optional[list[DeviceId]] = Field(None, description="`source` by ids.")
    target_ids: Optional[list[DeviceId]] = Field(None, description="`target` by ids.")
    datapoints: Annotated[
        Measures, Field(description="Of each pair, in all steps of the period; at most as many as were planned.")
    ]

    def missing(self, moved: Moved, n_devices: int, ids: DeviceIds | None) -> NDArray[np.float64]:
        """The share of what each pair of `moved` was to send that did not arrive.

        Raises:
            InvalidRequestError: a pair was to send nothing, or less, or is named twice.
        """
        source, target, arrived = self.pairs(n_devices, ids)
        places = moved.places_of(source, target)
        _refuse(places < 0, "/delivered/source", "sent nothing to its target in the last period")
        _refuse(_named_again(places), "/delivered/source", "names a pair twice")
        planned = moved.datapoints[places]
        _refuse(arrived > planned * _ROUNDING, "/delivered/datapoints", "is more than the plan sends")
        missing = np.zeros(moved.source.size)
        missing[places] = 1.0 - np.minimum(arrived / planned, 1.0)
        return missing

    def pairs(
        self, n_devices: int, ids: DeviceIds | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Who sent, who received, and what arrived.

        Raises:
            InvalidRequestError: it names no device, or the columns differ in length.
        """
        arrived = column(self.datapoints, "/delivered/datapoints")
        source, target = (_numbers(self, name, "/delivered", n_devices, ids) for name in ("source", "target"))
        for name, ends in (("source", source), ("target", target)):
            if ends.size != arrived.size:
                rule = f"must have {arrived.size} entries, has {ends.size}"
                raise InvalidRequestError.at(f"/delivered/{name}", rule)
        return source, target, arrived


def _numbers(
    request: RequestModel, name: str, pointer: str, n_devices: int, ids: DeviceIds | None
) -> NDArray[np.int64]:
    """The devices that the field `name` has as numbers, or the field `name`_ids as ids."""
    numbers, names = getattr(request, name), getattr(request, f"{name}_ids")
    if (numbers is None) == (names is None):
        raise InvalidRequestError.at(f"{pointer}/{name}", f"give one of `{name}` and `{name}_ids`")
    if names is None:
        return indices(numbers, f"{pointer}/{name}", n_devices)
    if ids is None:
        raise InvalidRequestError.at(f"{pointer}/{name}_ids", "needs devices with ids: a fleet, or `devices.id`")
    return ids.numbered(names, f"{pointer}/{name}_ids")


def _named_again(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    again = np.ones(numbers.size, np.bool_)
    again[np.unique(numbers, return_index=True)[1]] = False
    return again


def _refuse(bad: NDArray[np.bool_], pointer: str, reason: str) -> None:
    if bad.any():
        raise InvalidRequestError.at(f"{pointer}/{int(np.argmax(bad))}", reason)


class AggregationRequest(RequestModel):
    """What the aggregation at step k·τ observed, and what changes from then on."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"aggregation": 1, "gradient_norm": 0.8, "lost": [0]}]})

    aggregation: Annotated[int, Field(ge=1, lt=2**31, description="k, counted from 1.")]
    gradient_norm: Annotated[Measure, Field(description="‖∇F̄(kτ)‖ as observed.")]
    gradient_noise: Optional[Measure] = Field(
        None, description="γ as measured; it holds from now on. Without it the one before does."
    )
    gradient_norms: Optional[GradientNormsIn] = Field(
        None, description="Norms of single devices. The run keeps and shows them; plans do not depend on them."
    )
    lost: Optional[Indices] = Field(
        None, description="Devices that are gone, with all they have received, until they are reported as `joined`."
    )
    lost_ids: Optional[list[DeviceId]] = Field(None, description="`lost` by ids.")
    joined: Optional[Indices] = Field(
        None,
        description="Devices that are back with their own data; of one that is `lost` too, what it received is gone.",
    )
    joined_ids: Optional[list[DeviceId]] = Field(None, description="`joined` by ids.")
    delivered: Optional[DeliveredIn] = None
    data: Optional[DataIn] = None
    devices: Annotated[
        list[DeviceChange],
        Field(
            default_factory=list,
            description="Devices that change, in the fields of the run's `network` or `fleet`; `index` is a number.",
        ),
    ]
    add_devices: Annotated[
        list[NewDevice],
        Field(default_factory=list, description="Devices that are new. Their numbers follow after all others."),
    ]
    links: Annotated[
        list[LinkChange], Field(default_factory=list, description="Links that change, or are new with all they need.")
    ]
    remove_links: Annotated[list[LinkEnds], Field(default_factory=list)]
    resample: Optional[ResampleIn] = Field(None, description="For this aggregation; without it the run's holds.")
    schedule: Annotated[
        list[ChangeIn], Field(max_length=1000, default_factory=list, description="Changes after step k·τ.")
    ]

    @property
    def changes_network(self) -> bool:
        """Whether devices, their numbers or links change from the next step on, other than by `schedule`."""
        return bool(self.data or self.devices or self.add_devices or self.links or self.remove_links)
