"""All scenarios, in the order in which they run."""

# A scenario enters itself into the list when its module is loaded.
from benchmarks.chaos import bodies, growth, leases, locks, openness, poison, sockets  # noqa: F401
from benchmarks.chaos.scenario import SCENARIOS as ALL

__all__ = ["ALL"]
