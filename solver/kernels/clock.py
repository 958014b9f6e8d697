"""The clock and the flag that end long work inside compiled code, while the interpreter does not run.

The time is that of the C library's `clock_gettime`, found by its name when compiled code is loaded, so that the code
can be cached.
"""

import ctypes
import math
import time
from typing import Any

import numba
import numpy as np
from numba import types

from solver.kernels.compile import compiled
from solver.kernels.layout import Effort

__all__ = ["deadline_in", "is_over", "now"]

_CLOCK = time.CLOCK_MONOTONIC
_clock_gettime: Any
if numba.config.DISABLE_JIT:
    _clock_gettime = ctypes.CDLL(None).clock_gettime
    # Without these an address would be cut to 32 bits.
    _clock_gettime.argtypes = (ctypes.c_int, ctypes.c_void_p)
else:
    _clock_gettime = types.ExternalFunction("clock_gettime", types.intc(types.intc, types.uintp))


def deadline_in(seconds: float | None) -> float:
    """The time of this clock in so many seconds; ∞ for None."""
    return math.inf if seconds is None else time.clock_gettime(_CLOCK) + seconds


@compiled
def now() -> float:
    """The time of this clock, in seconds."""
    read = np.empty(2, np.int64)
    _clock_gettime(_CLOCK, read.ctypes.data)
    return float(read[0] + 1e-9 * read[1])


@compiled
def is_over(effort: Effort) -> bool:
    """Whether the deadline has passed or the work was cancelled."""
    if effort.cancel[0] != 0:
        return True
    if effort.deadline == math.inf:
        return False
    return now() >= effort.deadline
