"""How every kernel here is compiled: like the solver's, but sums may be reordered."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from solver.kernels.compile import compiler

__all__ = ["FAST_MATH", "kernel"]

# contract: multiply and add become one instruction; reassoc: sums may be split over vector lanes.
# NaN and infinity keep their meaning, so a diverged run shows as such.
FAST_MATH = frozenset({"arcp", "contract", "nsz", "reassoc"})

kernel: Callable[..., Any] = compiler(Path(__file__).parent, fastmath=FAST_MATH)
