"""A run as its reports tell it: every answer is recomputed with dense matrices and plain formulas, eqs. (5)-(15)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["BrokenAnswerError", "ReportedRun"]

_ROUNDING = 1 + 1e-9
_COLUMNS = ("processing_capacity", "processing_cost", "receive_capacity", "transmit_budget")


class BrokenAnswerError(Exception):
    """An answer that the reports do not lead to."""


def _hold(name: str, holds: bool | np.bool_) -> None:  # noqa: FBT001
    if not holds:
        raise BrokenAnswerError(name)


def _same(name: str, one: object, other: object) -> None:
    _hold(f"{name}: {one} is not {other}", np.allclose(one, other, rtol=1e-7, atol=1e-7))  # type: ignore[arg-type]


class ReportedRun:
    """What devices hold and what pairs have sent, from the request, the reports and the answers alone."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        devices, topology = request["network"]["devices"], request["network"]["topology"]
        self.own = np.array(devices["data"], float)
        self.columns = {name: np.array(devices[name], float) for name in _COLUMNS}
        n = self.own.size
        ends = (topology["source"], topology["target"])
        self.linked = np.zeros((n, n), bool)
        self.linked[ends] = True
        self.fresh, self.cost = np.zeros((2, n, n))
        self.fresh[ends] = self.own[topology["source"]] * (1 - np.array(topology["similarity"]))
        self.cost[ends] = topology["transmit_cost"]
        self.noise = float(request.get("gradient_noise", 1.0))
        self.received = np.zeros(n)
        self.unsent = np.ones((n, n))
        self.lost: set[int] = set()
        self.sampled: list[int] = []
        self.changes: dict[int, dict[str, list[float]]] = {}
        self._forget_period()

    def _forget_period(self) -> None:
        n = self.own.size
        self.sent, self.share, self.useful = np.zeros((3, n, n))

    def take(self, report: dict[str, Any] | None, answer: dict[str, Any]) -> None:
        """Hold an answer to the report that it is for; the first period has none.

        Raises:
            BrokenAnswerError: the answer does not follow from the reports, or breaks a constraint.
        """
        self._report(report or {})
        self._members(answer)
        self._forget_period()
        received, unsent = self.received.copy(), self.unsent.copy()
        for step in answer["steps"]:
            self._step(step)
        if "orders" in answer:
            # A run that has orders goes on from them, not from what was planned.
            self.received, self.unsent = received, unsent
            self._carry_out(answer["orders"])
        _same("objective", np.mean([step["objective"] for step in answer["steps"]]), answer["objective"])
        _hold("a bound above the objective", answer["horizon_bound"] <= answer["objective"] * _ROUNDING)
        _hold("a set bound above the objective", answer.get("set_bound", 0) <= answer["objective"] * _ROUNDING)
        if "swap_price" in answer:
            swap = answer["swap_price"]
            _same("price", swap["price"], answer["objective"] - swap["fresh_objective"])
            _hold("fresh bounds", swap["fresh_bound"] <= swap["fresh_objective"] * _ROUNDING)
            _hold("set bound", answer["set_bound"] <= swap["fresh_objective"] * _ROUNDING)

    def _report(self, report: dict[str, Any]) -> None:
        self.noise = report.get("gradient_noise", self.noise)
        delivered = report.get("delivered", {"source": [], "target": [], "datapoints": []})
        for k, i, arrived in zip(*(delivered[name] for name in ("source", "target", "datapoints")), strict=True):
            missing = 1 - arrived / self.sent[k, i]
            self.received[i] -= missing * self.useful[k, i]
            self.unsent[k, i] += missing * self.share[k, i]
        data = report.get("data", {"device": [], "datapoints": []})
        for device, now in zip(data["device"], data["datapoints"], strict=True):
            self._hold_now(device, now)
        self._change(report)
        for device in report.get("lost", ()):
            self._leave(device)
            self.lost.add(device)
        self.lost -= set(report.get("joined", ()))
        for change in report.get("schedule", ()):
            self.changes.setdefault(change["step"], {}).update(change.get("devices", {}))

    def _hold_now(self, device: int, now: float) -> None:
        before, self.own[device] = self.own[device], now
        self.fresh[device] *= now / before
        self.unsent[device] = np.maximum(1 - (1 - self.unsent[device]) * before / now, 0.0)

    def _change(self, report: dict[str, Any]) -> None:
        """Rows of devices and links that change or are new, by numbers."""
        for row in report.get("devices", ()):
            if "data" in row:
                self._hold_now(row["index"], row["data"])
            for name in set(_COLUMNS) & set(row):
                self.columns[name][row["index"]] = row[name]
        added = report.get("add_devices", [])
        if added:
            self._grow(len(added))
            for device, row in enumerate(added, self.own.size - len(added)):
                self.own[device] = row["data"]
                for name in _COLUMNS:
                    self.columns[name][device] = row[name]
        for row in report.get("links", ()):
            ends = row["source"], row["target"]
            self.linked[ends] = True
            if "similarity" in row:
                self.fresh[ends] = self.own[ends[0]] * (1 - row["similarity"])
            self.cost[ends] = row.get("transmit_cost", self.cost[ends])
        for row in report.get("remove_links", ()):
            self.linked[row["source"], row["target"]] = False

    def _grow(self, more: int) -> None:
        """Room for devices that follow after the others; what was announced holds for those that it was told of."""
        self.own, self.received = (np.pad(one, (0, more)) for one in (self.own, self.received))
        self.columns = {name: np.pad(one, (0, more)) for name, one in self.columns.items()}
        self.linked, self.fresh, self.cost = (np.pad(one, (0, more)) for one in (self.linked, self.fresh, self.cost))
        self.unsent = np.pad(self.unsent, (0, more), constant_values=1.0)

    def _leave(self, device: int) -> None:
        self.received[device] = 0.0
        self.unsent[:, device] = 1.0

    def _members(self, answer: dict[str, Any]) -> None:
        sampled: list[int] = answer["sampled"]
        _hold("a lost device is sampled", not self.lost & set(sampled))
        _hold("more devices than asked for", 0 < len(set(sampled)) <= self.request["sample_size"])
        if self.sampled:
            left = {one["lost"] for one in answer["replaced"] if "lost" in one}
            came = {one["by"] for one in answer["replaced"] if "by" in one}
            _hold("replaced tells who left and came", (set(self.sampled) - left) | came == set(sampled))
            for device in left - came:
                self._leave(device)
        self.sampled = sampled

    def _carry_out(self, orders: list[dict[str, Any]]) -> None:
        self._forget_period()
        for order in orders:
            k = order["device"]
            for send in order["sends"]:
                i, share = send["to"], send["count"] / self.own[k]
                _same("first", send["first"], round((1 - self.unsent[k, i]) * self.own[k]))
                self.sent[k, i] += send["count"]
                self.share[k, i] += share
                self.useful[k, i] += self.fresh[k, i] * share
                self.unsent[k, i] -= share
                self.received[i] += self.fresh[k, i] * share
        _hold("sent twice by orders", bool((self.unsent >= -1e-9).all()))

    def _step(self, step: dict[str, Any]) -> None:
        n, sampled = self.own.size, self.sampled
        for name, values in self.changes.get(step["step"], {}).items():
            self.columns[name][: len(values)] = values
        phi: NDArray[np.float64] = np.zeros((n, n))
        moves = step["transfers"]
        phi[moves["source"], moves["target"]] = moves["fraction"]
        others = np.setdiff1d(np.arange(n), sampled)
        lost = sorted(self.lost)
        used = phi > 0
        _hold("links", not (used & ~self.linked).any() and bool((phi >= 0).all()))
        _hold("who sends to whom", not (used[sampled].any() or used[:, others].any() or used[lost].any()))
        spent = self.own * (phi * self.cost).sum(axis=1)
        _hold("transmit budgets", bool((spent <= self.columns["transmit_budget"] * _ROUNDING + 1e-12).all()))
        share = phi if self.request.get("transfer", "send_once") == "send_once" else self.unsent * phi
        self.unsent = self.unsent - share
        _hold("sent twice", bool((self.unsent >= -1e-9).all()))
        self.unsent = np.clip(self.unsent, 0.0, 1.0)
        useful = self.fresh * share
        self.sent += self.own[:, None] * phi
        self.share += share
        self.useful += useful
        received = useful.sum(axis=0)
        _hold("receive", bool((received[sampled] <= self.columns["receive_capacity"][sampled] * _ROUNDING).all()))
        self.received += received
        held = (self.own + self.received)[sampled]
        room = self.columns["processing_capacity"][sampled] * _ROUNDING
        _hold("processing", bool((self.columns["processing_cost"][sampled] * held <= room).all()))
        _same("sampled_data", step["sampled_data"], held)
        rest = self.own[np.setdiff1d(others, lost)].sum()
        _same("sampling term", step["sampling_term"], step["gradient_norm"] * rest / (rest + held.sum()))
        _same("statistical term", step["statistical_term"], self.noise * np.mean(held**-0.5))
