"""The network in an .npz archive of plain arrays (`POST /v1/plans/binary`, `POST /v1/networks/binary`).

An archive has the device columns (`data`, `processing_capacity`, `processing_cost`, `receive_capacity`,
`transmit_budget`, optionally `label_counts`, and `label_epsilon` if these have noise), the link columns (`source`,
`target`, `transmit_cost`, and `similarity`, which may be NaN or left out) and `parameters`, the bytes (uint8) of a JSON
object with all other fields, the ids of the devices among them. What `solver.save_network` writes is such an archive.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from app.http.problems import InvalidRequestError, MalformedError
from app.networks.archive import read_arrays
from app.wire.arrays import read_plainly
from app.wire.base import Optional, RequestModel
from app.wire.fleet import Translated
from app.wire.ids import DeviceId, DeviceIds
from app.wire.network import SimilarityOrigin, charge_network, checked, with_similarity
from app.wire.pointers import located
from solver import Devices, Links, Network
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS
from solver.network.interchange import epsilon_of

__all__ = ["NPZ", "ArchiveParameters", "read_archive"]

NPZ = "application/vnd.fedsift.npz"
_KNOWN = {*DEVICE_COLUMNS, *LINK_COLUMNS, "label_counts", "label_epsilon", "parameters"}
_NEEDED = (*DEVICE_COLUMNS, *(name for name in LINK_COLUMNS if name != "similarity"))


class ArchiveParameters(RequestModel):
    """The parameters of every archive."""

    ids: Optional[list[DeviceId]] = Field(None, description="Names for the devices.")


P = TypeVar("P", bound=ArchiveParameters)


def read_archive(body: bytes, model: type[P]) -> tuple[Translated, P]:
    """The network in an archive with the ids of its devices, and its parameters.

    Raises:
        InvalidRequestError: it breaks rules of a network or of the model.
        MalformedError: it is no archive of plain arrays.
    """
    arrays = read_arrays(body, _KNOWN, most=len(_KNOWN) + 1)  # `save_network` writes a `format` too
    missing = [name for name in _NEEDED if name not in arrays]
    if missing:
        raise InvalidRequestError.at(f"/{missing[0]}", "is missing")
    text = arrays.get("parameters", np.frombuffer(b"{}", np.uint8))
    if text.dtype != np.uint8:
        raise MalformedError("the array `parameters` must be of uint8, the bytes of a JSON object")
    parameters = read_plainly(model, text.tobytes())
    network, origin = _network_of(arrays)
    ids = None if parameters.ids is None else DeviceIds.of(parameters.ids, "/ids/*")
    if ids is not None and len(ids.names) != len(network):
        raise InvalidRequestError.at("/ids", f"must have {len(network)} entries, has {len(ids.names)}")
    return Translated(network, ids, similarity=origin), parameters


def _network_of(arrays: dict[str, NDArray[np.generic]]) -> tuple[Network, SimilarityOrigin | None]:
    counts = arrays.get("label_counts")
    charge_network(arrays["data"].size, arrays["source"].size)
    with located({"devices": "", "links": ""}):
        devices = Devices(
            **{name: _numbers(arrays, name) for name in DEVICE_COLUMNS},
            label_counts=None if counts is None else _counts(arrays),
            label_epsilon=epsilon_of(arrays),
        )
        ends = {name: arrays[name] for name in LINK_COLUMNS[:2]}
        measured = np.asarray(arrays.get("similarity", np.full(arrays["source"].shape, np.nan)), np.float64)
        unknown = np.isnan(measured)
        similarity = checked(np.where(unknown, 0.0, measured), "/similarity")
        cost = _numbers(arrays, "transmit_cost")
        network = Network(devices, Links(**ends, similarity=similarity, transmit_cost=cost))  # type: ignore[arg-type]
    if not unknown.any():
        return network, None
    # A network sorts its links.
    return with_similarity(network, unknown[np.lexsort((arrays["source"], arrays["target"]))])


def _counts(arrays: dict[str, NDArray[np.generic]]) -> NDArray[np.float64]:
    counts = np.asarray(arrays["label_counts"], np.float64)
    return checked(counts, "/label_counts", signed="label_epsilon" in arrays)


def _numbers(arrays: dict[str, NDArray[np.generic]], name: str) -> NDArray[np.float64]:
    return checked(np.asarray(arrays[name], np.float64), f"/{name}")
