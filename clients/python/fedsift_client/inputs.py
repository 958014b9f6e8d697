"""What a plan is made for: a fleet, a network, a graph, two frames, an archive, or a network that the service stores.

`described` turns each of them but an archive into the field of a request: `fleet` (docs/fleet.md), `network` (the
paper's quantities) or `network_id`. An archive is sent as it is, with the other fields of the request in it.
"""

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from fedsift_client.errors import InputError
from fedsift_client.http.calls import encoded

__all__ = ["Given", "archive", "described", "is_archive"]

# A mapping, a networkx graph, a pair of frames, the path of an .npz archive, or the id of a stored network.
Given = Any

_COLUMNS = ("data", "processing_capacity", "processing_cost", "receive_capacity", "transmit_budget")
_LINK_COLUMNS = ("similarity", "transmit_cost")
_DEVICE = (
    *("datapoints", "samples_per_second", "load", "storage_datapoints", "airtime_seconds", "joules_per_sample"),
    *("label_counts", "group", "may_train", "may_send"),
)
_LINK = ("mbps", "loss", "joules_per_megabyte", "similarity")
_SETTINGS = ("step_seconds", "datapoint_bytes", "epochs_per_step", "label_noise")
_LABELS = "label_counts."


def is_archive(given: Given) -> bool:
    """Whether it is the path of an archive; those go to the service as they are."""
    return isinstance(given, str | Path) and Path(given).suffix == ".npz"


def described(given: Given, parameters: dict[str, Any]) -> dict[str, Any]:
    """The request for this, with its parameters. A graph or frames take a fleet's settings from the parameters."""
    settings = {name: parameters[name] for name in _SETTINGS if name in parameters}
    if isinstance(given, Mapping) or not settings:
        rest, settings = parameters, {}
    else:
        rest = {name: value for name, value in parameters.items() if name not in settings}
    return {**_described(given, settings), **rest}


def _described(given: Given, settings: dict[str, Any]) -> dict[str, Any]:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {"network" if "topology" in given else "fleet": given}
    if isinstance(given, str):
        return {"network_id": given}
    if isinstance(given, tuple) and len(given) == 2:
        return _of_frames(given[0], given[1], settings)
    if hasattr(given, "nodes") and hasattr(given, "to_directed"):
        return _of_graph(given, settings)
    raise InputError(
        "give a fleet or a network as a dict, a networkx graph, a pair of frames (devices, links), the path of an .npz "
        f"archive or the id of a stored network, not {type(given).__name__}"
    )


def archive(path: Given, parameters: Mapping[str, Any]) -> bytes:
    """The archive at this path with the parameters in it, as POST /v1/plans/binary and its likes take it."""
    arrays = _loaded(Path(path))
    arrays["parameters"] = np.frombuffer(encoded(parameters), np.uint8)
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]
    return stream.getvalue()


def _loaded(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files if name != "format"}
    except (OSError, BadZipFile, ValueError, EOFError, AttributeError) as error:
        raise InputError(f"{path} is not an archive of plain arrays: {error}") from error


def _of_graph(graph: Any, settings: dict[str, Any]) -> dict[str, Any]:
    """Nodes and edges have the fields as attributes; others, such as a layout, are not sent.

    An undirected edge is a link each way. The fleet's settings may be attributes of the graph.
    """
    nodes = [(str(name), attributes) for name, attributes in graph.nodes(data=True)]
    edges = [(str(one), str(other), found) for one, other, found in graph.to_directed(as_view=True).edges(data=True)]
    if any("processing_capacity" in attributes for _, attributes in nodes):
        place = {name: number for number, (name, _) in enumerate(nodes)}
        rows = [{"source": place[one], "target": place[other], **found} for one, other, found in edges]
        return _network([{"id": name, **attributes} for name, attributes in nodes], rows)
    own = {name: graph.graph[name] for name in _SETTINGS if name in graph.graph}
    devices = [{"id": name, **_only(attributes, _DEVICE)} for name, attributes in nodes]
    links = [{"from": one, "to": other, **_only(found, _LINK)} for one, other, found in edges]
    return {"fleet": {**own, **settings, "devices": devices, "links": links}}


def _of_frames(devices: Any, links: Any, settings: dict[str, Any]) -> dict[str, Any]:
    """A row for each device and each link, the fields as columns; an empty cell is a field left out.

    Label counts are columns `label_counts.NAME`.
    """
    rows, others = _rows(devices), _rows(links)
    if "processing_capacity" in list(devices.columns):
        return _network(rows, others)
    for row in rows:
        counts = {name[len(_LABELS) :]: row.pop(name) for name in list(row) if name.startswith(_LABELS)}
        if counts:
            row["label_counts"] = counts
    return {"fleet": {**settings, "devices": rows, "links": others}}


def _network(devices: Sequence[Mapping[str, Any]], links: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    columns = {name: _column(devices, name, "device") for name in _COLUMNS}
    for name in ("id", "label_counts"):
        if all(name in device for device in devices):
            columns[name] = [device[name] for device in devices]
    ends = {name: _column(links, name, "link") for name in ("source", "target", *_LINK_COLUMNS)}
    return {"network": {"devices": columns, "topology": {"kind": "links", **ends}}}


def _column(rows: Sequence[Mapping[str, Any]], name: str, what: str) -> list[Any]:
    for number, row in enumerate(rows):
        if name not in row:
            raise InputError(f"{what} {number} lacks {name}")
    return [row[name] for row in rows]


def _rows(frame: Any) -> list[dict[str, Any]]:
    names = [str(name) for name in frame.columns]
    columns = [[_value(one) for one in frame[name]] for name in frame.columns]
    return [
        {name: value for name, value in zip(names, row, strict=True) if not _is_empty(value)}
        for row in zip(*columns, strict=True)
    ]


def _value(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _is_empty(value: Any) -> bool:
    # pandas' own mark for a missing value is equal to nothing, not even to itself, and has no truth.
    return (
        value is None or type(value).__name__ in {"NAType", "NaTType"} or (type(value) is float and math.isnan(value))
    )


def _only(attributes: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: attributes[name] for name in names if name in attributes}
