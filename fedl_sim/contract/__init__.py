"""The contract between the service and the simulator: what is to be trained, and what training reports.

Frozen dataclasses of the standard library alone. Each has `to_json` and `from_json`; what breaks the contract is a
`ContractError` that names field and reason. The service imports this package and nothing else of `fedl_sim`.
"""

from fedl_sim.contract.data_files import DATA_FILES, data_sets_in
from fedl_sim.contract.errors import ContractError
from fedl_sim.contract.messages import (
    Advance,
    Advanced,
    Failure,
    Load,
    Loaded,
    Open,
    Opened,
    Reply,
    Request,
    read_reply,
    read_request,
)
from fedl_sim.contract.names import BUDGETS, DATA_SETS, GIVEN_PLAN, MODELS, TOPOLOGIES, TRANSFERS
from fedl_sim.contract.network import DeviceColumns, GeneratorSettings, GivenNetwork, LinkColumns, NetworkChange
from fedl_sim.contract.plan import Delivered, GivenPeriod, GivenPlan, GivenStep, OwnData
from fedl_sim.contract.reading import decode
from fedl_sim.contract.trained_round import AggregationRecord, Facts
from fedl_sim.contract.work import Outline, Part, Work

__all__ = [
    "BUDGETS",
    "DATA_FILES",
    "DATA_SETS",
    "GIVEN_PLAN",
    "MODELS",
    "TOPOLOGIES",
    "TRANSFERS",
    "Advance",
    "Advanced",
    "AggregationRecord",
    "ContractError",
    "Delivered",
    "DeviceColumns",
    "Facts",
    "Failure",
    "GeneratorSettings",
    "GivenNetwork",
    "GivenPeriod",
    "GivenPlan",
    "GivenStep",
    "LinkColumns",
    "Load",
    "Loaded",
    "NetworkChange",
    "Open",
    "Opened",
    "Outline",
    "OwnData",
    "Part",
    "Reply",
    "Request",
    "Work",
    "data_sets_in",
    "decode",
    "read_reply",
    "read_request",
]
