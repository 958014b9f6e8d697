"""From rows to a fleet: values are checked, link quality becomes loss, and what the file lacks is assumed."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from app.imports.draft import Draft, Row
from app.imports.fields import DEVICE_FIELDS, LABEL_FIELDS, LINK_FIELDS, SETTINGS, Fields, Number, shown
from app.imports.findings import Assumption, Finding, Report, counted
from solver.errors import InvalidInputError

__all__ = ["DEFAULTS", "Defaults", "Imported", "make_fleet"]

# Where messages say that a wrong default stands.
DEFAULTS = "the defaults"
# Digits of a loss that is computed from a quality.
_DIGITS = 6
# Links that lose more are left out, as the service takes none.
_MOST_LOSS = 0.999
# What a graph says of its own form and origin: node-link JSON, networkx, NetJSON, meshviewer, a mesh as columns.
_OF_GRAPHS = frozenset(
    [
        "directed",
        "multigraph",
        "graph",
        "nodes",
        "devices",
        "links",
        "edges",
        "name",
        "node_default",
        "edge_default",
        "type",
        "protocol",
        "version",
        "revision",
        "metric",
        "router_id",
        "topology_id",
        "label",
        "timestamp",
    ]
)


@dataclass(frozen=True)
class Defaults:
    """Values for what a file lacks; None leaves the field out, and the service states what it assumes."""

    step_seconds: float = 60
    datapoint_bytes: float = 3136
    epochs_per_step: float = 1
    datapoints: float = 600
    samples_per_second: float = 40
    load: float | None = None
    storage_datapoints: float | None = None
    airtime_seconds: float | None = None
    joules_per_sample: float | None = None
    mbps: float = 6
    loss: float | None = None
    joules_per_megabyte: float | None = None
    similarity: float | None = None

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            kind = SETTINGS.get(name) or DEVICE_FIELDS.get(name) or LINK_FIELDS[name]
            if value is not None and isinstance(kind, Number):
                object.__setattr__(self, name, kind.read(value, DEFAULTS, name))


@dataclass(frozen=True)
class Imported:
    """A fleet as the service takes it, and the report on how it was made."""

    fleet: dict[str, Any]
    report: Report


def make_fleet(
    draft: Draft,
    defaults: Defaults,
    *,
    label_counts: Iterable[Row] = (),
    symmetric: bool = False,
    strict: bool = False,
) -> Imported:
    """Check the rows and complete them.

    `label_counts` has rows with `id`, `class` and `count`. `symmetric` gives every link its other way, with the same
    values, where the file lacks it. `strict` refuses what would be ignored.

    Raises:
        InvalidInputError: a row is wrong, or `strict` and a name is unknown; the text says where it stands.
    """
    ledger = _Ledger(defaults)
    fields = [Fields(table) for table in (SETTINGS, DEVICE_FIELDS, LINK_FIELDS, LABEL_FIELDS)]
    setting_fields, device_fields, link_fields, label_fields = fields
    settings = ledger.settings(draft, setting_fields)
    devices = _devices(draft, device_fields)
    links = _Links(draft, devices, link_fields)
    _add_label_counts(devices, label_counts, label_fields)
    ignored = {one.name: one for known in fields for one in known.ignored()}
    for one in ignored.values() if strict else ():
        raise InvalidInputError(one.place, f"there is no field {shown(one.name)}{one.hint}")
    links.complete(symmetric=symmetric or not draft.directed)
    if not devices:
        raise InvalidInputError(draft.format, "has no devices")
    fleet = {
        **settings,
        "devices": [{"id": name, **ledger.device(values)} for name, values in devices.items()],
        "links": [{"from": a, "to": b, **ledger.link(values)} for (a, b), values in links.all.items()],
    }
    _check_limits(draft.format, fleet)
    listed = ", ".join(f"{one.name}{one.hint}" for one in ignored.values())
    notes = [*draft.notes, *links.notes(), *([f"ignored: {listed}"] if listed else [])]
    return Imported(fleet, ledger.report(draft.format, len(devices), len(links.all), notes))


def _devices(draft: Draft, fields: Fields) -> dict[str, dict[str, Any]]:
    devices: dict[str, dict[str, Any]] = {}
    for row in draft.devices:
        values = fields.read(row)
        name = values.pop("id", None)
        if name is None:
            raise InvalidInputError(row.place, "id is missing")
        if name in devices:
            raise InvalidInputError(row.place, f"id {shown(name)} appears twice")
        devices[name] = values
    return devices


def _check_limits(format_name: str, fleet: Mapping[str, Any]) -> None:
    """A device stores what it holds, and its radio sends for a step at most."""
    for device in fleet["devices"]:
        place = f"{format_name}, device {shown(device['id'])}"
        storage, airtime = device.get("storage_datapoints"), device.get("airtime_seconds")
        if storage is not None and storage < device["datapoints"]:
            reason = f"storage_datapoints {storage} must be at least its datapoints, {device['datapoints']}"
            raise InvalidInputError(place, reason)
        if airtime is not None and airtime > fleet["step_seconds"]:
            reason = f"airtime_seconds {airtime} must be at most step_seconds, {fleet['step_seconds']}"
            raise InvalidInputError(place, reason)


def _add_label_counts(devices: dict[str, dict[str, Any]], rows: Iterable[Row], fields: Fields) -> None:
    for row in rows:
        values = fields.read(row)
        name, label = values.get("id", ""), values.get("class", "")
        if name not in devices:
            raise InvalidInputError(row.place, f"there is no device {shown(name)}")
        counts = devices[name].setdefault("label_counts", {})
        if not label or label in counts:
            raise InvalidInputError(
                row.place, f"class {shown(label)} of {shown(name)} {'appears twice' if label else 'is empty'}"
            )
        counts[label] = Number().read(values.get("count", ""), row.place, "count")


class _Links:
    """The links by their ends, and what happened to those that the file has."""

    def __init__(self, draft: Draft, devices: dict[str, dict[str, Any]], fields: Fields) -> None:
        self.all: dict[tuple[str, str], dict[str, Any]] = {}
        self._read_as: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()
        self._added = 0
        for row in draft.links:
            values = fields.read(row)
            ends = _ends(values, row, devices, complete=draft.complete)
            self._add(ends, self._with_loss(values))

    def _with_loss(self, values: dict[str, Any]) -> dict[str, Any]:
        """A delivery ratio d is a loss of 1 − d. ETX, the transmissions that one delivery takes, is d = 1/ETX."""
        quality, etx = values.pop("quality", None), values.pop("etx", None)
        if "loss" not in values and quality is not None:
            values["loss"] = round(1 - quality, _DIGITS)
            self._read_as["1 − quality"] += 1
        elif "loss" not in values and etx is not None:
            values["loss"] = round(1 - 1 / etx, _DIGITS)
            self._read_as["1 − 1/ETX"] += 1
        return values

    def _add(self, ends: tuple[str, str], values: dict[str, Any]) -> None:
        if ends[0] == ends[1]:
            self._dropped["from a device to itself"] += 1
        elif values.get("loss", 0) > _MOST_LOSS:
            self._dropped["over which (almost) nothing arrives"] += 1
        elif ends not in self.all:
            self.all[ends] = values
        else:
            self._dropped["beside a better one between the same devices"] += 1
            if _goodput(values) > _goodput(self.all[ends]):
                self.all[ends] = values

    def complete(self, *, symmetric: bool) -> None:
        """Add the other way of each link that lacks it, if links are symmetric."""
        if symmetric:
            missing = [(a, b) for a, b in self.all if (b, a) not in self.all]
            self.all |= {(b, a): dict(self.all[a, b]) for a, b in missing}
            self._added = len(missing)

    def notes(self) -> list[str]:
        """Sentences on the links."""
        one_way = sum((b, a) not in self.all for a, b in self.all)
        notes = [f"loss = {rule} for {counted(count, 'link')} of the file" for rule, count in self._read_as.items()]
        notes += [f"left out {counted(count, 'link')} {why}" for why, count in self._dropped.items()]
        both = f"{counted((len(self.all) - one_way) // 2, 'pair')} of devices linked both ways"
        made = f"; the other way of {self._added} was added with the same values" if self._added else ""
        return [*notes, f"{both}, {one_way} one way only{made}"]


def _goodput(values: Mapping[str, Any]) -> float:
    return float(values.get("mbps", 1) * (1 - values.get("loss", 0)))


def _ends(values: dict[str, Any], row: Row, devices: dict[str, dict[str, Any]], *, complete: bool) -> tuple[str, str]:
    """The ids at both ends of a link, taken out of its values."""
    for end in ("from", "to"):
        if end not in values:
            raise InvalidInputError(row.place, f"{end} is missing")
        if values[end] not in devices:
            if complete:
                raise InvalidInputError(row.place, f"{end}: there is no device {shown(values[end])}")
            devices[values[end]] = {}
    return values.pop("from"), values.pop("to")


class _Ledger:
    """Completes settings, devices and links, and counts what was found and what was assumed."""

    def __init__(self, defaults: Defaults) -> None:
        self._defaults = asdict(defaults)
        self._found: Counter[str] = Counter()
        self._assumed: Counter[tuple[str, str]] = Counter()

    def settings(self, draft: Draft, fields: Fields) -> dict[str, Any]:
        """The values of the fleet as a whole."""
        values = {name: value for name, value in draft.settings.items() if name not in _OF_GRAPHS}
        given = fields.read(Row(draft.format, values))
        return self._complete(given, SETTINGS)

    def device(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """A device with all that it needs; datapoints that are not given are the sum of label counts that are."""
        own: dict[str, Any] = {}
        if "datapoints" not in values and "label_counts" in values:
            own["datapoints"] = sum(values["label_counts"].values())
            self._assumed["datapoints", "the sum of label_counts"] += 1
        return self._complete(values, DEVICE_FIELDS, own)

    def link(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """A link with all that it needs."""
        return self._complete(values, LINK_FIELDS)

    def _complete(
        self, values: Mapping[str, Any], names: Iterable[str], computed: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        done = {}
        for name in names:
            default = self._defaults.get(name)
            if name in values:
                done[name] = values[name]
                self._found[name] += 1
            elif computed and name in computed:
                done[name] = computed[name]
            elif default is not None:
                done[name] = default
                self._assumed[name, f"{default:g}"] += 1
        return done

    def report(self, format_name: str, devices: int, links: int, notes: list[str]) -> Report:
        """What was counted."""
        found = [Finding(name, count) for name, count in self._found.items()]
        assumed = [Assumption(name, value, count) for (name, value), count in self._assumed.items()]
        counts = {
            "load": devices,
            "storage_datapoints": devices,
            "airtime_seconds": devices,
            "loss": links,
            "similarity": links,
        }
        missing = {name: count - self._found[name] for name, count in counts.items() if self._defaults[name] is None}
        listed = ", ".join(f"{name} ({count})" for name, count in missing.items() if count)
        notes = [*notes, f"left to the service: {listed}"] if listed else notes
        return Report(format_name, devices, links, found, assumed, notes)
