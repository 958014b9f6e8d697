"""How the training kernels are compiled: like the solver's, but LLVM may reorder sums.

`kernel` is for the functions that the engine calls, `inlined` for those that another kernel calls.

Reordered sums need this distinction. A process that compiles a kernel calls its helpers where they were compiled
first. A process that loads the kernel from the cache calls the copies of the helpers that were stored with it.
LLVM optimises a copy once more, among its callers, and may split its sums over vector lanes in another way: the
two processes would then disagree in the last digits. A helper without a call has no such copy.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from llvmlite import binding
from numba import config

from solver.kernels.compile import compiler

__all__ = ["FAST_MATH", "compiled_for", "inlined", "kernel"]

# contract: multiply and add become one instruction; reassoc: sums may be split over vector lanes.
# NaN and infinity keep their meaning, so a diverged run shows as such.
FAST_MATH = frozenset({"arcp", "contract", "nsz", "reassoc"})

_PACKAGE = Path(__file__).parent

kernel: Callable[..., Any] = compiler(_PACKAGE, fastmath=FAST_MATH)
inlined: Callable[..., Any] = compiler(_PACKAGE, fastmath=FAST_MATH, inlined=True)


def compiled_for() -> str:
    """Return the processor that kernels are compiled for: curves are equal bit by bit where it is the same.

    It is this machine's own unless NUMBA_CPU_NAME names another. Then NUMBA_CPU_FEATURES should be set to nothing: it
    means the features of that processor.
    """
    host = str(binding.get_host_cpu_name())
    if config.CPU_NAME is None:
        return host
    features = f"features of {host}" if config.CPU_FEATURES is None else config.CPU_FEATURES
    return f"{config.CPU_NAME} with {features}" if features else str(config.CPU_NAME)
