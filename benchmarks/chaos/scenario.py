"""A scenario: one fault, what was measured under it, and whether that is as it must be."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.chaos.site import Site

__all__ = ["SCENARIOS", "NotRunError", "Outcome", "Scenario", "run_scenario", "scenario"]


class NotRunError(Exception):
    """This machine lacks what the scenario needs."""


@dataclass(frozen=True)
class Outcome:
    """What was measured, in words, and whether it holds; None if the scenario could not be run here."""

    measured: str
    holds: bool | None


@dataclass(frozen=True)
class Scenario:
    """`fault` says what happens; `must` says what must hold under it."""

    name: str
    fault: str
    must: str
    run: Callable[[Site], Outcome]
    processes: int = 1


SCENARIOS: dict[str, Scenario] = {}


def scenario(
    name: str, fault: str, must: str, *, forked: bool = False
) -> Callable[[Callable[[Site], Outcome]], Callable[[Site], Outcome]]:
    """Enter a function into the list of scenarios; with `forked` once more with two server processes."""

    def enter(run: Callable[[Site], Outcome]) -> Callable[[Site], Outcome]:
        SCENARIOS[name] = Scenario(name, fault, must, run)
        if forked:
            again = f"{name}-forked"
            SCENARIOS[again] = Scenario(again, f"{fault}; two server processes", must, run, processes=2)
        return run

    return enter


def run_scenario(chosen: Scenario, code: Path) -> dict[str, Any]:
    """Run one scenario in a folder of its own; a failure of the scenario itself is a finding too."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="chaos-", ignore_cleanup_errors=True) as folder:
        try:
            outcome = chosen.run(Site(code, Path(folder), processes=chosen.processes))
        except NotRunError as error:
            outcome = Outcome(f"not run: {error}", None)
        except Exception as error:  # the others are to run all the same
            outcome = Outcome(f"the scenario failed: {type(error).__name__}: {error}"[:300], holds=False)
    seconds = round(time.monotonic() - begin, 1)
    return {"name": chosen.name, "fault": chosen.fault, "must": chosen.must, **asdict(outcome), "seconds": seconds}
