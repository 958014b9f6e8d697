"""Names in the OpenAPI document: every schema that generators make a class of has a plain name.

Generators name a class after a component's key, after a `title`, or, where both are missing, after the place it is
used at (`CreatePlan200Response`). So every union and every enumeration is a component with a name. Models lose the
suffix that tells requests from answers in our code, and titles made from field names are removed. Numbers have a
`format` for their width: without it some generators use single precision or decimals.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["PREFIX", "inline_choices", "name_plainly"]

PREFIX = "#/components/schemas/"
_SUFFIXES = ("In", "Out")
# The names of enumerations by their values, and of unions by their members.
_CHOICES = {
    ("optimal", "step_optimal", "feasible", "time_limit"): "PlanStatus",
    ("optimal", "feasible", "time_limit"): "StepStatus",
    (
        *("load", "storage_datapoints", "airtime_seconds", "joules_per_sample"),
        *("label_counts", "group", "latitude", "longitude"),
    ): "OptionalDeviceField",
    ("loss", "joules_per_megabyte", "similarity"): "OptionalLinkField",
    ("complete", "time_limit"): "SamplerStatus",
    ("links", "matrix"): "OutputForm",
    ("fast", "cvxpy"): "SolverName",
    ("ok", "unavailable", "does_not_answer", "newer_schema"): "StoreState",
    ("step", "horizon"): "PlanningRule",
    ("send_once", "redraw"): "TransferRule",
    ("planned", "infeasible", "refused", "not_reached"): "RowState",
    ("ok", "low"): "DiskState",
    ("waiting", "delivered"): "DeliveryState",
    ("network", "fleet"): "NetworkKind",
    ("active", "finished"): "RunState",
    ("never", "lost", "always"): "ResampleRule",
    ("ok", "loading", "failed"): "SolverState",
    ("LinkTopology", "MatrixTopology"): "Topology",
    ("Plan", "Diagnosis"): "PlanOrDiagnosis",
    ("string", "number"): "WordOrNumber",
    ("ok", "no_workers", "unavailable"): "ValidationService",
    ("ok", "compiling", "failed"): "KernelsState",
    ("queued", "running", "cancelling", "succeeded", "failed", "cancelled"): "ValidationState",
    ("as_predicted", "less", "more", "too_few_runs", "nothing_predicted", "pending"): "Outcome",
    ("erdos-renyi", "geometric", "barabasi-albert", "watts-strogatz"): "TopologyGenerator",
    ("loose", "tight", "scarce"): "BudgetName",
    ("json", "graphml", "csv", "olsr", "batman"): "ImportFormat",
    ("digits", "mnist", "fashion-mnist"): "DataSetName",
    ("softmax", "mlp", "cnn"): "ModelName",
    ("GeneratorSource", "NetworkSource", "FleetSource", "StoredSource", "PlanSource", "RunSource"): "Source",
}
_KEPT_BESIDE_A_REFERENCE = ("description", "default")
# What stands under these is data: nothing in it is a schema.
_DATA = ("default", "enum", "example", "examples")


def name_plainly(built: dict[str, Any]) -> dict[str, Any]:
    """The same document with plain names.

    Raises:
        ValueError: if two models would get the same name.
    """
    names = {name: _plain(name) for name in built["components"]["schemas"]}
    if len(set(names.values())) < len(names):
        raise ValueError(f"two models would get the same name: {sorted(names)}")
    text = json.dumps(built)
    for name, plain in names.items():
        text = text.replace(f'"{PREFIX}{name}"', f'"{PREFIX}{plain}"')
    renamed: dict[str, Any] = json.loads(text)
    schemas = renamed["components"]["schemas"]
    renamed["components"]["schemas"] = {names[name]: _untitled(schema) for name, schema in schemas.items()}
    renamed["paths"] = _untitled(renamed["paths"])
    document: dict[str, Any] = _with_widths(_with_named_choices(renamed))
    return document


def inline_choices(node: Any, *, top: bool = False) -> Iterator[tuple[str, ...]]:
    """Every union and enumeration below a node that is not a component of its own."""
    if isinstance(node, dict):
        if not top and (choice := _choice(node)):
            yield choice
        for key, value in node.items():
            if key not in _DATA:
                yield from inline_choices(value, top=key == "properties")
    elif isinstance(node, list):
        for value in node:
            yield from inline_choices(value)


def _within(node: dict[str, Any], visit: Callable[[Any], Any]) -> dict[str, Any]:
    """The node, with `visit` applied to every value that may be or contain a schema."""
    made = {}
    for key, value in node.items():
        if key == "properties":  # the keys in there are fields' names, not words of JSON Schema
            made[key] = {name: visit(field) for name, field in value.items()}
        else:
            made[key] = value if key in _DATA else visit(value)
    return made


def _plain(name: str) -> str:
    return next((name.removesuffix(suffix) for suffix in _SUFFIXES if name.endswith(suffix)), name)


def _untitled(node: Any) -> Any:
    """The node without the titles that pydantic and FastAPI generate."""
    if isinstance(node, list):
        return [_untitled(value) for value in node]
    if not isinstance(node, dict):
        return node
    return _within({key: value for key, value in node.items() if key != "title"}, _untitled)


def _choice(node: dict[str, Any]) -> tuple[str, ...]:
    if len(node.get("enum", ())) > 1:
        return tuple(node["enum"])
    members = node.get("oneOf", node.get("anyOf", ()))
    return tuple(member.get("$ref", member.get("type", "?")).removeprefix(PREFIX) for member in members)


def _with_named_choices(built: dict[str, Any]) -> dict[str, Any]:
    schemas = built["components"]["schemas"]
    made: dict[str, Any] = {}
    named = {key: _named(value, made) for key, value in schemas.items()}
    built["paths"] = _named(built["paths"], made)
    built["components"]["schemas"] = dict(sorted({**named, **made}.items()))
    return built


def _named(node: Any, made: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_named(value, made) for value in node]
    if not isinstance(node, dict):
        return node
    name = _CHOICES.get(_choice(node))
    if name is None:
        return _within(node, lambda value: _named(value, made))
    beside = {key: node[key] for key in _KEPT_BESIDE_A_REFERENCE if key in node}
    made[name] = {key: value for key, value in node.items() if key not in beside}
    return {"$ref": PREFIX + name, **beside}


def _with_widths(node: Any) -> Any:
    if isinstance(node, list):
        return [_with_widths(value) for value in node]
    if not isinstance(node, dict):
        return node
    made = _within(node, _with_widths)
    if made.get("type") == "number":
        made["format"] = "double"
    elif made.get("type") == "integer":
        made["format"] = "int32" if made.get("exclusiveMaximum", 2**63) <= 2**31 else "int64"
    return made
