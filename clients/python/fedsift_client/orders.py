"""Orders: what a device is to send, to whom, and when."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fedsift_client.errors import ProtocolError

__all__ = ["Order", "Shipment", "orders_of"]


@dataclass(frozen=True)
class Shipment:
    """In step `step`, the datapoints first … first + count − 1 of the sender's own order go to device `to`."""

    step: int
    to: int
    first: int
    count: int
    to_id: str | None = None


@dataclass(frozen=True)
class Order:
    """All that a device is to send."""

    device: int
    sends: tuple[Shipment, ...]
    id: str | None = None

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "Order":
        """An order as the service tells it."""
        try:
            sends = tuple(
                Shipment(int(one["step"]), int(one["to"]), int(one["first"]), int(one["count"]), one.get("to_id"))
                for one in told["sends"]
            )
            return cls(int(told["device"]), sends, told.get("id"))
        except (KeyError, TypeError, ValueError) as error:
            raise ProtocolError("this is not an order") from error

    def told(self) -> dict[str, Any]:
        """The order as the service tells it, to be handed on to its device."""
        sends = [
            {"step": one.step, "to": one.to, "first": one.first, "count": one.count}
            | ({} if one.to_id is None else {"to_id": one.to_id})
            for one in self.sends
        ]
        return {"device": self.device, "sends": sends} | ({} if self.id is None else {"id": self.id})


def orders_of(told: Iterable[Mapping[str, Any]]) -> tuple[Order, ...]:
    """The orders of an answer."""
    return tuple(Order.of(one) for one in told)
