"""The network that a fleet was translated into, as a dry run shows it: the columns that `network` takes, with units."""

from pydantic import Field

from app.wire.base import AnswerModel
from app.wire.budget import charge
from app.wire.estimate import transfers
from solver import Network
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS

__all__ = ["DerivedDevices", "DerivedLinks", "DerivedNetwork"]


class DerivedDevices(AnswerModel):
    """One entry for each device in every column."""

    data: list[float] = Field(description="D_i, datapoints.")
    processing_capacity: list[float] = Field(description="P_i, seconds of computing a step.")
    processing_cost: list[float] = Field(description="p_i, seconds of computing for a datapoint.")
    receive_capacity: list[float] = Field(description="θ_i, datapoints a step.")
    transmit_budget: list[float] = Field(description="Ψ_i, seconds of radio a step.")


class DerivedLinks(AnswerModel):
    """One entry for each link that data may go over in every column."""

    source: list[int]
    target: list[int]
    similarity: list[float] = Field(description="λ, a share.")
    transmit_cost: list[float] = Field(description="ψ, seconds of radio for a datapoint.")


class DerivedNetwork(AnswerModel):
    """A network in the paper's quantities."""

    devices: DerivedDevices
    links: DerivedLinks

    @classmethod
    def from_domain(cls, network: Network) -> "DerivedNetwork":
        """All columns; their memory is charged."""
        size = 2 * len(network) + len(network.links)  # five and four numbers, as a transfer has four
        charge(transfers(size), f"an answer of {len(network)} devices and {len(network.links)} links")
        devices = {name: getattr(network.devices, name).tolist() for name in DEVICE_COLUMNS}
        links = {name: getattr(network.links, name).tolist() for name in LINK_COLUMNS}
        return cls.model_construct(
            devices=DerivedDevices.model_construct(**devices), links=DerivedLinks.model_construct(**links)
        )
