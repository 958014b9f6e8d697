"""Orders over the wire: what each device sends, and how to find a device's own in a stored answer."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from fastapi import Depends, Query
from pydantic import Field
from pydantic_core import from_json, to_json
from starlette.responses import Response

from app.http.gate import JSON, Service
from app.http.problems import InvalidRequestError, NotFoundError
from app.wire.base import AnswerModel, Optional
from app.wire.budget import charge
from app.wire.estimate import JsonSize
from app.wire.ids import DeviceIds
from solver.orders import Orders

__all__ = [
    "OrderList",
    "OrderOut",
    "SendOut",
    "Whose",
    "WhoseAsked",
    "device_orders",
    "orders_out",
]

_Device = Annotated[int, Query(ge=-1, lt=2**31, description="Only the order of the device with this number.")]
_Id = Annotated[str, Query(alias="id", max_length=128, description="Only the order of the device with this id.")]


@dataclass(frozen=True)
class Whose:
    """Whose orders are asked for: those of a number, of an id, or (-1 and no id) of all devices."""

    device: int
    id: str


def _whose(device: _Device = -1, device_id: _Id = "") -> Whose:
    if device_id and device >= 0:
        raise InvalidRequestError.of_parameter("id", "`device` names a device too: give one of the two")
    return Whose(device, device_id)


WhoseAsked = Annotated[Whose, Depends(_whose)]
_PIECE = 2**20


@dataclass(frozen=True, slots=True)
class SendOut:
    """Datapoints first, first + 1, …, first + count − 1 of the sender's order go to device `to`.

    There can be very many, so it is not a model of pydantic, which would take some times the memory.
    """

    step: int
    to: int
    first: int
    count: int
    to_id: Optional[str] = None


class OrderOut(AnswerModel):
    """What one device sends. It shuffles its data once, with a seed of its own; ranges are of that order."""

    device: int
    id: Optional[str] = Field(None, description="Its id, if devices have ids.")
    sends: list[SendOut] = Field(
        description="By step and receiver; `to_id` is there if devices have ids. The ranges of one receiver begin at 0 "
        "and follow on over all steps: nothing is sent to it twice. No step passes a budget."
    )


class OrderList(AnswerModel):
    """The orders of a plan, or of a period of a run."""

    orders: list[OrderOut] = Field(description="By device. If one is asked for, its order is here even if it is empty.")


def orders_out(orders: Orders, ids: DeviceIds | None) -> list[OrderOut]:
    """The order of each device that sends."""
    names = None if ids is None else ids.names
    columns = (orders.step.tolist(), orders.target.tolist(), orders.first.tolist(), orders.count.tolist())
    to_ids = [None] * len(orders) if names is None else [names[to] for to in columns[1]]
    rows = list(map(SendOut, *columns, to_ids))
    devices, begins = np.unique(orders.source, return_index=True)
    ends = np.searchsorted(orders.source, devices, side="right")
    return [
        OrderOut.model_construct(device=device, id=None if names is None else names[device], sends=rows[begin:end])
        for device, begin, end in zip(devices.tolist(), begins.tolist(), ends.tolist(), strict=True)
    ]


def device_orders(
    service: Service, packed: Callable[[Callable[[int], None]], bytes | None], whose: Whose
) -> Response | None:
    """The orders in a stored answer, of all devices or of one; None if there is no such answer.

    `packed` reads it as zlib packed it, and tells its size before.

    Raises:
        InvalidRequestError: there is no such device.
        NotFoundError: the answer has no orders.
    """
    with service.memory.account():
        found = packed(lambda size: charge(size, "a stored answer"))
        if found is None:
            return None
        answer = _content(found)
        orders = answer.get("orders")
        if orders is None:
            raise NotFoundError("this was planned without orders: ask for them with `orders`")
        if whose.device >= 0 or whose.id:
            orders = [_of_device(answer, whose)]
        return Response(to_json({"orders": orders}), media_type=JSON)


def _content(packed: bytes) -> dict[str, Any]:
    """The answer, once its memory is charged."""
    unpacking = zlib.decompressobj()
    pieces = []
    rest = packed
    while rest:
        pieces.append(unpacking.decompress(rest, _PIECE))
        charge(2 * len(pieces[-1]), "a stored answer, unpacked")
        rest = unpacking.unconsumed_tail
    text = b"".join(pieces)
    size = JsonSize.of(text)
    charge(size.as_values(), f"a stored answer of {size.values} values")
    content: dict[str, Any] = from_json(text)
    return content


def _of_device(answer: dict[str, Any], whose: Whose) -> dict[str, Any]:
    names: list[str] = answer.get("device_ids", [])
    if whose.id and whose.id not in names:
        raise InvalidRequestError.of_parameter("id", "is the id of no device")
    n = answer["n_devices"]
    if whose.device >= n:
        raise InvalidRequestError.of_parameter("device", f"must be below {n}, the number of devices")
    number = names.index(whose.id) if whose.id else whose.device
    empty = {"device": number, **({"id": names[number]} if names else {}), "sends": []}
    return next((one for one in answer["orders"] if one["device"] == number), empty)
