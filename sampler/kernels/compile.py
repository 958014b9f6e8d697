"""How the samplers' kernels are compiled: as the solver's are, with a cache of their own."""

from pathlib import Path

from solver.kernels.compile import compiler

__all__ = ["compiled"]

compiled = compiler(Path(__file__).parent)
