"""Runs as they are asked for, and what an aggregation reports."""

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field

from app.http.problems import InvalidRequestError
from app.plans.request import EXAMPLE, ChangeIn, NetworkRequest
from app.wire.base import Indices, Measure, Measures, Optional, RequestModel
from app.wire.ids import DeviceId, DeviceIds
from app.wire.network import column, indices
from solver.membership import Moved

__all__ = ["AggregationRequest", "DeliveredIn", "GroupIn", "ParticipationIn", "ResampleIn", "RunRequest"]

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


class RunRequest(NetworkRequest):
    """A network, and how to plan for it period by period."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    resample: Optional[ResampleIn] = Field(None, description="At every aggregation that does not say otherwise.")
    participation: Optional[ParticipationIn] = None


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
        count = len(self.datapoints)
        arrived = column(self.datapoints, "/delivered/datapoints")
        source, target = (self._ends(name, n_devices, ids, count) for name in ("source", "target"))
        places = moved.places_of(source, target)
        _refuse(places < 0, "source", "sent nothing to its target in the last period")
        again = np.ones(count, np.bool_)
        again[np.unique(places, return_index=True)[1]] = False
        _refuse(again, "source", "names a pair twice")
        planned = moved.datapoints[places]
        _refuse(arrived > planned * _ROUNDING, "datapoints", "is more than the plan sends")
        missing = np.zeros(moved.source.size)
        missing[places] = 1.0 - np.minimum(arrived / planned, 1.0)
        return missing

    def _ends(self, name: str, n_devices: int, ids: DeviceIds | None, count: int) -> NDArray[np.int64]:
        numbers, names = getattr(self, name), getattr(self, f"{name}_ids")
        if (numbers is None) == (names is None):
            raise InvalidRequestError.at(f"/delivered/{name}", f"give one of `{name}` and `{name}_ids`")
        if names is None:
            return indices(numbers, f"/delivered/{name}", n_devices, length=count)
        if ids is None:
            raise InvalidRequestError.at(f"/delivered/{name}_ids", "needs devices with ids: a fleet, or `devices.id`")
        if len(names) != count:
            raise InvalidRequestError.at(f"/delivered/{name}_ids", f"must have {count} entries, has {len(names)}")
        return ids.numbered(names, f"/delivered/{name}_ids")


def _refuse(bad: NDArray[np.bool_], name: str, reason: str) -> None:
    if bad.any():
        raise InvalidRequestError.at(f"/delivered/{name}/{int(np.argmax(bad))}", reason)


class AggregationRequest(RequestModel):
    """What the aggregation at step k·τ observed, and what changes from then on."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"aggregation": 1, "gradient_norm": 0.8, "lost": [0]}]})

    aggregation: Annotated[int, Field(ge=1, lt=2**31, description="k, counted from 1.")]
    gradient_norm: Annotated[Measure, Field(description="‖∇F̄(kτ)‖ as observed.")]
    gradient_noise: Optional[Measure] = Field(
        None, description="γ as measured; it holds from now on. Without it the one before does."
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
    resample: Optional[ResampleIn] = Field(None, description="For this aggregation; without it the run's holds.")
    schedule: Annotated[
        list[ChangeIn], Field(max_length=1000, default_factory=list, description="Changes after step k·τ.")
    ]
