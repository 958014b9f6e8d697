"""Which kind of processor kernels are compiled for in the image; processor_kind.pth has Python run this at its start.

Numba compiles for the very processor it runs on, and finds nothing that another compiled. The image has its kernels
for the kinds named here: x86-64-v3 is every Intel since Haswell and every AMD since Zen, generic is the rest.
"""

import os
from pathlib import Path

__all__ = ["kinds", "kinds_here"]

_V3 = {"abm", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}


def kinds(machine: str, cpu_information: str) -> list[str]:
    """The kinds of processor this one can stand for, the best first."""
    flags = next((line for line in cpu_information.splitlines() if line.startswith("flags")), "")
    return ["x86-64-v3", "generic"] if machine == "x86_64" and set(flags.split()) >= _V3 else ["generic"]


def kinds_here() -> list[str]:
    """Those of the processor this runs on."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    return kinds(os.uname().machine, text)


if "NUMBA_CPU_NAME" not in os.environ:
    os.environ["NUMBA_CPU_NAME"] = kinds_here()[0]
    os.environ.setdefault("NUMBA_CPU_FEATURES", "")
