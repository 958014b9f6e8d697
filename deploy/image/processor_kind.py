"""Choose the kind of processor that kernels are compiled for; processor_kind.pth makes Python run this at its start.

By default numba compiles for the processor it runs on, and does not reuse code that was compiled for another one. The
image has its kernels for two kinds: x86-64-v3 (every Intel since Haswell, every AMD since Zen) and generic (the rest).
"""

import os
from pathlib import Path

__all__ = ["kinds", "kinds_here"]

_V3 = {"abm", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}


def kinds(machine: str, cpu_information: str) -> list[str]:
    """The kinds whose code this processor runs, the fastest first."""
    flags = next((line for line in cpu_information.splitlines() if line.startswith("flags")), "")
    return ["x86-64-v3", "generic"] if machine == "x86_64" and set(flags.split()) >= _V3 else ["generic"]


def kinds_here() -> list[str]:
    """The kinds whose code the processor of this machine runs."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    return kinds(os.uname().machine, text)


if "NUMBA_CPU_NAME" not in os.environ:
    os.environ["NUMBA_CPU_NAME"] = kinds_here()[0]
    os.environ.setdefault("NUMBA_CPU_FEATURES", "")
