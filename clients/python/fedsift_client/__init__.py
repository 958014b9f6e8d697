"""Client of fedsift: who trains, what is sent, and what a device does with its orders.

    from fedsift_client import Client

    with Client("http://127.0.0.1:8000") as client:
        plan = client.plan(fleet, sample_size=5, horizon=20)
        print(plan.sampled_ids, plan.steps[0].matrix())

docs/client.md of the project has more.
"""

from fedsift_client.answers import Comparison, Period, Plan, Step
from fedsift_client.client import AsyncClient, Client
from fedsift_client.courier import Courier, Inbox, Parcel
from fedsift_client.errors import (
    BusyError,
    ConflictError,
    Fault,
    FedsiftError,
    InputError,
    InvalidRequestError,
    MissingPackageError,
    NoRoomError,
    NotFoundError,
    ProblemError,
    ProtocolError,
    SignatureError,
    TooLargeError,
    UnauthorisedError,
    UnreachableError,
)
from fedsift_client.http.events import Event
from fedsift_client.http.exchange import Patience
from fedsift_client.orders import Order, Shipment
from fedsift_client.runs import AsyncRun, Run
from fedsift_client.sketch import Sketch, sketch
from fedsift_client.validations import AsyncValidation, Validation
from fedsift_client.webhooks import Delivery, Notice, Webhook, read_notice

__all__ = [
    "AsyncClient",
    "AsyncRun",
    "AsyncValidation",
    "BusyError",
    "Client",
    "Comparison",
    "ConflictError",
    "Courier",
    "Delivery",
    "Event",
    "Fault",
    "FedsiftError",
    "Inbox",
    "InputError",
    "InvalidRequestError",
    "MissingPackageError",
    "NoRoomError",
    "NotFoundError",
    "Notice",
    "Order",
    "Parcel",
    "Patience",
    "Period",
    "Plan",
    "ProblemError",
    "ProtocolError",
    "Run",
    "Shipment",
    "SignatureError",
    "Sketch",
    "Step",
    "TooLargeError",
    "UnauthorisedError",
    "UnreachableError",
    "Validation",
    "Webhook",
    "read_notice",
    "sketch",
]
