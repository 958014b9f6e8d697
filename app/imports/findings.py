"""The report on an import: what the file had, what was assumed, and what became of its links."""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Assumption", "Finding", "Report", "counted"]


@dataclass(frozen=True)
class Finding:
    """A field that the file gives, and for how many devices or links."""

    field: str
    count: int


@dataclass(frozen=True)
class Assumption:
    """A field that the file lacks for `count` devices or links, and the value they got."""

    field: str
    value: str
    count: int


@dataclass(frozen=True)
class Report:
    """What was read and assumed."""

    format: str
    devices: int
    links: int
    found: Sequence[Finding]
    assumed: Sequence[Assumption]
    notes: Sequence[str]

    def lines(self) -> list[str]:
        """The report for people."""
        whole = f"{self.format}: {counted(self.devices, 'device')}, {counted(self.links, 'link')}"
        found = ", ".join(f"{one.field} ({one.count})" for one in self.found) or "nothing but their names"
        assumed = [f"assumed {one.field} = {one.value} ({one.count})" for one in self.assumed]
        return [whole, f"  from the file: {found}", *(f"  {line}" for line in (*assumed, *self.notes))]


def counted(count: int, noun: str) -> str:
    """A number with its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
